"""The rows of all tables as cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.device_probe.arithmetic import arithmetic
from benchmarks.device_probe.case import Case, Feeds, ir_of, run_truth
from benchmarks.device_probe.choices import choices
from benchmarks.device_probe.indexing import indexing, scatters
from benchmarks.device_probe.layers import layers, versions
from benchmarks.device_probe.moves import moves
from benchmarks.device_probe.reductions import reductions, shapes
from benchmarks.device_probe.rows import C, In, Row

_TABLES = (moves, choices, arithmetic, indexing, scatters, reductions, shapes, layers, versions)
_COMPUTED = ("NonZero", "Unique", "NonMaxSuppression", "Range")
_NOTHING: Mapping[str, np.ndarray] = MappingProxyType({})


def table_cases(operator: str | None = None) -> Iterator[Case]:
    """Return the cases of the tables; those of one operator, if it is given."""
    for table in _TABLES:
        for line in table():
            if operator is None or line.operator == operator:
                yield _case(line)


def _case(line: Row) -> Case:
    feeds: Feeds = {}
    model = _model(line, feeds, inside=False)
    expected = _fixed(model, feeds, line)
    inside = None
    kinds = {i.array.dtype for i in line.inputs if isinstance(i, In)}
    kinds |= {array.dtype for array in expected.values()}
    if any(kind != np.float32 for kind in kinds):
        around: Feeds = {}
        wrapped = _model(line, around, inside=True, expected=expected)
        results = _fixed(wrapped, around, line)
        inside = Case(line.operator, line.label, wrapped, around, results, True)
    return Case(line.operator, line.label, model, feeds, expected, True, inside)


def _model(
    line: Row,
    feeds: Feeds,
    *,
    inside: bool,
    expected: Mapping[str, np.ndarray] = _NOTHING,
) -> onnx.ModelProto:
    op_type = "Add" if line.operator.startswith("(") else line.operator
    nodes, inputs, constants, names = [], [], [], []
    for number, value in enumerate(line.inputs):
        name = f"x{number}"
        if value is None:
            names.append("")
            continue
        names.append(name)
        if isinstance(value, C):
            constants.append(numpy_helper.from_array(value.array, name))
            continue
        array, kind = value.array, helper.np_dtype_to_tensor_dtype(value.array.dtype)
        if inside and kind != TensorProto.FLOAT:
            names[-1] = f"{name}_cast"
            nodes.append(helper.make_node("Cast", [name], [names[-1]], f"in{number}", to=kind))
            array, kind = array.astype(np.float32), TensorProto.FLOAT
        feeds[name] = array
        inputs.append(helper.make_tensor_value_info(name, kind, value.dims))
    made = [f"y{number}" for number in range(line.outputs)]
    node = helper.make_node(op_type, names, made, "probed", **line.attributes)
    nodes.append(node)
    for number, name in enumerate(made):
        if inside and expected[name].dtype != np.float32:
            made[number] = f"{name}_cast"
            nodes.append(helper.make_node("Cast", [name], [made[number]], f"out{number}", to=1))
    outputs = [onnx.ValueInfoProto(name=name) for name in made]
    graph = helper.make_graph(nodes, "probe", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", line.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_of(line.opset))


def _fixed(model: onnx.ModelProto, feeds: Feeds, line: Row) -> Feeds:
    """Run a model, and declare its outputs as they came out; those of unknown sizes without."""
    expected = run_truth(model, feeds)
    computed = line.operator in _COMPUTED or any(
        isinstance(value, In) and value.array.dtype == np.int64 and line.label == "computed"
        for value in line.inputs
    )
    dynamic = any(isinstance(d, str) for v in line.inputs if isinstance(v, In) for d in v.dims)
    for value in model.graph.output:
        array = expected[value.name]
        shape = [None] * array.ndim if computed or dynamic else list(array.shape)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, shape))
    return expected
