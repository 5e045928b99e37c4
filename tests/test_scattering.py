"""The reference execution against the loop, and the conventions against ONNX Runtime."""

import itertools
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper

from onnx_scatterx.conventions.onnx import REDUCTIONS as ONNX_REDUCTIONS
from onnx_scatterx.conventions.onnx import scatter_elements, scatter_nd, tensor_scatter
from onnx_scatterx.picks import Pick
from onnx_scatterx.scattering import Reduction, Scattering, combine
from onnx_scatterx.transformer import XTransformer

Array = NDArray[Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]
REDUCTIONS = list(Reduction)
FLOATS = [0.0, -0.0, 1.0, -2.5, 6e4, np.nan, np.inf, -np.inf]
NUMBERS = [np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]
OTHERS = [np.float16, ml_dtypes.bfloat16, np.bool_, np.complex64]


def bits(array: Array) -> Array:
    """Every bit, but one NaN for all: which NaN an addition gives is the processor's choice."""
    own = np.array(array, order="C").reshape(-1)
    with np.errstate(invalid="ignore"):
        nan = own != own
    if nan.any():
        own[nan] = np.nan
    return own.view(np.uint8)


def assert_same(a: Array, b: Array) -> None:
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    np.testing.assert_array_equal(bits(a), bits(b))


def arrays(draw: Draw, shape: tuple[int, ...], dtype: Any) -> Array:
    """Numbers with the values that make trouble."""
    pool = FLOATS if np.dtype(dtype).kind in "fcV" else [0, 1, 2, 3, 100, 127]
    numbers = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=12))
    return np.resize(np.array(numbers), shape).astype(dtype)


@st.composite
def scatterings(draw: st.DrawFn) -> Scattering:
    """Small data and many updates, so that most collide."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    data_shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    seed = draw(st.integers(0, 2**32 - 1))
    sizes = np.array(data_shape, np.int64)
    random = np.random.default_rng(seed)
    e = random.integers(-sizes, sizes, (*shape, len(data_shape)))
    reduction = draw(st.sampled_from(REDUCTIONS))
    dtype = draw(st.sampled_from(NUMBERS + OTHERS))
    if dtype is np.complex64 and reduction not in (Reduction.NONE, Reduction.ADD, Reduction.MUL):
        dtype = np.float32
    data, updates = arrays(draw, data_shape, dtype), arrays(draw, shape, dtype)
    return Scattering(data, updates, XTransformer.from_provision(e, data_shape), reduction)


@given(scatterings())
@settings(deadline=None, max_examples=200)
def test_rounds_are_the_loop(s: Scattering) -> None:
    data, updates = s.data.copy(), s.updates.copy()
    output = s.run()
    assert_same(output, s.run_in_order())
    assert_same(s.data, data)
    assert_same(s.updates, updates)
    assert not np.shares_memory(output, s.data)
    assert output.flags.writeable


def test_b_1_of_definition_7() -> None:
    e_1 = np.array([[[0, i // 2, i % 2, j] for j in range(2)] for i in range(4)])
    a_1 = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])
    x_1 = np.zeros((2, 2, 2, 2), int)
    b_1 = Scattering(x_1, a_1, XTransformer.from_provision(e_1, x_1.shape)).run()
    assert b_1.tolist() == [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[0, 0], [0, 0]]] * 2]


def one_cell(data: Any, updates: Any, reduction: str) -> Array:
    """All updates meet one element, in order."""
    cell, news = np.asarray(data), np.asarray(updates)
    axes = Pick(), Pick(), Pick()
    t = XTransformer(news.shape, (), np.zeros(0, np.int64), *axes)
    return Scattering(cell, news, t, Reduction(reduction)).run()


def test_the_last_update_stays() -> None:
    assert one_cell(0, [3, 1, 2], "none") == 2


@pytest.mark.parametrize(
    ("dtype", "start", "reduction", "result"),
    [
        (np.int8, 100, "add", -112),
        (np.uint8, 100, "mul", 16),
        (np.float16, 2048, "add", 2048),
        (ml_dtypes.bfloat16, 256, "add", 256),
        (np.float32, 2048, "add", 2092),
    ],
)
def test_steps_wrap_and_round(dtype: Any, start: float, reduction: str, result: float) -> None:
    """The sum of 2048 and many ones stays 2048 in float16 if every step is rounded."""
    updates = {"add": [1] * 44, "mul": [100, 1]}[reduction]
    output = one_cell(np.array(start, dtype), np.array(updates, dtype), reduction)
    assert output.dtype == dtype
    assert float(output) == result


@pytest.mark.parametrize(
    ("reduction", "x", "u", "result"),
    [
        ("max", np.nan, 1.0, 1.0),
        ("max", 1.0, np.nan, np.nan),
        ("min", np.nan, 1.0, 1.0),
        ("min", 1.0, np.nan, np.nan),
        ("max", 0.0, -0.0, -0.0),
        ("max", -0.0, 0.0, 0.0),
        ("min", 0.0, -0.0, -0.0),
        ("min", -0.0, 0.0, 0.0),
        ("add", 0.0, -0.0, 0.0),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_nan_and_zeros(reduction: str, x: float, u: float, result: float, dtype: Any) -> None:
    old, new, expected = (np.array(number, dtype) for number in (x, u, result))
    assert_same(combine(Reduction(reduction), old, new), expected)


@pytest.mark.parametrize(
    ("reduction", "table"), [("add", "0111"), ("max", "0111"), ("mul", "0001"), ("min", "0001")]
)
def test_bools(reduction: str, table: str) -> None:
    pairs = itertools.product([False, True], repeat=2)
    results = [one_cell(x, [u], reduction) for x, u in pairs]
    assert "".join(str(int(r)) for r in results) == table
    assert all(r.dtype == np.bool_ for r in results)


@pytest.mark.parametrize("data_kind", ["U1", "O", "S1"])
@pytest.mark.parametrize("kind", ["U5", "O"])
def test_strings_are_not_cut(data_kind: str, kind: str) -> None:
    data, updates = np.array(["a", "b", "c"]), np.array(["long", "", "three"])
    t = XTransformer.from_provision(np.array([[2], [0], [0]]), (3,))
    s = Scattering(data.astype(data_kind), updates.astype(kind), t)
    middle = np.array("b").astype(data_kind)[()]
    assert s.run().tolist() == s.run_in_order().tolist() == ["three", middle, "long"]


def test_eight_dims() -> None:
    shape = (2, 1, 2, 1, 2, 1, 2, 2)
    e = np.moveaxis(np.indices(shape), 0, -1)[::-1]
    updates = np.arange(32).reshape(shape)
    s = Scattering(np.zeros(shape, int), updates, XTransformer.from_provision(e, shape))
    assert_same(s.run(), updates[::-1])
    assert_same(s.run_in_order(), updates[::-1])


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3, 1)])
def test_nothing_is_written(shape: tuple[int, ...]) -> None:
    e = np.zeros((*shape, 2), np.int64)
    data = np.array([[1, 2]])
    assert_same(
        Scattering(data, np.zeros(shape, int), XTransformer.from_provision(e, (1, 2))).run(), data
    )
    nowhere = Scattering(
        np.zeros((0, 2)), np.zeros(shape), XTransformer.from_provision(e, (0, 2)), Reduction.ADD
    )
    assert nowhere.run().shape == (0, 2)


def test_any_layout_of_memory() -> None:
    data = np.arange(6.0).reshape(2, 3).T
    updates = np.broadcast_to(np.array(9.0), (2,))
    t = XTransformer.from_provision(np.array([[0, 1], [2, 0]]), (3, 2))
    assert Scattering(data, updates, t).run().tolist() == [[0, 9], [1, 4], [9, 5]]


@pytest.mark.parametrize(
    ("data", "updates", "reduction", "because"),
    [
        (np.zeros((4, 1)), np.zeros(2), "none", r"data has shape \(4, 1\)"),
        (np.zeros(4), np.zeros(3), "none", r"updates has shape \(3,\)"),
        (np.zeros(4), np.zeros(2, np.float32), "none", "they must agree"),
        (np.zeros(4), np.zeros(2), "mean", "'mean' is not a valid Reduction"),
        (np.zeros(4, str), np.zeros(2, str), "add", "no meaning"),
        (np.zeros(4, complex), np.zeros(2, complex), "max", "no meaning"),
        (np.zeros(4, "M8[s]"), np.zeros(2, "M8[s]"), "max", "no meaning"),
        (np.zeros(3), np.zeros(2), "none", r"update \(1,\) is out of bounds"),
    ],
)
def test_what_is_no_scattering(data: Array, updates: Array, reduction: Any, because: str) -> None:
    t = XTransformer.from_provision(np.array([[0], [3]]), data.shape[:1])
    with pytest.raises(ValueError, match=because):
        Scattering(data, updates, t, reduction)


# ONNX Runtime as the judge of the conventions.


@cache
def session(op: str, opset: int, kinds: tuple[tuple[Any, int], ...], attributes: Any) -> Any:
    names = ["data", "second", "third"][: len(kinds)]
    types = [
        helper.make_tensor_value_info(
            name,
            TensorProto.STRING if dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(dtype),
            [None] * rank,
        )
        for name, (dtype, rank) in zip([*names, "output"], [*kinds, kinds[0]], strict=True)
    ]
    node = helper.make_node(op, names, ["output"], **dict(attributes))
    model = helper.make_model(
        helper.make_graph([node], "one_node", types[:-1], types[-1:]),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=10,
    )
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def by_runtime(op: str, opset: int, inputs: list[Array], **attributes: Any) -> Array | None:
    """The output, or None if ONNX Runtime refuses."""
    kinds = tuple((array.dtype, array.ndim) for array in inputs)
    names = ["data", "second", "third"]
    try:
        run = session(op, opset, kinds, tuple(sorted(attributes.items())))
        (output,) = run.run(None, dict(zip(names, inputs, strict=False)))
    except RUNTIME_ERRORS:
        return None
    return np.asarray(output)


_STATE = ort.capi.onnxruntime_pybind11_state
RUNTIME_ERRORS = (_STATE.Fail, _STATE.InvalidArgument, _STATE.InvalidGraph, _STATE.RuntimeException)


def by_theory(scattering: Callable[[], Scattering]) -> Array | None:
    try:
        return scattering().run()
    except ValueError:
        return None


def agree(seen: Counter[bool], expected: Array | None, output: Array | None) -> None:
    seen[expected is not None] += 1
    assert (output is None) == (expected is None)
    if output is not None and expected is not None:
        assert_same(output, expected)


def integers(draw: Draw, shape: tuple[int, ...], sizes: NDArray[np.int64]) -> Array:
    """Indices in bounds of the sizes, which broadcast to the shape; now and then, just outside."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    indices = random.integers(-sizes, np.maximum(sizes, 1), shape)
    if indices.size and draw(st.integers(0, 3)) == 0:
        at = int(random.integers(indices.size))
        indices.flat[at] = np.broadcast_to(sizes, shape).flat[at] * draw(st.sampled_from([1, -1]))
    return indices


def reduced(dtype: Any) -> st.SearchStrategy[str]:
    """The reductions that ONNX Runtime has for a type."""
    some = {np.bool_: ["none", "add", "mul"], np.float16: ["none"]}
    return st.sampled_from(some.get(dtype, [str(r) for r in ONNX_REDUCTIONS]))


def test_scatter_nd_is_that_of_onnx_runtime() -> None:
    seen: Counter[bool] = Counter()

    @given(st.data())
    @settings(deadline=None, max_examples=120)
    def compare(example: st.DataObject) -> None:
        draw = example.draw
        data_shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
        k = draw(st.integers(0, len(data_shape)))
        m_shape = tuple(draw(st.lists(st.integers(0, 4), max_size=2)))
        indices = integers(draw, (*m_shape, k), np.array(data_shape[:k], np.int64))
        dtype = draw(st.sampled_from([*NUMBERS, np.float16, np.bool_]))
        data = arrays(draw, data_shape, dtype)
        updates = arrays(draw, m_shape + data_shape[k:], dtype)
        reduction = draw(reduced(dtype))
        expected = by_runtime("ScatterND", 18, [data, indices, updates], reduction=reduction)
        agree(seen, expected, by_theory(lambda: scatter_nd(data, indices, updates, reduction)))

    compare()
    assert seen[True] >= 60


def test_scatter_elements_is_that_of_onnx_runtime() -> None:
    seen: Counter[bool] = Counter()

    @given(st.data())
    @settings(deadline=None, max_examples=120)
    def compare(example: st.DataObject) -> None:
        draw = example.draw
        data_shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
        axis = draw(st.integers(-len(data_shape), len(data_shape) - 1))
        slack = 1 if draw(st.integers(0, 5)) == 0 else 0
        shape = tuple(
            draw(st.integers(0, 5 if d == axis % len(data_shape) else size + slack))
            for d, size in enumerate(data_shape)
        )
        size = np.array(data_shape[axis])
        indices = integers(draw, shape, size).astype(draw(st.sampled_from([np.int32, np.int64])))
        dtype = draw(st.sampled_from([*NUMBERS, np.float16, np.bool_]))
        data, updates = arrays(draw, data_shape, dtype), arrays(draw, shape, dtype)
        half = st.sampled_from(["none", "min", "max"])
        reduction = draw(half if dtype is np.float16 else reduced(dtype))
        expected = by_runtime(
            "ScatterElements", 18, [data, indices, updates], axis=axis, reduction=reduction
        )
        agree(
            seen,
            expected,
            by_theory(lambda: scatter_elements(data, indices, updates, axis, reduction)),
        )

    compare()
    assert seen[True] >= 60


def test_tensor_scatter_is_that_of_onnx_runtime() -> None:
    seen: Counter[bool] = Counter()

    @given(st.data())
    @settings(deadline=None, max_examples=120)
    def compare(example: st.DataObject) -> None:
        draw = example.draw
        cache_shape = tuple(draw(st.lists(st.integers(0, 4), min_size=2, max_size=4)))
        rank = len(cache_shape)
        axis = draw(st.sampled_from([a for a in range(-rank, rank) if a % rank]))
        size = cache_shape[axis]
        length = draw(st.integers(0, size + (draw(st.integers(0, 9)) == 0)))
        shape = tuple(length if d == axis % rank else n for d, n in enumerate(cache_shape))
        mode = draw(st.sampled_from(["linear", "circular"]))
        dtype = draw(st.sampled_from([*NUMBERS, np.float16, np.bool_]))
        past, update = arrays(draw, cache_shape, dtype), arrays(draw, shape, dtype)
        starts = None
        if draw(st.booleans()):
            last = max(size - length, 0) if mode == "linear" else 3 * size + 1
            start = st.integers(0, last) | st.integers(0, last) | st.integers(-1, size + 1)
            batch = st.lists(start, min_size=shape[0], max_size=shape[0])
            starts = np.array(draw(batch), np.int64)
        inputs = [past, update] if starts is None else [past, update, starts]
        expected = by_runtime("TensorScatter", 24, inputs, axis=axis, mode=mode)
        agree(seen, expected, by_theory(lambda: tensor_scatter(past, update, starts, axis, mode)))

    compare()
    assert seen[True] >= 60


def of(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def at(*shape: int) -> NDArray[np.int64]:
    return np.zeros(shape, np.int64)


@pytest.mark.parametrize(
    ("inputs", "because"),
    [
        ([of(2), at(), of()], "rank 1 or more"),
        ([of(2), at(1, 2), of(1)], "names 2 axes of data"),
        ([of(2, 3), at(1, 1), of(1, 2)], r"updates must have shape \(1, 3\)"),
        ([of(2, 3), at(1, 1), of(1, 1)], r"updates must have shape \(1, 3\)"),
        ([of(2, 0), at(1, 1) + 2, of(1, 0)], r"indices\[..., 0\] is 2 at \(0,\)"),
        ([of(0, 0), at(1, 1), of(1, 0)], r"indices\[..., 0\] is 0 at \(0,\)"),
        ([of(2, 3), at(1, 2) - 3, of(1)], r"must be in \[-2, 1\]"),
    ],
)
def test_scatter_nd_refuses_what_onnx_runtime_refuses(inputs: list[Array], because: str) -> None:
    assert by_runtime("ScatterND", 18, inputs) is None
    with pytest.raises(ValueError, match=because):
        scatter_nd(inputs[0], inputs[1], inputs[2])


@pytest.mark.parametrize(
    ("inputs", "axis", "because"),
    [
        ([of(2, 3), at(3), of(3)], 0, "indices must have the rank of data"),
        ([of(2, 3), at(1, 3), of(2, 3)], 0, "updates must have the shape of indices"),
        ([of(2, 3), at(1, 4), of(1, 4)], 0, "dim 1 of indices is 4"),
        ([of(2, 3), at(0, 4), of(0, 4)], 0, "dim 1 of indices is 4"),
        ([of(2, 3), at(1, 3), of(1, 3)], 2, r"axis 2 is none of 0\.\.1"),
        ([of(2, 3), at(1, 3), of(1, 3)], -3, r"axis -3 is none of 0\.\.1"),
        ([of(2, 3), at(1, 3) + 2, of(1, 3)], 0, r"update \(0, 0\) is out of bounds"),
        ([of(0), at(1), of(1)], 0, "out of bounds"),
    ],
)
def test_scatter_elements_refuses_what_onnx_runtime_refuses(
    inputs: list[Array], axis: int, because: str
) -> None:
    assert by_runtime("ScatterElements", 18, inputs, axis=axis) is None
    with pytest.raises(ValueError, match=because):
        scatter_elements(inputs[0], inputs[1], inputs[2], axis)


@pytest.mark.parametrize(
    ("inputs", "attributes", "because"),
    [
        ([of(2, 4, 2), of(1, 4, 2)], {"axis": 0}, r"axis 0 is none of 1\.\.2"),
        ([of(2, 4, 2), of(1, 4, 2)], {"axis": 3}, r"axis 3 is none"),
        ([of(4), of(2)], {}, r"axis -2 is none"),
        ([of(4, 3), of(2, 3)], {}, r"axis -2 is none of 1\.\.1"),
        ([of(2, 4, 2), of(2, 2)], {}, "rank of past_cache"),
        ([of(2, 4, 2), of(2, 2, 1)], {}, "dim 2 of update is 1"),
        ([of(2, 4, 2), of(1, 2, 2)], {}, "dim 0 of update is 1"),
        ([of(2, 4, 2), of(2, 5, 2)], {"mode": "circular"}, "dim 1 of update is 5"),
        ([of(2, 4, 2), of(2, 2, 2), at(1)], {}, r"write_indices must have shape \(2,\)"),
        ([of(2, 4, 2), of(2, 2, 2), at(2) + 3], {}, r"write_indices is 3 .* \[0, 2\]"),
        ([of(2, 4, 0), of(2, 2, 0), at(2) + 3], {}, r"write_indices is 3 .* \[0, 2\]"),
        ([of(2, 4, 2), of(2, 2, 2), at(2) - 1], {"mode": "circular"}, "write_indices is -1"),
        ([of(2, 4, 2), of(2, 2, 2)], {"mode": "ring"}, "not 'ring'"),
    ],
)
def test_tensor_scatter_refuses_what_onnx_runtime_refuses(
    inputs: list[Array], attributes: dict[str, Any], because: str
) -> None:
    assert by_runtime("TensorScatter", 24, inputs, **attributes) is None
    with pytest.raises(ValueError, match=because):
        tensor_scatter(inputs[0], inputs[1], inputs[2] if inputs[2:] else None, **attributes)


def test_a_ring_that_is_entered_far_out() -> None:
    starts = np.array([np.iinfo(np.int64).max])
    output = tensor_scatter(of(1, 5), of(1, 2) + 1, starts, 1, "circular").run()
    assert output.tolist() == [[0, 0, 1, 1, 0]]  # 2**63 - 1 is 2 modulo 5


def test_strings_in_onnx_runtime() -> None:
    data, updates = np.array(["a", "b"], object), np.array(["long"], object)
    expected = by_runtime("ScatterND", 18, [data, np.array([[1]]), updates])
    assert expected is not None
    assert scatter_nd(data, np.array([[1]]), updates).run().tolist() == expected.tolist()


def test_normal_forms_of_the_conventions() -> None:
    """An expanded index shrinks to what it depends on; a ring stays one number for each write."""
    rows = scatter_elements(of(5, 3), np.broadcast_to(np.array([[4], [0]]), (2, 3)), of(2, 3))
    n = rows.transformer.normal()
    assert (n.f.tolist(), n.p1, n.p2, n.p) == ([[4], [0]], Pick((0,)), Pick((1,)), Pick((0, 1)))
    assert rows.transformer == scatter_nd(of(5, 3), np.array([[4], [0]]), of(2, 3)).transformer
    ring = tensor_scatter(of(2, 3, 4), of(2, 2, 4), np.array([2, 1]), mode="circular")
    n = ring.transformer.normal()
    assert (n.p1, n.p2, n.p) == (Pick((0, 1)), Pick((0, 2)), Pick((1, 0, 2)))
    assert n.f.tolist() == [[[2], [0]], [[1], [2]]]
