"""One ScatterX node: the equation in NumPy, and models that hold it.

output = data;  for I in row-major order of updates:
    J = p(f[p1(I)] ++ p2(I));  output[J] = reduce(output[J], updates[I])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from onnx_scatterx.runtime.library import library_path

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
