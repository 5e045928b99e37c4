"""The types and dims of operators that are not modelled, as ONNX infers them.

The dims are believed only of the operators in ``BELIEVED``, which a test holds against runs. ONNX
infers other sizes than a run gives for pools that are larger than their input, for an Einsum that
broadcasts and for a Resize that rounds. Of all others, only the type and the rank are believed.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import onnx

from onnx_scatterx.equivalence.core.arithmetic import integer, number
from onnx_scatterx.equivalence.core.reading import Node, dtype_name
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term

BELIEVED = {
    *("ArgMax", "ArgMin", "BatchNormalization", "ConvTranspose", "CumSum", "DequantizeLinear"),
    *("Gemm", "GlobalAveragePool", "GlobalMaxPool", "GridSample", "Hardmax"),
    *("InstanceNormalization", "LRN", "LayerNormalization", "LogSoftmax", "LpNormalization"),
    *("MatMul", "MatMulInteger", "MeanVarianceNormalization", "OneHot", "QuantizeLinear"),
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Softmax", "Trilu"),
}

_REFUSED = (
    *(onnx.shape_inference.InferenceError, onnx.defs.SchemaError, onnx.checker.ValidationError),
    *(KeyError, TypeError, ValueError),
)
"""What ONNX raises for a node that is not valid, or of whose inputs nothing is known."""


def is_tensor(dtype: str) -> bool:
    return dtype not in ("sequence_type", "optional_type", "map_type", "sparse_tensor_type", "None")


def pointing(node: Node, k: int, inputs: Sequence[Tensor | None]) -> Term | None:
    """Return the length of the axis that an output's positions are on."""
    if not node.standard or (node.op, k) not in (("TopK", 1), ("ArgMax", 0), ("ArgMin", 0)):
        return None
    a = inputs[0]
    if a is None or a.dims is None:
        return None
    axis = node.get("axis", -1 if node.op == "TopK" else 0)
    return a.dims[axis] if -a.rank <= axis < a.rank else None


def inferred(
    node: Node, inputs: Sequence[Tensor | None]
) -> dict[str, tuple[str, list[Term | None] | None]]:
    """Return the types and dims of a node's outputs, as ONNX infers them from those of its inputs.

    The node is inferred alone, so the model's declared shapes do not matter.
    """
    if not node.standard or node.captured:
        return {}
    names: dict[str, Term] = {}
    values, constants = {}, {}
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    del proto.input[:]
    for position, tensor in enumerate(inputs):
        proto.input.append("" if tensor is None else f"i{position}")
        if tensor is None or not is_tensor(tensor.dtype) or tensor.dtype == "unknown":
            continue
        element = _element_type(tensor.dtype)
        shape: list[int | str] | None = None
        if tensor.dims is not None:
            shape = []
            for d in tensor.dims:
                known = number(d)
                names[f"d{d.number}"] = d
                fits = known is not None and 0 <= known < 2**63
                shape.append(known if known is not None and fits else f"d{d.number}")
        values[f"i{position}"] = onnx.helper.make_tensor_type_proto(element, shape)
        if tensor.array is not None and tensor.array.size < 64 and tensor.dtype != "string":
            constants[f"i{position}"] = onnx.numpy_helper.from_array(tensor.array)
    try:
        schema = onnx.defs.get_schema(node.op, node.version, "")
        found = onnx.shape_inference.infer_node_outputs(
            schema,
            proto,
            values,
            constants,
            opset_imports=[onnx.helper.make_opsetid("", node.version)],
        )
    except _REFUSED:
        return {}
    result: dict[str, tuple[str, list[Term | None] | None]] = {}
    for name, kind in found.items():
        if kind.WhichOneof("value") != "tensor_type":
            continue
        dims: list[Term | None] | None = None
        if kind.tensor_type.HasField("shape"):
            dims = [_dim(d, names) for d in kind.tensor_type.shape.dim]
            if node.op not in BELIEVED:
                dims = [None] * len(dims)
        result[name] = (dtype_name(kind.tensor_type.elem_type), dims)
    return result


def _dim(dim: onnx.TensorShapeProto.Dimension, names: dict[str, Term]) -> Term | None:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return integer(dim.dim_value)
    return names.get(dim.dim_param)


def _element_type(dtype: str) -> int:
    if dtype == "string":
        return int(onnx.TensorProto.STRING)
    kind = getattr(ml_dtypes, dtype, None)
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind or dtype)))
