"""One case of kernel.py: a scatter twice, as built-in nodes and as ScatterX, and its data."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[np.generic]
Shape = tuple[int, ...]
SMALL = 1 << 15  # bytes of data: below, a run is hardly longer than an empty one
COPIES = 32  # of a small case in one model


@dataclass
class Case:
    """The same scatter twice; both models read their inputs by name from `inputs` and `data`."""

    name: str
    data: Array
    inputs: dict[str, Array]
    builtin: bytes
    scatterx: bytes
    in_place: bool = False
    exact: bool = field(default=True)  # the built-in result is defined, so the two must agree
    as_exported: bool = False  # the built-in form is a graph that an exporter writes, not one node
    in_a_row: bool = False  # several nodes write into a temporary, and the next takes a row of it
    places: Array | None = None  # the flat place that each update goes to, where one node does it
    adds: bool = False
    nodes: int = 1
    around: bytes = b""  # the model without the scatters: what makes the temporary and reads it
    constant: bool = False  # the indices are constants of the model

    @property
    def indices(self) -> int:
        """The bytes of the indices that a run must look at: constants were checked before."""
        tables = (v for k, v in self.inputs.items() if k == "f" or k.startswith("f_"))
        return 0 if self.constant else sum(table.nbytes for table in tables)

    @property
    def result(self) -> Array:
        """An array like the output."""
        return self.data[:1] if self.in_a_row else self.data

    @property
    def moved(self) -> int:
        """The bytes that must move: all updates, and data where the output is not its memory.

        In a row, data is the temporary, which every scatter may write into.
        """
        updates = sum(v.nbytes for k, v in self.inputs.items() if k.startswith("updates"))
        return updates + (0 if self.in_place or self.in_a_row else self.data.nbytes)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Array],
    opset: int = 18,
    constants: tuple[str, ...] = (),
    output: Array | None = None,
) -> bytes:
    like = inputs["data"] if output is None else output
    code = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(k, code[k], list(v.shape))
            for k, v in inputs.items()
            if k not in constants
        ],
        [helper.make_tensor_value_info("output", code["data"], like.shape)],
        [numpy_helper.from_array(inputs[name], name) for name in constants if name in inputs],
    )
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("onnx_scatterx", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=10).SerializeToString()


def scatterx(
    p1: Shape,
    p2: Shape,
    p: Shape,
    reduction: str = "none",
    unique: int = 0,
    names: tuple[str, ...] = ("data", "f", "updates", "output"),
) -> onnx.NodeProto:
    node = helper.make_node("ScatterX", names[:3], names[3:], domain="onnx_scatterx")
    for name, pick in (("p1", p1), ("p2", p2), ("p", p)):
        node.attribute.append(helper.make_attribute(name, pick, attr_type=onnx.AttributeProto.INTS))
    node.attribute.append(helper.make_attribute("reduction", reduction))
    node.attribute.append(helper.make_attribute("unique", unique))
    return node


def case(
    name: str,
    data: Array,
    updates: Array,
    f: Array,
    picks: tuple[Shape, Shape, Shape],
    builtin: list[onnx.NodeProto],
    indices: Array,
    reduction: str = "none",
    unique: int = 0,
    opset: int = 18,
    constant: bool = False,
    **flags: bool,
) -> Case:
    """`constant`: the indices are constants of the model, as they are where shapes are static."""
    constants = ("f", "indices") if constant else ()
    ours = {"data": data, "f": np.ascontiguousarray(f), "updates": updates}
    theirs = {"data": data, "indices": np.ascontiguousarray(indices), "updates": updates}
    return Case(
        name,
        data,
        {"f": ours["f"], "indices": theirs["indices"], "updates": updates},
        model(builtin, theirs, opset, constants),
        model([scatterx(*picks, reduction, unique)], ours, constants=constants),
        places=places_of(data, updates, f, picks),
        adds=reduction != "none",
        constant=constant,
        **flags,
    )


def places_of(data: Array, updates: Array, f: Array, picks: tuple[Shape, Shape, Shape]) -> Array:
    """Return the flat place of data that each update goes to, in the order of the updates."""
    p1, p2, p = picks
    columns = f.shape[-1]
    flat = np.zeros(updates.shape, np.int64)
    for axis, source in enumerate(p):
        stride = int(np.prod(data.shape[axis + 1 :], dtype=np.int64))
        own = p1 if source < columns else (p2[source - columns],)
        shape = [n if d in own else 1 for d, n in enumerate(updates.shape)]
        steps = f[..., source] if source < columns else np.arange(updates.shape[own[0]])
        flat += steps.reshape(shape) * stride
    return flat.ravel()


def draw(shape: Shape, dtype: str) -> Array:
    rng = np.random.default_rng(0)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape, np.float32).astype(dtype)
    return rng.integers(0, 100, shape, np.int8).astype(dtype)


def scatter_nd(reduction: str = "none") -> list[onnx.NodeProto]:
    return [
        helper.make_node(
            "ScatterND", ["data", "indices", "updates"], ["output"], reduction=reduction
        )
    ]


def scatter_elements(axis: int, reduction: str = "none") -> list[onnx.NodeProto]:
    names = ["data", "indices", "updates"]
    return [helper.make_node("ScatterElements", names, ["output"], axis=axis, reduction=reduction)]


def copies(model: bytes, count: int) -> bytes:
    """Return a model with so many copies of all nodes, inputs and outputs; constants are shared.

    Copy i of a value is called ``value.i``, so that no two nodes are the same computation.
    """
    proto = onnx.load_model_from_string(model)
    graph = proto.graph
    shared = {constant.name for constant in graph.initializer}
    nodes, inputs, outputs = (list(part) for part in (graph.node, graph.input, graph.output))
    for part in (graph.node, graph.input, graph.output):
        del part[:]
    for i in range(count):
        for node in nodes:
            copy = graph.node.add()
            copy.CopyFrom(node)
            copy.input[:] = [name if name in shared else f"{name}.{i}" for name in node.input]
            copy.output[:] = [f"{name}.{i}" for name in node.output]
        for values, part in ((inputs, graph.input), (outputs, graph.output)):
            for value in values:
                copied = part.add()
                copied.CopyFrom(value)
                copied.name = f"{value.name}.{i}"
    return proto.SerializeToString()
