"""The native ScatterX operator in ONNX Runtime, held against the equation in NumPy.

output = data;  for I in row-major order of updates:
    J = p(f[p1(I)] ++ p2(I));  output[J] = reduce(output[J], updates[I])
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from onnx_scatterx.library import library_path
from tests.native_support import since

Array = NDArray[Any]
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float32", "float64", "float16", "bfloat16"]
OPAQUE = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
PACKED = ["int4", "uint4", "float4_e2m1fn"]
REDUCTIONS = ["none", "add", "mul", "min", "max"]


@dataclass(frozen=True)
class Scatter:
    """The attributes of a node, and the shapes of data and updates."""

    p1: tuple[int, ...]
    p2: tuple[int, ...]
    p: tuple[int, ...]
    data: tuple[int, ...]
    updates: tuple[int, ...]
    reduction: str = "none"

    @property
    def columns(self) -> int:
        return len(self.data) - len(self.p2)

    @property
    def table(self) -> tuple[int, ...]:
        """The shape of f."""
        return (*(self.updates[dim] for dim in self.p1), self.columns)

    def draw_table(self, rng: np.random.Generator) -> Array:
        """Numbers in bounds, negative ones among them."""
        sizes = [self.data[self.p.index(column)] for column in range(self.columns)]
        columns = [rng.integers(-size, size, self.table[:-1]) for size in sizes]
        return np.stack(columns, axis=-1) if columns else np.zeros(self.table, np.int64)


CASES = {
    "scatter_nd": Scatter((0,), (1,), (0, 1), (5, 4), (3, 4)),
    "scatter_nd_points": Scatter((0, 1), (), (0, 1, 2), (3, 4, 2), (2, 3)),
    "scatter_elements_axis_0": Scatter((0, 1), (1,), (0, 1), (5, 4), (6, 3)),
    "scatter_elements_axis_1": Scatter((0, 1), (0,), (1, 0), (5, 4), (3, 6)),
    "rows_on_the_middle_axis": Scatter((1,), (0, 2), (1, 0, 2), (2, 5, 4), (2, 3, 4)),
    "rows_on_the_last_axis": Scatter((2,), (0, 1), (1, 2, 0), (2, 5, 4), (2, 5, 3)),
    "transposed": Scatter((1,), (2, 0), (2, 0, 1), (2, 5, 4), (2, 3, 4)),
    "repeated_dims": Scatter((0, 0), (1, 1), (2, 0, 1), (4, 5, 4), (3, 4)),
    "an_unpicked_dim": Scatter((0,), (), (0,), (3,), (2, 4)),
    "no_table": Scatter((), (1, 0), (0, 1), (4, 5), (5, 3)),
    "a_constant_place": Scatter((), (0,), (1, 0), (4, 5), (4,)),
    "a_scalar": Scatter((), (), (), (), ()),
    "a_scalar_hit_six_times": Scatter((), (), (), (), (2, 3)),
    "no_updates": Scatter((0,), (1,), (0, 1), (5, 4), (0, 4)),
    "no_data": Scatter((0,), (1,), (0, 1), (5, 0), (2, 0)),
    "eight_dims": Scatter(
        (0,), (1, 2, 3, 4, 5), (5, 0, 1, 2, 3, 4, 6, 7), (2,) * 8, (3, 2, 1, 2, 1, 2)
    ),
}
ROWS = CASES["scatter_nd"]


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


def reduce(reduction: str, x: Any, u: Any) -> Any:
    """One step; what is narrower than 32 bits and a float is rounded once."""
    if reduction == "none":
        return u
    if reduction == "min":
        return x if x < u else u
    if reduction == "max":
        return x if x > u else u
    if x.dtype == np.bool_:
        return x or u if reduction == "add" else x and u
    wide = np.float32 if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x.dtype
    a, b = x.astype(wide), u.astype(wide)
    with np.errstate(all="ignore"):
        return (a + b if reduction == "add" else a * b).astype(x.dtype)


def scatter(node: Scatter, data: Array, table: Array, updates: Array) -> Array:
    output = data.copy()
    for index in np.ndindex(updates.shape):
        row = table[tuple(index[dim] for dim in node.p1)]
        coordinates = [*row, *(index[dim] for dim in node.p2)]
        target = tuple(int(coordinates[i]) for i in node.p)
        output[target] = reduce(node.reduction, output[target], updates[index])
    return output


def make_node(node: Scatter, *names: str, unique: int = 0) -> onnx.NodeProto:
    proto = helper.make_node("ScatterX", names[:3], names[3:], domain="onnx_scatterx")
    for name in ("p1", "p2", "p"):
        values = helper.make_attribute(
            name, getattr(node, name), attr_type=onnx.AttributeProto.INTS
        )
        proto.attribute.append(values)
    proto.attribute.append(helper.make_attribute("reduction", node.reduction))
    proto.attribute.append(helper.make_attribute("unique", unique))
    return proto


def make_model(
    nodes: list[onnx.NodeProto],
    inputs: Mapping[str, tuple[int, Any]],
    outputs: dict[str, int],
    initializers: dict[str, Array] | None = None,
    opset: int = 17,
) -> bytes:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, *info) for name, info in inputs.items()],
        [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in (initializers or {}).items()],
    )
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("onnx_scatterx", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=8 if opset < 19 else 11)
    return bytes(model.SerializeToString())


def library() -> str:
    """Where the library is: in the installed package, or where a developer says."""
    return str(library_path())


def open_session(model: bytes, threads: int = 1) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.register_custom_ops_library(library())
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def one_node(node: Scatter, dtype: str, table: str = "int64", unique: int = 0) -> bytes:
    code = (
        TensorProto.STRING
        if dtype == "object"
        else helper.np_dtype_to_tensor_dtype(dtype_of(dtype))
    )
    return make_model(
        [make_node(node, "data", "f", "updates", "output", unique=unique)],
        {
            "data": (code, [None] * len(node.data)),
            "f": (helper.np_dtype_to_tensor_dtype(np.dtype(table)), [None] * len(node.table)),
            "updates": (code, [None] * len(node.updates)),
        },
        {"output": code},
    )


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype == "object":
        return rng.integers(0, 10**6, shape).astype(str).astype(object)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return np.asarray(rng.normal(size=shape) * 3).astype(dtype_of(dtype))


def bits(array: Array) -> Array:
    return array if array.dtype == object else np.asarray(array).reshape(-1).view(np.uint8)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("case", CASES)
def test_picks_and_reductions(case: str, reduction: str) -> None:
    node = Scatter(**{**vars(CASES[case]), "reduction": reduction})
    rng = np.random.default_rng(0)
    session = open_session(one_node(node, "float32"))
    for _ in range(3):
        data, updates = (draw(rng, shape, "float32") for shape in (node.data, node.updates))
        table = node.draw_table(rng)
        (output,) = session.run(None, {"data": data, "f": table, "updates": updates})
        assert output.shape == data.shape
        np.testing.assert_array_equal(bits(output), bits(scatter(node, data, table, updates)))


@pytest.mark.parametrize(
    ("dtype", "reduction"),
    [
        *product([*INTEGERS, "float32", "float64", "float16", "bool"], REDUCTIONS),
        ("object", "none"),
    ],
)
def test_dtypes(dtype: str, reduction: str) -> None:
    node = Scatter(**{**vars(CASES["scatter_elements_axis_0"]), "reduction": reduction})
    rng = np.random.default_rng(1)
    data, updates = (draw(rng, shape, dtype) for shape in (node.data, node.updates))
    table = node.draw_table(rng).astype(np.int32)
    session = open_session(one_node(node, dtype, "int32"))
    (output,) = session.run(None, {"data": data, "f": table, "updates": updates})
    np.testing.assert_array_equal(bits(output), bits(scatter(node, data, table, updates)))


@pytest.mark.parametrize(
    ("dtype", "reduction"),
    [*product(["bfloat16"], REDUCTIONS), *product([*OPAQUE, *PACKED], ["none"])],
)
@since(1, 20, "other types than NumPy's from Python")
@pytest.mark.parametrize("case", ["scatter_nd", "scatter_elements_axis_0", "a_constant_place"])
def test_dtypes_that_numpy_has_not(case: str, dtype: str, reduction: str) -> None:
    """Their tensors are constants of the model, and the output is read as bytes."""
    node = Scatter(**{**vars(CASES[case]), "reduction": reduction})
    rng = np.random.default_rng(2)
    data, updates = (draw(rng, shape, dtype) for shape in (node.data, node.updates))
    table = node.draw_table(rng)
    model = make_model(
        [make_node(node, "data", "f", "updates", "output")],
        {},
        {"output": helper.np_dtype_to_tensor_dtype(dtype_of(dtype))},
        {"data": data, "f": table, "updates": updates},
        opset=23,
    )
    (output,) = open_session(model).run_with_ort_values(None, {})
    wanted = numpy_helper.from_array(scatter(node, data, table, updates)).raw_data
    assert ctypes.string_at(output.data_ptr(), len(wanted)) == wanted


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("axis", [0, 1])
def test_large_scatter_elements(axis: int, reduction: str, threads: int) -> None:
    """Enough work for several threads; NumPy's ufunc.at keeps the order as well."""
    node = Scatter((0, 1), (1 - axis,), (axis, 1 - axis), (3000, 200), (3000, 200), reduction)
    rng = np.random.default_rng(3)
    data, updates = (draw(rng, shape, "float32") for shape in (node.data, node.updates))
    indices = rng.integers(0, node.data[axis], node.updates)
    feed = {"data": data, "f": indices[..., None], "updates": updates}
    (output,) = open_session(one_node(node, "float32"), threads).run(None, feed)
    wanted = data.copy()
    grid = list(np.indices(node.updates))
    grid[axis] = indices
    if reduction == "add":
        np.add.at(wanted, tuple(grid), updates)
    else:
        wanted[tuple(grid)] = updates
    np.testing.assert_array_equal(output, wanted)


@pytest.mark.parametrize(
    ("rows", "unique"),
    [("ascending", 0), ("ascending", 1), ("random", 0), ("random", 1), ("colliding", 0)],
)
def test_large_rows(rows: str, unique: int) -> None:
    node = Scatter((0,), (1,), (0, 1), (4000, 300), (2000, 300))
    rng = np.random.default_rng(4)
    table = rng.permutation(4000)[:2000]
    if rows == "ascending":
        table.sort()
    if rows == "colliding":
        table %= 50
    data, updates = (draw(rng, shape, "float32") for shape in (node.data, node.updates))
    session = open_session(one_node(node, "float32", unique=unique), threads=2)
    (output,) = session.run(None, {"data": data, "f": table[:, None], "updates": updates})
    wanted = data.copy()
    for row, update in zip(table, updates, strict=True):
        wanted[row] = update
    np.testing.assert_array_equal(output, wanted)


def test_no_colliding_update_is_lost() -> None:
    """Two million updates add to four cells, on two threads, again and again."""
    node = Scatter((0,), (), (0,), (4,), (2_000_000,), "add")
    session = open_session(one_node(node, "int64"), threads=2)
    table = np.random.default_rng(5).integers(0, 4, (2_000_000, 1))
    feed = {"data": np.zeros(4, np.int64), "f": table, "updates": np.ones(2_000_000, np.int64)}
    for _ in range(50):
        (output,) = session.run(None, feed)
        assert output.tolist() == np.bincount(table[:, 0], minlength=4).tolist()


@pytest.mark.skipif("SCATTERX_HUGE" not in os.environ, reason="takes 6 GB: set SCATTERX_HUGE=1")
@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("shape", [(2**31 + 100,), (70_000, 40_000)])
def test_more_than_2_to_the_31_elements(shape: tuple[int, ...], in_place: bool) -> None:
    rows = len(shape) > 1
    width = shape[1:]
    node = Scatter((0,), (1,) if rows else (), tuple(range(len(shape))), shape, (3, *width))
    session = open_session(one_node(node, "uint8"), threads=2)
    data = ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.uint8))
    where = [shape[0] - 90, -1, 5]
    binding = session.io_binding()
    binding.bind_ortvalue_input("data", data)
    binding.bind_cpu_input("f", np.array(where)[:, None])
    updates = np.broadcast_to(np.arange(1, 4, dtype=np.uint8).reshape(3, *[1] * rows), (3, *width))
    binding.bind_cpu_input("updates", np.ascontiguousarray(updates))
    if in_place:
        binding.bind_ortvalue_output("output", data)
    else:
        binding.bind_output("output")
    session.run_with_iobinding(binding)
    output = binding.get_outputs()[0].numpy()
    for i, place in enumerate(where):
        assert (output[place] == i + 1).all()
    assert np.count_nonzero(output) == 3 * math.prod(width)


def test_one_session_on_several_threads() -> None:
    """The plan that is kept for a constant f is asked for with two shapes of data at once."""
    node = Scatter((0,), (1,), (0, 1), (-1, -1), (2, -1), "add")
    model = make_model(
        [make_node(node, "data", "f", "updates", "output")],
        {name: (TensorProto.FLOAT, [None, None]) for name in ("data", "updates")},
        {"output": TensorProto.FLOAT},
        {"f": np.array([[1], [-1]])},
    )
    session = open_session(model)
    wrong: list[int] = []

    def run(width: int) -> None:
        feed = {
            "data": np.zeros((width, width), np.float32),
            "updates": np.ones((2, width), np.float32),
        }
        for _ in range(200):
            (output,) = session.run(None, feed)
            if output[1].sum() != width or output[-1].sum() != width or output.sum() != 2 * width:
                wrong.append(width)

    threads = [threading.Thread(target=run, args=(width,)) for width in (3, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def chain(length: int, side: int) -> bytes:
    """One row of data is written again and again, in a tensor that nobody else reads."""
    node = Scatter((0,), (1,), (0, 1), (side, side), (1, side))
    names = ["data", *(f"t{i}" for i in range(length - 1)), "output"]
    nodes = [make_node(node, names[i], "f", "updates", names[i + 1]) for i in range(length)]
    shape = {"data": (TensorProto.FLOAT, [side, "N"]), "updates": (TensorProto.FLOAT, [1, "N"])}
    return make_model(nodes, shape, {"output": TensorProto.FLOAT}, {"f": np.full((1, 1), 7)})


def test_temporaries_are_updated_in_place() -> None:
    """Only the first and the last of the nodes copy, so 40 take hardly longer than 2."""
    side = 2000
    feed = {"data": np.zeros((side, side), np.float32), "updates": np.ones((1, side), np.float32)}
    seconds = {}
    for length in (2, 40):
        session = open_session(chain(length, side))
        times = []
        for _ in range(5):
            start = time.perf_counter()
            (output,) = session.run(None, feed)
            times.append(time.perf_counter() - start)
        assert output[7].sum() == side == output.sum()
        seconds[length] = min(times)
    assert seconds[40] < 5 * seconds[2], seconds


def test_a_bound_buffer_is_updated_in_place() -> None:
    data = np.zeros(ROWS.data, np.float32)
    value = ort.OrtValue.ortvalue_from_numpy(data)
    session = open_session(one_node(ROWS, "float32"))
    binding = session.io_binding()
    binding.bind_ortvalue_input("data", value)
    binding.bind_cpu_input("f", np.array([[1], [3], [1]]))
    binding.bind_cpu_input("updates", np.arange(12, dtype=np.float32).reshape(3, 4))
    binding.bind_ortvalue_output("output", value)
    session.run_with_iobinding(binding)
    assert binding.get_outputs()[0].data_ptr() == value.data_ptr()
    assert value.numpy().tolist() == [[0] * 4, [8, 9, 10, 11], [0] * 4, [4, 5, 6, 7], [0] * 4]


def test_the_output_may_share_memory_with_updates() -> None:
    """A buffer that is updates and output: updates are read as they were."""
    node = Scatter((0, 1), (1,), (0, 1), (3, 2), (3, 2))
    updates = np.arange(6, dtype=np.float32).reshape(3, 2)
    value = ort.OrtValue.ortvalue_from_numpy(updates)
    session = open_session(one_node(node, "float32"))
    binding = session.io_binding()
    binding.bind_cpu_input("data", np.zeros((3, 2), np.float32))
    binding.bind_cpu_input("f", np.array([[2, 0], [1, 2], [0, 1]])[..., None])
    binding.bind_ortvalue_input("updates", value)
    binding.bind_ortvalue_output("output", value)
    session.run_with_iobinding(binding)
    assert value.numpy().tolist() == [[4, 1], [2, 5], [0, 3]]


@pytest.mark.parametrize("shape", [None, [None, None], ["N", 4], [5, 4]])
def test_the_inferred_shape_is_no_guess(shape: list[Any] | None) -> None:
    """Shape of the output is not folded to something that data's declaration does not say."""
    code = TensorProto.FLOAT
    model = make_model(
        [
            make_node(ROWS, "data", "f", "updates", "output"),
            helper.make_node("Shape", ["output"], ["s"]),
        ],
        {"data": (code, shape), "f": (TensorProto.INT64, [3, 1]), "updates": (code, [3, 4])},
        {"output": code, "s": TensorProto.INT64},
    )
    feed = {
        "data": np.zeros((5, 4), np.float32),
        "f": np.zeros((3, 1), np.int64),
        "updates": np.zeros((3, 4), np.float32),
    }
    assert open_session(model).run(["s"], feed)[0].tolist() == [5, 4]


@pytest.mark.parametrize(
    ("data", "table", "updates", "message"),
    [
        ((5, 4), [[0], [5], [0]], (3, 4), "update [1, 0] is out of bounds: component 0 of f is 5,"),
        ((5, 4), [[0], [0], [-6]], (3, 4), "but axis 0 of data has size 5"),
        ((5, 4), [[0], [0]], (3, 4), "f has shape [2, 1], but updates of shape [3, 4]"),
        ((5, 3), [[0], [0], [0]], (3, 4), "which p2 puts on axis 1 of data, of size 3"),
        ((0, 4), [[0], [0], [0]], (3, 4), "axis 0 of data has size 0"),
    ],
)  # fmt: skip
def test_refusals(data: Any, table: Any, updates: Any, message: str) -> None:
    """The bound output keeps every byte."""
    session = open_session(one_node(ROWS, "float32"))
    before = np.full(data, 9, np.float32)
    value = ort.OrtValue.ortvalue_from_numpy(before)
    binding = session.io_binding()
    binding.bind_ortvalue_input("data", value)
    binding.bind_cpu_input("f", np.array(table))
    binding.bind_cpu_input("updates", np.zeros(updates, np.float32))
    binding.bind_ortvalue_output("output", value)
    with pytest.raises(RuntimeError, match=re.escape(message)):
        session.run_with_iobinding(binding)
    np.testing.assert_array_equal(value.numpy(), before)


def test_out_of_bounds_is_an_invalid_argument() -> None:
    feed = {
        "data": np.zeros((5, 4), np.float32),
        "f": np.full((3, 1), 5),
        "updates": np.zeros((3, 4), np.float32),
    }
    with pytest.raises(Exception, match="INVALID_ARGUMENT") as caught:
        open_session(one_node(ROWS, "float32")).run(None, feed)
    assert type(caught.value).__name__ == "InvalidArgument"


@pytest.mark.parametrize(
    ("node", "dtype", "message"),
    [
        (Scatter((), (), (), (), (), "sum"), "float32", "reduction is 'sum', not one of"),
        (Scatter((), (), (), (), (), "add"), "object", "no reduction but none is supported"),
        (Scatter((0,) * 17, (), (), (), ()), "float32", "more than 16 dims are not supported"),
    ],
)
def test_nodes_that_mean_nothing(node: Scatter, dtype: str, message: str) -> None:
    node = Scatter(**{**vars(node), "updates": (1,)})
    with pytest.raises(Exception, match=re.escape(message)):
        open_session(one_node(node, dtype))
