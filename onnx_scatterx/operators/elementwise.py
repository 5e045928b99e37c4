"""Rows of the operators that compute each element of the output from those at its place."""

from __future__ import annotations

from functools import partial

from onnx_scatterx.operators.columns import (
    EVERY,
    FLOATS,
    NUMBERS,
    Decides,
    Kinds,
    Operator,
    Passing,
    Rounding,
    Rows,
    Trust,
)

_known = partial(Operator, trust=Trust.ALL, rows=Rows.BROADCAST)
_computes = partial(_known, passes=Passing.COMPUTED)
_arithmetic = partial(_computes, rounding=Rounding.ONCE, alike=NUMBERS, folds=True)
_bitwise = partial(_computes, rounding=Rounding.EXACT, alike=Kinds.INTEGER)
_exact = partial(_known, rounding=Rounding.EXACT, folds=True)
_logic = partial(_exact, alike=Kinds.BOOL)
_to_integers = partial(_exact, alike=FLOATS, decides=Decides.AT_RESULTS)
_comparison = partial(_exact, alike=NUMBERS, decides=Decides.AT_OPERANDS)
_test = partial(_exact, alike=FLOATS, tests=True, same_shape=True)
_function = partial(_known, same_shape=True)
_single = partial(_function, alike=Kinds.FLOAT)
_near = partial(_function, near=True)
_extreme = partial(
    _known,
    chooses=EVERY,
    alike=NUMBERS,
    widens=True,
    folds=True,
    passes=Passing.ALIKE,
    decides=Decides.AT_OPERANDS,
)

ELEMENTWISE: dict[str, Operator] = {
    "Abs": _exact(alike=NUMBERS, passes=Passing.ALIKE, decides=Decides.AT_ZERO),
    "Acos": _near(),
    "Acosh": _single(),
    "Add": _arithmetic(widens=True, neutral=0, in_integers=(0, 1)),
    "And": _logic(),
    "Asin": _near(),
    "Asinh": _single(),
    "Atan": _near(),
    "Atanh": _single(),
    "BitCast": _known(),
    "BitShift": _known(rounding=Rounding.EXACT, alike=Kinds.INTEGER),
    "BitwiseAnd": _bitwise(),
    "BitwiseNot": _bitwise(),
    "BitwiseOr": _bitwise(),
    "BitwiseXor": _bitwise(),
    "Cast": _known(rounding=Rounding.ONCE, folds=True, passes=Passing.ALIKE),
    "CastLike": _known(rounding=Rounding.ONCE, folds=True),
    "Ceil": _to_integers(),
    "Celu": _near(),
    "Clip": _known(
        alike=NUMBERS,
        folds=True,
        in_integers=(0,),
        passes=Passing.ALIKE,
        decides=Decides.AT_OPERANDS,
    ),
    "Cos": _near(folds=True),
    "Cosh": _single(),
    "Div": _arithmetic(neutral=1, decides=Decides.AT_OPERANDS),
    "Elu": _near(),
    "Equal": _comparison(compares="==", alike=Kinds.ANY, widens=True),
    "Erf": _single(),
    "Exp": _single(near=True, folds=True),
    "Floor": _to_integers(),
    "Gelu": _single(),
    "Greater": _comparison(compares=">", widens=True),
    "GreaterOrEqual": _comparison(compares=">="),
    "HardSigmoid": _single(),
    "HardSwish": _single(),
    "IsInf": _test(),
    "IsNaN": _test(),
    "LeakyRelu": _single(in_integers=(0,), decides=Decides.AT_ZERO | Decides.AT_RESULTS),
    "Less": _comparison(compares="<", widens=True),
    "LessOrEqual": _comparison(compares="<="),
    "Log": _near(folds=True),
    "Max": _extreme(),
    "Mean": _known(),
    "Min": _extreme(),
    "Mish": _near(),
    "Mod": _computes(alike=NUMBERS, folds=True, signed_input=0, decides=Decides.AT_OPERANDS),
    "Mul": _arithmetic(widens=True, neutral=1, in_integers=(0, 1)),
    "Neg": _exact(alike=NUMBERS, passes=Passing.ALIKE),
    "Not": _logic(),
    "Or": _logic(),
    "PRelu": Operator(
        rows=Rows.BROADCAST, alike=FLOATS, decides=Decides.AT_ZERO
    ),  # x and slope are broadcast
    "Pow": _computes(alike=FLOATS, folds=True),
    "Reciprocal": _function(alike=FLOATS, folds=True),
    "Relu": _function(
        alike=NUMBERS, in_integers=(0,), decides=Decides.AT_ZERO | Decides.AT_RESULTS
    ),
    "Round": _to_integers(),
    "Selu": _near(),
    "Shrink": _function(alike=FLOATS),
    "Sigmoid": _single(near=True, folds=True, in_integers=(0,)),
    "Sign": _bitwise(alike=NUMBERS, folds=True, decides=Decides.AT_ZERO),
    "Sin": _near(folds=True),
    "Sinh": _single(),
    "Softplus": _near(),
    "Softsign": _single(),
    "Sqrt": _known(alike=FLOATS, folds=True),  # some kernels approximate it
    "Sub": _arithmetic(widens=True, neutral=0),
    "Sum": _computes(),
    "Swish": _single(near=True),
    "Tan": _single(folds=True),
    "Tanh": _single(near=True, folds=True),
    "ThresholdedRelu": _single(),
    "Xor": _logic(),
}
