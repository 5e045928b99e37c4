"""Rows of all other operators: products, reductions, pools, normalizations, sequences."""

from __future__ import annotations

from functools import partial

from onnx_scatterx.operators.columns import Operator, Passing, Rounding, Trust

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
    EyeLike GridSample GroupNormalization MaxRoiPool MaxUnpool NonMaxSuppression OptionalHasElement
    QuantizeLinear RegexFullMatch RoiAlign RotaryEmbedding StringConcat StringNormalizer StringSplit
    TfIdfVectorizer"""
"""Operators of which only inferred shapes were looked at."""

LAYERS: dict[str, Operator] = {
    **dict.fromkeys(_SHAPES_ALONE.split(), _known()),
    "ArgMax": _reduction(in_integers=(0,)),
    "ArgMin": _reduction(),
    "AveragePool": _spatial(in_integers=(0,)),
    "Bernoulli": _random(),
    "BlackmanWindow": _window(),
    # ONNX Runtime runs its definition, which broadcasts inputs that inference does not look at.
    "CausalConvWithState": _of_rank(),
    "ConcatFromSequence": _reads_sequence(),
    "Conv": _convolution(),
    "ConvInteger": _computes(),
    "ConvTranspose": _convolution(),
    "CumSum": _computes(folds=True),
    # If the length of the signal is not known, inference takes that of the axis.
    "DFT": _of_rank(ranks=(None,)),
    "DeformConv": _spatial(),
    "DequantizeLinear": _computes(),
    "Dropout": _known(passes=Passing.ALIKE),
    "Einsum": _of_rank(),  # it broadcasts
    "GRU": _recurrent(),
    "Gemm": _product(),
    "GlobalAveragePool": _spatial(in_integers=(0,)),
    "GlobalLpPool": _spatial(),
    "GlobalMaxPool": _spatial(),
    "HammingWindow": _window(),
    "HannWindow": _window(),
    "Hardmax": _normalization(),
    "InstanceNormalization": _normalization(),
    "LRN": _normalization(),
    "LSTM": _recurrent(ranks=(4, 3, 3)),
    "LayerNormalization": _normalization(),
    "LinearAttention": _of_rank(),  # as CausalConvWithState
    "LogSoftmax": _normalization(),
    "LpNormalization": _normalization(),
    "LpPool": _spatial(),
    "MatMul": _product(folds=True),
    "MatMulInteger": _computes(),
    "MaxPool": _known(chooses=(0,), ranks=(None, None), moved_past=True),
    "MeanVarianceNormalization": _normalization(),
    "MelWeightMatrix": _of_rank(ranks=(2,)),  # as DFT
    "Multinomial": _random(),
    "NegativeLogLikelihoodLoss": _of_rank(),  # it broadcasts
    "NonZero": _known(rounding=Rounding.EXACT),
    "OneHot": _known(folds=True, signed_input=0),
    "Optional": Operator(passes=Passing.ALIKE),
    "OptionalGetElement": _known(passes=Passing.ALIKE),
    "QLinearConv": _computes(),
    "QLinearMatMul": _computes(),
    "RMSNormalization": _normalization(),
    "RNN": _recurrent(),
    "RandomNormal": _random(),
    "RandomNormalLike": _random(),
    "RandomUniform": _random(),
    "RandomUniformLike": _random(),
    "ReduceL1": _reduction(),
    "ReduceL2": _reduction(),
    "ReduceLogSum": _reduction(),
    "ReduceLogSumExp": _reduction(),
    "ReduceMax": _extreme(),
    "ReduceMean": _sum(),
    "ReduceMin": _extreme(),
    "ReduceProd": _sum(folds=True),
    "ReduceSum": _sum(),
    "ReduceSumSquare": _sum(),
    "Resize": _known(trust=Trust.PASSED, in_integers=(0,)),
    "STFT": _known(ranks=(4,)),
    "SequenceAt": _reads_sequence(),
    "SequenceConstruct": _makes_sequence(),
    "SequenceEmpty": _makes_sequence(),
    "SequenceErase": _reads_sequence(gives_sequence=True),
    "SequenceInsert": _reads_sequence(gives_sequence=True),
    "SequenceLength": _reads_sequence(),
    "SequenceMap": Operator(takes_sequence=True, gives_sequence=True),
    "Softmax": _normalization(in_integers=(0,)),
    "SoftmaxCrossEntropyLoss": _of_rank(),  # it broadcasts
    "SplitToSequence": _makes_sequence(),
    "Upsample": _known(trust=Trust.PASSED),
}

NOT_DESCRIBED = frozenset({"ImageDecoder", "Loop", "Scan", "SwiGLU"})
"""Operators without a row, as nothing is known of them but what is safe to assume of any.

A SwiGLU ends in a Mul by its definition, so its inputs are broadcast, and inference is wrong.
"""
