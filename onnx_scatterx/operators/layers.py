"""Rows of all other operators: products, reductions, pools, normalizations, sequences."""

from __future__ import annotations

from functools import partial

from onnx_scatterx.operators.columns import (
    FLOATS,
    NUMBERS,
    Kinds,
    Operator,
    Passing,
    Rounding,
    Rows,
    Trust,
)

_known = partial(Operator, trust=Trust.ALL)
_of_rank = partial(Operator, trust=Trust.RANK)
_computes = partial(_known, passes=Passing.COMPUTED)
_normalization = partial(_known, same_shape=True)
_reduction = partial(_known, reduces=True)
_extreme = partial(
    _reduction,
    chooses=(0,),
    widens=True,
    folds=True,
    in_integers=(0,),
    passes=Passing.ELSEWHERE,
)
_sum = partial(_reduction, passes=Passing.COMPUTED)
_spatial = partial(_known, ranks=(None,))
_convolution = partial(_spatial, packs=(1,), in_integers=(0, 1), without_quantizer=True)
_product = partial(_computes, packs=(0, 1), in_integers=(0, 1), without_quantizer=True)
_recurrent = partial(_known, packs=(1, 2), ranks=(4, 3))
_window = partial(_known, ranks=(1,))
_random = partial(_known, random=True)
_reads_sequence = partial(_known, takes_sequence=True)
_makes_sequence = partial(_known, gives_sequence=True)

_SHAPES_ALONE = """
    AffineGrid Attention BatchNormalization CenterCropPad Col2Im CumProd Det DynamicQuantizeLinear
    EyeLike MaxRoiPool MaxUnpool NonMaxSuppression OptionalHasElement
    RegexFullMatch RotaryEmbedding StringConcat StringNormalizer StringSplit
    TfIdfVectorizer"""
"""Operators of which only inferred shapes were looked at."""

LAYERS: dict[str, Operator] = {
    **dict.fromkeys(_SHAPES_ALONE.split(), _known()),
    "ArgMax": _reduction(rows=Rows.REDUCED, in_integers=(0,)),
    "ArgMin": _reduction(rows=Rows.REDUCED),
    "AveragePool": _spatial(rows=Rows.BATCH, rows_alike=Kinds.FLOAT, in_integers=(0,)),
    "Bernoulli": _random(),
    "BlackmanWindow": _window(),
    # ONNX Runtime runs its definition, which broadcasts inputs that inference does not look at.
    "CausalConvWithState": _of_rank(),
    "ConcatFromSequence": _reads_sequence(),
    "Conv": _convolution(rows=Rows.BATCH, rows_alike=Kinds.FLOAT),
    "ConvInteger": _computes(),
    "ConvTranspose": _convolution(),
    "CumSum": _computes(rows=Rows.RUNNING, rows_alike=FLOATS, folds=True),
    # If the length of the signal is not known, inference takes that of the axis.
    "DFT": _of_rank(ranks=(None,)),
    "DeformConv": _spatial(),
    "DequantizeLinear": _computes(rows=Rows.QUANTIZED, rows_alike=NUMBERS),
    "Dropout": _known(passes=Passing.ALIKE),
    "Einsum": _of_rank(rows=Rows.EINSUM),  # it broadcasts
    "GRU": _recurrent(),
    "Gemm": _product(rows=Rows.GEMM, rows_alike=Kinds.FLOAT),
    "GlobalAveragePool": _spatial(rows=Rows.BATCH, rows_alike=Kinds.FLOAT, in_integers=(0,)),
    "GlobalLpPool": _spatial(rows=Rows.BATCH),
    "GlobalMaxPool": _spatial(rows=Rows.BATCH, rows_alike=Kinds.FLOAT),
    "GridSample": _known(rows=Rows.SAMPLED),
    "GroupNormalization": _known(rows=Rows.BATCH, rows_alike=FLOATS),
    "HammingWindow": _window(),
    "HannWindow": _window(),
    "Hardmax": _normalization(),  # of NaN, it depends on the place
    "InstanceNormalization": _normalization(rows=Rows.BATCH, rows_alike=Kinds.FLOAT),
    "LRN": _normalization(rows=Rows.BATCH),
    "LSTM": _recurrent(ranks=(4, 3, 3)),
    "LayerNormalization": _normalization(rows=Rows.BEFORE, rows_alike=FLOATS),
    "LinearAttention": _of_rank(),  # as CausalConvWithState
    "LogSoftmax": _normalization(rows=Rows.APART, rows_alike=Kinds.FLOAT),
    "LpNormalization": _normalization(rows=Rows.APART, rows_alike=FLOATS),
    "LpPool": _spatial(rows=Rows.BATCH, rows_alike=Kinds.FLOAT),
    "MatMul": _product(rows=Rows.PRODUCT, rows_alike=Kinds.FLOAT, folds=True),
    "MatMulInteger": _computes(rows=Rows.PRODUCT),
    "MaxPool": _known(
        rows=Rows.BATCH, rows_alike=FLOATS, chooses=(0,), ranks=(None, None), moved_past=True
    ),
    "MeanVarianceNormalization": _normalization(),
    "MelWeightMatrix": _of_rank(ranks=(2,)),  # as DFT
    "Multinomial": _random(),
    "NegativeLogLikelihoodLoss": _of_rank(),  # it broadcasts
    "NonZero": _known(rounding=Rounding.EXACT),
    "OneHot": _known(rows=Rows.ONE_HOT, folds=True, signed_input=0),
    "Optional": Operator(passes=Passing.ALIKE),
    "OptionalGetElement": _known(passes=Passing.ALIKE),
    "QLinearConv": _computes(),
    "QLinearMatMul": _computes(),
    "RMSNormalization": _normalization(rows=Rows.BEFORE, rows_alike=FLOATS),
    "QuantizeLinear": _known(rows=Rows.QUANTIZED, rows_alike=NUMBERS),
    "RNN": _recurrent(),
    "RandomNormal": _random(),
    "RandomNormalLike": _random(),
    "RandomUniform": _random(),
    "RandomUniformLike": _random(),
    "ReduceL1": _reduction(rows=Rows.REDUCED, rows_alike=FLOATS),
    "ReduceL2": _reduction(rows=Rows.REDUCED, rows_alike=FLOATS),
    "ReduceLogSum": _reduction(rows=Rows.REDUCED, rows_alike=FLOATS),
    "ReduceLogSumExp": _reduction(rows=Rows.REDUCED, rows_alike=FLOATS),
    "ReduceMax": _extreme(rows=Rows.REDUCED, rows_alike=FLOATS, aligned=True),
    "ReduceMean": _sum(rows=Rows.REDUCED, rows_alike=FLOATS, aligned=True),
    "ReduceMin": _extreme(rows=Rows.REDUCED, rows_alike=FLOATS, aligned=True),
    "ReduceProd": _sum(rows=Rows.REDUCED, rows_alike=FLOATS, folds=True),
    "ReduceSum": _sum(rows=Rows.REDUCED, rows_alike=FLOATS, aligned=True),
    "ReduceSumSquare": _sum(rows=Rows.REDUCED, rows_alike=FLOATS),
    "Resize": _known(trust=Trust.PASSED, in_integers=(0,)),
    "RoiAlign": _known(rows=Rows.REGIONS, rows_alike=Kinds.FLOAT),
    "STFT": _known(ranks=(4,)),
    "SequenceAt": _reads_sequence(),
    "SequenceConstruct": _makes_sequence(),
    "SequenceEmpty": _makes_sequence(),
    "SequenceErase": _reads_sequence(gives_sequence=True),
    "SequenceInsert": _reads_sequence(gives_sequence=True),
    "SequenceLength": _reads_sequence(),
    "SequenceMap": Operator(takes_sequence=True, gives_sequence=True),
    "Softmax": _normalization(rows=Rows.APART, rows_alike=Kinds.FLOAT, in_integers=(0,)),
    "SoftmaxCrossEntropyLoss": _of_rank(),  # it broadcasts
    "SplitToSequence": _makes_sequence(),
    "Upsample": _known(trust=Trust.PASSED),
}

NOT_DESCRIBED = frozenset({"ImageDecoder", "Loop", "Scan", "SwiGLU"})
"""Operators without a row, as nothing is known of them but what is safe to assume of any.

A SwiGLU ends in a Mul by its definition, so its inputs are broadcast, and inference is wrong.
"""
