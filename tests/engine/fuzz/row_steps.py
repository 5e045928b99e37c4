"""Functions of rows: each node of them treats each row alone, as far as it is drawn here."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import helper

from tests.helpers.builder import Builder, Dims

_TYPES = ("float32",) * 6 + ("float64", "int64", "int32")
_EXACT = ("Abs", "Neg", "Sqrt", "Exp", "Tanh", "Sigmoid", "Erf", "Relu", "LeakyRelu", "Softsign")
_EXACT_DOUBLE = ("Abs", "Neg", "Sqrt", "Relu", "LeakyRelu")
_JUMPS = ("Floor", "Round", "Sign")
_NEAR = ("Log", "Sin", "Cos", "Atan", "Softplus", "Elu", "Tanh", "Exp", "Sigmoid")
Feed = Mapping[str, np.ndarray]
NO_NUMBERS = (np.nan, np.inf, -np.inf)
_SPECIAL = (0.0, -0.0, *NO_NUMBERS, 1.0, -1.0, 3e38)


@dataclass
class Choice:
    """Rows that a mask chooses: ``places`` as GatherND reads them, ``flat`` as Gather does."""

    mask: str
    chosen: Callable[[Feed], np.ndarray]
    places: Callable[[], str]
    flat: Callable[[], str] | None = None
    routed: str = ""
    """The weights of routed rows: an input of a number for each token and each of its experts."""


@dataclass(frozen=True)
class Tensor:
    """A value with a row for each chosen one; ``tail`` are its other dims."""

    name: str
    tail: tuple[int, ...]
    dtype: str


class RowSteps(Builder):
    """A model that is being made of functions of rows."""

    def __init__(self, rng: random.Random, seed: int) -> None:
        super().__init__(rng, rng.choice((18, 20, 23)))
        self.draw = np.random.default_rng(seed)
        self.dtype = rng.choice(_TYPES)
        self.near = rng.random() < 0.35
        """Whether operators may be drawn of which the last bits depend on the number of rows."""
        self.is_near = False
        self.first: Dims = ()
        """The dims of the masks."""
        self.width = 0
        self.sources: list[str] = []
        self.kinds: set[str] = set()
        self.fails: dict[str, tuple[Choice, Callable[[np.ndarray], np.ndarray]]] = {}
        """Inputs with which a function fails at rows that are not chosen."""

    def read(self, source: str, choice: Choice) -> str:
        """Return the chosen rows of a tensor."""
        if choice.flat is not None and self.rng.random() < 0.5:
            return self.node("Gather", source, choice.flat(), axis=0)
        return self.node("GatherND", source, choice.places())

    def step(self, x: Tensor, choice: Choice) -> Tensor:
        """Return a function of a row."""
        options: list[Callable[[Tensor, Choice], Tensor]] = [
            lambda x, _: self.elementwise(x),
            lambda x, _: self.elementwise(x),
            self.operand,
            self.operand,
            self.moved,
            self.moved,
            self.table,
            self.merged,
        ]
        if np.dtype(x.dtype).kind == "f":
            options += [self.product, self.product, self.product, self.normed, self.reduced]
            options += [self.convolved] if x.dtype == "float32" else []
            options += [self.unit] if x.dtype == "float32" else []
        else:
            options += [self.divided, self.divided, self.reduced]
        return self.rng.choice(options)(x, choice)

    def marked(self, x: Tensor) -> Tensor:
        """Remember that the last bits of a result may depend on the number of rows."""
        self.is_near = True
        return x

    def elementwise(self, x: Tensor) -> Tensor:
        """Apply a function to each element."""
        if np.dtype(x.dtype).kind != "f":
            return Tensor(
                self.node(self.rng.choice(("Abs", "Neg", "Sign", "Identity")), x.name),
                x.tail,
                x.dtype,
            )
        if self.near and self.rng.random() < 0.3:
            op = self.rng.choice(_NEAR)
            y = x.name
            if op == "Log":
                y = self.node("Add", self.node("Abs", y), self.constant(0.5, x.dtype))
            return self.marked(Tensor(self.node(op, y), x.tail, x.dtype))
        names: tuple[str, ...] = _EXACT if x.dtype == "float32" else _EXACT_DOUBLE
        if not self.is_near:
            names += _JUMPS
        op = self.rng.choice(names)
        y = self.node("Abs", x.name) if op == "Sqrt" else x.name
        return Tensor(self.node(op, y), x.tail, x.dtype)

    def operand(self, x: Tensor, choice: Choice) -> Tensor:
        """Combine with a constant, or with chosen rows of another tensor."""
        ops = ("Add", "Sub", "Mul") if x.dtype == "int64" else ("Add", "Sub", "Mul", "Max", "Min")
        op, kind = self.rng.choice(ops), self.rng.random()
        if kind < 0.4:
            shape = self.rng.choice(((), x.tail, (1,) * len(x.tail)))
            other = self.constant(self.numbers(shape, x.dtype, special=False), x.dtype)
        elif kind < 0.55:
            other = x.name
        else:
            if self.rng.random() < 0.5 and x.tail == (self.width,) and x.dtype == self.dtype:
                source = self.rng.choice(self.sources[:1])
            else:
                tail = self.rng.choice((x.tail, (1,) * len(x.tail)))
                source = self.input(x.dtype, (*self.first, *tail))
            other = self.read(source, choice)
        pair = [x.name, other]
        if self.rng.random() < 0.3:
            pair.reverse()
        if op in ("Max", "Min") and x.dtype == "float64" and self.rng.random() < 0.1:
            op = "Add"
        return Tensor(self.node(op, *pair), x.tail, x.dtype)

    def product(self, x: Tensor, _: Choice) -> Tensor:
        """Multiply by a matrix."""
        if x.dtype == "float64":
            if not self.near:
                return self.elementwise(x)
            x = self.marked(x)
        inner, width = x.tail[-1], self.rng.choice((1, 2, 4, 6, 8, 17))
        weights = self.numbers((inner, width), x.dtype, special=False) / max(1, inner)
        kind, rank = self.rng.random(), len(x.tail)
        tail = (*x.tail[:-1], width)
        if self.near and kind < 0.25:
            turned = self.node("Transpose", self.constant(weights.T, x.dtype), perm=[1, 0])
            return self.marked(Tensor(self.node("MatMul", x.name, turned), tail, x.dtype))
        if self.near and kind < 0.4:
            given = self.input(x.dtype, (inner, width))
            return self.marked(Tensor(self.node("MatMul", x.name, given), tail, x.dtype))
        constant = self.constant(weights, x.dtype)
        if rank == 1 and kind < 0.6:
            turned_b = self.rng.random() < 0.5
            b = self.constant(weights.T, x.dtype) if turned_b else constant
            bias = [self.constant(self.numbers((width,), x.dtype, special=False), x.dtype)]
            y = self.node("Gemm", x.name, b, *bias, transB=int(turned_b))
        else:
            y = self.node("MatMul", x.name, constant)
        return Tensor(y, tail, x.dtype)

    def normed(self, x: Tensor, _: Choice) -> Tensor:
        """Normalize along the last axis."""
        width = x.tail[-1]
        op = self.rng.choice(("LayerNormalization", "Softmax", "LogSoftmax", "RMSNormalization"))
        if op == "RMSNormalization" and self.opset < 23:
            op = "Softmax"
        if op in ("Softmax", "LogSoftmax"):
            if x.dtype == "float64":
                x = self.marked(x) if self.near else x
            if x.dtype == "float64" and not self.near:
                op = "LpNormalization"
            return Tensor(self.node(op, x.name, axis=-1), x.tail, x.dtype)
        more = [self.constant(self.numbers((width,), x.dtype, special=False), x.dtype)]
        if op == "LayerNormalization" and self.rng.random() < 0.5:
            more += [self.constant(self.numbers((width,), x.dtype, special=False), x.dtype)]
        return Tensor(self.node(op, x.name, *more, axis=-1, epsilon=1e-3), x.tail, x.dtype)

    def reduced(self, x: Tensor, choice: Choice) -> Tensor:
        """Reduce, order or accumulate the last axis."""
        names: tuple[str, ...] = (
            "ReduceL2",
            "ReduceSumSquare",
            "ReduceLogSumExp",
            "CumSum",
            "TopK",
            "ArgMax",
        )
        if np.dtype(x.dtype).kind != "f":
            names = ("ReduceSum", "ReduceMax", "ReduceMin", "CumSum", "TopK", "ArgMax")
        elif self.near and self.rng.random() < 0.5:
            names, x = ("ReduceSum", "ReduceMean"), self.marked(x)
        if self.is_near:
            names = tuple(n for n in names if n not in ("TopK", "ArgMax"))
        kind = self.rng.choice(names)
        if kind == "CumSum":
            axis = self.constant(len(x.tail) if self.rng.random() < 0.5 else -1)
            return Tensor(self.node(kind, x.name, axis), x.tail, x.dtype)
        if kind == "TopK":
            k = self.rng.randint(1, x.tail[-1])
            y, _places = self.several(kind, x.name, self.constant([k]), count=2, axis=-1)
            return Tensor(y, (*x.tail[:-1], k), x.dtype)
        tail = (*x.tail[:-1], 1)
        if kind == "ArgMax":
            at = self.node(kind, x.name, axis=-1, keepdims=1)
            return Tensor(self.cast(at, x.dtype), tail, x.dtype)
        if kind == "ReduceMax" or self.opset < 18:
            y = self.node(kind, x.name, self.constant([-1]), keepdims=1)
        else:
            y = self.node(kind, x.name, self.constant([len(x.tail)]), keepdims=1)
        wide = self.node("Sub", x.name, y)
        return (
            Tensor(wide, x.tail, x.dtype) if self.rng.random() < 0.7 else Tensor(y, tail, x.dtype)
        )

    def moved(self, x: Tensor, choice: Choice) -> Tensor:
        """Move elements within each row."""
        rng, tail = self.rng, x.tail
        total = int(np.prod(tail))
        op = rng.choice(
            (
                "Reshape",
                "Transpose",
                "Unsqueeze",
                "Concat",
                "Split",
                "Slice",
                "Expand",
                "Pad",
                "Cast",
            )
        )
        if op == "Reshape":
            parts = [p for p in (1, 2, 3, 4) if total % p == 0]
            p = rng.choice(parts)
            new = (p, total // p) if len(tail) == 1 else (total,)
            dims = [-1, *new] if rng.random() < 0.6 else [0, *new]
            return Tensor(self.node(op, x.name, self.constant(dims)), new, x.dtype)
        if op == "Transpose" and len(tail) > 1:
            perm = [0, *reversed(range(1, len(tail) + 1))]
            return Tensor(self.node(op, x.name, perm=perm), tail[::-1], x.dtype)
        if op == "Unsqueeze" and len(tail) == 1:
            return Tensor(self.node(op, x.name, self.constant([1])), (1, *tail), x.dtype)
        if op == "Concat":
            other = self.elementwise(x)
            y = self.node(op, x.name, other.name, axis=-1)
            return Tensor(y, (*tail[:-1], 2 * tail[-1]), x.dtype) if tail[-1] < 12 else x
        if op == "Split" and tail[-1] % 2 == 0:
            a, b = self.several(op, x.name, count=2, axis=-1, num_outputs=2)
            half = (*tail[:-1], tail[-1] // 2)
            return Tensor(self.node("Mul", a, b), half, x.dtype)
        if op == "Slice" and tail[-1] > 1:
            start = rng.randrange(tail[-1] - 1)
            ends, axes = self.constant([tail[-1]]), self.constant([rng.choice((-1, len(tail)))])
            y = self.node(op, x.name, self.constant([start]), ends, axes)
            return Tensor(y, (*tail[:-1], tail[-1] - start), x.dtype)
        if op == "Expand" and tail[-1] == 1:
            shape = self.constant([1] * len(tail) + [3])
            return Tensor(self.node(op, x.name, shape), (*tail[:-1], 3), x.dtype)
        if op == "Pad":
            pads = self.constant([0] * len(tail) + [0] + [0] * len(tail) + [1])
            y = self.node(op, x.name, pads)
            return Tensor(y, (*tail[:-1], tail[-1] + 1), x.dtype)
        if op == "Cast" and x.dtype == "float32" and self.dtype == "float32":
            return Tensor(self.cast(self.cast(x.name, "float64"), "float32"), tail, x.dtype)
        return x

    def merged(self, x: Tensor, choice: Choice) -> Tensor:
        """Apply a function to rows that are merged with an axis, in the order of either."""
        first, *rest = x.tail
        perm, turned = [1, 0, *range(2, len(x.tail) + 1)], self.rng.random() < 0.5
        name = self.node("Transpose", x.name, perm=perm) if turned else x.name
        y = Tensor(self.node("Reshape", name, self.constant([-1, *rest])), tuple(rest), x.dtype)
        for _ in range(self.rng.randint(1, 2)):
            ways = [lambda y, _: self.elementwise(y)]
            ways += [self.product, self.normed] if rest and np.dtype(x.dtype).kind == "f" else []
            y = self.rng.choice(ways)(y, choice)
        back = [first, -1] if turned else [-1, first]
        name = self.node("Reshape", y.name, self.constant([*back, *y.tail]))
        name = self.node("Transpose", name, perm=perm) if turned else name
        return Tensor(name, (first, *y.tail), x.dtype)

    def table(self, x: Tensor, choice: Choice) -> Tensor:
        """Add rows of a table; those of rows that are not chosen are out of range."""
        if len(x.tail) != 1:
            return self.operand(x, choice)
        self.kinds.add("table")
        ids = self.input("int64", self.first)
        rows = self.constant(self.numbers((5, x.tail[0]), x.dtype, special=False), x.dtype)
        self.fails[ids] = choice, lambda a: np.where((a < 5) & (a >= -5), a, 2)
        found = self.node("Gather", rows, self.read(ids, choice), axis=0)
        return Tensor(self.node("Add", x.name, found), x.tail, x.dtype)

    def divided(self, x: Tensor, choice: Choice) -> Tensor:
        """Divide integers by those of another tensor, which are zero where rows are not chosen."""
        self.kinds.add("divided")
        divisor = self.input(x.dtype, (*self.first, *(1 for _ in x.tail)))
        self.fails[divisor] = choice, lambda a: np.where((a == 0) | (a == -1), 3, a)
        op = self.rng.choice(("Div", "Mod"))
        return Tensor(self.node(op, x.name, self.read(divisor, choice)), x.tail, x.dtype)

    def convolved(self, x: Tensor, choice: Choice) -> Tensor:
        """Convolve each row."""
        if len(x.tail) != 2:
            return self.moved(x, choice)
        channels = x.tail[0]
        weights = self.constant(self.numbers((3, channels, 1), x.dtype, special=False), x.dtype)
        return Tensor(self.node("Conv", x.name, weights), (3, x.tail[1]), x.dtype)

    def unit(self, x: Tensor, choice: Choice) -> Tensor:
        """Apply a GELU or a SwiGLU as exporters write them."""
        kind = self.rng.choice(("gelu", "swiglu", "silu", "local"))
        if kind == "gelu":
            half = self.node("Mul", x.name, self.constant(np.sqrt(0.5), x.dtype))
            one = self.node("Add", self.node("Erf", half), self.constant(1, x.dtype))
            y = self.node("Mul", self.node("Mul", x.name, one), self.constant(0.5, x.dtype))
            return Tensor(y, x.tail, x.dtype)
        if kind == "swiglu":
            gate = self.product(x, choice)
            y = self.node("Mul", gate.name, self.node("Sigmoid", gate.name))
            return Tensor(y, gate.tail, x.dtype)
        if kind == "local":
            if not self.functions:
                body = [
                    helper.make_node("Sigmoid", ["x"], ["s"]),
                    helper.make_node("Mul", ["x", "s"], ["y"]),
                ]
                opsets = [helper.make_opsetid("", self.opset)]
                self.functions.append(
                    helper.make_function("local", "Silu", ["x"], ["y"], body, opsets)
                )
            return Tensor(self.node("Silu", x.name, domain="local"), x.tail, x.dtype)
        return Tensor(self.node("Mul", x.name, self.node("Sigmoid", x.name)), x.tail, x.dtype)

    def fitted(self, x: Tensor) -> Tensor:
        """Give a result the width of what is written."""
        rank, width = len(x.tail), x.tail[-1]
        name = x.name
        if rank > 1:
            width = int(np.prod(x.tail))
            name = self.node("Reshape", name, self.constant([-1, width]))
        if width > self.width:
            name = self.node(
                "Slice", name, self.constant([0]), self.constant([self.width]), self.constant([1])
            )
        elif width < self.width:
            pads = self.constant([0, 0, 0, self.width - width])
            name = self.node("Pad", name, pads)
        return Tensor(name, (self.width,), x.dtype)

    def numbers(self, shape: tuple[int, ...], dtype: str, special: bool = True) -> np.ndarray:
        """Draw numbers: floats with all that is special, integers of the whole type."""
        kind = np.dtype(dtype)
        if kind.kind == "b":
            return np.asarray(self.draw.random(shape) < self.rng.choice((0, 0.2, 0.6, 1.1)))
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            whole = self.draw.integers(limits.min, limits.max, shape, kind, endpoint=True)
            small = self.draw.integers(-3, 4, shape).astype(kind)
            return np.asarray(np.where(self.draw.random(shape) < 0.3, whole, small))
        plain = self.draw.standard_normal(shape)
        if special:
            few = self.draw.random(shape) < self.rng.choice((0, 0, 0.1))
            plain = np.where(few, self.draw.choice(_SPECIAL, shape), plain)
        return np.asarray(plain).astype(kind)
