"""Elements in another type: Cast, CastLike, QuantizeLinear, DequantizeLinear.

A Cast between integers and conditions, and of a literal that fits, is exact. Any other Cast is an
unknown function. QuantizeLinear is an unknown function of an element, its scale and its zero point.
Only this is known, for a normal scale s > 0 and an integer q of at most 16 bits, because the
rounding errors of q * s / s are far below 1/2:

    QuantizeLinear(DequantizeLinear(q, s, z), s, z) = q
"""

from __future__ import annotations

import math

from onnx_scatterx.proof.core.arithmetic import ONE, ZERO, integer, number
from onnx_scatterx.proof.core.logic import (
    below,
    by_case,
    choose,
    either,
    equal,
    from_condition,
    truth,
)
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, UnsupportedError, apply
from onnx_scatterx.proof.core.types import (
    COMPUTED,
    dtype_name,
    float_constant,
    number_of,
    range_of,
    sort_of,
    wrapped,
)
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.registry import (
    Inputs,
    operator,
    optional,
    positive,
    required,
)


@operator("Cast", "CastLike")
def cast(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    to = required(inputs, 1).dtype if node.op == "CastLike" else dtype_name(node.get("to"))
    if a.dtype == to:
        return [a]
    if to not in COMPUTED:
        raise UnsupportedError(f"Cast to {to}")
    return [Tensor(to, a.shape, lambda at: converted(a.at(at), a.dtype, to))]


def converted(x: Term, dtype: str, to: str) -> Term:
    """Return an element in another type."""
    if x.op == "choose":
        return by_case(x, lambda t: converted(t, dtype, to))
    target = sort_of(to)
    if x.sort == "condition":
        if target == "integer":
            return from_condition(x)
        return choose(x, float_constant(1.0), float_constant(0.0))
    if x.sort == "integer":
        if target == "integer":
            return wrapped(x, to)
        if target == "condition":
            return either(below(x, ZERO), below(ZERO, x))
        if x.op == "integer" and abs(x.data) < 2**24:
            return float_constant(x.data)
        return apply(("Cast", dtype, to), (x,))
    if target == "condition" and x.op == "literal":
        return truth(bool(number_of(x) != 0))
    if target == "integer" and x.op == "literal" and _is_in_range(float(number_of(x)), to):
        return integer(int(number_of(x)))
    return apply(("Cast", dtype, to), (x,), target, *range_of(to))


def _is_in_range(number: float, dtype: str) -> bool:
    """Return whether a number, cut off toward zero, is an integer of a type."""
    low, high = range_of(dtype)
    return math.isfinite(number) and low <= int(number) <= high


@operator("QuantizeLinear", "DequantizeLinear")
def quantized(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, scale, zero = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
    whole = scale.rank == 0 or (scale.rank == 1 and scale.shape[0] is ONE)
    if scale.rank > 1 or node.get("block_size", 0):
        raise UnsupportedError(f"{node.op} by blocks")
    axis = 0 if whole else positive(node.get("axis", 1), a.rank)
    if not whole:
        if number(scale.shape[0]) is None:  # one scale is right for any size of the axis
            raise UnsupportedError(f"{node.op} with an unknown number of scales")
        world.need(equal(scale.shape[0], a.shape[axis]), f"{node.op}: a scale for each place")
    if zero is not None:
        if zero.rank != scale.rank:
            raise UnsupportedError(f"{node.op} with a zero point of another rank")
        for d, e in zip(zero.shape, scale.shape, strict=True):
            world.need(equal(d, e), f"{node.op}: a zero point for each scale")
    if node.get("output_dtype"):
        dtype = dtype_name(node.get("output_dtype"))
    elif node.op == "DequantizeLinear":
        dtype = scale.dtype
    else:
        dtype = "uint8" if zero is None else zero.dtype
    ways = tuple(part for part in node.flavour if part[0] != "axis")
    name = (node.op, ways, a.dtype, scale.dtype, dtype, zero is not None)
    back = ("DequantizeLinear", (), dtype, scale.dtype, a.dtype, zero is not None)
    operands = [scale] if zero is None else [scale, zero]

    def made(x: Term, rest: tuple[Term, ...]) -> Term:
        undone = x.op == "apply" and x.data == (back,) and x.args[1:] == rest
        if undone and not ways and dtype in _SMALL and _is_normal(rest[0]):
            return x.args[0]
        return apply(name, (x, *rest), sort_of(dtype), *range_of(dtype))

    def define(at: Coordinates) -> Term:
        own = () if scale.rank == 0 else (ZERO if whole else at[axis],)
        rest = tuple(t.at(own) for t in operands)
        return by_case(a.at(at), lambda x: made(x, rest))

    return [Tensor(dtype, a.shape, define)]


_SMALL = ("int8", "uint8", "int16", "uint16")


def _is_normal(scale: Term) -> bool:
    """Return whether a scale is a normal number, neither tiny nor huge."""
    normal = scale.op == "literal" and scale.data[0] == "float32"
    return normal and 1e-30 < float(number_of(scale)) < 1e30
