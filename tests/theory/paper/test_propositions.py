"""Proposition 1, Corollary 1 and Theorem 1, and the algorithm of section 8."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.theory import Pick, Reduction, Scattering, XTransformer, outcomes
from onnx_scatterx.theory.algorithm import (
    provision_x_transformer,
    scatter,
    scatter_x,
    tensorflow_scatter,
    traverse,
)
from onnx_scatterx.theory.conventions.onnx import scatter_nd
from onnx_scatterx.theory.picks import index_of, indices
from onnx_scatterx.theory.scattering import combine
from onnx_scatterx.theory.theorem import Impossibility, _stands, disjoint_representation
from onnx_scatterx.theory.verdict import Obstacle
from tests.helpers.examples import examples
from tests.theory.paper.draws import Index, numbered, x_transformers

fast = examples(80)


@given(x_transformers())
@fast
def test_proposition_1(t: XTransformer) -> None:
    """T(A) has one member exactly if T is injective and reaches all of data."""
    results = outcomes(t, numbered(t.shape))
    assert (results.count == 1) == t.is_injective()
    onto = {t(i) for i in indices(t.shape)} == set(indices(t.data_shape))
    assert results.is_deterministic == (t.is_injective() and onto)
    onto_x = outcomes(t, numbered(t.shape), -numbered(t.data_shape))
    assert onto_x.is_deterministic == t.is_injective()


def test_proposition_1_equal_updates_leave_no_choice() -> None:
    t = XTransformer.from_provision(np.array([[1], [1]]), (2,))
    assert outcomes(t, np.array([5, 5]), np.zeros(2, int)).count == 1
    assert outcomes(t, np.array([0.0, -0.0]), np.zeros(2)).count == 2
    assert outcomes(t, np.array([np.nan, np.nan]), np.zeros(2)).count == 1
    assert [b.tolist() for b in outcomes(t, np.array(["a", "long"]), np.array(["x", "y"]))] == [
        ["x", "a"],
        ["x", "long"],
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reduction", list(Reduction))
def test_proposition_1_with_a_reduction(reduction: Reduction) -> None:
    """The choice is the order: every order is tried, and gives no other results."""
    numbers = np.array([1e8, 1.0, -1e8, np.nan, 0.0, -0.0, 3.0], np.float32)
    rng = np.random.default_rng(7)
    for _ in range(25):
        met = rng.choice(numbers, 4)
        x = rng.choice(numbers, 1)
        t = XTransformer.from_provision(np.zeros((4, 1), int), (1,))
        results = outcomes(t, met, x, reduction)
        found = set()
        for order in itertools.permutations(met):
            value = x[0]
            for update in order:
                value = combine(reduction, value, update)[()]
            found.add(np.float32(value).tobytes())
        assert {b.tobytes() for b in results} == found
        assert Scattering(x, met, t, reduction).run() in results


def test_the_order_of_float_additions_counts() -> None:
    t = XTransformer.from_provision(np.zeros((3, 1), int), (1,))
    big = np.array([2.0**24, 1.0, 1.0], np.float32)
    results = outcomes(t, big, np.zeros(1, np.float32), "add")
    assert sorted(float(b[0]) for b in results) == [2.0**24, 2.0**24 + 2]
    assert outcomes(t, big.astype(int), np.zeros(1, int), "add").is_deterministic


def test_outcomes_refuses() -> None:
    t = XTransformer.from_provision(np.array([[1], [0]]), (2,))
    updates = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="needs data to meet"):
        outcomes(t, updates, reduction="add")
    with pytest.raises(ValueError, match=r"data has shape \(3,\)"):
        outcomes(t, updates, np.zeros(3))
    with pytest.raises(ValueError, match="must agree"):
        outcomes(t, updates, np.zeros(2, int))
    with pytest.raises(ValueError, match="out of bounds"):
        outcomes(replace(t, data_shape=(1,)), updates, np.zeros(1))


def test_what_is_no_outcome() -> None:
    results = outcomes(XTransformer.from_provision(np.array([[1]]), (2,)), np.array([7]))
    assert np.array([0, 7]) in results
    for other in (np.array([0, 8]), np.array([7]), np.array([0.0, 7.0]), [0, 7]):
        assert other not in results
    onto = outcomes(
        XTransformer.from_provision(np.array([[1]]), (2,)), np.array([7]), np.zeros(2, int)
    )
    assert np.array([0, 7]) in onto
    assert np.array([9, 7]) not in onto


@given(x_transformers())
@fast
def test_corollary_1(t: XTransformer) -> None:
    """As printed: every transformer is an x-transformer, and weakly sliceable by an empty p2."""
    axes, dims = Pick.identity(len(t.data_shape)), Pick.identity(len(t.shape))
    form = t.represented(dims, Pick(), axes)
    assert form is not None
    assert all(form(i) == t(i) for i in indices(t.shape))


def representations(t: XTransformer) -> list[XTransformer]:
    """Every representation with a nonempty p2 and a p1 that repeats nothing."""
    dims, rank = range(len(t.shape)), len(t.data_shape)
    subsets = [c for k in range(len(dims) + 1) for c in itertools.combinations(dims, k)]
    found = (
        t.represented(Pick(p1), Pick(p2), Pick(p))
        for k in range(1, rank + 1)
        for p2 in itertools.product(dims, repeat=k)
        for p1 in subsets
        for p in itertools.permutations(range(rank))
    )
    return [form for form in found if form is not None]


@given(x_transformers())
@examples(40)
def test_theorem_1(t: XTransformer) -> None:
    """No disjoint representation exactly if in all of them the picks share a dim."""
    forms = representations(t)
    shared = all(form.p1.codomain & form.p2.codomain for form in forms)
    answer = disjoint_representation(t)
    assert isinstance(answer, Impossibility) == shared
    if isinstance(answer, Impossibility):
        assert t.verdict().end_pick == Pick()
        assert answer.holds(t)
        assert str(answer)
    else:
        assert answer == t
        assert not answer.p1.codomain & answer.p2.codomain


def test_theorem_1_has_a_case_where_picks_overlap() -> None:
    """Representations there are, and each of them shares a dim."""
    i, j = np.indices((2, 2))
    t = XTransformer.from_provision(np.stack([i, j, i ^ j], -1), (2, 2, 2))
    assert representations(t)
    assert isinstance(disjoint_representation(t), Impossibility)


def every_obstacle(t: XTransformer, d: int) -> Iterator[Obstacle]:
    """All obstacles to a dim that can be put into words, true or not."""
    axes, at = range(len(t.data_shape)), indices(t.shape)
    for where in itertools.product(at, repeat=len(axes)):
        yield Obstacle(d, None, where)
    for c, index, before, after in itertools.product(axes, at, at, at):
        yield Obstacle(d, c, (index,), (before, after))


def test_theorem_1_no_witness_lies() -> None:
    """Where a slice lies along a dim, no obstacle to it stands; where none does, some stand."""
    i, j = np.indices((2, 2))
    for columns, free in [
        ((1 - i, j), {1}),
        ((j, j, 1 - i), {1}),
        ((i, i ^ j), set()),
        ((i, 0 * j), {0}),
        ((1 - j, i), {0}),
        ((i ^ j, 1 - j), set()),
    ]:
        t = XTransformer.from_provision(np.stack(columns, -1), (2,) * len(columns))
        standing = [[o for o in every_obstacle(t, d) if _stands(o, t)] for d in range(len(t.shape))]
        assert {d for d, found in enumerate(standing) if not found} == free
        assert isinstance(disjoint_representation(t), XTransformer) == bool(free)
        if not free:
            assert all(Impossibility(w).holds(t) for w in zip(*standing, strict=False))


def test_theorem_1_a_witness_is_for_one_transformer() -> None:
    i, j = np.indices((2, 2))
    box = XTransformer.from_provision(np.stack([i + 1, j + 1], -1), (3, 3))
    answer = disjoint_representation(box)
    assert isinstance(answer, Impossibility)
    assert answer.holds(box)
    assert not answer.holds(XTransformer.from_provision(np.stack([i, j], -1), (3, 3)))
    assert not answer.holds(XTransformer.from_provision(np.stack([i], -1), (3,)))
    assert not Impossibility(()).holds(box)
    unproven = tuple(Obstacle(o.dim, 0) for o in answer.witness)
    assert not Impossibility(unproven).holds(box)


def test_8_traversal() -> None:
    for shape in [(), (0,), (3,), (2, 3), (2, 0, 3), (2, 1, 2)]:
        seen: list[Index] = []
        traverse(shape, seen.append)
        assert seen == list(indices(shape))


@given(x_transformers())
@fast
def test_8_scatter_x_is_the_equation(t: XTransformer) -> None:
    """Step by step as the paper has it, and as the package runs it."""
    data, updates = -numbered(t.data_shape), numbered(t.shape)
    e = provision_x_transformer(t.shape, t.data_shape, t.f, t.p1, t.p2, t.p)
    assert e.tolist() == t.provision().tolist()
    expected = Scattering(data, updates, t).run()
    assert scatter(data, updates, e).tolist() == expected.tolist()
    assert scatter_x(data, updates, t.f, t.p1, t.p2, t.p).tolist() == expected.tolist()
    assert data.tolist() == (-numbered(t.data_shape)).tolist()


def test_8_p_may_be_any_pick() -> None:
    """Definition 10 lets p repeat and drop numbers: it is an x-transformer all the same."""
    f = np.array([[2, 0], [1, 3]])
    p1, p2, p = Pick((0,)), Pick((1,)), Pick((2, 0, 2))
    e = provision_x_transformer((2, 2), (2, 4, 2), f, p1, p2, p)
    for i in indices((2, 2)):
        assert index_of(e[i]) == p(index_of(f[p1(i)]) + p2(i))
    assert XTransformer.from_provision(e, (2, 4, 2)).verdict().picks == (
        Pick((0,)),
        Pick((1, 1)),
        Pick((1, 0, 2)),
    )


def test_8_refuses() -> None:
    f, p1, p2 = np.array([[3], [1]]), Pick((0,)), Pick((1,))
    with pytest.raises(ValueError, match="p gives 1 numbers, and data has 2 axes"):
        provision_x_transformer((2, 2), (4, 2), f, p1, p2, Pick((0,)))
    with pytest.raises(IndexError):
        provision_x_transformer((3, 2), (4, 2), f, p1, p2, Pick((0, 1)))
    with pytest.raises(ValueError, match=r"must have shape \(2, 1\), not \(2, 2\)"):
        scatter(np.zeros(4), np.zeros(2), np.zeros((2, 2), int))
    data = np.zeros(3)
    with pytest.raises(IndexError):
        scatter(data, np.ones(2), np.array([[0], [7]]))
    assert not data.any()


@given(st.data())
@fast
def test_8_tensorflow_scatter_is_scatter_nd(data: st.DataObject) -> None:
    """Also where indices has another rank than depth, or nothing in it."""
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    outer = tuple(data.draw(st.lists(st.integers(0, 2), max_size=3)))
    k = data.draw(st.integers(0, len(shape)))
    numbers = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=5))
    sizes = np.array(shape[:k], int)
    where = np.resize(np.array(numbers), (*outer, k)) % sizes
    where = np.where(where % 2, where - sizes, where)
    tensor, updates = -numbered(shape), numbered((*outer, *shape[k:]))
    expected = scatter_nd(tensor, where, updates).run()
    assert tensorflow_scatter(tensor, where, updates).tolist() == expected.tolist()
