"""Operators on one element of each input: exact on integers, unknown functions of floats.

Of floats only these identities are used, which hold for every float, NaN included:
x * 1 = x, x + -0 = x, x - 0 = x. Two numbers are added, subtracted and multiplied as IEEE
754 says.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

import numpy as np

from onnx_scatterx.equivalence.core.arithmetic import (
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
from onnx_scatterx.equivalence.core.logic import (
    at_most,
    below,
    both,
    choose,
    equal,
    from_condition,
    implies,
    negation,
)
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError, apply
from onnx_scatterx.equivalence.core.types import (
    FLOATS,
    constant,
    float_constant,
    number_of,
    range_of,
    sort_of,
    wrapped,
)
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators import broadcasting
from onnx_scatterx.equivalence.operators.registry import Inputs, given, needed, operator, scalar

Flavour = tuple[object, ...]

UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh"),
    *("Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish"),
    *("Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh"),
    *("Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu"),
)
BINARY = (
    *("Add", "Sub", "Mul", "Div", "Mod", "Pow", "PRelu"),
    *("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
)


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
    "Sign": lambda a: choose(below(a, ZERO), integer(-1), from_condition(below(ZERO, a))),
}


def _known_branch(term: Term, neutral: Term) -> bool:
    return term.op == "choose" and neutral in term.args[1:]


def float_binary(name: str, flavour: Flavour, dtype: str, a: Term, b: Term) -> Term:
    """Return an operator on two floats, by the identities if they help."""
    sides = {"Mul": (1.0, True), "Add": (-0.0, True), "Sub": (0.0, False)}
    if name in sides and not flavour:
        value, both_ways = sides[name]
        neutral = float_constant(dtype, value)
        if neutral is not None:
            if b is neutral:
                return a
            if both_ways and a is neutral:
                return b
            # An identity within a choice helps if the choice is made first.
            for term in (a, b):
                if _known_branch(term, neutral):
                    condition, yes, no = term.args
                    other = b if term is a else a
                    pairs = []
                    for branch, value_of in ((yes, True), (no, False)):
                        rest = _chosen(other, condition, value_of)
                        pair = (branch, rest) if term is a else (rest, branch)
                        pairs.append(float_binary(name, flavour, dtype, *pair))
                    return choose(condition, *pairs)
    if name in _NUMBERS and not flavour and dtype in FLOATS and a.op == b.op == "literal":
        with np.errstate(all="ignore"):
            value = _NUMBERS[name](number_of(a), number_of(b))
        if not np.isnan(value):  # of a NaN, the bits differ from processor to processor
            return constant(value, dtype)
    return apply((name, flavour, dtype), (a, b))


_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operators.add,
    "Sub": operators.sub,
    "Mul": operators.mul,
}


def _chosen(term: Term, condition: Term, value: bool) -> Term:
    while term.op == "choose":
        own = term.args[0]
        if own is condition:
            term = term.args[1 if value else 2]
        elif own is negation(condition):
            term = term.args[2 if value else 1]
        else:
            break
    return term


def binary(name: str, node: Node, dtype: str, a: Term, b: Term, world: World) -> Term:
    """Return an operator on two elements of a type."""
    sort = sort_of(dtype)
    if sort == "data":
        return float_binary(name, node.flavour, dtype, a, b)
    if sort == "integer" and name in INTEGER_BINARY and not node.get("fmod"):
        value = INTEGER_BINARY[name](a, b)
        made = wrapped(value, dtype)
        low, high = range_of(dtype)
        if made.op == "wrap":
            fits = at_most(integer(low), value), at_most(value, integer(high))
            if all(world.known(f) for f in fits):
                return value
        return made
    low, high = range_of(dtype)
    return apply((name, node.flavour, dtype), (a, b), sort, low, high)


@operator(*BINARY)
def arithmetic(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, b = needed(inputs, 0), needed(inputs, 1)
    dims = broadcasting.shape([a.shape, b.shape], world, f"{node.op}: the shapes fit")
    if node.op in ("Div", "Mod") and sort_of(a.dtype) == "integer":
        points = b.points("divisor")
        exist = both(*(below(ZERO, d) for d in dims))
        nonzero = negation(equal(b.at(points), ZERO))
        world.need_all(points, implies(exist, nonzero), f"{node.op}: not by 0")
        least = integer(range_of(a.dtype)[0])
        if world.owing and least is not ZERO:  # the quotient would be one too large for the type
            at = Tensor(a.dtype, dims, a.define).points("divided")
            x = broadcasting.read(a, dims, at, world)
            y = broadcasting.read(b, dims, at, world)
            fits = negation(both(equal(x, least), equal(y, integer(-1))))
            world.need(fits, f"{node.op}: the quotient fits")
    if node.op == "Pow" and a.dtype != b.dtype:
        raise UnsupportedError("Pow of two types")

    def define(at: Coordinates) -> Term:
        x = broadcasting.read(a, dims, at, world)
        y = broadcasting.read(b, dims, at, world)
        return binary(node.op, node, a.dtype, x, y, world)

    return [Tensor(a.dtype, dims, define)]


@operator(*UNARY)
def unary(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    low, high = range_of(a.dtype)

    def define(at: Coordinates) -> Term:
        x = a.at(at)
        if x.sort == "integer" and node.op in INTEGER_UNARY:
            return wrapped(INTEGER_UNARY[node.op](x), a.dtype)
        return apply((node.op, node.flavour, a.dtype), (x,), x.sort, low, high)

    return [Tensor(a.dtype, a.shape, define)]


@operator("Min", "Max")
def extremes(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    tensors = [needed(inputs, i) for i in range(len(inputs))]
    dtype = tensors[0].dtype
    dims = broadcasting.shape([t.shape for t in tensors], world, f"{node.op}: the shapes fit")
    pick = minimum if node.op == "Min" else maximum

    def define(at: Coordinates) -> Term:
        parts = [broadcasting.read(t, dims, at, world) for t in tensors]
        made = parts[0]
        for part in parts[1:]:
            if sort_of(dtype) == "integer":
                made = pick(made, part)
            else:
                made = apply((node.op, (), dtype), (made, part))
        return made

    return [Tensor(dtype, dims, define)]


@operator("Clip")
def clip(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    bounds = [
        None if t is None else scalar(t, world, "Clip: bounds are numbers")
        for t in (given(inputs, 1), given(inputs, 2))
    ]

    def define(at: Coordinates) -> Term:
        x, (low, high) = a.at(at), bounds
        if x.sort == "integer" and node.version >= 11:
            x = x if low is None else maximum(x, low)
            return x if high is None else minimum(x, high)
        there = "".join("-" if t is None else "+" for t in bounds)
        name = ("Clip", node.flavour, there, a.dtype)
        known = (t for t in bounds if t is not None)
        return apply(name, (x, *known), x.sort, *range_of(a.dtype))

    return [Tensor(a.dtype, a.shape, define)]
