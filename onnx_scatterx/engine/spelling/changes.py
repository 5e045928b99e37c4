"""What changed with each version of an operator: its meaning, its spelling, or only its types.

    ReduceMax 18    axes became an input       up: axes_as_input     down: axes_as_attribute
    Hardmax 13      another meaning            up: one_axis          down: last_axis
    Abs 13          more element types         up: as it is          down: as it is
    AveragePool 19  another kernel             the last bits of floats may differ

This is the only table of it, for raising models and for lowering them. A node is not
written from or to a version that has no row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from onnx_scatterx.engine.spelling import later, newer, older
from onnx_scatterx.engine.spelling.spelling import Respell


class Change(NamedTuple):
    """What changed with a version of an operator.

    ``raised`` writes a node of the version before in this version, and ``lowered`` writes a node of
    this version in the version before; None if there is no way. ``last_bits`` are the
    element types for which ONNX Runtime computes the two by different kernels.
    """

    raised: Respell | None = newer.keep
    lowered: Respell | None = newer.keep
    last_bits: frozenset[str] = frozenset()


_FLOATS = frozenset({"float", "float16", "double", "bfloat16"})
_HALF = frozenset({"float16", "bfloat16"})

_PLAIN = ("float", "float16", "double")
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))

_TYPES = {
    11: "OneHot",
    12: "MaxPool Pow ReduceMax ReduceMin",
    13: """Abs Add ArgMax ArgMin Cast Ceil Clip Concat Constant DepthToSpace Div Dropout Equal Erf
        Exp Expand Flatten Floor Gather GatherElements GatherND Gemm Greater Identity If IsNaN LRN
        Less Log Loop MatMul Max Mean Min Mod Mul Neg
        NegativeLogLikelihoodLoss NonZero Pad Pow Reciprocal ReduceL1 ReduceL2 ReduceLogSum
        ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare Relu Reshape
        ScatterElements ScatterND Shape Sigmoid Sign Size Slice SoftmaxCrossEntropyLoss SpaceToDepth
        Sqrt Sub Sum Tanh Tile Transpose""",
    14: "Add CumSum Div Identity Mul Relu Sub",
    15: "BatchNormalization Pow",
    16: "GreaterOrEqual Identity If LessOrEqual Loop Scan Where",
    18: "OptionalGetElement",
    19: "Constant DequantizeLinear Equal Identity If Loop Reshape Scan Shape Size",
    20: "ConstantOfShape IsInf ReduceMax ReduceMin",
    21: """Cast CastLike Constant ConstantOfShape Flatten Identity If Loop QLinearMatMul Reshape
        Scan Shape Size Squeeze Transpose Unsqueeze""",
    22: """Acos Acosh Asin Asinh Atan Atanh Conv ConvTranspose Cos Cosh DeformConv Det
        Dropout Elu EyeLike GRU GlobalAveragePool GlobalMaxPool GridSample HardSigmoid
        HardSwish InstanceNormalization LSTM LpNormalization MaxUnpool
        NegativeLogLikelihoodLoss RNN Round Selu Sin Sinh Softplus Softsign Tan ThresholdedRelu""",
    23: """Cast CastLike Constant ConstantOfShape Flatten Identity If Loop Pad Reshape Scan Shape
        Size Squeeze Transpose Unsqueeze""",
    24: """Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad QuantizeLinear
        Reshape Scan Shape Size SplitToSequence Squeeze TopK Transpose Unsqueeze""",
    25: """Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad
        QuantizeLinear Reshape Scan Shape Size Squeeze Transpose Unsqueeze""",
    28: "Cast Celu Compress Einsum OneHot ReverseSequence Unique",
}
"""By set: the operators of which only the element types and the text changed."""

_NEGATIVE = """ArgMax ArgMin AveragePool Compress Concat Conv ConvTranspose Equal Flatten Gather
    Hardmax If LogSoftmax LpPool MaxPool MaxUnpool NonMaxSuppression ReduceL1 ReduceL2 ReduceLogSum
    ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Scan
    Slice Softmax Split Squeeze Unsqueeze"""
"""Operators of which set 11 changed the text, such as that axes may be negative."""

_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
_AXES = Change(newer.axes_as_input, older.axes_as_attribute)
_CEIL = later.unless("ceil_mode", 1)
_FLOAT8 = Change(lowered=later.drop(saturate=None))
_ROUND = Change(lowered=later.drop(round_mode=None))

_KERNELS = {
    **dict.fromkeys(
        ("Elu", "HardSigmoid", "Selu", "Softplus", "Softsign", "ThresholdedRelu"),
        ("float", "float16"),
    ),
    "Relu": (*_PLAIN, "int8", "int32"),
}
"""Operators that ONNX Runtime expands in set 18 alone, for other element types than these.

ONNX defines them by others from that set on. MEASURED with ONNX Runtime 1.32.
"""
_BY_DEFINITION = {"Softplus": _HALF}
"""The element types for which it computes the definition there, although it has a kernel."""
_NONE = frozenset[str]()

CHANGES: Mapping[tuple[str, int], Change] = {
    **{(name, since): Change() for since, names in _TYPES.items() for name in names.split()},
    **{(name, 11): Change(lowered=older.counted_axes) for name in _NEGATIVE.split()},
    **{(f"Reduce{name}", 18): _AXES for name in _REDUCTIONS},
    **{(f"ReduceLogSum{name}", 28): Change(last_bits=_FLOATS) for name in ("", "Exp")},
    **{(name, 12): Change(lowered=later.drop(select_last_index=0))
       for name in ("ArgMax", "ArgMin")},
    **{(name, 13): Change(newer.one_axis, older.last_axis)
       for name in ("Hardmax", "LogSoftmax", "Softmax")},
    **{(name, 14): Change(lowered=later.drop(layout=0)) for name in ("GRU", "LSTM", "RNN")},
    **{(name, 16): Change(lowered=later.drop(reduction="none"))
       for name in ("ScatterElements", "ScatterND")},
    **{(name, 18): Change(lowered=later.unless("reduction", "max", "min"))
       for name in ("ScatterElements", "ScatterND")},
    **{(name, 13): Change(newer.axes_as_input, older.listed) for name in ("Squeeze", "Unsqueeze")},
    **{(name, 22): Change(_CEIL, _CEIL) for name in ("AveragePool", "LpPool", "MaxPool")},
    **{(name, 13): Change(lowered=older.one_scale)
       for name in ("DequantizeLinear", "QuantizeLinear")},
    **{(name, 18): Change(lowered=later.only(*kinds), last_bits=_BY_DEFINITION.get(name, _NONE))
       for name, kinds in _KERNELS.items()},
    **{(name, 19): Change(later.only(*kinds), last_bits=_BY_DEFINITION.get(name, _NONE))
       for name, kinds in _KERNELS.items()},
    **{(name, 12): Change(last_bits=_HALF) for name in ("Max", "Min")},  # which zero is taken
    **{(name, 22): Change(newer.no_kernel)
       for name in ("Bernoulli", "GlobalLpPool", "MaxRoiPool", "Multinomial", "RandomNormal",
                    "RandomNormalLike", "RandomUniform", "RandomUniformLike", "RoiAlign")},
    **{(name, 28): Change(newer.no_kernel)
       for name in ("DequantizeLinear", "Optional", "OptionalGetElement", "OptionalHasElement",
                    "QuantizeLinear")},
    **{(f"{name}Window", 27): Change(later.unless("output_datatype", 10, 11))
       for name in ("Blackman", "Hamming", "Hann")},  # the definition has a Range
    **{("Attention", since): Change(last_bits=_FLOATS) for since in (26, 27, 28)},  # other fusions
    ("Attention", 24): Change(lowered=later.at_most(6), last_bits=_FLOATS),
    ("Attention", 25): Change(
        newer.heads_of_planes,
        later.drop(left_window_size=-1, right_window_size=-1),
        last_bits=_FLOATS,
    ),
    ("AffineGrid", 27): Change(last_bits=_HALF),  # its definition has a Range
    ("AveragePool", 10): Change(lowered=later.drop(ceil_mode=0)),
    ("AveragePool", 19): Change(lowered=later.drop(dilations=1), last_bits=_FLOATS),
    ("BatchNormalization", 14): Change(newer.infers, older.infers),
    ("BitShift", 28): Change(lowered=None),
    ("Cast", 19): _FLOAT8,
    ("Cast", 24): _ROUND,
    ("CastLike", 15): Change(lowered=older.cast),
    ("CastLike", 19): _FLOAT8,
    ("CastLike", 24): _ROUND,
    ("Clip", 12): Change(newer.infinite_limits, newer.finite_limits),
    ("Clip", 11): Change(newer.limits_as_inputs, older.limits),
    ("Constant", 11): Change(),
    ("Constant", 12): Change(lowered=older.one_value),
    ("DFT", 20): Change(newer.axis_as_input, older.axis),
    ("DepthToSpace", 11): Change(lowered=later.only(*_PLAIN, then=later.drop(mode="DCR"))),
    ("DepthToSpace", 28): Change(lowered=later.only(*_PLAIN, "uint8", "int8")),
    ("DequantizeLinear", 21): Change(lowered=later.drop(block_size=0)),
    ("DequantizeLinear", 23): Change(lowered=later.drop(output_dtype=0)),
    ("Dropout", 10): Change(newer.mask_of_bools, later.one_output),
    ("Dropout", 12): Change(newer.ratio_as_input, older.identity),
    ("GatherND", 12): Change(lowered=later.drop(batch_dims=0)),
    ("Gemm", 11): Change(lowered=later.without_gaps(3)),
    ("GridSample", 20): Change(newer.new_modes, older.old_modes),
    ("GroupNormalization", 21): Change(None, None),
    ("IsNaN", 20): Change(lowered=later.only(*_PLAIN, "float8e4m3fn", "float8e5m2")),
    ("LeakyRelu", 16): Change(lowered=later.only("float", "float16"), last_bits=_HALF),
    ("LeakyRelu", 19): Change(later.only("float", "float16")),
    ("MeanVarianceNormalization", 13): Change(newer.default_axes),
    ("Mish", 19): Change(later.only("float", "float16")),
    ("Mish", 22): Change(),
    ("PRelu", 16): Change(lowered=later.only("float", "float16")),
    ("PRelu", 19): Change(later.only("float", "float16")),
    ("Loop", 11): Change(lowered=later.without_gaps(3)),
    ("LpPool", 18): Change(lowered=later.drop(ceil_mode=0, dilations=1)),
    ("MaxPool", 10): Change(lowered=later.drop(ceil_mode=0, dilations=1)),
    ("Mod", 28): Change(lowered=None),
    ("OptionalHasElement", 18): Change(lowered=later.without_gaps(1)),
    ("Pad", 11): Change(newer.pads_as_inputs, older.pads),
    ("Pad", 18): Change(lowered=older.pads_of_all_axes),
    ("Pad", 21): Change(lowered=later.only(*_PLAIN, *_INTEGERS, "bool", "string")),
    ("Pad", 19): Change(lowered=later.unless("mode", "wrap")),
    ("QuantizeLinear", 19): _FLOAT8,
    ("QuantizeLinear", 21): Change(lowered=later.drop(block_size=0, output_dtype=0)),
    ("QuantizeLinear", 23): Change(lowered=later.drop(precision=0)),
    ("Range", 27): Change(lowered=later.drop(stash_type=None)),
    ("ReduceSum", 13): _AXES,
    ("Reshape", 14): Change(lowered=older.without_allowzero),
    ("Resize", 11): Change(newer.resize, older.asymmetric),
    ("Resize", 13): Change(
        later.unless("coordinate_transformation_mode", "tf_half_pixel_for_nn"), older.empty_inputs
    ),
    ("Resize", 18): Change(
        lowered=later.drop(antialias=0, axes=(), keep_aspect_ratio_policy="stretch")
    ),
    ("Resize", 19): Change(
        lowered=later.unless("coordinate_transformation_mode", "half_pixel_symmetric")
    ),
    ("Resize", 10): Change(None, older.upsample),
    ("RoiAlign", 16): Change(
        newer.on_corners, later.must_be("coordinate_transformation_mode", "output_half_pixel")
    ),
    ("Scatter", 11): Change(newer.scatter_elements, None),
    ("Shape", 15): Change(lowered=older.sizes_of_all_axes),
    ("Slice", 10): Change(newer.bounds_as_inputs, older.bounds),
    ("SpaceToDepth", 28): Change(lowered=later.only(*_PLAIN, then=later.drop(mode="DCR"))),
    ("Swish", 25): Change(raised=None),  # ONNX Runtime expands it only in set 24
    ("Split", 13): Change(newer.parts_as_input, older.listed),
    ("Split", 18): Change(newer.number_of_parts, older.sizes_of_parts),
    ("TopK", 10): Change(newer.count_as_input, older.count),
    ("TopK", 11): Change(lowered=later.drop(largest=1, sorted=1)),
    ("Upsample", 10): Change(newer.resize_by_name, None),
}  # fmt: skip
"""By operator and set: what changed."""

EXPANDED = frozenset({"Swish"})
"""Functions that ONNX Runtime expands only in the set that brought them.

If the definition of another operator has such a node, it is written by its definition, too.
"""
