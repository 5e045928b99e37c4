"""``python -m tests.engine.fuzz.masked``: random writes ``x[m] = f(x[m], ...)`` before and after.

Both session options are compared, with masks of which no element is true, one, some, and all. An
output may only differ in the sign of a zero, and by rounding if it is float16 or if nodes may be
fused.
"""

import random
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

import onnx_scatterx
from tests.engine.fuzz.random_models import campaign, runs
from tests.helpers.builder import Builder
from tests.helpers.pair import agree

_TYPES = ("float32",) * 4 + ("float64", "float16", "int64", "int32", "int8", "uint8")
_TARGETS = ("standard", "standard", "scatterx", "ort-cpu", "qnn")
_UNARY = (
    *("Abs", "Neg", "Sqrt", "Exp", "Tanh", "Sigmoid", "Erf", "Gelu", "Relu", "LeakyRelu"),
    *("HardSwish", "Floor", "Ceil", "Round", "Reciprocal", "Sign", "Swish", "Softsign"),
    *("Log", "Sin", "Identity", "Cast", "Clip"),
)
_BINARY = ["Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "Pow", "Where"]
_DIVIDES = {"Div", "Mod", "Pow", "Reciprocal"}  # they make infinities of signs of zeros
_CHOOSES = {"Max", "Min"}  # of two zeros, they choose one by its place in the tensor
_JUMPS = {"Cast", "Ceil", "Floor", "Mod", "Round", "Sign", "Where"}  # they enlarge a rounding
_SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 88.0)


class Masked(Builder):
    """A random model of one to three masked writes, one after the other."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        super().__init__(rng, rng.choice((18, 20, 24)))
        self.draw = np.random.default_rng(seed)
        self.dtype = self.rng.choice(_TYPES)
        self.rank = self.rng.randint(1, 3)
        self.dims = ("N", *self.rng.choices((1, 2, 3, 4), k=self.rank - 1))
        self.divisors: dict[str, str] = {}  # input: the mask by which it is read
        self.masks: list[str] = []
        x = self.input(self.dtype, self.dims)
        self.may_divide = self.rng.random() < 0.5
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            x = self.written(x)
            self.may_divide = False  # Where may change the sign of a zero
        self.output = x

    def written(self, x: str) -> str:
        """Return ``x`` after ``x[m] = f(x[m], ...)``."""
        depth = self.rng.randint(1, self.rank)
        self.mask = self.input("bool", self.dims[:depth])
        self.masks.append(self.mask)
        self.x, self.tail = x, self.dims[depth:]
        self.places = self.node("Transpose", self.node("NonZero", self.mask))
        reduction: dict[str, Any] = {}
        if self.rng.random() < 0.15 and self.dtype != "uint8":
            reduction["reduction"] = "add"
        return self.node("ScatterND", x, self.places, self.function(3), **reduction)

    def read(self, source: str) -> str:
        """Return ``source[m]``, sometimes in a way round."""
        found = self.node("GatherND", source, self.places)
        if self.rng.random() < 0.1:
            wide = self.node("Unsqueeze", found, self.constant([0], "int64"))
            return self.node("Squeeze", wide, self.constant([0], "int64"))
        return found

    def leaf(self) -> str:
        """Return an operand with an element for each update."""
        kind = self.rng.random()
        if kind < 0.6:
            return self.read(self.x)
        return self.read(self.input(self.dtype, self.dims))

    def other(self, depth: int) -> str:
        """Return an operand that may be broadcast."""
        kind, shape = self.rng.random(), tuple(self.tail)
        if kind < 0.25:
            return self.constant(self.numbers(self.rng.choice(((), (1,)))), self.dtype)
        if kind < 0.4:
            return self.input(self.dtype, self.rng.choice(((), (1,), (1,) * (len(shape) + 1))))
        if kind < 0.55 and shape:
            cut = self.rng.randrange(len(shape))
            return self.input(self.dtype, shape[cut:])
        if kind < 0.65 and shape:
            row = self.node("GatherND", self.input(self.dtype, self.of_mask()), self.places)
            axes = self.constant(range(1, len(shape) + 1), "int64")
            return self.node("Unsqueeze", row, axes)
        return self.function(depth - 1)

    def of_mask(self) -> tuple[Any, ...]:
        """Return the shape of the mask."""
        return self.inputs[self.mask][1]

    def function(self, depth: int) -> str:
        """Return a random function of what the mask reads."""
        if depth == 0 or self.rng.random() < 0.15:
            return self.leaf()
        wide = np.dtype(self.dtype).kind == "f"
        if self.rng.random() < 0.45:
            op = self.drawn(_UNARY)
            x = self.function(depth - 1)
            if op == "Cast":
                to = self.rng.choice(("float32", "float64", "int32", "bool", "int64"))
                if wide and to.startswith("int"):
                    to = "float64"
                return (
                    self.cast(self.cast(x, to), self.dtype)
                    if not (wide is False and to.startswith("float"))
                    else x
                )
            if op == "Clip":
                low = self.constant(-1 if self.dtype != "uint8" else 1, self.dtype)
                return self.node(op, x, low)
            integers = ("Abs", "Neg", "Sign", "Identity", "Relu")
            return self.node(op, x) if wide or op in integers else x
        op = self.drawn(_BINARY)
        if op == "Where":
            chosen = self.node("Less", self.function(depth - 1), self.other(depth))
            return self.node(op, chosen, self.function(depth - 1), self.other(depth))
        if op in ("Div", "Mod") and not wide:
            divisor = self.constant(self.rng.choice((1, 2, 3, 7)), self.dtype)
            if self.rng.random() < 0.7:
                source = self.input(self.dtype, self.dims)
                self.divisors[source] = self.mask
                divisor = self.node("GatherND", source, self.places)
            return self.node(op, self.function(depth - 1), divisor)
        if op == "Pow" and not wide:
            op = "Sub"
        attributes: dict[str, Any] = {"fmod": 1} if op == "Mod" else {}
        pair = [self.function(depth - 1), self.other(depth)]
        if op not in ("Pow", "Mod") and self.rng.random() < 0.3:
            pair.reverse()
        return self.node(op, *pair, **attributes)

    def drawn(self, ops: Sequence[str]) -> str:
        """Return one of the operators, none after which the outputs cannot be compared."""
        barred = _JUMPS | _DIVIDES if self.dtype == "float16" else set()
        if not self.dtype.startswith(("int", "uint")):
            barred |= _CHOOSES if self.may_divide else _DIVIDES
        return self.rng.choice([op for op in ops if op not in barred])

    def numbers(self, shape: tuple[int, ...], dtype: str = "") -> np.ndarray:
        """Draw numbers: floats with all that is special, integers of the whole type."""
        kind = np.dtype(dtype or self.dtype)
        if kind.kind == "b":
            return self.draw.random(shape) < self.rng.choice((0, 0.2, 0.6, 1.1))
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            whole = self.draw.integers(limits.min, limits.max, shape, kind, endpoint=True)
            small = self.draw.integers(0 if kind.kind == "u" else -3, 4, shape).astype(kind)
            return np.where(self.draw.random(shape) < 0.5, whole, small)
        plain = self.draw.standard_normal(shape) * 10.0 ** self.rng.randint(-2, 2)
        special = self.draw.choice(_SPECIAL, shape)
        return np.where(self.draw.random(shape) < 0.2, special, plain).astype(kind)

    def feed(self, size: int) -> dict[str, np.ndarray]:
        """Draw inputs; no division that is selected fails."""
        found = {}
        for name, (dtype, dims) in self.inputs.items():
            found[name] = self.numbers(tuple(size if d == "N" else int(d) for d in dims), dtype)
        for name in self.masks:
            if found[name].size and self.rng.random() < 0.3:  # one true element
                one = np.zeros(found[name].size, bool)
                one[self.rng.randrange(one.size)] = True
                found[name] = one.reshape(found[name].shape)
        for name, mask in self.divisors.items():
            array, shape = found[name], found[mask].shape
            chosen = np.broadcast_to(
                found[mask].reshape(shape + (1,) * (array.ndim - len(shape))), array.shape
            )
            fails = (array == 0) | (
                array == array.dtype.type(-1) if array.dtype.kind == "i" else False
            )
            found[name] = np.where(chosen & fails, array.dtype.type(1), array)
        return found

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        self.outputs[self.output] = None
        return onnx.shape_inference.infer_shapes(self.made())


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
    model = drawn.model()
    feeds = [drawn.feed(size) for size in (0, 1, 2, 5, 33, 5, 33)]
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
