"""Sums and products of many dims with a constant, on merged axes.

    merged_with_constants    x + c   =   Reshape(Reshape(x) + c)      of four dims

Neighbouring axes along which neither x nor c is repeated become one axis, and so do those along
which one of them is. If more than four dims are left, c is repeated along one axis. Each element is
computed as before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant

_MOST = 4
"""The most dims at which the compiler does not fail. At fewer dims it fails behind a Reshape."""
_LARGEST = 1 << 21  # numbers of a constant that is repeated

_Shapes: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"


def merged_with_constants(at: Candidate) -> bool:
    """Merge the axes of a sum of many dims with a constant, if few are left then."""
    w, node, scope, constants, _ = at
    result = scope.of(node.outputs[0]).static_shape
    if result is None or len(result) <= _MOST or 0 in result:
        return False
    shapes = [scope.of(required(value)).static_shape for value in node.inputs]
    if [constants.is_constant(required(value)) for value in node.inputs].count(True) != 1:
        return False
    one, other = ((1,) * (len(result) - len(shape or ())) + (shape or ()) for shape in shapes)
    if None in shapes or any(max(a, b) != n for a, b, n in zip(one, other, result, strict=True)):
        return False
    tensors = [constant(value, scope.overridable) for value in node.inputs]
    whole = next(_repeated((one, other), [t is not None for t in tensors], result), None)
    if whole is None:
        return False
    runs = _runs(*whole)

    def write() -> ir.Value:
        kind = w.dtype_of(required(node.inputs[0]))
        inputs = []
        for place, (value, tensor) in enumerate(zip(node.inputs, tensors, strict=True)):
            if tensor is None:
                inputs.append(w.node("Reshape", [value, w.constant(runs[place])], kind))
            else:
                array = tensor.numpy().reshape((one, other)[place])
                array = np.broadcast_to(array, whole[place]).reshape(runs[place])
                inputs.append(w.constant(array, kind))
        y = w.node(node.op_type, inputs, kind)
        return w.node("Reshape", [y, w.constant([*result])], kind)

    return at.replace(node.outputs[0], write)


def _repeated(shapes: _Shapes, known: Sequence[bool], result: tuple[int, ...]) -> Iterator[_Shapes]:
    """Yield shapes of the operands that leave few axes: their own, or with a known one repeated.

    It is repeated along one axis, if that is not too many numbers.
    """
    if len(_runs(*shapes)[0]) <= _MOST:
        yield shapes
    for place in (i for i in (0, 1) if known[i]):
        own = shapes[place]
        for axis, (n, size) in enumerate(zip(own, result, strict=True)):
            if n == 1 < size and math.prod(own) * size <= _LARGEST:
                more = (*own[:axis], size, *own[axis + 1 :])
                both = (shapes[0], more) if place else (more, shapes[1])
                if len(_runs(*both)[0]) <= _MOST:
                    yield both


def _runs(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Return the sizes of two operands on merged axes, with ones in front if these are few."""
    sizes: tuple[list[int], list[int]] = ([], [])
    before = None
    for pair in zip(one, other, strict=True):
        if pair == (1, 1):
            continue
        kind = (pair[0] == 1, pair[1] == 1)
        for own, n in zip(sizes, pair, strict=True):
            if kind == before:
                own[-1] = math.prod((own[-1], n))
            else:
                own.append(n)
        before = kind
    few = [1] * (_MOST - len(sizes[0]))
    return [*few, *sizes[0]], [*few, *sizes[1]]
