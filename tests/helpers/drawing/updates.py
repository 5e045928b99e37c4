"""What is written: another tensor, or a function of what is read at the same positions."""

from collections.abc import Callable

import numpy as np
from onnx import numpy_helper

from tests.helpers.builder import Dims
from tests.helpers.drawing.drawing import Drawing, Value, enter

Read = Callable[[Value], Value]
"""Reads the elements of a tensor at the positions that are written."""


@enter("updates")
def other(d: Drawing, x: Value, dims: Dims, read: Read) -> Value:
    return d.other(x.dtype, dims)


@enter("updates")
def computed(d: Drawing, x: Value, dims: Dims, read: Read) -> Value:
    """A function of the elements that are written over."""
    return d.computed(read(x))


@enter("updates")
def same(d: Drawing, x: Value, dims: Dims, read: Read) -> Value:
    """What is there already."""
    return read(x)


@enter("updates")
def elsewhere(d: Drawing, x: Value, dims: Dims, read: Read) -> Value:
    """What another tensor has at these positions, or a function of this."""
    found = read(d.other(x.dtype, x.dims))
    return d.computed(found) if d.does(0.7) else found


@enter("updates")
def summed(d: Drawing, x: Value, dims: Dims, read: Read) -> Value | None:
    """What is there and what another tensor has there, added: ``x[..] += z[..]``."""
    if x.dtype in ("bool", "object", "float16"):
        return None
    return d.of("Add", read(x), read(d.other(x.dtype, x.dims)).name)


@enter("updates")
def zeros(d: Drawing, x: Value, dims: Dims, read: Read) -> Value | None:
    if x.dtype != "float32":
        return None
    return Value(d.node("ConstantOfShape", d.node("Shape", read(x).name)), x.dtype, dims)


@enter("updates")
def numbered(d: Drawing, x: Value, dims: Dims, read: Read) -> Value | None:
    """1, 2, ... along an axis."""
    if x.dtype != "float32":
        return None
    one = numpy_helper.from_array(np.ones(1, np.float32))
    ones = d.node("ConstantOfShape", d.node("Shape", read(x).name), value=one)
    axis = d.constant(d.rng.randrange(len(dims)))
    return Value(d.node("CumSum", ones, axis), x.dtype, dims)


@enter("updates")
def filled(d: Drawing, x: Value, dims: Dims, read: Read) -> Value:
    """One number, as often as is written."""
    number = d.constant(d.rng.choice((0, 0, 1, 7)), x.dtype)
    return Value(d.node("Expand", number, d.node("Shape", read(x).name)), x.dtype, dims)


def updates(d: Drawing, x: Value, dims: Dims, read: Read) -> Value:
    """Return what is written, at times as a shape that is computed demands it."""
    made: Value = d.draw("updates", x, dims, read)
    if d.constants_as == "nodes" and d.does(0.4):
        shape = d.node("Shape", made.name)
        made = d.of("Reshape", d.of("Expand", made, shape), shape)
    return made
