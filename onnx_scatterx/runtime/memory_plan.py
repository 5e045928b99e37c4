"""The dims that ONNX Runtime infers of a model's values: it gives memory to the values by them.

They are read from the model in ONNX Runtime's own format, which has the dims of all values, also of
those within subgraphs. A plan is plain data:

    {"dims": {name: [size, name of a size or None, ...] or None},
     "inner": [[first output of a node, name of the attribute, plan of the subgraph], ...]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.Graph import Graph
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.TypeInfo import TypeInfo

_TENSOR = 1  # of the types of a value
_NUMBER, _NAME = 1, 2  # of the types of a dim


def memory_plan(place: str) -> dict[str, Any]:
    """Return the plan of a model that was saved in ONNX Runtime's own format."""
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.InferenceSession import (
        InferenceSession,
    )

    with open(place, "rb") as file:
        saved = InferenceSession.GetRootAs(file.read(), 0)
    return _plan(saved.Model().Graph())


def _plan(graph: Graph) -> dict[str, Any]:
    values = (graph.NodeArgs(k) for k in range(graph.NodeArgsLength()))
    inner = []
    for node in (graph.Nodes(k) for k in range(graph.NodesLength())):
        made = (node.Outputs(k).decode() for k in range(node.OutputsLength()))
        output = next(filter(None, made), "")
        for attribute in (node.Attributes(k) for k in range(node.AttributesLength())):
            if attribute.G() is not None:
                name = attribute.Name().decode()
                inner.append([output, name, _plan(attribute.G())])
    return {"dims": {v.Name().decode(): _dims(v.Type()) for v in values}, "inner": inner}


def _dims(kind: TypeInfo | None) -> list[int | str | None] | None:
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.TensorTypeAndShape import (
        TensorTypeAndShape,
    )

    if kind is None or kind.ValueType() != _TENSOR:
        return None
    tensor, place = TensorTypeAndShape(), kind.Value()
    tensor.Init(place.Bytes, place.Pos)
    shape = tensor.Shape()
    if shape is None:
        return None
    dims: list[int | str | None] = []
    for value in (shape.Dim(k).Value() for k in range(shape.DimLength())):
        known = {_NUMBER: value.DimValue(), _NAME: (value.DimParam() or b"").decode() or None}
        dims.append(known.get(value.DimType()))
    return dims
