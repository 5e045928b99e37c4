"""Where the paper errs: what it prints fails, and what docs/theory/errata.md puts there holds.

The tests carry the numbers of docs/theory/errata.md. The algorithm is run as printed, from
listing.txt.
"""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from numpy.typing import NDArray

from onnx_scatterx.theory import Pick, Scattering, XTransformer, outcomes
from onnx_scatterx.theory.algorithm import provision_x_transformer, scatter_x, tensorflow_scatter
from onnx_scatterx.theory.conventions.onnx import tensor_scatter
from onnx_scatterx.theory.picks import indices, is_embedded_slice, picked_slices
from onnx_scatterx.theory.theorem import Impossibility, disjoint_representation, disseminated_slices
from tests.helpers.examples import examples
from tests.theory.in_onnxruntime import by_runtime
from tests.theory.paper.draws import Index, numbered, x_transformers
from tests.theory.paper.examples import E_2, E_3

Array = NDArray[Any]
PAGE = (Path(__file__).parents[3] / "docs" / "theory" / "errata.md").read_text(encoding="utf-8")
PRINTED: dict[str, Callable[..., Any]] = {}
exec(Path(__file__).with_name("listing.txt").read_text(encoding="utf-8"), PRINTED)
NUMPY_WRAPS = int(np.__version__.split(".")[0]) < 2


def int16(*numbers: int) -> Array:
    return np.array(numbers, np.int16)


def test_every_entry_has_a_test_and_every_test_an_entry() -> None:
    printed = re.findall(r"^### (\d+)\. ", PAGE, re.M)
    tested = {n for name in globals() for n in re.findall(r"^test_(\d+)_", name)}
    assert printed == [str(n + 1) for n in range(len(printed))]
    assert set(printed) == tested


def test_the_listing_runs_where_it_is_right() -> None:
    """One row of indices of depth one, as in TensorFlow's first example."""
    tensor, where, updates = np.arange(8), np.array([[4], [3], [1], [7]]), np.array([9, 10, 11, 12])
    expected = tensorflow_scatter(tensor, where, updates)
    PRINTED["tensorflowScatter"](tensor, where, updates)
    assert tensor.tolist() == expected.tolist() == [0, 11, 2, 10, 9, 5, 6, 12]


def test_1_identity_pick_of_rank_n_to_m() -> None:
    """As printed its domain begins at n, and no pick's does."""
    domain = range(2, 4)
    as_printed = {j: j for j in domain}
    assert set(as_printed) != set(range(len(as_printed)))
    assert all(Pick.identity(2, 4)[j - 2] == as_printed[j] for j in domain)


def test_2_negative_picks() -> None:
    """What -1 takes depends on the length of the index, so C(p) does not say it."""
    scatter_as_printed = PRINTED["scatterX"]
    row, f = np.array([[1, 2, 3]]), np.array([[1]])
    output = scatter_as_printed(
        np.zeros((2, 3), int), row, (2, 3), f, int16(0), int16(-1), int16(0, 1)
    )
    assert output.tolist() == [[0, 0, 0], [1, 2, 3]]  # p1 and p2 = [-1] are apart
    output = scatter_as_printed(
        np.zeros((2, 3), int), row[0, :1], (2, 3), f, int16(0), int16(-1), int16(0, 1)
    )
    assert output.tolist() == [[0, 0, 0], [1, 0, 0]]  # the same picks take the same dim
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        scatter_as_printed(output, row, (2, 3), f, int16(0), int16(-3), int16(0, 1))
    with pytest.raises(ValueError, match="from 0 on"):
        Pick((-1,))


def test_3_the_image_is_no_shape() -> None:
    """I_{S_B} = T(I_{S_1}) cannot be: a diagonal is the index set of no shape."""
    t = XTransformer.from_provision(np.array([[0, 0], [1, 1]]), (2, 2))
    image = {t(i) for i in indices(t.shape)}
    shapes = itertools.product(range(4), repeat=2)
    assert all(set(indices(shape)) != image for shape in shapes)
    (b,) = outcomes(t, np.array([5, 6]))
    assert b.tolist() == [[5, None], [None, 6]]


def test_3_j_must_be_an_index_of_a() -> None:
    """In T^-1(T(I)) there may be some that A has not; they are no choice."""
    t = XTransformer.from_provision(np.array([[0], [0]]), (1,))
    a = np.array([5])
    assert t((1,)) == t((0,))
    assert (1,) not in indices(a.shape)
    assert [b.tolist() for b in outcomes(t, a)] == [[5]]


def test_4_the_restriction() -> None:
    """B[T(J)] = X[J] for J of data and not of A; right is B[K] = X[K] off the image."""
    a, x = np.array([1, 2]), np.array([10, 20, 30, 40])
    # T takes more indices than A has, else the condition speaks of no J at all.
    t = XTransformer.from_provision(np.array([[2], [0], [3], [1]]), (4,))
    j_of_the_condition = [j for j in indices(x.shape) if j not in indices(a.shape)]
    assert j_of_the_condition == [(2,), (3,)]
    (b,) = outcomes(t, a, x)
    assert b.tolist() == [2, 20, 1, 40]
    assert all(b[k] == x[k] for k in [(1,), (3,)])  # off T's image of A
    assert all(b[t(j)] != x[j] for j in j_of_the_condition)  # would be x shuffled
    # And where T sends such a J onto a target, no B is left at all.
    t = XTransformer.from_provision(np.array([[2], [0], [2], [1]]), (4,))
    candidates = outcomes(t, a)
    assert a[0] != x[2]
    assert not any(b[2] == x[2] for b in candidates)


@given(x_transformers())
@examples(60)
def test_4_the_restriction_as_it_must_be(t: XTransformer) -> None:
    """Then section 5.1 follows, and two results differ at most where updates collide."""
    a, x = numbered(t.shape), -numbered(t.data_shape)
    image = {t(i) for i in indices(t.shape)}
    collide = {t(group[0]) for group in t.collisions()}
    results = list(outcomes(t, a, x))
    for b in results:
        assert all((b[k] == x[k]) == (k not in image) for k in indices(t.data_shape))
        assert {k for k in indices(t.data_shape) if b[k] != results[0][k]} <= collide


def test_5_pytorch_s_transformer_goes_to_self() -> None:
    """T_scatter: I_{S_1} -> I_{S_1} would keep index values below the shape of index."""
    index, own = np.array([[4, 0, 2]]), (5, 3)
    t = XTransformer(index.shape, own, index[..., None], Pick((0, 1)), Pick((1,)), Pick.identity(2))
    targets = [t(i) for i in indices(index.shape)]
    assert targets == [(4, 0), (0, 1), (2, 2)]
    assert not set(targets) <= set(indices(index.shape))
    assert set(targets) <= set(indices(own))
    # T_index alone has targets of one coordinate: off its image says nothing of self.
    inner = XTransformer.from_provision(index[..., None], (5,))
    assert len(inner((0, 0))) == 1 != len(own)


@given(x_transformers())
@examples(60)
def test_6_an_empty_p2_slices_everything(t: XTransformer) -> None:
    dims, axes = Pick.identity(len(t.shape)), Pick.identity(len(t.data_shape))
    form = t.represented(dims, Pick(), axes)
    assert form is not None
    assert all(form(i) == t(i) for i in indices(t.shape))
    assert not form.p1.codomain & form.p2.codomain


def test_6_a_p_that_drops_what_p2_took_slices_everything() -> None:
    """The picks are disjoint and p2 is not empty, yet no slice moves."""
    f = np.array([[2], [0], [1]])
    e = provision_x_transformer((3, 2), (3,), f, Pick((0,)), Pick((1,)), Pick((0,)))
    assert e.tolist() == [[[2], [2]], [[0], [0]], [[1], [1]]]
    assert isinstance(disjoint_representation(XTransformer.from_provision(e, (3,))), Impossibility)


def test_7_theorem_1_is_no_equivalence() -> None:
    """E_3 is not sliceable, though it has a representation with disjoint picks."""
    t = XTransformer.from_provision(E_3, (4, 2, 2, 2))
    assert t.verdict().end_pick == Pick()
    assert isinstance(disjoint_representation(t), XTransformer)
    # Corollary 1 falls with a p2 that must take something: some have only an empty one.
    (i,) = np.indices((3,))
    reversed_ = XTransformer.from_provision(2 - i[:, None], (3,))
    assert isinstance(disjoint_representation(reversed_), Impossibility)


def test_8_no_transformer_sends_every_i_to_every_j() -> None:
    """``for any I and J, J = p(...)``: with two elements in data, none does."""
    t = XTransformer.from_provision(np.array([[0], [1]]), (2,))
    every = indices(t.data_shape)
    assert not any(all(t(i) == j for j in every) for i in indices(t.shape))


def test_9_a_disseminated_slice_is_picked_by_p1() -> None:
    """What p2 picks is scattered by f and is no slice of data; what p1 picks is one."""
    t = XTransformer.from_provision(E_2, (2, 2, 2, 2))
    form = disjoint_representation(t)
    assert isinstance(form, XTransformer)
    by_p2 = picked_slices(t.shape, form.p2)
    assert not any(is_embedded_slice([t(i) for i in c]) for c in by_p2.values())
    assert all(is_embedded_slice(piece.target) for piece in disseminated_slices(form))
    # I_C is a set of indices, and I_S / p a set of sets: I_C lies in a member.
    c = set(by_p2[0, 0])
    assert not c <= set(by_p2.values())


def wrong_places(tensor: Array, where: Array, updates: Array) -> Array | str:
    try:
        PRINTED["tensorflowScatter"](tensor, where, updates)
    except Exception as error:  # the listing raises this very class
        return str(error)
    return tensor


def test_10_the_end_pick_of_tensorflow_scatter() -> None:
    """It takes dims by the depth of indices, where their number counts."""
    for outer, k in itertools.product([(), (1,), (2,), (2, 2), (1, 2, 2)], range(3)):
        tensor = np.zeros((3, 4), int)
        where = np.arange(int(np.prod(outer)) * k).reshape(*outer, k) % 3
        updates = numbered((*outer, *tensor.shape[k:]))
        expected = tensorflow_scatter(tensor, where, updates)
        printed = wrong_places(tensor.copy(), where, updates)
        if updates.ndim and k in (len(outer), tensor.ndim):
            assert not isinstance(printed, str)
            assert printed.tolist() == expected.tolist()
        else:
            assert isinstance(printed, str) or printed.tolist() != expected.tolist()
    where = np.array([[[2], [0]]])
    printed = wrong_places(np.zeros((4, 2), int), where, np.array([[[5, 6], [7, 8]]]))
    assert not isinstance(printed, str)
    assert printed.tolist() == [[0, 8], [0, 0], [6, 0], [0, 0]]  # 5 and 7 are lost
    assert wrong_places(np.zeros((2, 2, 2)), np.array([[1, 0]]), np.ones((1, 2))) == (
        "Argument Invalid!"
    )


def test_11_int16_overflows() -> None:
    tensor, where = np.zeros(50_000), np.array([[40_000]])
    assert np.flatnonzero(tensorflow_scatter(tensor, where, np.ones(1))) == [40_000]
    if NUMPY_WRAPS:
        PRINTED["tensorflowScatter"](tensor, where, np.ones(1))
        assert np.flatnonzero(tensor) == [40_000 - 2**16 + 50_000]
    else:
        with pytest.raises(OverflowError):
            PRINTED["tensorflowScatter"](tensor, where, np.ones(1))


def test_12_rank_0_and_no_elements() -> None:
    """A tensor of rank 0 has one index, one with an extent of 0 none; both are raised about."""
    none = int16()
    f, both = np.array([1, 1]), int16(0, 1)
    with pytest.raises(Exception, match="traversalShape's length == 0!"):
        PRINTED["scatterX"](np.zeros((3, 2)), np.array(5.0), (3, 2), f, none, none, both)
    output = scatter_x(np.zeros((3, 2)), np.array(5.0), f, Pick(), Pick(), Pick((0, 1)))
    assert output.tolist() == [[0, 0], [0, 5], [0, 0]]
    # Said of the first extent alone, and of the shape's length, which is not 0.
    tensor = np.ones((3, 0))
    with pytest.raises(Exception, match="length == 0!"):
        PRINTED["tensorflowScatter"](tensor, np.zeros((0, 1), int), np.zeros((0, 0)))
    PRINTED["tensorflowScatter"](tensor, np.zeros((1, 1), int), np.zeros((1, 0)))
    assert tensorflow_scatter(tensor, np.zeros((0, 1), int), np.zeros((0, 0))).shape == (3, 0)


def test_13_p1_is_never_checked() -> None:
    """The type of p0 is asked twice; the paper's p0 and p1 are p1 and p2 elsewhere."""
    row, f = np.array([[1, 2, 3]]), np.array([[1]])

    def run(p0: Array, p1: Array, p: Array) -> Any:
        return PRINTED["scatterX"](np.zeros((2, 3), int), row, (2, 3), f, p0, p1, p)

    for place in range(3):
        picks = [int16(0), int16(1), int16(0, 1)]
        picks[place] = picks[place].astype(np.int64)
        if place == 1:
            assert run(*picks).tolist() == [[0, 0, 0], [1, 2, 3]]
        else:
            with pytest.raises(Exception, match="Data type error!"):
                run(*picks)
    with pytest.raises(Exception, match="ndim does not equal 1!"):
        run(int16(0), int16(1)[None], int16(0, 1))
    with pytest.raises(IndexError, match="only integers"):
        run(int16(0), np.array([1.0]), int16(0, 1))
    with pytest.raises(TypeError):
        Pick(np.array([1.0]))


def test_14_the_indices_are_not_checked() -> None:
    """Halves are cut off, and an index out of bounds leaves a tensor half written."""
    tensor = np.zeros(4)
    PRINTED["tensorflowScatter"](tensor, np.array([[2.7]]), np.array([5.0]))
    assert tensor.tolist() == [0, 0, 5, 0]
    with pytest.raises(IndexError):
        PRINTED["tensorflowScatter"](tensor, np.array([[0], [7]]), np.array([6.0, 7.0]))
    assert tensor.tolist() == [6, 0, 5, 0]
    with pytest.raises(ValueError, match="must hold integers"):
        XTransformer.from_provision(np.array([[2.7]]), (4,))
    t = XTransformer.from_provision(np.array([[0], [7]]), (4,))
    with pytest.raises(ValueError, match=r"update \(1,\) is out of bounds"):
        Scattering(tensor, np.array([8.0, 9.0]), t)
    assert tensor.tolist() == [6, 0, 5, 0]


def test_15_the_names_are_swapped_and_nothing_is_returned() -> None:
    """``src`` is written to and ``X`` read: in Definition 7 A is the source, X the target."""
    src, x = np.zeros(3, int), np.array([7])
    assert PRINTED["scatter"](src, x, np.array([[1]])) is src
    assert (src.tolist(), x.tolist()) == ([0, 7, 0], [7])
    assert PRINTED["tensorflowScatter"](src, np.array([[2]]), x) is None
    assert src.tolist() == [0, 7, 7]
    assert tensorflow_scatter(src, np.array([[0]]), x).tolist() == [7, 7, 7]
    assert src.tolist() == [0, 7, 7]


def tensor_scatter_as_printed(
    past_cache: Array, update: Array, write_indices: Array, axis: int, mode: str
) -> Array:
    """The pseudocode of the operator's page, line by line."""
    present_cache = past_cache.copy()
    max_sequence_length, sequence_length = past_cache.shape[axis], update.shape[axis]
    for prefix_idx in np.ndindex(past_cache.shape[:axis]):
        batch_idx = prefix_idx[0]
        for sequence_idx in range(sequence_length):
            cache_idx = (*prefix_idx, write_indices[batch_idx] + sequence_idx)
            if mode == "circular":
                cache_idx = tuple(np.mod(np.asarray(cache_idx), max_sequence_length))
            update_idx = (*prefix_idx, sequence_idx)
            present_cache[cache_idx] = update[update_idx]
    return present_cache


@pytest.mark.parametrize(
    ("shape", "right"),
    [((2, 2, 3), True), ((3, 3, 1), True), ((3, 2, 1), False), ((2, 3, 2, 1), False)],
)
def test_16_tensor_scatter_wraps_its_batch(shape: Index, right: bool) -> None:
    """Right only where every prefix dim is no longer than the sequence."""
    cache = numbered(shape)
    update = -numbered((*shape[:-2], 2, shape[-1]))
    starts = np.arange(1, shape[0] + 1)
    output = tensor_scatter(cache, update, starts, mode="circular").run()
    kernel = by_runtime("TensorScatter", 24, [cache, update, starts], mode="circular")
    assert kernel is not None
    assert output.tolist() == kernel.tolist()
    printed = tensor_scatter_as_printed(cache, update, starts, -2, "circular")
    assert (printed.tolist() == output.tolist()) == right


def test_16_a_sample_that_the_pseudocode_loses() -> None:
    printed = tensor_scatter_as_printed(
        np.zeros((3, 2)), np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 0]), 1, "circular"
    )
    assert printed.tolist() == [[3, 0], [2, 0], [0, 0]]


def test_17_gather_elements_reads_j() -> None:
    """``data[indices[i, j, k], i, k]`` for axis 0 takes i where j belongs."""
    data, where = numbered((3, 4, 2)), np.array([[[2, 0], [1, 1], [0, 2], [2, 2]]])
    expected = np.take_along_axis(data, where, 0)
    kernel = by_runtime("GatherElements", 13, [data, where], axis=0)
    assert kernel is not None
    assert expected.tolist() == kernel.tolist()
    printed = [[[int(data[where[0, j, k], 0, k]) for k in range(2)] for j in range(4)]]
    mended = [[[int(data[where[0, j, k], j, k]) for k in range(2)] for j in range(4)]]
    assert mended == expected.tolist() != printed


def test_18_gather_keeps_the_dims_before_its_axis_first() -> None:
    """``output[m, i, n, k] = data[i, indices[m, n], k]`` is no framework's Gather on axis 1."""
    data, where = numbered((2, 3, 4)), np.array([[2, 0], [1, 1], [0, 2]])
    kernel = by_runtime("Gather", 13, [data, where], axis=1)
    assert kernel is not None
    assert kernel.tolist() == np.take(data, where, 1).tolist()
    for i, m, n, k in np.ndindex(2, 3, 2, 4):
        assert kernel[i, m, n, k] == data[i, where[m, n], k]
    assert kernel.shape == (2, 3, 2, 4) != (3, 2, 2, 4)


def test_19_gather_has_no_batch_dims_in_onnx() -> None:
    schemas = {op: onnx.defs.get_schema(op).attributes for op in ("Gather", "GatherND")}
    assert set(schemas["Gather"]) == {"axis"}
    assert set(schemas["GatherND"]) == {"batch_dims"}
