"""Tensors made of sizes and numbers: Shape, Size, Range, ConstantOfShape, EyeLike."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from onnx_scatterx.equivalence.core.arithmetic import (
    ZERO,
    add,
    integer,
    maximum,
    number,
    scale,
    subtract,
)
from onnx_scatterx.equivalence.core.division import divide
from onnx_scatterx.equivalence.core.logic import at_most, choose, equal, negation
from onnx_scatterx.equivalence.core.reading import Node, dtype_name
from onnx_scatterx.equivalence.core.tensor import Tensor, tensor_of
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.types import constant, sort_of
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators.registry import Inputs, needed, operator, scalar


@operator("Shape")
def shape(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    dims = needed(inputs, 0).shape
    start, end = node.get("start", 0), node.get("end", len(dims))
    bounds = [min(max(b + len(dims) if b < 0 else b, 0), len(dims)) for b in (start, end)]
    return [tensor_of("int64", dims[bounds[0] : bounds[1]])]


@operator("Size")
def size(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    total = needed(inputs, 0).size
    return [Tensor("int64", (), lambda _: total)]


@operator("Range")
def span(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    tensors = [needed(inputs, i) for i in range(3)]
    dtype = tensors[0].dtype
    if sort_of(dtype) != "integer":
        raise UnsupportedError("Range of floats")
    start, end, step = (scalar(t, world, "Range: bounds are numbers") for t in tensors)
    world.need(negation(equal(step, ZERO)), "Range: the step is not 0")
    known = number(step)
    if known is None:
        raise UnsupportedError("Range with a step that is not constant")
    if known > 0:
        length = divide(add(subtract(end, start), integer(known - 1)), integer(known))
    else:
        length = divide(add(subtract(start, end), integer(-known - 1)), integer(-known))
    dims = (maximum(length, ZERO),)
    return [Tensor(dtype, dims, lambda at: add(start, scale(at[0], known)))]


def sizes_of(tensor: Tensor, world: World, what: str) -> list[Term]:
    """Return the elements of a vector of sizes, which must not be negative."""
    dims = tensor.elements()
    for d in dims:
        world.need(at_most(ZERO, d), what)
    return dims


@operator("ConstantOfShape")
def filled(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    dims = sizes_of(needed(inputs, 0), world, "ConstantOfShape: no size is negative")
    proto = node.get("value")
    array = np.zeros(1, np.float32) if proto is None else numpy_helper.to_array(proto)
    dtype = str(array.dtype.name)
    value = constant(array.reshape(-1)[0], dtype)
    return [Tensor(dtype, tuple(dims), lambda _: value)]


@operator("EyeLike")
def eye(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    dtype = dtype_name(node.get("dtype")) if node.get("dtype") else a.dtype
    if sort_of(dtype) == "data" and dtype not in ("float32", "float64", "float16"):
        raise UnsupportedError(f"EyeLike of {dtype}")
    kind = np.dtype(dtype).type
    zero, one = constant(kind(0), dtype), constant(kind(1), dtype)
    shift = integer(node.get("k", 0))
    return [Tensor(dtype, a.shape, lambda at: choose(equal(add(at[0], shift), at[1]), one, zero))]
