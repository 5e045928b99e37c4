"""``python -m tests.engine.fuzz.masked``: random writes ``x[m] = f(x[m], ...)`` before and after.

Both session options are compared, with masks of which no element is true, one, some, and all. An
output may only differ in the sign of a zero, and by rounding if it is float16 or if nodes may be
fused.
"""

import random
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx

import onnx_scatterx
from tests.engine.fuzz.random_models import campaign, runs
from tests.helpers.builder import Dims
from tests.helpers.drawing import Drawing, Value, enter, even
from tests.helpers.drawing.computations import INTEGERS
from tests.helpers.drawing.drawing import Feed
from tests.helpers.drawing.moves import there_and_back
from tests.helpers.pair import agree

_TYPES = ("float32",) * 4 + ("float64", "float16", "int64", "int32", "int8", "uint8")
_TARGETS = ("standard", "standard", "scatterx", "ort-cpu", "qnn")
_DIVIDES = {"Div", "Mod", "Pow", "Reciprocal"}  # they make infinities of signs of zeros
_CHOOSES = {"Max", "Min"}  # of two zeros, they choose one by its place in the tensor
_JUMPS = {"Cast", "Ceil", "Floor", "Mod", "Round", "Sign", "Where"}  # they enlarge a rounding
RECIPE = {
    "functions": {"unary": 45, "binary": 55},
    "unary": even(
        "Abs Neg Sqrt Exp Tanh Sigmoid Erf Gelu Relu LeakyRelu HardSwish Floor Ceil Round "
        "Reciprocal Sign Swish Softsign Log Sin Identity Cast Clip"
    ),
    "binary": even("Add Sub Mul Div Min Max Mod Pow Where"),
    "leaves": {"own": 6, "another": 4},
    "operands": {"number": 25, "fed_number": 15, "fed_row": 15, "of_each": 10, "function": 35},
}


class Masked(Drawing):
    """A random model of one to three masked writes, one after the other."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        super().__init__(rng, rng.choice((18, 20, 24)), RECIPE)
        self.whole, self.spread, self.odd = 0.5, 2, (*self.odd, 88.0)
        self.dtype = rng.choice(_TYPES)
        self.dims: Dims = ("N", *rng.choices((1, 2, 3, 4), k=rng.randint(0, 2)))
        self.divisors: dict[str, str] = {}  # input: the mask by which it is read
        self.masks: list[str] = []
        x = self.input(self.dtype, self.dims)
        self.may_divide = self.does(0.5)
        for _ in range(rng.choice((1, 1, 2, 3))):
            x = self.written(x)
            self.may_divide = False  # Where may change the sign of a zero
        self.outputs[x] = None

    def written(self, x: str) -> str:
        """Return ``x`` after ``x[m] = f(x[m], ...)``."""
        depth = self.rng.randint(1, len(self.dims))
        self.mask = self.input("bool", self.dims[:depth])
        self.masks.append(self.mask)
        self.x, self.tail = x, self.dims[depth:]
        self.places = self.node("Transpose", self.node("NonZero", self.mask))
        reduction: dict[str, Any] = {}
        if self.does(0.15) and self.dtype != "uint8":
            reduction["reduction"] = "add"
        return self.node("ScatterND", x, self.places, self.function(3), **reduction)

    def read(self, source: str) -> str:
        """Return ``source[m]``, sometimes in a way round."""
        found = Value(self.node("GatherND", source, self.places), self.dtype, ())
        return there_and_back(self, found).name if self.does(0.1) else found.name

    def rows_of(self, *dims: int | str) -> str:
        """Return what the mask reads of a new input."""
        return self.read(self.input(self.dtype, dims))

    def operator(self, table: str) -> str:
        """Return an operator, none after which the outputs cannot be compared."""
        barred = _JUMPS | _DIVIDES if self.dtype == "float16" else set()
        if self.is_float:
            barred |= _CHOOSES if self.may_divide else _DIVIDES
        return next(op for op in iter(partial(self.choose, table), "") if op not in barred)

    @property
    def is_float(self) -> bool:
        return np.dtype(self.dtype).kind == "f"

    def function(self, depth: int) -> str:
        """Return a random function of what the mask reads."""
        table = "leaves" if depth == 0 or self.does(0.15) else "functions"
        made: str = self.draw(table, depth - 1)
        return made

    def fed(self, size: int) -> Feed:
        """Draw inputs; no division that is selected fails."""
        found = self.feed({"N": size})
        for name in self.masks:
            if found[name].size and self.does(0.3):  # one true element
                one = np.zeros(found[name].size, bool)
                one[self.rng.randrange(one.size)] = True
                found[name] = one.reshape(found[name].shape)
        for name, mask in self.divisors.items():
            array, shape = found[name], found[mask].shape
            wide = found[mask].reshape(shape + (1,) * (array.ndim - len(shape)))
            fails = (array == 0) | ((array == -1) if array.dtype.kind == "i" else False)
            found[name] = np.where(wide & fails, array.dtype.type(1), array)
        return found


@enter("leaves")
def own(d: Masked, depth: int) -> str:
    return d.read(d.x)


@enter("leaves")
def another(d: Masked, depth: int) -> str:
    return d.rows_of(*d.dims)


@enter("functions")
def unary(d: Masked, depth: int) -> str:
    op, x = d.operator("unary"), d.function(depth)
    if op == "Cast":
        to = d.rng.choice(("float32", "float64", "int32", "bool", "int64"))
        if d.is_float:
            return d.cast(d.cast(x, "float64" if to.startswith("int") else to), d.dtype)
        return x if to.startswith("float") else d.cast(d.cast(x, to), d.dtype)
    if op == "Clip":
        return d.node(op, x, d.constant(-1 if d.dtype != "uint8" else 1, d.dtype))
    return d.node(op, x) if d.is_float or op in (*INTEGERS, "Relu") else x


@enter("functions")
def binary(d: Masked, depth: int) -> str:
    op = d.operator("binary")
    if op == "Where":
        chosen = d.node("Less", d.function(depth), d.draw("operands", depth))
        return d.node(op, chosen, d.function(depth), d.draw("operands", depth))
    if op in ("Div", "Mod") and not d.is_float:
        divisor = d.constant(d.rng.choice((1, 2, 3, 7)), d.dtype)
        if d.does(0.7):
            source = d.input(d.dtype, d.dims)
            d.divisors[source] = d.mask
            divisor = d.node("GatherND", source, d.places)
        return d.node(op, d.function(depth), divisor)
    if op == "Pow" and not d.is_float:
        op = "Sub"
    pair = [d.function(depth), d.draw("operands", depth)]
    if op not in ("Pow", "Mod") and d.does(0.3):
        pair.reverse()
    return d.node(op, *pair, fmod=1) if op == "Mod" else d.node(op, *pair)


@enter("operands")
def number(d: Masked, depth: int) -> str:
    return d.constant(d.numbers(d.rng.choice(((), (1,))), d.dtype), d.dtype)


@enter("operands")
def fed_number(d: Masked, depth: int) -> str:
    return d.input(d.dtype, d.rng.choice(((), (1,), (1,) * (len(d.tail) + 1))))


@enter("operands")
def fed_row(d: Masked, depth: int) -> str | None:
    return d.input(d.dtype, d.tail[d.rng.randrange(len(d.tail)) :]) if d.tail else None


@enter("operands")
def of_each(d: Masked, depth: int) -> str | None:
    """A number for each element of the mask."""
    if not d.tail:
        return None
    row = d.node("GatherND", d.input(d.dtype, d.inputs[d.mask][1]), d.places)
    return d.node("Unsqueeze", row, d.constant([*range(1, len(d.tail) + 1)]))


@enter("operands")
def function(d: Masked, depth: int) -> str:
    return d.function(depth)


def _stable(off: Sequence[np.ndarray], default: Sequence[np.ndarray]) -> np.ndarray:
    """Return which elements the options alone do not change, as `x + 0` that is removed does."""
    with np.errstate(all="ignore"):
        stable: np.ndarray = np.isclose(off[0], default[0], rtol=1e-2, equal_nan=True)
    return stable


def _largest(feed: dict[str, np.ndarray]) -> float:
    """Return the largest finite number of the inputs, at least 1: sums round relative to it."""
    floats = [np.abs(a[np.isfinite(a)]) for a in feed.values() if a.dtype.kind == "f"]
    return max([1.0, *(float(a.max(initial=0)) for a in floats)])


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    drawn = Masked(seed)
    model = onnx.shape_inference.infer_shapes(drawn.model())
    feeds = [drawn.fed(size) for size in (0, 1, 2, 5, 33, 5, 33)]
    original = [runs(model, option, feeds) for option in (0, 1)]
    if original[0] is None:
        return "not valid", None
    target = drawn.rng.choice(_TARGETS)
    result = onnx_scatterx.optimize(model, target=target)
    kept = {node.op_type for node in result.model.graph.node} & {"NonZero", "GatherND"}
    compared = [_stable(*pair) for pair in zip(*(o or original[0] for o in original), strict=True)]
    for option, what in enumerate(("off", "default")):
        before, after = original[option], runs(result.model, option, feeds)
        if before is None:
            continue
        if after is None:
            return f"DIFFERENT: {what} {target}: it does not run", model
        rounds = bool(option) or drawn.dtype == "float16"
        for feed, stable, (one,), (two,) in zip(feeds, compared, before, after, strict=True):
            one, two = one[stable], two[stable] if one.shape == two.shape else two
            if rounds:
                one, two = ((a / _largest(feed)).astype(a.dtype) for a in (one, two))
            if not agree(one, two, zeros=True, close=rounds):
                return f"DIFFERENT: {what} {target} {drawn.dtype}", model
    unlisted = {n.op_type for n in drawn.nodes} & {"Log", "Sin"}
    return f"{'reads are left' if kept else 'no reads'}{', unlisted' if unlisted else ''}", None


if __name__ == "__main__":
    sys.exit(campaign("masked", __doc__, trial))
