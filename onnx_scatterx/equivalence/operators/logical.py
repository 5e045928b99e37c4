"""Comparisons, conditions, and choices by them."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

from onnx_scatterx.equivalence.core.logic import (
    at_most,
    below,
    both,
    choose,
    either,
    equal,
    negation,
    truth,
)
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.equivalence.core.terms import Term, apply
from onnx_scatterx.equivalence.core.types import FLOATS, number_of
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators import broadcasting
from onnx_scatterx.equivalence.operators.registry import Inputs, needed, operator

_INTEGERS: dict[str, Callable[[Term, Term], Term]] = {
    "Less": below,
    "LessOrEqual": at_most,
    "Greater": lambda a, b: below(b, a),
    "GreaterOrEqual": lambda a, b: at_most(b, a),
    "Equal": equal,
}
_CONDITIONS: dict[str, Callable[[Term, Term], Term]] = {
    "And": both,
    "Or": either,
    "Xor": lambda a, b: negation(equal(a, b)),
    "Equal": equal,
}
_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "Less": operators.lt,
    "LessOrEqual": operators.le,
    "Greater": operators.gt,
    "GreaterOrEqual": operators.ge,
    "Equal": operators.eq,
}


@operator("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "And", "Or", "Xor")
def comparison(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, b = needed(inputs, 0), needed(inputs, 1)
    dims = broadcasting.shape([a.shape, b.shape], world, f"{node.op}: the shapes fit")

    def define(at: Coordinates) -> Term:
        x = broadcasting.read(a, dims, at, world)
        y = broadcasting.read(b, dims, at, world)
        if x.sort == "integer":
            return _INTEGERS[node.op](x, y)
        if x.sort == "condition":
            return _CONDITIONS[node.op](x, y)
        return compared(node.op, a.dtype, x, y)

    return [Tensor("bool", dims, define)]


def compared(name: str, dtype: str, x: Term, y: Term) -> Term:
    """Return a comparison of floats or strings, an otherwise unknown function.

    Two numbers are compared, and x = x if x is not NaN.
    """
    if dtype in FLOATS and name in _NUMBERS:
        if x.op == y.op == "literal":
            return truth(bool(_NUMBERS[name](number_of(x), number_of(y))))
        if name == "Equal" and x is y:
            return negation(apply(("IsNaN", (), dtype), (x,), "condition"))
    return apply((name, dtype), (x, y), "condition")


@operator("Not")
def negated(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    return [Tensor("bool", a.shape, lambda at: negation(a.at(at)))]


@operator("IsNaN", "IsInf")
def special(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    name = (node.op, node.flavour, a.dtype)
    return [Tensor("bool", a.shape, lambda at: apply(name, (a.at(at),), "condition"))]


@operator("Where")
def where(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    condition, a, b = (needed(inputs, i) for i in range(3))
    shapes = [condition.shape, a.shape, b.shape]
    dims = broadcasting.shape(shapes, world, "Where: the shapes fit")

    def define(at: Coordinates) -> Term:
        test = broadcasting.read(condition, dims, at, world)
        if test.op == "true":
            return broadcasting.read(a, dims, at, world)
        if test.op == "false":
            return broadcasting.read(b, dims, at, world)
        yes = broadcasting.read(a, dims, at, world)
        return choose(test, yes, broadcasting.read(b, dims, at, world))

    return [Tensor(a.dtype, dims, define)]
