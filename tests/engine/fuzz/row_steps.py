"""Functions of rows: each node of them treats each row alone, as far as it is drawn here."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import helper

from tests.helpers.builder import Dims
from tests.helpers.drawing import Drawing, Recipe, Value, enter, even
from tests.helpers.drawing.products import width_of

_TYPES = ("float32",) * 6 + ("float64", "int64", "int32")
_EXACT = ("Abs", "Neg", "Sqrt", "Exp", "Tanh", "Sigmoid", "Erf", "Relu", "LeakyRelu", "Softsign")
_EXACT_DOUBLE = ("Abs", "Neg", "Sqrt", "Relu", "LeakyRelu")
_JUMPS = ("Floor", "Round", "Sign")
_NEAR = ("Log", "Sin", "Cos", "Atan", "Softplus", "Elu", "Tanh", "Exp", "Sigmoid")
ROWS = "rows"
"""The dim of chosen rows, of which steps see the others alone."""
Feed = Mapping[str, np.ndarray]
NO_NUMBERS = (np.nan, np.inf, -np.inf)
RECIPE: Recipe = {
    "row steps": {"elementwise": 2, "operand": 2, "moved": 2, "table": 1, "merged": 1,
                  "product": 3, "normed": 1, "reduced": 1, "convolved": 1, "unit": 1,
                  "divided": 2},
    "moves": even("regroup transpose unsqueeze squeeze concat split slice expand pad"),
    "cuts": {"within": 1, "usual": 1},
    "sources": {"alike": 1, "chosen": 1},
    "functions of merged rows": {"elementwise": 1, "product": 1, "normed": 1},
}  # fmt: skip


@dataclass
class Choice:
    """Rows that a mask chooses: ``places`` as GatherND reads them, ``flat`` as Gather does."""

    mask: str
    chosen: Callable[[Feed], np.ndarray]
    places: Callable[[], str]
    flat: Callable[[], str] | None = None
    routed: str = ""
    """The weights of routed rows: an input of a number for each token and each of its experts."""


class RowDrawing(Drawing):
    """A model that is being made of functions of the rows of a choice."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng, rng.choice((18, 20, 23)), RECIPE)
        self.dtype = rng.choice(_TYPES)
        self.near = rng.random() < 0.35
        """Whether operators may be drawn of which the last bits depend on the number of rows."""
        self.is_near = False
        self.first: Dims = ()
        """The dims of the masks."""
        self.width = 0
        self.data: list[str] = []
        """The tensor that is written to, and others whose rows may be no numbers."""
        self.kinds: set[str] = set()
        self.fails: dict[str, tuple[Choice, Callable[[np.ndarray], np.ndarray]]] = {}
        """Inputs with which a function fails at rows that are not chosen."""
        self.choice: Choice
        self.kept, self.largest, self.may_be_empty = 1, 48, False
        self.special, self.odd, self.whole = 0.1, (*self.odd, 3e38), 0.3

    def read(self, source: str, choice: Choice | None = None) -> str:
        """Return the chosen rows of a tensor."""
        choice = choice or self.choice
        if choice.flat is not None and self.does(0.5):
            return self.node("Gather", source, choice.flat(), axis=0)
        return self.node("GatherND", source, choice.places())

    def rows_of(self, dtype: str, *tail: int | str) -> str:
        """Return the chosen rows of a new input."""
        return self.read(self.input(dtype, (*self.first, *tail)))

    def finite(self, shape: tuple[int, ...], dtype: str) -> str:
        return self.constant(self.numbers(shape, dtype, special=0), dtype)

    def marked(self, x: Value) -> Value:
        """Remember that the last bits of a result may depend on the number of rows."""
        self.is_near = True
        return x

    def fitted(self, x: Value) -> Value:
        """Give a result the width of what is written."""
        width = int(np.prod(self.shape(x.dims[1:])))
        name = x.name
        if len(x.dims) != 2:
            name = self.node("Reshape", name, self.constant([-1, width]))
        if width > self.width:
            bounds = (self.constant([n]) for n in (0, self.width, 1))
            name = self.node("Slice", name, *bounds)
        elif width < self.width:
            name = self.node("Pad", name, self.constant([0, 0, 0, self.width - width]))
        return Value(name, x.dtype, (ROWS, self.width))


def is_float(x: Value) -> bool:
    return np.dtype(x.dtype).kind == "f"


@enter("sources")
def chosen(d: RowDrawing, dtype: str, dims: Dims) -> Value:
    """The chosen rows of an input."""
    return Value(d.rows_of(dtype, *dims[1:]), dtype, dims)


@enter("row steps")
@enter("functions of merged rows")
def elementwise(d: RowDrawing, x: Value) -> Value:
    """Apply a function to each element."""
    if not is_float(x):
        return d.of(d.rng.choice(("Abs", "Neg", "Sign", "Identity")), x)
    if x.dtype == "float32" and d.does(0.1):
        return Value(d.cast(d.cast(x.name, "float64"), "float32"), *x[1:])
    if d.near and d.does(0.3):
        op = d.rng.choice(_NEAR)
        y = x
        if op == "Log":
            y = d.of("Add", d.of("Abs", x), d.constant(0.5, x.dtype))
        return d.marked(d.of(op, y))
    names: tuple[str, ...] = _EXACT if x.dtype == "float32" else _EXACT_DOUBLE
    op = d.rng.choice(names if d.is_near else (*names, *_JUMPS))
    return d.of(op, d.of("Abs", x) if op == "Sqrt" else x)


@enter("row steps")
def operand(d: RowDrawing, x: Value) -> Value:
    """Combine with a constant, or with chosen rows of another tensor."""
    tail, kind = x.dims[1:], d.rng.random()
    ones = (1,) * len(tail)
    op = d.rng.choice(("Add", "Sub", "Mul") if x.dtype == "int64" else _OPERATORS)
    if kind < 0.4:
        shape = d.rng.choice(((), d.shape(tail), ones))
        other = d.finite(shape, x.dtype)
    elif kind < 0.55:
        other = x.name
    elif tail == (d.width,) and x.dtype == d.dtype and d.does(0.5):
        other = d.read(d.data[0])
    else:
        other = d.other(x.dtype, (ROWS, *d.rng.choice((tail, ones)))).name
    pair = [x.name, other]
    if d.does(0.3):
        pair.reverse()
    return Value(d.node(op, *pair), *x[1:])


_OPERATORS = ("Add", "Sub", "Mul", "Max", "Min")


@enter("row steps")
def moved(d: RowDrawing, x: Value) -> Value:
    """Move elements within each row."""
    y: Value = d.draw("moves", x)
    d.pool.append(y)
    return y


@enter("row steps")
@enter("functions of merged rows")
def product(d: RowDrawing, x: Value) -> Value | None:
    """Multiply by a matrix."""
    inner = width_of(x)
    if not inner or not is_float(x) or (x.dtype == "float64" and not d.near):
        return None
    x = d.marked(x) if x.dtype == "float64" else x
    width = d.rng.choice((1, 2, 4, 6, 8, 17))
    matrix = d.numbers((inner, width), x.dtype, special=0) / inner
    dims, kind = (*x.dims[:-1], width), d.rng.random()
    if d.near and kind < 0.25:
        turned = d.node("Transpose", d.constant(matrix.T, x.dtype), perm=[1, 0])
        return d.marked(d.of("MatMul", x, turned, dims=dims))
    if d.near and kind < 0.4:
        return d.marked(d.of("MatMul", x, d.input(x.dtype, (inner, width)), dims=dims))
    if len(x.dims) == 2 and kind < 0.6:
        is_turned = d.does(0.5)
        b = d.constant(matrix.T if is_turned else matrix, x.dtype)
        bias = d.finite((width,), x.dtype)
        return d.of("Gemm", x, b, bias, dims=dims, transB=int(is_turned))
    return d.of("MatMul", x, d.constant(matrix, x.dtype), dims=dims)


@enter("row steps")
@enter("functions of merged rows")
def normed(d: RowDrawing, x: Value) -> Value | None:
    """Normalize along the last axis."""
    width = width_of(x)
    if not width or not is_float(x):
        return None
    op = d.rng.choice(("LayerNormalization", "Softmax", "LogSoftmax", "RMSNormalization"))
    if op == "RMSNormalization" and d.opset < 23:
        op = "Softmax"
    if op in ("Softmax", "LogSoftmax"):
        if x.dtype == "float64":
            x, op = (d.marked(x), op) if d.near else (x, "LpNormalization")
        return d.of(op, x, axis=-1)
    more = [d.finite((width,), x.dtype)]
    if op == "LayerNormalization" and d.does(0.5):
        more.append(d.finite((width,), x.dtype))
    return d.of(op, x, *more, axis=-1, epsilon=1e-3)


@enter("row steps")
def reduced(d: RowDrawing, x: Value) -> Value | None:
    """Reduce, order or accumulate the last axis."""
    width, rank = width_of(x), len(x.dims)
    if not width:
        return None
    names = ["ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "CumSum", "TopK", "ArgMax"]
    if not is_float(x):
        names = ["ReduceSum", "ReduceMax", "ReduceMin", "CumSum", "TopK", "ArgMax"]
    elif d.near and d.does(0.5):
        names, x = ["ReduceSum", "ReduceMean"], d.marked(x)
    kind = d.rng.choice([n for n in names if not d.is_near or n not in ("TopK", "ArgMax")])
    if kind == "CumSum":
        return d.of(kind, x, d.constant(d.rng.choice((rank - 1, -1))))
    if kind == "TopK":
        k = d.rng.randint(1, width)
        y, _places = d.several(kind, x.name, d.constant([k]), count=2, axis=-1)
        return Value(y, x.dtype, (*x.dims[:-1], k))
    dims = (*x.dims[:-1], 1)
    if kind == "ArgMax":
        return Value(d.cast(d.node(kind, x.name, axis=-1, keepdims=1), x.dtype), x.dtype, dims)
    y = d.node(kind, x.name, d.constant([-1 if kind == "ReduceMax" else rank - 1]), keepdims=1)
    return d.of("Sub", x, y) if d.does(0.7) else Value(y, x.dtype, dims)


@enter("row steps")
def merged(d: RowDrawing, x: Value) -> Value | None:
    """Apply a function to rows that are merged with an axis, in the order of either."""
    rows, first, *rest = x.dims
    perm, turned = [1, 0, *range(2, len(x.dims))], d.does(0.5)
    name = d.node("Transpose", x.name, perm=perm) if turned else x.name
    shape = d.constant([-1, *rest])
    y = Value(d.node("Reshape", name, shape), x.dtype, (ROWS, *rest))
    for _ in range(d.rng.randint(1, 2)):
        y = d.draw("functions of merged rows", y)
    back = [first, -1] if turned else [-1, first]
    name = d.node("Reshape", y.name, d.constant([*back, *y.dims[1:]]))
    name = d.node("Transpose", name, perm=perm) if turned else name
    return Value(name, x.dtype, (rows, first, *y.dims[1:]))


@enter("row steps")
def table(d: RowDrawing, x: Value) -> Value | None:
    """Add rows of a table; those of rows that are not chosen are out of range."""
    if len(x.dims) != 2:
        return None
    d.kinds.add("table")
    ids = d.input("int64", d.first)
    rows = d.finite((5, width_of(x)), x.dtype)
    d.fails[ids] = d.choice, lambda a: np.where((a < 5) & (a >= -5), a, 2)
    return d.of("Add", x, d.node("Gather", rows, d.read(ids), axis=0))


@enter("row steps")
def divided(d: RowDrawing, x: Value) -> Value | None:
    """Divide integers by those of another tensor, which are zero where rows are not chosen."""
    if is_float(x):
        return None
    d.kinds.add("divided")
    divisor = d.input(x.dtype, (*d.first, *(1 for _ in x.dims[1:])))
    d.fails[divisor] = d.choice, lambda a: np.where((a == 0) | (a == -1), 3, a)
    return d.of(d.rng.choice(("Div", "Mod")), x, d.read(divisor))


@enter("row steps")
def convolved(d: RowDrawing, x: Value) -> Value | None:
    """Convolve each row."""
    if len(x.dims) != 3 or x.dtype != "float32":
        return None
    weights = d.finite((3, d.size(x.dims[1]), 1), x.dtype)
    return d.of("Conv", x, weights, dims=(x.dims[0], 3, x.dims[2]))


@enter("row steps")
def unit(d: RowDrawing, x: Value) -> Value | None:
    """Apply a GELU or a SwiGLU as exporters write them."""
    if x.dtype != "float32":
        return None
    kind = d.rng.choice(("gelu", "swiglu", "silu", "local"))
    if kind == "gelu":
        half = d.of("Mul", x, d.constant(np.sqrt(0.5), x.dtype))
        one = d.of("Add", d.of("Erf", half), d.constant(1, x.dtype))
        return d.of("Mul", d.of("Mul", x, one.name), d.constant(0.5, x.dtype))
    if kind == "local":
        if not d.functions:
            body = [
                helper.make_node("Sigmoid", ["x"], ["s"]),
                helper.make_node("Mul", ["x", "s"], ["y"]),
            ]
            opsets = [helper.make_opsetid("", d.opset)]
            d.functions.append(helper.make_function("local", "Silu", ["x"], ["y"], body, opsets))
        return d.of("Silu", x, domain="local")
    y = product(d, x) if kind == "swiglu" else x
    return None if y is None else d.of("Mul", y, d.of("Sigmoid", y).name)
