"""The types and dims of operators that are not modelled, as ONNX infers them or by formulas.

ONNX's dims are believed only for the operators in ``BELIEVED``, which a test compares with runs.
For other operators, only the type and the rank are believed. For pools that are larger than their
input, for an Einsum that broadcasts, and for a Resize that rounds, ONNX infers wrong dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import onnx

from onnx_scatterx.proof.assumed import SMALL_RESIZE
from onnx_scatterx.proof.core.arithmetic import ZERO, divide, integer, number
from onnx_scatterx.proof.core.logic import at_most, below, both, either, equal, negation
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term
from onnx_scatterx.proof.core.types import dtype_name
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.registry import common_shape

BELIEVED = {
    *("ArgMax", "ArgMin", "BatchNormalization", "ConvTranspose", "CumSum", "DequantizeLinear"),
    *("Gemm", "GlobalAveragePool", "GlobalMaxPool", "GridSample", "Hardmax"),
    *("InstanceNormalization", "LRN", "LayerNormalization", "LogSoftmax", "LpNormalization"),
    *("MatMul", "MatMulInteger", "MeanVarianceNormalization", "OneHot", "QuantizeLinear"),
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Softmax", "Trilu"),
}

_FEW = 16

_REFUSED = (
    *(onnx.shape_inference.InferenceError, onnx.defs.SchemaError, onnx.checker.ValidationError),
    *(KeyError, TypeError, ValueError),
)
"""The errors of ONNX for a node that is not valid, or whose inputs are not known."""


def is_tensor(dtype: str) -> bool:
    return dtype not in ("sequence_type", "optional_type", "map_type", "sparse_tensor_type", "None")


def pointing(node: Node, k: int, inputs: Sequence[Tensor | None]) -> Term | None:
    """Return the length of the axis on which an output's elements are positions, or None."""
    if not node.standard or (node.op, k) not in (("TopK", 1), ("ArgMax", 0), ("ArgMin", 0)):
        return None
    a = inputs[0]
    if a is None or a.dims is None:
        return None
    axis = node.get("axis", -1 if node.op == "TopK" else 0)
    return a.dims[axis] if -a.rank <= axis < a.rank else None


def positions(node: Node, output: Tensor, length: Term) -> Callable[[Coordinates, Term], Term]:
    """Return what is known of an output's elements, which are positions on an axis.

    They are below its ``length``. TopK names each position once: this is known if it names few.
    """
    axis, count = 0, None
    if node.op == "TopK":
        axis = node.get("axis", -1) % output.rank
        count = number(output.shape[axis])
    others = range(count) if count is not None and count <= _FEW else ()

    def fact(at: Coordinates, element: Term) -> Term:
        known = [below(element, length)]
        for other in map(integer, others):
            there = output.at((*at[:axis], other, *at[axis + 1 :]))
            known.append(either(equal(at[axis], other), negation(equal(element, there))))
        return both(*known)

    return fact


def inferred(
    node: Node, inputs: Sequence[Tensor | None]
) -> dict[str, tuple[str, list[Term | None] | None]]:
    """Return the types and dims of a node's outputs, as ONNX infers them from its inputs.

    ONNX gets only this node, so the shapes that the model declares do not matter.
    """
    if node.op in _IN_RUNTIME and node.domain == "com.microsoft" and inputs and inputs[0]:
        return {node.outputs[0]: (inputs[0].dtype, None)}
    if not node.standard or node.captured:
        return {}
    names: dict[str, Term] = {}
    values, constants = {}, {}
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    del proto.input[:]
    for position, tensor in enumerate(inputs):
        proto.input.append("" if tensor is None else f"i{position}")
        if tensor is None or not is_tensor(tensor.dtype) or tensor.dtype in ("", "unknown"):
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
        types = onnx.shape_inference.infer_node_outputs(
            schema,
            proto,
            values,
            constants,
            opset_imports=[onnx.helper.make_opsetid("", node.version)],
        )
    except _REFUSED:
        return {}
    result: dict[str, tuple[str, list[Term | None] | None]] = {}
    for name, kind in types.items():
        if kind.WhichOneof("value") != "tensor_type":
            continue
        dims: list[Term | None] | None = None
        if kind.tensor_type.HasField("shape") and node.op != "Squeeze":  # wrong without axes
            dims = [_dim(d, names) for d in kind.tensor_type.shape.dim]
            # A subgraph may state wrong dims, and ONNX reads an ``output_shape`` wrongly.
            if any(a.HasField("g") or a.name == "output_shape" for a in proto.attribute):
                dims = None
            elif node.op not in BELIEVED or node.get("auto_pad", b"NOTSET") != b"NOTSET":
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


ONE_BY_ONE = {
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cast", "Ceil", "Celu", "Cos"),
    *("Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "IsInf", "IsNaN"),
    *("LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink"),
    *("Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh"),
    "ThresholdedRelu",
}
BROADCAST = {
    *("Add", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater"),
    *("GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Pow", "Sub"),
    "Sum",
}
_CONVOLUTIONS = {"Conv": 1, "QLinearConv": 3}  # operator: the input that has the weights
_POOLS = ("AveragePool", "LpPool", "MaxPool")
_IN_RUNTIME = {
    **dict.fromkeys(("QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax"), (0,)),
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), (0, 3)),
}
"""Operators of ONNX Runtime whose result has the type of the first input.

The shape of the result is that to which the inputs at these positions are broadcast.
"""


def computed_dims(
    node: Node, inputs: Sequence[Tensor | None], world: World
) -> tuple[Term | None, ...] | None:
    """Return the dims of a node's outputs, by a formula; None if there is no formula.

    A dim that is not known is None.
    """
    if any(i is None or i.dims is None for i in inputs[:1]) or not inputs:
        return None
    if not node.standard:
        slots = _IN_RUNTIME.get(node.op, ()) if node.domain == "com.microsoft" else ()
        shapes = [a.shape for k in slots if k < len(inputs) and (a := inputs[k]) and a.dims]
        what = f"{node.op}: the shapes fit"
        return common_shape(shapes, world, what) if slots and len(shapes) == len(slots) else None
    if node.op in ONE_BY_ONE or node.op in BROADCAST:
        known = [a.dims for a in inputs if a is not None and a.dims is not None]
        whole = len(known) == len(inputs) and (len(known) == 1 or node.op in BROADCAST)
        return common_shape(known, world, f"{node.op}: the shapes fit") if whole else None
    return _FORMULAS.get(node.op, _slid_over)(node, inputs, world)


def _multiplied(
    node: Node, inputs: Sequence[Tensor | None], world: World
) -> tuple[Term, ...] | None:
    """Return the dims of a MatMul, whose axes before the last two are broadcast."""
    a, b = inputs
    if a is None or b is None or b.dims is None or a.rank < 2 or b.rank < 2:
        return None
    outer = common_shape([a.shape[:-2], b.shape[:-2]], world, "MatMul: the shapes fit")
    return (*outer, a.shape[-2], b.shape[-1])


def _einsum(
    node: Node, inputs: Sequence[Tensor | None], world: World
) -> tuple[Term | None, ...] | None:
    """Return the dims of an Einsum; a dim is None if its letter may stand for two sizes."""
    equation = node.get("equation", b"").decode().replace(" ", "")
    sides, arrow, result = equation.partition("->")
    terms = sides.split(",")
    if not arrow or "." in equation or len(terms) != len(inputs):
        return None
    sizes: dict[str, Term | None] = {}
    for text, tensor in zip(terms, inputs, strict=True):
        if tensor is None or tensor.dims is None or len(tensor.dims) != len(text):
            return None
        for letter, d in zip(text, tensor.dims, strict=True):
            if sizes.setdefault(letter, d) is not d:
                sizes[letter] = None
    return tuple(sizes.get(letter) for letter in result)


def _resized(
    node: Node, inputs: Sequence[Tensor | None], world: World
) -> tuple[Term | None, ...] | None:
    """Return the dims of a Resize to sizes, or by integer factors: other factors are rounded."""
    a = inputs[0]
    policy = node.get("keep_aspect_ratio_policy", b"stretch")
    if a is None or policy != b"stretch" or "axes" in node.attributes or node.version < 11:
        return None
    scales, sizes = (inputs[k] if len(inputs) > k else None for k in (2, 3))
    if sizes is not None and sizes.dims is not None and number(sizes.dims[0]) == a.rank:
        return tuple(sizes.elements())
    if scales is None or scales.array is None or scales.array.size != a.rank:
        return None
    factors = [float(f) for f in scales.array.ravel()]
    world.assume(SMALL_RESIZE)
    return tuple(
        d * int(f) if f.is_integer() and f >= 1 else None
        for d, f in zip(a.shape, factors, strict=True)
    )


def _chosen(node: Node, inputs: Sequence[Tensor | None], world: World) -> tuple[Term, ...] | None:
    a, count = inputs[0], inputs[1] if len(inputs) > 1 else None
    axis = node.get("axis", -1)
    if a is None or a.dims is None or count is None or not -a.rank <= axis < a.rank:
        return None
    dims = list(a.dims)
    dims[axis] = count.at((ZERO,))
    return tuple(dims)


def _slid_over(
    node: Node, inputs: Sequence[Tensor | None], world: World
) -> tuple[Term | None, ...] | None:
    if node.op not in (*_CONVOLUTIONS, *_POOLS) or node.get("auto_pad", b"NOTSET") != b"NOTSET":
        return None
    if node.get("ceil_mode", 0) or not inputs or inputs[0] is None or inputs[0].dims is None:
        return None
    dims = inputs[0].dims
    spatial = len(dims) - 2
    channels = dims[1]
    kernel = node.get("kernel_shape")
    if node.op in _CONVOLUTIONS:
        weights = inputs[_CONVOLUTIONS[node.op]]
        if weights is None or weights.dims is None:
            return None
        channels = weights.dims[0]
        kernel = [number(d) for d in weights.dims[2:]]
    if spatial < 1 or kernel is None or len(kernel) != spatial or None in kernel:
        return None
    strides = node.get("strides") or [1] * spatial
    dilations = node.get("dilations") or [1] * spatial
    pads = node.get("pads") or [0] * (2 * spatial)
    extents: list[Term | None] = []
    for k in range(spatial):
        reach = dilations[k] * (kernel[k] - 1) + 1
        room = dims[2 + k] + (pads[k] + pads[k + spatial] - reach)
        # If the window does not fit, a Conv fails, but a pool may give an element all the same.
        if node.op in _CONVOLUTIONS:
            world.need(at_most(ZERO, room), "Conv: the kernel fits")
        fits = world.known(at_most(ZERO, room))
        extents.append(divide(room, integer(strides[k])) + 1 if fits else None)
    return (dims[0], channels, *extents)


_FORMULAS = {"TopK": _chosen, "MatMul": _multiplied, "Einsum": _einsum, "Resize": _resized}
