"""Each listed operator computes the same bits of a row, alone and among others.

The chosen rows stand at other places, and are fewer; some of the others are no numbers. This holds
in the installed ONNX Runtime on this processor, under both session options, on one thread and on
several.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper

from onnx_scatterx.engine.plan.last_bits import rows_alike
from onnx_scatterx.operators.table import those
from tests.helpers.pair import agree, rejections

ROWS = 64
COUNTS = (1, 1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 13, 31, 63)
WIDTHS = (1, 3, 8, 17, 33)
TYPES = ("float32", "float16", "float64", "int8", "uint8")
OPTIONS = ((False, 1), (False, 8), (True, 3))  # whether they are the default ones, and threads
LISTED = sorted(those(lambda row: row.rows_alike))


class Node(NamedTuple):
    """A node with an input of rows along an axis, and shapes or numbers of constants behind it."""

    shape: tuple[int, ...]
    constants: Sequence[Any] = ()
    axis: int = 0
    attributes: Mapping[str, Any] = MappingProxyType({})
    outputs: int = 1
    written: int | None = None
    """The axis of rows of the output, if it is another one."""


def rows(*shape: int, at: int = 0) -> tuple[int, ...]:
    return (*shape[:at], ROWS, *shape[at:])


def products() -> Iterator[Node]:
    for k, n in ((1, 5), (7, 1), (33, 17), (300, 64)):
        yield Node(rows(k), [(k, n)])
        yield Node(rows(3, k, at=1), [(k, n)], 1)


def gemms() -> Iterator[Node]:
    for k, n in ((7, 1), (300, 17)):
        for turned, other in product((0, 1), (0, 1)):
            second, given = ((n, k) if other else (k, n)), {"transA": turned, "transB": other}
            more = {"alpha": 0.5} if other else {}
            yield Node(rows(k, at=turned), [second, (n,)], turned, {**given, **more}, written=0)


def convolutions() -> Iterator[Node]:
    """At most 128 products are added for each element."""
    yield Node(rows(3, 9, 9), [(8, 3, 3, 3), (8,)], attributes={"pads": [1] * 4})
    yield Node(rows(14, 12, 12), [(5, 14, 3, 3)], attributes={"strides": [2, 2]})
    yield Node(rows(16, 7, 7), [(16, 16, 1, 1), (16,)])
    yield Node(rows(16, 5, 5), [(16, 1, 3, 3)], attributes={"group": 16})


def reductions(widths: Sequence[int]) -> Iterator[Node]:
    for width in widths:
        yield Node(rows(width), [[1]])
        yield Node(rows(width, 3), [[1, 2]])


def along(scaled: int) -> Iterator[Node]:
    """Along the last axis, by constants of its size."""
    for width in (*WIDTHS, 64):
        yield Node(rows(width), [(width,)] * scaled, attributes={"axis": -1})
    yield Node(rows(2, 17, at=1), [(17,)] * scaled, 1, {"axis": -1})
    if not scaled:
        yield Node(rows(5, 3), attributes={"axis": 1})


def maps(*constants: Any, **attributes: Any) -> Iterator[Node]:
    yield Node(rows(8, 7, 5), constants, attributes=attributes)


def quantizers() -> Iterator[Node]:
    for width in WIDTHS:
        yield Node(rows(width), [np.float32(0.02), 3])
        yield Node(rows(width, 2), [np.full(width, 0.02, np.float32), [3] * width])


def sums() -> Iterator[Node]:
    for width in WIDTHS:
        yield Node(rows(width), [1])
        yield Node(rows(width, at=1), [0], 1)


def largest() -> Iterator[Node]:
    for width, most in ((1, 1), (3, 2), (17, 3)):
        yield Node(rows(width), [[most]], 0, {"axis": -1}, 2)
        yield Node(rows(width, at=1), [[most]], 1, {"axis": 0}, 2)


NODES: dict[str, Callable[[], Iterator[Node]]] = {
    **dict.fromkeys(
        ("AveragePool", "MaxPool", "LpPool"), partial(maps, kernel_shape=[3, 3], strides=[2, 2])
    ),
    "Conv": convolutions,
    "CumSum": sums,
    **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), quantizers),
    "Gemm": gemms,
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), maps),
    "GroupNormalization": partial(maps, (8,), (8,), num_groups=4),
    "InstanceNormalization": partial(maps, (8,), (8,)),
    "LayerNormalization": partial(along, 2),
    **dict.fromkeys(("LogSoftmax", "LpNormalization", "Softmax"), partial(along, 0)),
    "MatMul": products,
    "RMSNormalization": partial(along, 1),
    "RoiAlign": maps,
    "TopK": largest,
    **{
        f"Reduce{name}": partial(reductions, WIDTHS)
        for name in ("L1", "L2", "LogSum", "LogSumExp", "Prod", "SumSquare")
    },
    **dict.fromkeys(
        ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"), partial(reductions, (16, 48))
    ),
}


class Drawn:
    """A model of one node, and its inputs: some of their rows are no numbers."""

    def __init__(self, op: str, node: Node, dtype: str) -> None:
        rng = np.random.default_rng(0)
        read = "float32" if op == "QuantizeLinear" else dtype
        x = _numbers(rng, node.shape, read)
        self.axes = {"x": node.axis}
        stored = {f"c{i}": _constant(rng, c, dtype) for i, c in enumerate(node.constants)}
        names = ["x", *stored]
        if op == "RoiAlign":
            stored, names = {"maps": x[:1]}, ["maps", "x", "batch"]
            corners = rng.random((ROWS, 2)) * 4
            x = np.concatenate([corners, corners + 1 + rng.random((ROWS, 2))], 1).astype(dtype)
            self.axes["batch"] = 0
        elif x.dtype.kind == "f":
            x = np.abs(x) if op == "ReduceLogSum" else x
            special = np.moveaxis(x, node.axis, 0)[1::3]
            special[...] = np.resize([np.nan, np.inf, -np.inf, np.finfo(read).max], special.shape)
        self.inputs = {"x": x, "batch": np.zeros(ROWS, np.int64)}
        self.written = node.axis if node.written is None else node.written
        outputs = [f"y{i}" for i in range(node.outputs)]
        graph = helper.make_graph(
            [helper.make_node(op, names, outputs, **node.attributes)],
            "g",
            [_typed(name, self.inputs[name], axis) for name, axis in self.axes.items()],
            [helper.make_empty_tensor_value_info(y) for y in outputs],
            [numpy_helper.from_array(array, name) for name, array in stored.items()],
        )
        opset = helper.make_opsetid("", 23 if op == "RMSNormalization" else 21)
        self.model = helper.make_model(graph, opset_imports=[opset], ir_version=10)

    def differs(self, session: ort.InferenceSession) -> list[int]:
        """Return how many chosen rows differ in a bit from the same rows among all."""
        rng, found = np.random.default_rng(1), []
        whole = session.run(None, self.feed(np.arange(ROWS)))
        for count in COUNTS:
            chosen = np.sort(rng.permutation(ROWS)[:count])
            expected = [np.take(y, chosen, self.written) for y in whole]
            if not agree(expected, session.run(None, self.feed(chosen))):
                found.append(count)
        return found

    def feed(self, chosen: np.ndarray) -> dict[str, np.ndarray]:
        """Return the chosen rows of the inputs."""
        return {name: np.take(self.inputs[name], chosen, at) for name, at in self.axes.items()}


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, np.dtype(dtype), endpoint=True)


def _constant(rng: np.random.Generator, given: Any, dtype: str) -> np.ndarray:
    """Return floats of a shape, a scale, or integers, which of a quantizer have its type."""
    if isinstance(given, tuple):
        return _numbers(rng, given, dtype)
    if isinstance(given, np.generic | np.ndarray):
        return np.asarray(given)
    return np.asarray(given, np.dtype(dtype if dtype.endswith("int8") else "int64"))


def _typed(name: str, array: np.ndarray, axis: int) -> onnx.ValueInfoProto:
    dims = ["N" if d == axis else n for d, n in enumerate(array.shape)]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)


def opened(model: onnx.ModelProto, *, default: bool, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not default:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def cases() -> Iterator[tuple[str, str]]:
    for op, dtype in product(LISTED, TYPES):
        if rows_alike(ir.Node("", op, []), ir.DataType.from_numpy(np.dtype(dtype))):
            yield op, dtype


def test_each_listed_operator_is_drawn() -> None:
    assert sorted(NODES) == LISTED


@pytest.mark.parametrize(("op", "dtype"), cases())
def test_a_row_has_the_same_bits_alone_and_among_others(op: str, dtype: str) -> None:
    for node in NODES[op]():
        drawn = Drawn(op, node, dtype)
        for default, threads in OPTIONS:
            try:
                session = opened(drawn.model, default=default, threads=threads)
            except rejections():
                pytest.skip("ONNX Runtime has no kernel")
            assert not drawn.differs(session), (node, default, threads)
