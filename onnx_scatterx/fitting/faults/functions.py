"""Functions of a product, which a compiler computes by a coarse table, as functions of a maximum.

    apart_from_conv      Tanh(Conv(x, w))     =   Tanh(Max(c, c)),   c = Conv(x, w)
                         the same for Gelu, also for one that is made of an Erf or a Tanh; and for
                         a ConvTranspose, also with sums and products with constants, and moves
                         between
    apart_from_matmul    Gelu(MatMul(x, w))   =   Gelu(Max(m, m)),   m = MatMul(x, w)
                         the same for Tanh, Sigmoid and such a Gelu; and for a Gemm, also with
                         sums with constants, and moves between

The larger one of a number and itself is that number, NaN, too. The error of the table matters where
it reaches the output, as of audio, or the first layers, and where many layers add to it. A maximum
costs time, so the Sigmoids between the Convs of a detector stay as they are, and so do functions of
products whose sums are short: beside long sums, a maximum takes little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.engine.device import pattern_of
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, is_operator, made_by
from onnx_scatterx.text import Refusal

_OF_CONV = ("Tanh", "Gelu")
_OF_MATMUL = ("Tanh", "Gelu", "Sigmoid")
_SCALES = ("Div", "Mul")  # in front of the Erf of a Gelu
OF_CONV = (*_OF_CONV, *_SCALES)
OF_MATMUL = (*_OF_MATMUL, *_SCALES)
_SUMS = ("Add", "Sub", "Mul", "Div")
_MOVES = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity")
_MOST = 4  # nodes between a product and a function
_LONG = 256  # products in a sum
_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16)


def apart_from_conv(at: Candidate) -> bool:
    """Put a maximum between a Conv and the functions of it."""
    return _put(at, _OF_CONV, lambda x: _is_conv(x, at, _MOST))


def apart_from_matmul(at: Candidate) -> bool:
    """Put a maximum between a long product of matrices and the functions of it."""
    return _put(at, _OF_MATMUL, lambda x: _is_matmul(x, at, _MOST))


def may_be_function(node: ir.Node) -> bool:
    """Return whether a node is a function, or may be a part of a Gelu that is made of an Erf."""
    if node.op_type in _OF_MATMUL:
        return True
    return any(_is_scale(reader) for x in node.inputs if x is not None for reader, _ in x.uses())


def _put(at: Candidate, functions: tuple[str, ...], fits: Callable[[ir.Value], bool]) -> bool:
    """Put a maximum between a value that fits and its functions, at the first of these."""
    w, node = at.writer, at.node
    for x, readers in _arguments(node, at, functions):
        if w.dtype_of(x) not in _FLOATS or not fits(x):
            continue
        first = next(n for n in required(node.graph) if n in readers)
        with w.graph.at(first, x.name):
            nodes = w.fragment_of(partial(w.node, "Max", [x, x], w.dtype_of(x)))
            if isinstance(nodes, Refusal):
                return False
            apart = w.graph.commit(nodes).result
        for reader, place in [*x.uses()]:
            if reader in readers:
                reader.replace_input_with(place, apart)
        return True
    return False


def _arguments(
    node: ir.Node, at: Candidate, functions: tuple[str, ...]
) -> Iterator[tuple[ir.Value, Sequence[ir.Node]]]:
    """Yield what a node may be a function of, each with all nodes that compute the function."""
    cubed = _argument_of_gelu(node)
    if cubed is not None:
        yield cubed, _readers(cubed, at)
    for x in dict.fromkeys(node.inputs):
        readers = [] if x is None else _functions_of(x, at, functions)
        if x is not None and node in readers:
            yield x, readers


def _readers(x: ir.Value, at: Candidate) -> list[ir.Node]:
    return [reader for reader, _ in x.uses() if reader.graph is at.node.graph]


def _functions_of(x: ir.Value, at: Candidate, functions: tuple[str, ...]) -> Sequence[ir.Node]:
    """Return the functions that read a value; if an Erf makes one of them, all that read it."""
    readers = _readers(x, at)
    for scale in filter(_is_scale, readers):
        erf = [reader for reader, _ in scale.outputs[0].uses()]
        if any(pattern_of(reader, at.scope.overridable) for reader in erf):
            return readers
    return [reader for reader in readers if is_operator(reader, functions)]


def _is_scale(node: ir.Node) -> bool:
    return is_operator(node, _SCALES) and any(
        is_operator(reader, ("Erf",)) for reader, _ in node.outputs[0].uses()
    )


def _argument_of_gelu(node: ir.Node) -> ir.Value | None:
    """Return the x of ``Tanh(a * (x + b * x * x * x))``; the cube may be a Pow."""
    scaled = made_by(node.inputs[0], "Mul") if is_operator(node, ("Tanh",)) else None
    sums = [made_by(v, "Add") for v in scaled.inputs] if scaled is not None else []
    for x, other in (pair for s in sums if s is not None for pair in (s.inputs, s.inputs[::-1])):
        product = made_by(other, "Mul")
        cubes = [] if product is None else [made_by(v, "Pow", "Mul") for v in product.inputs]
        if any(cube is not None and _is_power(cube, x) for cube in cubes):
            return x
    return None


def _is_power(node: ir.Node, x: ir.Value | None) -> bool:
    """Return whether a Pow raises x, or a Mul multiplies it with its square."""
    if is_operator(node, ("Pow",)):
        return node.inputs[0] is x
    return x in node.inputs and any(
        square is not None and {*square.inputs} == {x}
        for square in (made_by(v, "Mul") for v in node.inputs)
    )


def _is_conv(value: ir.Value | None, at: Candidate, most: int) -> bool:
    """Return whether a value is a Conv, perhaps moved, or scaled or shifted by constants."""
    node = None if value is None else value.producer()
    if node is None or most < 0:
        return False
    if is_operator(node, ("Conv", "ConvTranspose")):
        return True
    return _is_conv(_only_computed(node, _SUMS, at), at, most - 1)


def _is_matmul(value: ir.Value | None, at: Candidate, most: int) -> bool:
    """Return whether a value is a long product, perhaps moved, or shifted by constants."""
    node = None if value is None else value.producer()
    if node is None or most < 0:
        return False
    if is_operator(node, ("MatMul", "Gemm")):
        shape = at.scope.of(required(node.inputs[0])).static_shape
        place = 0 if attribute_of(node, "transA", 0) else -1
        return bool(shape) and required(shape)[place] >= _LONG
    return _is_matmul(_only_computed(node, ("Add",), at), at, most - 1)


def _only_computed(node: ir.Node, sums: tuple[str, ...], at: Candidate) -> ir.Value | None:
    """Return the operand of a move, or of a sum with a constant."""
    computed = [v for v in node.inputs if v is not None and not at.constants.is_constant(v)]
    return computed[0] if len(computed) == 1 and is_operator(node, (*sums, *_MOVES)) else None
