"""Integers and bools as the floats of their numbers, for a compiler that computes floats only.

    Cast<float>(i)           =   Gather([0., 1., ..., n], i)             0 <= i <= n is known
    Cast<float>(Equal(i, j)) =   1 - Min(Abs(f - g), 1)                  f, g are the floats of i, j
    Cast<float>(Less(i, j))  =   Clip(g - f, 0, 1)
    Not, And, Or, Where      =   1 - f, f * g, Max(f, g), c * f + (1 - c) * g
    Where(c, a, b)           =   c * a + (1 - c) * b       a, b are finite constants without a -0
                             =   a + (c - 1) * large * large        b is -inf

What only arranges elements does so with the floats. All numbers lie below 2^24, so every sum and
every product is exact; no result is -0, since a sum of numbers that are not both -0 is none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, require, required
from onnx_scatterx.engine.write.forms.casts import EXACT
from onnx_scatterx.engine.write.forms.request import Request, lies
from onnx_scatterx.graphs import attribute_of
from onnx_scatterx.operators import described

_T = ir.DataType
_FLOAT, _WHOLE = _T.FLOAT, (_T.BOOL, _T.INT64, _T.INT32)
_BITS = 17  # a table has fewer numbers than 2 to this
_LARGE = np.array(2.0**127, np.float32)  # its square is infinite
_MOST = 64  # nodes whose numbers are written
_MOVES = ("Slice", "Transpose", "Expand", "Concat", "Gather", "GatherND")


def cast_numbers(request: Request) -> ir.Value:
    """Write the floats of integers or bools."""
    require(request.kind == _FLOAT, request.known_of(0).dtype in _WHOLE)
    return _Numbers(request).of(request.input(0))


def floats_of(request: Request, value: ir.Value) -> ir.Value:
    """Write the floats of integers or bools that are read by a node."""
    return _Numbers(request).of(value)


def where_numbers(request: Request) -> ir.Value:
    """Choose between constants by the number of the condition."""
    w, kind = request.writer, request.kind
    tensors = [required(request.constant(request.inputs[i])).numpy() for i in (1, 2)]
    require(kind == _FLOAT, all(t.size for t in tensors))
    numbers = _Numbers(request)
    chosen = numbers.of(request.input(0))
    for own, other, condition in ((0, 1, chosen), (1, 0, None)):
        if np.isneginf(tensors[other]).all():
            condition = numbers.one_less(chosen) if condition is None else condition
            _check_finite(tensors[own])
            below = numbers.node("Sub", condition, numbers.number(1))
            for _ in range(2):  # Log(0) and a division by 0 are NaNs to some compilers
                below = numbers.node("Mul", below, w.constant(_LARGE, kind))
            return numbers.node("Add", w.constant(tensors[own], kind), below)
    for tensor in tensors:
        _check_finite(tensor)
    return numbers.choice(chosen, *(w.constant(tensor, kind) for tensor in tensors))


def _check_finite(tensor: np.ndarray) -> None:
    require(np.isfinite(tensor).all(), not (np.signbit(tensor) & (tensor == 0)).any())


class _Numbers:
    """Writes the floats of tensors of integers and bools."""

    def __init__(self, request: Request) -> None:
        self.request, self.w = request, request.writer
        self.made: dict[ir.Value, ir.Value] = {}

    def of(self, value: ir.Value) -> ir.Value:
        """Write the floats of a tensor, once."""
        if value not in self.made:
            require(len(self.made) < _MOST)
            self.made[value] = self._written(value)
        return self.made[value]

    def _written(self, value: ir.Value) -> ir.Value:
        known = self.request.of(value)
        require(known.dtype in _WHOLE)
        tensor = self.request.constant(value)
        array = known.constant if tensor is None else tensor.numpy()
        if array is not None:
            numbers = np.asarray(array).astype(np.float64)
            require((np.abs(numbers) < EXACT).all())
            return self.w.constant(numbers.astype(np.float32), _FLOAT)
        node = value.producer()
        if node is not None and node.domain == "" and len(node.outputs) == 1:
            if node.op_type in _RESULTS:
                self._check(known)
                return _RESULTS[node.op_type](self, node)
            if described(node).keeps_order or node.op_type in _MOVES:
                return self._moved(node)
        return self._looked_up(value, known)

    def _moved(self, node: ir.Node) -> ir.Value:
        """Arrange floats, as a node arranges its first input, or all of a Concat."""
        attributes = {name: a.value for name, a in node.attributes.items()}
        moved = len(node.inputs) if node.op_type == "Concat" else 1
        inputs = [self.of(required(v)) for v in node.inputs[:moved]]
        return self.w.spelled_node(
            node.op_type, [*inputs, *node.inputs[moved:]], _FLOAT, **attributes
        )

    def _looked_up(self, value: ir.Value, known: TensorValue) -> ir.Value:
        """Gather the floats from a table of numbers."""
        shape = required(known.static_shape)
        require(known.dtype != _T.BOOL, 0 not in shape)
        sizes = (2**bits for bits in range(1, _BITS))
        size = required(next((n for n in sizes if lies(known, 0, n - 1, self.request)), None))
        table = np.arange(size, dtype=np.float32).reshape(-1, 1)
        flat = self.w.node("Reshape", [value, self.w.constant([int(np.prod(shape))])], known.dtype)
        rows = self.w.node("Gather", [self.w.constant(table, _FLOAT), flat], _FLOAT)
        return self.w.node("Reshape", [rows, self.w.constant(list(shape))], _FLOAT)

    def _check(self, known: TensorValue) -> None:
        """Check that all numbers are small, so that they are floats."""
        require(known.dtype == _T.BOOL or lies(known, 1 - EXACT, EXACT - 1, self.request))

    def both(self, node: ir.Node) -> list[ir.Value]:
        """Write the floats of two inputs, whose difference is small."""
        for value in node.inputs:
            known = self.request.of(required(value))
            small = EXACT // 2 - 1
            require(known.dtype == _T.BOOL or lies(known, -small, small, self.request))
        return [self.of(required(value)) for value in node.inputs]

    def number(self, n: int) -> ir.Value:
        """Return a constant."""
        return self.w.constant(np.array(n, np.float32), _FLOAT)

    def node(self, op: str, *inputs: ir.Value) -> ir.Value:
        """Write a node of floats."""
        return self.w.node(op, inputs, _FLOAT)

    def one_less(self, x: ir.Value) -> ir.Value:
        """Write 1 - x."""
        return self.node("Sub", self.number(1), x)

    def choice(self, c: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        """Write c * a + (1 - c) * b."""
        products = self.node("Mul", c, a), self.node("Mul", self.one_less(c), b)
        return self.node("Add", *products)

    def within(self, x: ir.Value) -> ir.Value:
        """Write 0 for all numbers below 1, and 1 for the others."""
        return self.w.node("Clip", [x, self.number(0), self.number(1)], _FLOAT)

    def cast(self, node: ir.Node) -> ir.Value:
        """Write 0 and 1 for a Cast to bool, else the same numbers."""
        source = required(node.inputs[0])
        require(self.request.of(source).dtype in _WHOLE)
        x = self.of(source)
        if attribute_of(node, "to", 0) == _T.BOOL and self.request.of(source).dtype != _T.BOOL:
            return self.node("Min", self.node("Abs", x), self.number(1))
        return x

    def equal(self, node: ir.Node) -> ir.Value:
        """Write 1 where two numbers are equal."""
        far = self.node("Abs", self.node("Sub", *self.both(node)))
        return self.one_less(self.node("Min", far, self.number(1)))

    def where(self, node: ir.Node) -> ir.Value:
        """Choose between two numbers."""
        return self.choice(*(self.of(required(v)) for v in node.inputs))


def _compared(turned: bool, or_equal: bool) -> Callable[[_Numbers, ir.Node], ir.Value]:
    def write(numbers: _Numbers, node: ir.Node) -> ir.Value:
        a, b = numbers.both(node)
        far = numbers.node("Sub", *((a, b) if turned else (b, a)))
        return numbers.within(numbers.node("Add", far, numbers.number(1)) if or_equal else far)

    return write


def _arithmetic(op: str) -> Callable[[_Numbers, ir.Node], ir.Value]:
    return lambda numbers, node: numbers.node(op, *numbers.both(node))


_RESULTS: dict[str, Callable[[_Numbers, ir.Node], ir.Value]] = {
    "Add": _arithmetic("Add"),
    "And": _arithmetic("Mul"),
    "Cast": _Numbers.cast,
    "Equal": _Numbers.equal,
    "Greater": _compared(turned=True, or_equal=False),
    "GreaterOrEqual": _compared(turned=True, or_equal=True),
    "Less": _compared(turned=False, or_equal=False),
    "LessOrEqual": _compared(turned=False, or_equal=True),
    "Not": lambda numbers, node: numbers.one_less(numbers.of(required(node.inputs[0]))),
    "Or": _arithmetic("Max"),
    "Sub": _arithmetic("Sub"),
    "Where": _Numbers.where,
}
"""How the number of an operator's result follows from those of its inputs."""
