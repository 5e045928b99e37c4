"""Verdicts against an exhaustive search over all picks of Definitions 8 and 9."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.theory.components import Affine, Component, Constant, Lookup
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.transformer import XTransformer
from onnx_scatterx.theory.verdict import Obstacle, Sliceability, Verdict, judge
from tests.helpers.examples import examples

Index = tuple[int, ...]
SLICEABLE, WEAKLY, NOT = Sliceability


def indices(shape: Iterable[int]) -> list[Index]:
    return list(itertools.product(*map(range, shape)))


def is_function(pairs: Iterable[tuple[Index, Index]]) -> bool:
    seen: dict[Index, Index] = {}
    return all(seen.setdefault(key, value) == value for key, value in pairs)


def longest_end_pick(t: XTransformer) -> int:
    """Definition 8 to the letter: all smooth p1 and p2, T' any function."""
    n, rank = len(t.shape), len(t.data_shape)
    smooth = [Pick.identity(a, b) for a in range(n + 1) for b in range(a, n + 1) if a < b or a == 0]
    targets = {i: t(i) for i in indices(t.shape)}
    longest = 0
    for p1, p2 in itertools.product(smooth, smooth):
        k = len(p2)
        if len(p1) + k == n and k <= rank:
            split = all(p1(i) + p2(i) == i for i in targets)
            ends = all(j[rank - k :] == p2(i) for i, j in targets.items())
            if split and ends and is_function((p1(i), j[: rank - k]) for i, j in targets.items()):
                longest = max(longest, k)
    return longest


def weak_picks(t: XTransformer) -> Iterator[tuple[Pick, Pick, Pick]]:
    """Definition 9: all disjoint p1 and p2, permutations p, where p2 is not empty."""
    dims, rank = range(len(t.shape)), len(t.data_shape)
    targets = {i: t(i) for i in indices(t.shape)}
    subsets = [c for k in range(len(dims) + 1) for c in itertools.combinations(dims, k)]
    for k in range(1, rank + 1):
        for p2, order in itertools.product(
            map(Pick, itertools.product(dims, repeat=k)), itertools.permutations(range(rank))
        ):
            columns = {i: Pick(order).inverse()(j) for i, j in targets.items()}
            if all(c[rank - k :] == p2(i) for i, c in columns.items()):
                for p1 in map(Pick, subsets):
                    disjoint = not p1.codomain & p2.codomain
                    if disjoint and is_function((p1(i), c[: rank - k]) for i, c in columns.items()):
                        yield p1, p2, Pick(order)


def check_witness(t: XTransformer, witness: tuple[Obstacle, ...]) -> None:
    """Every obstacle proves itself by what T says of a few indices."""
    assert [o.dim for o in witness] == list(range(len(t.shape)))
    for o in witness:
        if o.component is None:
            assert len(o.at) == len(t.data_shape)
            assert all(t(i)[c] != i[o.dim] for c, i in enumerate(o.at))
        else:
            (index,) = o.at
            assert t(index)[o.component] != index[o.dim]
            assert o.apart is not None
            before, after = o.apart
            assert [d for d, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [
                o.dim
            ]
            assert t(before)[o.component] != t(after)[o.component]


def check(t: XTransformer) -> Verdict:
    verdict = t.verdict()
    n, longest = len(t.shape), longest_end_pick(t)
    assert verdict.end_pick == (Pick.identity(n - longest, n) if longest else Pick())
    weak = next(weak_picks(t), None)
    if longest:
        assert verdict.sliceability is SLICEABLE
    elif weak is not None:
        assert verdict.sliceability is WEAKLY
    else:
        assert verdict.sliceability is NOT
    if verdict.picks is None:
        check_witness(t, verdict.witness)
    else:
        assert verdict.witness == ()
        p1, p2, p = verdict.picks
        assert len(p2)
        assert not p1.codomain & p2.codomain
        form = t.represented(p1, p2, p)
        assert form is not None
        assert [form(i) for i in indices(t.shape)] == [t(i) for i in indices(t.shape)]
        if longest:
            assert p2 == verdict.end_pick
            assert p1 + p2 == Pick.identity(n)
            assert p.is_identity
    return verdict


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("shape", "data_shape"),
    [
        ((), ()),
        ((), (2,)),
        ((2,), ()),
        ((1,), (2,)),
        ((2,), (2,)),
        ((3,), (3,)),
        ((2,), (2, 2)),
        ((1, 2), (2, 2)),
        ((2, 1), (2, 2)),
        ((1, 1), (2, 2)),
        ((1, 1), (1, 1)),
        ((2, 2), (2,)),
        ((2, 2), (2, 2)),
        ((2, 3), (3,)),
        ((2, 1, 2), (2,)),
        ((0,), (2,)),
        ((0, 2), (2,)),
        ((2, 0), (0, 2, 2)),
        ((0,), ()),
    ],
)
def test_every_transformer_of_a_shape(shape: Index, data_shape: Index) -> None:
    updates = indices(shape)
    for targets in itertools.product(indices(data_shape), repeat=len(updates)):
        e = np.zeros((*shape, len(data_shape)), np.int64)
        for index, target in zip(updates, targets, strict=True):
            e[index] = target
        check(XTransformer.from_provision(e, data_shape))


@st.composite
def transformers(draw: st.DrawFn) -> XTransformer:
    """Tiny, with coordinates wherever they can be: on two axes, mixed into others, of extent 1."""
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=3)))
    rank = draw(st.integers(1, 3))
    grid = np.indices(shape)
    e = np.zeros((*shape, rank), np.int64)
    for c in range(rank):
        d, other = draw(st.integers(0, len(shape) - 1)), draw(st.integers(0, len(shape) - 1))
        forms = [grid[d], grid[d], grid[d] + 1, grid[d] * grid[other], grid[other] * 0]
        e[..., c] = draw(st.sampled_from(forms))
        if draw(st.integers(0, 5)) == 0:
            e[(*draw(st.sampled_from(indices(shape))), c)] = draw(st.integers(0, 2))
    return XTransformer.from_provision(e, (5,) * rank)


@given(transformers())
@examples(150)
def test_random_transformers(t: XTransformer) -> None:
    check(t)


def of(*columns: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> XTransformer:
    e = np.stack(np.broadcast_arrays(*columns), -1)
    return XTransformer.from_provision(e, [int(column.max()) + 1 for column in columns])


def test_e_2_is_sliceable() -> None:
    i, j, k = np.indices((2, 2, 2))
    verdict = check(of(i, i, j, k))
    assert verdict.end_pick == Pick((1, 2))
    assert verdict.picks == (Pick((0,)), Pick((1, 2)), Pick.identity(4))


def test_e_1_is_sliceable() -> None:
    i, j = np.indices((4, 2))
    assert check(of(i * 0, i // 2, i % 2, j)).end_pick == Pick((1,))


def test_e_0_is_sliceable_whole() -> None:
    assert check(of(*np.indices((3, 3)))).end_pick == Pick((0, 1))


def test_e_3_is_weakly_sliceable() -> None:
    """The picks of the paper share dim 1; these share none."""
    i, j, k = np.indices((2, 2, 2))
    verdict = check(of(2 * i + j, k, j, k))
    assert verdict.sliceability is WEAKLY
    assert verdict.picks == (Pick((0, 1)), Pick((2, 2)), Pick((0, 2, 1, 3)))


def test_a_diagonal_is_weakly_sliceable() -> None:
    (i,) = np.indices((3,))
    assert check(of(i, i)).picks == (Pick(), Pick((0, 0)), Pick((0, 1)))


def test_a_box_write_element_by_element_is_not_sliceable() -> None:
    """What TorchScript writes for ``x[1:3, 1:4] = y``: removable, yet no slice in this sense."""
    i, j = np.indices((2, 3))
    verdict = check(of(i + 1, j + 1))
    assert [str(o) for o in verdict.witness] == [
        "dim 0: no component is I_0, see update (0, 0)",
        "dim 1: no component is I_1, see update (0, 0)",
    ]


def test_a_witness_may_need_an_index_for_each_component() -> None:
    (i,) = np.indices((2,))
    verdict = check(of(i * 0, i * 0 + 1))
    assert [str(o) for o in verdict.witness] == [
        "dim 0: no component is I_0, see update (1,) or (0,)"
    ]


def test_theorem_1() -> None:
    """Each coordinate is there, and each is in the way of a slice."""
    i, j = np.indices((2, 2))
    verdict = check(of(i, j, i ^ j))
    assert [str(o) for o in verdict.witness] == [
        "dim 0: component 2 depends on I_0 and is not I_0, see update (0, 1), "
        "and updates (0, 0) and (1, 0) differ in it",
        "dim 1: component 2 depends on I_1 and is not I_1, see update (1, 0), "
        "and updates (0, 0) and (0, 1) differ in it",
    ]


def test_a_dim_of_extent_one() -> None:
    """Its coordinate is the constant 0, as it would be if the extent were not known."""
    (i,) = np.indices((3,))
    column = 2 * i[:, None]
    assert check(of(column, column * 0)).end_pick == Pick((1,))
    row = 2 * i[None, :]
    assert check(of(row * 0, row)).picks == (Pick((1,)), Pick((0,)), Pick((1, 0)))
    for batch in (1, 2):
        n, j = np.indices((batch, 3))
        assert check(of(n, 2 * j)).picks == (Pick((1,)), Pick((0,)), Pick((1, 0)))
    assert [str(o) for o in check(of(np.array([[3]]))).witness] == [
        f"dim {d}: no component is I_{d}, see update (0, 0)" for d in (0, 1)
    ]
    assert check(of(row * 0 + 1, row)).sliceability is NOT


def test_no_dims_or_no_axes() -> None:
    """A pick p2 has nothing to take, or nowhere to put it."""
    for shape, data_shape in [((), ()), ((), (2,)), ((2,), ()), ((0,), ())]:
        t = XTransformer.from_provision(np.zeros((*shape, len(data_shape)), int), data_shape)
        assert check(t).sliceability is NOT


def test_symbolic_extents() -> None:
    """Components alone decide; a dim whose extent is unknown counts as wide."""
    n = "N"
    axes: list[Component[object]] = [Lookup((0,), "rows"), Affine(0, 1, 1), Affine(0, 1, 2)]
    assert judge(axes, 3, {0, 1, 2}).end_pick == Pick((1, 2))
    axes = [Affine(0, 1, 1), Affine(n, 1, 0)]
    assert judge(axes, 2, {0, 1}).picks == (Pick((0,)), Pick((1,)), Pick((1, 0)))
    axes = [Lookup((0,), "rows"), Constant(0)]
    assert judge(axes, 2, {0, 1}).sliceability is NOT
    assert judge(axes, 2, {0}).sliceability is SLICEABLE
    axes = [Affine(0, 1, 0), Lookup((0, 1), "rows")]
    assert judge(axes, 2, {0, 1}).witness == (Obstacle(0, 1), Obstacle(1, None))
    assert str(Obstacle(0, 1)) == "dim 0: component 1 depends on I_0 and is not I_0"


def test_every_sliceability_has_a_text() -> None:
    assert len({s.text for s in Sliceability}) == 3
    assert [s.value for s in Sliceability] == ["sliceable", "weakly sliceable", "not sliceable"]
