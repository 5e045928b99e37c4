"""The numbered definitions, each in its own words against the package."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx import theory
from onnx_scatterx.theory import Pick, Scattering, Sliceability, Verdict, XTransformer, outcomes
from onnx_scatterx.theory.picks import (
    embedded_slice,
    index_of,
    indices,
    is_embedded_slice,
    picked_slices,
    slice_of,
    subtensor,
)
from onnx_scatterx.theory.theorem import Impossibility, disjoint_representation, disseminated_slices
from tests.helpers.examples import examples
from tests.theory.paper.draws import Index, numbered, picks, shapes, x_transformers
from tests.theory.paper.examples import E_0, E_1

fast = examples(80)


def test_the_theory_needs_numpy_alone() -> None:
    program = "import sys, onnx_scatterx.theory; print(*{m.split('.')[0] for m in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.split())
    assert "numpy" in modules
    assert not modules & {"onnx", "onnx_ir", "onnxruntime", "onnxscript", "ml_dtypes"}


def test_the_theory_is_all_there() -> None:
    """Each name that the docstring of ``theory`` gives is one of its names, or of a class's."""
    assert theory.__doc__ is not None
    quoted = theory.__doc__.split("``")[1::2]
    owners = [theory, Pick, XTransformer, Verdict]
    for name in quoted:
        if name != "np.array":
            first, *rest = name.split(".")
            found = [getattr(o, first) for o in owners if first in dir(o)]
            assert found, name
            assert all(hasattr(found[0], part) for part in rest), name
    assert onnx_scatterx.theory is theory


@given(shapes())
@fast
def test_definition_1(shape: Index) -> None:
    """A tensor is a function of its indices, which are I_S."""
    tensor = numbered(shape)
    assert list(indices(shape)) == list(np.ndindex(*shape))
    assert len(indices(shape)) == tensor.size
    assert [int(tensor[i]) for i in indices(shape)] == tensor.ravel().tolist()


def test_definition_2_first() -> None:
    """tau changes a one-dimensional tensor to a tuple, and back."""
    assert index_of(np.array([4, 6, 7])) == (4, 6, 7)
    assert index_of(np.array((), int)) == ()
    assert index_of(np.array(index_of(E_1[3, 0]))) == (0, 1, 1, 0)
    for no_index in (np.array(4), np.array([[4]]), np.array([4.0]), np.array([True])):
        with pytest.raises(ValueError, match="no index"):
            index_of(no_index)


@given(st.lists(st.integers(0, 5), max_size=6), st.sets(st.integers(-3, 8)))
@fast
def test_definition_2(taken: list[int], numbers: set[int]) -> None:
    """J[i] = I[p(i)]; on a set of integers it is the intersection; smooth and shuffle."""
    p, index = Pick(taken), (10, 11, 12, 13, 14, 15)
    assert all(p(index)[i] == index[p[i]] for i in range(len(p)))
    assert p.among(numbers) == numbers & set(taken)
    assert p.codomain == set(taken)
    assert p.is_smooth == all(p[i + 1] == p[i] + 1 for i in range(len(p) - 1))
    assert p.is_shuffle == (p.codomain == set(range(len(p))))
    assert Pick(np.array(taken, int)) == p  # written as a one-dimensional tensor


def test_definition_2_identity_picks() -> None:
    for n in range(4):
        assert Pick.identity(n) == Pick(range(n))
        assert Pick.identity(n).is_shuffle
        for m in range(n, 5):
            assert Pick.identity(n, m)((0, 1, 2, 3, 4)) == tuple(range(n, m))
            assert Pick.identity(n, m).is_smooth


@given(shapes(), st.data())
@fast
def test_definition_3_slices(shape: Index, data: st.DataObject) -> None:
    """G[I_0, I_1, ...] = E[p_0(I_0), p_1(I_1), ...], on the indices of the embedded slice."""
    tensor = numbered(shape)
    chosen = [data.draw(picks(n)) for n in shape]
    g = slice_of(tensor, chosen)
    assert g.shape == tuple(map(len, chosen))
    for index in indices(g.shape):
        assert g[index] == tensor[tuple(p[i] for p, i in zip(chosen, index, strict=True))]
    embedded = embedded_slice(shape, chosen)
    assert embedded == set(itertools.product(*(p.codomain for p in chosen)))
    assert is_embedded_slice(embedded)
    assert {int(tensor[i]) for i in embedded} == set(g.ravel().tolist())


@given(shapes(largest=2), st.data())
@fast
def test_definition_3_what_is_no_slice(shape: Index, data: st.DataObject) -> None:
    """A set of indices is an embedded slice exactly if some picks say so: all are tried."""
    every = indices(shape)
    chosen = data.draw(st.sets(st.sampled_from(every))) if every else set()
    axes = [[c for k in range(n + 1) for c in itertools.combinations(range(n), k)] for n in shape]
    slices = [embedded_slice(shape, [*map(Pick, p)]) for p in itertools.product(*axes)]
    # Without axes no picks say so of the empty set, which is a slice everywhere else.
    assert is_embedded_slice(chosen) == (chosen in slices or not chosen)


def test_definition_3_subtensors() -> None:
    """The domains of the first picks are {0}, the others are identities."""
    tensor = numbered((2, 3, 4))
    for prefix in [(), (1,), (1, 2), (1, 2, 3)]:
        chosen = [Pick((i,)) for i in prefix]
        chosen += map(Pick.identity, tensor.shape[len(prefix) :])
        h = subtensor(tensor, prefix)
        assert h.shape == tensor.shape[len(prefix) :]
        assert h.tolist() == slice_of(tensor, chosen).reshape(h.shape).tolist()
    for prefix in [(2,), (-1,), (0, 0, 0, 0)]:
        with pytest.raises(IndexError, match="begins no index"):
            subtensor(tensor, prefix)


def test_definition_3_refuses_picks_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="one pick for each of 2 axes, not 1"):
        slice_of(E_0[..., 0], [Pick((0,))])
    with pytest.raises(IndexError, match="takes 3 of axis 1, which has size 3"):
        embedded_slice((3, 3), [Pick((0,)), Pick((3,))])


@given(shapes(), st.data())
@fast
def test_definition_4(shape: Index, data: st.DataObject) -> None:
    """C = {K | p1(I) = p1(K)} for some I, and each I has its C."""
    p1 = data.draw(picks(len(shape)))
    slices = picked_slices(shape, p1)
    for index in indices(shape):
        assert slices[p1(index)] == tuple(k for k in indices(shape) if p1(k) == p1(index))
    assert sum(map(len, slices.values())) == len(indices(shape))
    assert all(slices.values())
    with pytest.raises(IndexError):
        picked_slices(shape, Pick((len(shape),)))


@given(x_transformers(), st.data())
@fast
def test_definition_5(t: XTransformer, data: st.DataObject) -> None:
    """B[T(I)] = A[J] for some J with T(J) = T(I); every such B is found, and no other."""
    a_shape = tuple(data.draw(st.integers(0, 2)) for _ in t.shape)
    a = numbered(a_shape)
    common = set(indices(a_shape)) & set(indices(t.shape))
    image = {t(i) for i in common}
    results = list(outcomes(t, a))
    for b in results:
        assert b.shape == t.data_shape
        for i in common:
            assert any(b[t(j)] == a[j] for j in common if t(j) == t(i))
        assert {k for k in indices(b.shape) if not np.ma.getmaskarray(b)[k]} == image
    choices = [{int(a[j]) for j in common if t(j) == k} for k in sorted(image)]
    found = {tuple(int(b[k]) for k in sorted(image)) for b in results}
    assert found == set(itertools.product(*choices))
    assert len(results) == outcomes(t, a).count == len(found)


@given(shapes(), st.data())
@fast
def test_definition_5_a_pick_acts_as_a_transformer(shape: Index, data: st.DataObject) -> None:
    """It is the transformer whose p2 it is, into what it takes of the shape."""
    p = data.draw(picks(len(shape)))
    nothing = np.empty(0, np.int64)
    t = XTransformer(shape, p(shape), nothing, Pick(), p, Pick.identity(len(p)))
    assert all(t(i) == p(i) for i in indices(shape))
    assert (t.verdict().picks is not None) == bool(len(p))


def test_definition_5_no_pick_acts_as_every_transformer() -> None:
    """Of an index of one coordinate a pick takes that, some number of times."""
    reverse = XTransformer.from_provision(np.array([[1], [0]]), (2,))
    targets = [reverse(i) for i in indices((2,))]
    assert targets not in ([Pick(p)(i) for i in indices((2,))] for p in ((), (0,), (0, 0)))
    assert isinstance(disjoint_representation(reverse), Impossibility)


def test_definition_5_of_another_rank() -> None:
    """No index is one of both: nothing is determined."""
    t = XTransformer.from_provision(np.array([[1], [0]]), (2,))
    (b,) = outcomes(t, np.array([[1, 2]]))
    assert b.tolist() == [None, None]


@given(x_transformers())
@fast
def test_definition_6(t: XTransformer) -> None:
    """T(I) = tau(E[I]), and E has the shape S_1 + l(S_2)."""
    e = t.provision()
    assert e.shape == (*t.shape, len(t.data_shape))
    assert all(t(i) == index_of(e[i]) for i in indices(t.shape))
    assert XTransformer.from_provision(e, t.data_shape) == t


@given(x_transformers())
@fast
def test_definition_7(t: XTransformer) -> None:
    """A result is one of T on A, and X elsewhere; the last update wins in what is run."""
    a, x = numbered(t.shape), -numbered(t.data_shape)
    results = outcomes(t, a, x)
    image = {t(i) for i in indices(t.shape)}
    for b in results:
        assert b in outcomes(t, a)
        assert b in results
        assert all(b[k] == x[k] for k in indices(t.data_shape) if k not in image)
    assert len({b.tobytes() for b in results}) == results.count
    assert Scattering(x, a, t).run() in results


@given(x_transformers())
@fast
def test_definition_8(t: XTransformer) -> None:
    """p1 + p2 is the identity, both are smooth, and T(I) = T'(p1(I)) + p2(I)."""
    verdict = t.verdict()
    if verdict.sliceability is Sliceability.SLICEABLE:
        assert verdict.picks is not None
        p1, p2, _ = verdict.picks
        form = t.represented(*verdict.picks)
        assert form is not None
        assert p1.is_smooth
        assert p2.is_smooth
        assert len(p2)
        for i in indices(t.shape):
            assert p1(i) + p2(i) == i
            assert index_of(form.f[p1(i)]) + p2(i) == t(i)
    else:
        assert verdict.end_pick == Pick()


@given(x_transformers())
@fast
def test_definition_9(t: XTransformer) -> None:
    """T(I) = p(T'(p1(I)) + p2(I)), with picks that share nothing; sliceable is weakly so."""
    form = disjoint_representation(t)
    assert isinstance(form, Impossibility) == (t.verdict().picks is None)
    if isinstance(form, XTransformer):
        assert not form.p1.codomain & form.p2.codomain
        assert len(form.p2)
        for i in indices(t.shape):
            assert form.p(index_of(form.f[form.p1(i)]) + form.p2(i)) == t(i)


@given(x_transformers())
@fast
def test_definition_10_first(t: XTransformer) -> None:
    """T(I) = p(f(p1(I)) + p2(I)), whatever the representation."""
    for i in indices(t.shape):
        assert t.p(index_of(t.f[t.p1(i)]) + t.p2(i)) == t(i) == t.normal()(i)


@given(x_transformers())
@fast
def test_definition_10_second(t: XTransformer) -> None:
    """A disseminated slice is picked by p1, and T(C) is the slice at f's place in data."""
    form = disjoint_representation(t)
    if isinstance(form, Impossibility):
        return
    pieces = disseminated_slices(form)
    assert [i for piece in pieces for i in piece.source] == [
        i for members in picked_slices(t.shape, form.p1).values() for i in members
    ]
    for piece in pieces:
        assert piece.target == tuple(map(t, piece.source))
        assert {form.p1(i) for i in piece.source} == {piece.taken}
        place = index_of(form.f[piece.taken])
        for i, k in zip(piece.source, piece.target, strict=True):
            assert form.p.inverse()(k) == place + form.p2(i)
        if len(form.p2.codomain) == len(form.p2):
            assert is_embedded_slice(piece.target)


def test_definition_10_second_asks_for_disjoint_picks() -> None:
    both = XTransformer(
        (2,), (2, 2), np.array([[0], [1]]), Pick((0,)), Pick((0,)), Pick.identity(2)
    )
    with pytest.raises(ValueError, match="both take dim 0"):
        disseminated_slices(both)
    with pytest.raises(ValueError, match="p2 takes nothing"):
        disseminated_slices(XTransformer.from_provision(both.provision(), (2, 2)))
