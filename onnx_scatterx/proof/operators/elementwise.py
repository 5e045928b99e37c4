"""Operators on one element of each input: arithmetic, comparisons, conditions, choices.

These operators are exact on integers and conditions, and unknown functions of float32.

For floats, only these identities are used, which hold for every float, also for NaN: x * 1 = x,
x + -0 = x, x - 0 = x. Two literals are added, subtracted and multiplied as IEEE 754 says. If the
last bits of a result may differ from place to place, the node is refused, or the answer has the
assumption that they are the same.
"""

from __future__ import annotations

import functools
import operator as operators
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onnx_scatterx.proof.assumed import SAME_BITS, SIGN_OF_ZERO
from onnx_scatterx.proof.core.arithmetic import (
    ZERO,
    add,
    divide,
    integer,
    maximum,
    minimum,
    modulo,
    multiply,
    subtract,
)
from onnx_scatterx.proof.core.functions import subgraphs_of
from onnx_scatterx.proof.core.logic import (
    COMPARISONS,
    at_most,
    below,
    both,
    choose,
    either,
    equal,
    negation,
    truth,
    under,
)
from onnx_scatterx.proof.core.reading import Node, declared
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, UnsupportedError, apply
from onnx_scatterx.proof.core.types import (
    float_constant,
    number_of,
    range_of,
    sort_of,
    wrapped,
)
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.gathers import counted_from_front, in_range
from onnx_scatterx.proof.operators.registry import (
    MOVING,
    Inputs,
    operator,
    optional,
    pointwise,
    read,
    required,
    scalar,
)

UNARY = (
    *("Abs", "Erf", "Exp", "Floor", "Gelu", "LeakyRelu", "Neg", "Reciprocal", "Relu", "Sigmoid"),
    *("Sqrt", "Tanh"),
)
BINARY = ("Add", "Sub", "Mul", "Div", "Mod")
"""Not modelled are Acos, Asin, Atan, Celu, Cos, Elu, Log, Mish, Pow, Selu, Sin, Softplus: the last
bits of a result depend on the place of the element. ONNX Runtime 1.32 computes several elements at
once, and the remaining elements by another function. Pow, also of integers, squares by a product if
the exponent has only one element, which may be so only at some sizes.
"""


def quotient(a: Term, b: Term) -> Term:
    """Return the quotient rounded towards zero, as integers divide in C++."""
    flipped = choose(below(b, ZERO), -a, a)
    size = choose(below(b, ZERO), -b, b)
    whole = divide(flipped, size)
    up = -divide(-flipped, size)
    return choose(at_most(ZERO, flipped), whole, up)


def remainder(a: Term, b: Term) -> Term:
    """Return the remainder with the sign of the divisor, as Mod gives it."""
    size = choose(below(b, ZERO), -b, b)
    flipped = choose(below(b, ZERO), -a, a)
    rest = modulo(flipped, size)
    return choose(below(b, ZERO), -rest, rest)


INTEGER_BINARY: dict[str, Callable[[Term, Term], Term]] = {
    "Add": add,
    "Sub": subtract,
    "Mul": multiply,
    "Div": quotient,
    "Mod": remainder,
}
INTEGER_UNARY: dict[str, Callable[[Term], Term]] = {
    "Neg": lambda a: -a,
    "Abs": lambda a: choose(below(a, ZERO), -a, a),
    "Relu": lambda a: maximum(a, ZERO),
}


def float_binary(name: str, a: Term, b: Term) -> Term:
    """Return the result of an operator on two floats, simplified by the identities if possible."""
    neutral = float_constant(_NEUTRAL[name]) if name in _NEUTRAL else None
    if neutral is not None:
        if b is neutral:
            return a
        if a is neutral and name != "Sub":
            return b
        # An identity may apply to one branch of a choice: so the choice is taken outside.
        for term in (a, b):
            if term.op == "choose" and neutral in term.args[1:]:
                test = term.args[0]
                pairs = ((under(a, test, v), under(b, test, v)) for v in (True, False))
                return choose(test, *(float_binary(name, *p) for p in pairs))
    if name in _NUMBERS and a.op == b.op == "literal":
        with np.errstate(all="ignore"):
            value = _NUMBERS[name](number_of(a), number_of(b))
        if not np.isnan(value):  # the bits of a NaN differ from processor to processor
            return float_constant(value)
    return apply((name,), (a, b))


_NEUTRAL = {"Mul": 1.0, "Add": -0.0, "Sub": 0.0}
_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operators.add,
    "Sub": operators.sub,
    "Mul": operators.mul,
    "Less": operators.lt,
    "LessOrEqual": operators.le,
    "Greater": operators.gt,
    "GreaterOrEqual": operators.ge,
    "Equal": operators.eq,
}


def binary(name: str, dtype: str, a: Term, b: Term, world: World) -> Term:
    """Return the result of an operator on two elements of a type."""
    if sort_of(dtype) == "data":
        return float_binary(name, a, b)
    if name == "Mod" and world.known(in_range(a, b)):  # equals an index counted from the front
        return counted_from_front(a, b, world)
    low, high = range_of(dtype)
    value = INTEGER_BINARY[name](a, b)
    made = wrapped(value, dtype)
    fits = at_most(integer(low), value), at_most(value, integer(high))
    return value if made.op == "wrap" and all(map(world.known, fits)) else made


@operator(*BINARY)
def arithmetic(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, b = required(inputs, 0), required(inputs, 1)
    if node.op == "Mod" and (sort_of(a.dtype) == "data" or node.get("fmod")):
        raise UnsupportedError("Mod as of floats")

    def define(x: Term, y: Term) -> Term:
        return binary(node.op, a.dtype, x, y, world)

    made = pointwise(a.dtype, [a, b], define, world, f"{node.op}: the shapes fit")
    dims = made[0].shape
    if node.op in ("Div", "Mod") and sort_of(a.dtype) == "integer":
        points = b.points("divisor")  # no divisor may be 0, even if the result is empty
        world.need_all(points, negation(equal(b.at(points), ZERO)), f"{node.op}: not by 0")
        least = integer(range_of(a.dtype)[0])
        if world.owing and least is not ZERO:  # the quotient would be one too large for the type
            at = made[0].points("divided")
            x, y = (read(t, dims, at, world) for t in (a, b))
            fits = negation(both(equal(x, least), equal(y, integer(-1))))
            world.need(fits, f"{node.op}: the quotient fits")
    return made


@operator(*UNARY)
def unary(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)

    def define(at: Coordinates) -> Term:
        x = a.at(at)
        if x.sort == "integer":
            return wrapped(INTEGER_UNARY[node.op](x), a.dtype)
        return apply((node.op, node.flavour), (x,))

    return [Tensor(a.dtype, a.shape, define)]


@operator("Min", "Max")
def extremes(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    tensors = [required(inputs, i) for i in range(len(inputs))]
    dtype = tensors[0].dtype
    pick = minimum if node.op == "Min" else maximum

    def made(a: Term, b: Term) -> Term:
        return pick(a, b) if a.sort == "integer" else apply((node.op,), (a, b))

    def define(*parts: Term) -> Term:
        return functools.reduce(made, parts)

    return pointwise(dtype, tensors, define, world, f"{node.op}: the shapes fit")


@operator("Clip")
def clip(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    what = "Clip: bounds are numbers"
    ends = (optional(inputs, 1), optional(inputs, 2))
    bounds = [None if t is None else scalar(t, world, what) for t in ends]

    def define(at: Coordinates) -> Term:
        x, (low, high) = a.at(at), bounds
        if x.sort == "integer":
            x = x if low is None else maximum(x, low)
            return x if high is None else minimum(x, high)
        there = "".join("-" if t is None else "+" for t in bounds)
        return apply(("Clip", there), (x, *(t for t in bounds if t is not None)))

    return [Tensor(a.dtype, a.shape, define)]


_SIGNS = {"Less": "<", "LessOrEqual": "<=", "Greater": ">", "GreaterOrEqual": ">=", "Equal": "=="}
_CONDITIONS: dict[str, Callable[[Term, Term], Term]] = {
    "And": both,
    "Or": either,
    "Xor": lambda a, b: negation(equal(a, b)),
    "Equal": equal,
}


@operator(*_SIGNS, "And", "Or", "Xor")
def comparison(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, b = required(inputs, 0), required(inputs, 1)

    def made(x: Term, y: Term) -> Term:
        if x.sort == "integer":
            return COMPARISONS[_SIGNS[node.op]](x, y)
        if x.sort == "condition":
            return _CONDITIONS[node.op](x, y)
        return compared(node.op, x, y)

    return pointwise("bool", [a, b], made, world, f"{node.op}: the shapes fit")


def compared(name: str, x: Term, y: Term) -> Term:
    """Return a comparison of floats: an unknown function.

    Only two literals are compared, and x = x if x is not NaN.
    """
    if x.op == y.op == "literal":
        return truth(bool(_NUMBERS[name](number_of(x), number_of(y))))
    if name == "Equal" and x is y:
        return negation(apply(("IsNaN", ()), (x,), "condition"))
    return apply((name,), (x, y), "condition")


@operator("Not")
def negated(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    return [Tensor("bool", a.shape, lambda at: negation(a.at(at)))]


@operator("IsNaN", "IsInf")
def special(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    name = (node.op, node.flavour)
    return [Tensor("bool", a.shape, lambda at: apply(name, (a.at(at),), "condition"))]


@operator("Where", moves=True)
def where(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    condition, a, b = (required(inputs, i) for i in range(3))
    return pointwise(a.dtype, [condition, a, b], choose, world, "Where: the shapes fit")


_CHOOSING = {"Where", "Min", "Max"}
_COMPUTING = {*UNARY, *BINARY, "Clip"}
_QUANTIZING = {"QuantizeLinear", "DequantizeLinear"}


def assumed(node: Node, made: Sequence[Tensor]) -> str:
    """Return the assumption about the floats of a node that only one of the models has."""
    floats = bool(made) and sort_of(made[0].dtype) == "data" and made[0].dtype != "string"
    if node.standard and floats and node.op in _CHOOSING:
        return SIGN_OF_ZERO
    if node.standard and (node.op in _QUANTIZING or (node.op in _COMPUTING and floats)):
        return SAME_BITS
    return ""


def unrounded(
    node: Node, inputs: Sequence[Tensor | None], made: Sequence[Tensor], unknown: bool
) -> str:
    """Return why a node is refused that computes float16; empty if the node is not refused.

    On a CPU, ONNX Runtime computes most float16 nodes in float32, and rounds only before some
    nodes. So a result depends on the nodes around. ``unknown`` says that the node is not modelled.
    A type that is not stated, or not known in a node that gives float16, counts as float16.
    """
    moves = node.op in MOVING and node.get("reduction", b"none") == b"none"
    if not unknown or (node.standard and moves):
        return ""
    types = {t.dtype for t in inputs if t is not None}
    types |= {declared(o).dtype or "float16" for g in subgraphs_of(node.proto) for o in g.output}
    half = {"float16", "unknown"} if "float16" in types else {"float16"}
    if not half & {t.dtype for t in made}:
        return ""
    return f"{node.op} gives float16, which ONNX Runtime may keep as float32"
