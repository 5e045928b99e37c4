"""The table of transfer functions, operator by operator."""

from __future__ import annotations

from collections.abc import Callable

from onnx_scatterx.engine.analysis.domain.call import Call, Result
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.operators import (
    arithmetic,
    contrib,
    elementwise,
    gathers,
    generators,
    movement,
    reduction,
    reshaping,
    sequences,
    shapes_alone,
    slicing,
)
from onnx_scatterx.operators import READS

Transfer = Callable[[Call], "list[TensorValue] | None"]

TRANSFERS: dict[str, Transfer] = {
    "CastLike": elementwise.cast_like,
    "Cast": elementwise.cast,
    "Clip": arithmetic.clip,
    "Concat": movement.concat,
    "ConcatFromSequence": sequences.concat_from_sequence,
    "Constant": generators.constant,
    "ConstantOfShape": generators.constant_of_shape,
    "CumSum": reduction.cum_sum,
    "Expand": movement.expand,
    "Einsum": elementwise.einsum,
    "EyeLike": generators.eye_like,
    "Flatten": reshaping.flatten,
    **dict.fromkeys(READS, gathers.gather),
    "Identity": movement.identity,
    **dict.fromkeys(("MatMul", "MatMulInteger", "QLinearMatMul"), elementwise.matmul),
    "Mod": arithmetic.mod,
    "NonZero": shapes_alone.non_zero,
    "OneHot": generators.one_hot,
    "OptionalGetElement": sequences.optional_get_element,
    "PRelu": shapes_alone.broadcast,
    "Pad": shapes_alone.pad,
    "Range": generators.range_,
    "Reshape": reshaping.reshape,
    "Resize": shapes_alone.resize,
    "Scatter": gathers.scatter_elements,
    "ScatterElements": gathers.scatter_elements,
    "ScatterND": gathers.scatter_nd,
    "SequenceAt": sequences.sequence_at,
    "SequenceConstruct": sequences.sequence_construct,
    "SequenceEmpty": sequences.sequence_empty,
    "SequenceErase": sequences.sequence_erase,
    "SequenceInsert": sequences.sequence_insert,
    "SequenceLength": sequences.sequence_length,
    "Shape": generators.shape,
    "SimplifiedLayerNormalization": contrib.by_row,
    "Size": generators.size,
    "Slice": slicing.slice_,
    "Split": movement.split,
    "SplitToSequence": sequences.split_to_sequence,
    "Squeeze": movement.squeeze,
    "Tile": movement.tile,
    "TopK": shapes_alone.top_k,
    "Transpose": movement.transpose,
    "Trilu": generators.trilu,
    "Unsqueeze": movement.unsqueeze,
    "Where": arithmetic.where_,
    "AveragePool": slicing.pool,
    "Conv": slicing.conv,
    "MaxPool": slicing.pool,
    **shapes_alone.OF_SHAPES,
    **dict.fromkeys(reduction.REDUCTIONS, reduction.reduction),
    **dict.fromkeys(arithmetic.SAME_TYPE, arithmetic.elementwise),
    **dict.fromkeys(arithmetic.COMPARISONS, arithmetic.elementwise),
}

MICROSOFT: dict[str, Transfer] = {
    **dict.fromkeys(contrib.ROWS.keys() - {"SimplifiedLayerNormalization"}, contrib.by_row),
    "QuantizeLinear": contrib.quantize,
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), contrib.add_or_mul),
    **dict.fromkeys(("DynamicQuantizeMatMul", "MatMulIntegerToFloat"), contrib.quantized_matmul),
    "MatMulNBits": contrib.matmul_of_bits,
    "QGemm": contrib.quantized_gemm,
    "QLinearAveragePool": contrib.pool,
    "QLinearConcat": contrib.concat,
    "QLinearConv": contrib.quantized_conv,
    "QLinearGlobalAveragePool": contrib.global_pool,
    "QLinearWhere": contrib.where,
    "FusedConv": contrib.conv,
    "FusedGemm": contrib.gemm,
    "FusedMatMul": contrib.matmul,
    "GatherBlockQuantized": contrib.gather_quantized,
    "TransposeMatMul": contrib.matmul,
    "Trilu": generators.trilu,
}
"""The same of ONNX Runtime's domain ``com.microsoft``: its quantizer's, and its other tools'."""
_TABLES = {"": TRANSFERS, "com.microsoft": MICROSOFT}
_CANNOT = (LookupError, ValueError, ArithmeticError, TypeError)


def transferred(call: Call) -> Result:
    """Return the outputs of a node by its transfer function; None if it says nothing.

    A fault in a transfer function ends here, too: the outputs are then not known.

    >>> import numpy as np
    >>> import onnx_ir as ir
    >>> from onnx_scatterx.engine.terms.facts import Facts
    >>> inputs = [TensorValue.of(np.array([n])) for n in (-7, 2)]
    >>> node = ir.node("Div", [ir.Value(name="a"), ir.Value(name="b")])
    >>> transferred(Call(node, inputs, 18, Facts()))[0].constant
    array([-3])
    """
    try:
        return _TABLES[call.node.domain][call.node.op_type](call) if call.version else None
    except _CANNOT:
        return None  # not known, or the node cannot run (it may stand in a branch)
