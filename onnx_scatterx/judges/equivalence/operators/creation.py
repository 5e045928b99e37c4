"""Tensors made of sizes and numbers: Shape, Size, Range, ConstantOfShape."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from onnx_scatterx.judges.equivalence.core.arithmetic import ZERO, divide, integer, maximum, number
from onnx_scatterx.judges.equivalence.core.logic import at_most, equal, negation
from onnx_scatterx.judges.equivalence.core.reading import Node
from onnx_scatterx.judges.equivalence.core.tensor import Tensor, tensor_of
from onnx_scatterx.judges.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.judges.equivalence.core.types import constant, sort_of
from onnx_scatterx.judges.equivalence.core.world import World
from onnx_scatterx.judges.equivalence.operators.registry import Inputs, needed, operator, scalar


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
        length = divide(end - start + (known - 1), integer(known))
    else:
        length = divide(start - end + (-known - 1), integer(-known))
    dims = (maximum(length, ZERO),)
    return [Tensor(dtype, dims, lambda at: start + at[0] * known)]


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
