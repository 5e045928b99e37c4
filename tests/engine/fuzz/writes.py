"""Random writes into a tensor of any rank and type: ScatterND, ScatterElements, TensorScatter.

The indices are constant, computed from sizes, computed in the run, or inputs. Sizes are numbers or
expressions over the sizes of the inputs, ``2*N``, which are evaluated for each run.
"""

import random
from typing import Any, NamedTuple

import numpy as np
from onnx import helper, numpy_helper

from tests.helpers.builder import Builder, Dims

TYPES = (
    *("float32", "float32", "float32", "float32", "float16", "float64", "bool", "object"),
    *("int64", "int64", "int32", "int8", "uint8", "uint64"),
)
"""An object is a string."""
_ADDED = ("none", "none", "none", "none", "add", "mul", "max", "min")
_INDICES = (
    *("constant", "constant", "constant", "range", "range", "offset", "reversed", "strided"),
    *("head", "run", "mask", "position", "count", "order"),
)
_SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5)


class Value(NamedTuple):
    """A tensor: its name, element type and dims."""

    name: str
    dtype: str
    dims: Dims


class Writes(Builder):
    """A model of which ``pool`` has the values that the next node may read."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng, rng.choice((13, 16, 18, 18, 21, 24, 24)))
        self.sizes = {"N": rng.choice((0, 1, 2, 3, 5)), "M": rng.choice((1, 1, 2, 3))}
        self.pool: list[Value] = []
        self.limits: dict[str, tuple[int | str, bool]] = {}
        """Of an input of indices: their number, and whether they may be negative."""
        self.is_function = False
        self.is_quantized = self.does(0.25)
        self.integers = rng.choice(("int8", "uint8"))

    def size(self, dim: int | str, sizes: dict[str, int] | None = None) -> int:
        """Return the number that a dim is."""
        if isinstance(dim, int):
            return dim
        return max(0, int(eval(dim, {"len": len, "range": range}, sizes or self.sizes)))

    def shape(self, dims: Dims) -> tuple[int, ...]:
        """Return the numbers that dims are."""
        return tuple(self.size(d) for d in dims)

    def does(self, chance: float) -> bool:
        """Return whether something is done."""
        return self.rng.random() < chance

    def constant(self, array: Any, dtype: str = "int64") -> str:
        """Return an initializer or a Constant; a caller may give another initializer."""
        if self.is_function or self.does(0.3):
            name = super().constant(array, dtype)
            value = numpy_helper.from_array(self.stored.pop(name))
            self.nodes.append(helper.make_node("Constant", [], [name], value=value))
            return name
        name = super().constant(array, dtype)
        if self.does(0.06):
            self.inputs[name] = dtype, np.shape(array)
        return name

    def tensor(self, dtype: str, dims: Dims) -> Value:
        """Return an input of the graph; in a function a constant."""
        if self.is_function:
            return Value(self.constant(self.numbers(self.shape(dims), dtype), dtype), dtype, dims)
        return Value(self.input(dtype, dims), dtype, dims)

    def numbers(self, shape: tuple[int, ...], dtype: str, low: int = -3, high: int = 4) -> Any:
        """Draw elements: also what is special, and integers of the whole type."""
        draw = np.random.default_rng(self.rng.randrange(1 << 30))
        kind = np.dtype(dtype)
        if kind.kind == "O":
            return draw.choice(np.array(["", "a", "b"], object), shape)
        if kind.kind == "b":
            return np.asarray(draw.random(shape) < self.rng.choice((0, 0.5, 0.5, 1)))
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            whole = draw.integers(limits.min, limits.max, shape, kind, endpoint=True)
            small = draw.integers(max(low, limits.min), high, shape).astype(kind)
            return np.where(draw.random(shape) < 0.2, whole, small)
        special = draw.choice(_SPECIAL, shape)
        plain = draw.integers(-9, 10, shape)
        if self.is_quantized:  # no integer is known for NaN
            return plain.astype(kind)
        return np.where(draw.random(shape) < 0.2, special, plain).astype(kind)

    def of(self, op: str, x: Value, *more: str, dims: Dims | None = None, **given: Any) -> Value:
        """Return the output of a new node that keeps the type, and the dims if none are given."""
        name = self.node(op, x.name, *more, **given)
        return Value(name, x.dtype, x.dims if dims is None else dims)

    def dim(self, x: Value, axis: int) -> str:
        """Return a size of a tensor: a scalar that is computed."""
        return self.node("Gather", self.node("Shape", x.name), self.constant(axis))

    def other(self, dtype: str, dims: Dims) -> Value:
        """Return a tensor of a type and of dims."""
        alike = [v for v in self.pool if v.dtype == dtype and v.dims == dims]
        kind = self.rng.random()
        if alike and kind < 0.4:
            return self.rng.choice(alike)
        if self.is_quantized and dtype == "float32" and self.does(0.6):
            given = self.tensor(self.integers, dims).name
            return Value(self.node("DequantizeLinear", given, *self.scale()), dtype, dims)
        if kind < 0.7:
            return self.tensor(dtype, dims)
        if kind < 0.8 and all(isinstance(d, int) for d in dims):
            return Value(self.constant(self.numbers(self.shape(dims), dtype), dtype), dtype, dims)
        if kind < 0.9:
            like = self.tensor(self.rng.choice(("float32", "int32")), dims)
            return Value(self.cast(like.name, dtype), dtype, dims)
        one = self.constant(self.numbers((), dtype), dtype)
        like = self.tensor("float32", dims)
        return Value(self.node("Expand", one, self.node("Shape", like.name)), dtype, dims)

    def scale(self) -> list[str]:
        """Return a scale and a zero point."""
        scale = self.constant(self.rng.choice((0.5, 0.5, 0.1)), "float32")
        return [scale, self.constant(self.rng.choice((0, 3)), self.integers)]

    def indices(self, x: Value, axis: int) -> tuple[str, int | str]:
        """Return a vector of indices into an axis of a tensor, and its size."""
        rng, dim = self.rng, x.dims[axis]
        size = self.size(dim)
        kind = rng.choice(_INDICES)
        zero, one = (self.constant(n) for n in (0, 1))
        if kind == "constant":
            taken = rng.sample(range(size), rng.randint(min(size, 1), size))
            if self.does(0.3):
                taken = [*range(len(taken))]
            return self.constant([i - size * self.does(0.2) for i in taken]), len(taken)
        if kind == "range":
            return self.node("Range", zero, self.dim(x, axis), one), dim
        if kind == "offset":
            return self.node("Range", one, self.dim(x, axis), one), f"({dim})-1"
        if kind == "reversed":
            last = self.node("Sub", self.dim(x, axis), one)
            return self.node("Range", last, self.constant(-1), self.constant(-1)), dim
        if kind == "strided":
            return self.node("Range", zero, self.dim(x, axis), self.constant(2)), f"(({dim})+1)//2"
        if kind == "head":
            like = self.tensor("float32", ("M",))
            return self.node("Range", zero, self.dim(like, 0), one), "M"
        if kind == "mask":
            chosen = rng.sample(range(size), rng.randint(0, size))
            mask = self.constant(np.isin(np.arange(size), chosen), "bool")
            found = self.node("NonZero", mask)
            return self.node("Squeeze", found, self.constant([0])), len(chosen)
        if kind == "order":  # of all places
            keys = self.tensor("float32", (dim,)).name
            k = self.node("Unsqueeze", self.dim(x, axis), self.constant([0]))
            return self.several("TopK", keys, k, count=2)[1], dim
        if kind == "position":  # one place that is computed in the run
            found = self.dim(self.of("NonZero", self.tensor("int32", ("M",))), 1)
            last = self.node("Min", found, self.node("Sub", self.dim(x, axis), one))
            return self.node("Unsqueeze", last, self.constant([0])), 1
        if kind == "count":
            ones = self.node("Expand", one, self.node("Shape", self.tensor("int32", (dim,)).name))
            return self.node("Sub", self.node("CumSum", ones, zero), one), dim
        count = rng.choice((1, 1, 2, dim))
        found = self.input("int64", (count,)) if not self.is_function else self.constant([0])
        self.limits[found] = dim, True
        return found, 1 if self.is_function else count

    def reduction(self, dtype: str) -> dict[str, Any]:
        """Return an attribute, or none."""
        word = self.rng.choice(_ADDED)
        if (
            self.opset < 16
            or dtype in ("bool", "object")
            or (word in ("max", "min") and self.opset < 18)
        ):
            return {}
        if dtype == "float16" or (word == "none" and self.does(0.9)):
            return {}
        return {"reduction": word}

    def written(self, x: Value) -> Value:
        """Write into a tensor; its dims are kept."""
        if not x.dims:
            return x
        kinds = ("nd", "nd", "nd", "elements", "elements", "mask", "tensor")
        kind = self.rng.choice(kinds if self.opset >= 24 else kinds[:-1])
        if kind == "tensor" and len(x.dims) >= 2:
            return self.tensor_scatter(x)
        if kind == "mask":
            return self.masked(x)
        if kind == "elements":
            axis = self.rng.randrange(len(x.dims))
            places, count = self.indices(x, axis)
            updates = self.other(x.dtype, (*x.dims[:axis], count, *x.dims[axis + 1 :]))
            wide = [1] * len(x.dims)
            wide[axis] = -1
            turned = self.node("Reshape", places, self.constant(wide))
            full = self.node("Expand", turned, self.node("Shape", updates.name))
            signed = axis - len(x.dims) * self.does(0.3)
            if self.does(0.2):
                full = self.cast(full, "int32")
            reduction = self.reduction(x.dtype)
            return self.of("ScatterElements", x, full, updates.name, axis=signed, **reduction)
        depth = self.rng.choice((1, 1, 2)) if len(x.dims) > 1 else 1
        found = [self.indices(x, axis) for axis in range(depth)]
        dims = tuple(count for _, count in found)
        places = self.node("Unsqueeze", found[0][0], self.constant([1]))
        if depth == 2:
            rows = self.node("Reshape", found[0][0], self.constant([-1, 1, 1]))
            columns = self.node("Reshape", found[1][0], self.constant([1, -1, 1]))
            zeros = [self.node("Mul", n, self.constant(0)) for n in (columns, rows)]
            pair = self.node("Add", rows, zeros[0]), self.node("Add", columns, zeros[1])
            places = self.node("Concat", *pair, axis=-1)
        updates = self.other(x.dtype, (*dims, *x.dims[depth:]))
        if self.does(0.2):  # the elements that are written over are read before
            updates = self.computed(Value(self.node("GatherND", x.name, places), *updates[1:]))
        return self.of("ScatterND", x, places, updates.name, **self.reduction(x.dtype))

    def masked(self, x: Value) -> Value:
        """Write a function of what a mask reads, by the same mask."""
        depth = self.rng.randint(1, len(x.dims))
        mask = self.other("bool", x.dims[:depth])
        places = self.node("Transpose", self.node("NonZero", mask.name))
        read = self.other(x.dtype, x.dims) if self.does(0.5) else x
        updates = self.computed(self.of("GatherND", read, places))
        return self.of("ScatterND", x, places, updates.name)

    def tensor_scatter(self, x: Value) -> Value:
        """Write into a cache."""
        axis = self.rng.choice((-2, 1)) if len(x.dims) > 2 else -1
        count = self.rng.choice((1, 1, 2, x.dims[axis]))
        place = axis % len(x.dims)
        updates = self.other(x.dtype, (*x.dims[:place], count, *x.dims[place + 1 :]))
        more = [self.constant(np.zeros(self.size(x.dims[0])))] if self.does(0.3) else []
        if not more and self.does(0.6) and not self.is_function:
            more = [self.input("int64", (x.dims[0],))]
            self.limits[more[0]] = f"({x.dims[axis]})-({count})+1", False
        mode: dict[str, Any] = {"mode": "circular"} if self.does(0.3) else {}
        return self.of("TensorScatter", x, updates.name, *more, axis=axis, **mode)

    def computed(self, x: Value) -> Value:
        """Compute element by element."""
        if x.dtype == "float32" and self.is_quantized and self.does(0.5):
            parameters = self.scale()
            found = self.of("QuantizeLinear", x, *parameters)
            return self.of("DequantizeLinear", found, *parameters)
        if x.dtype == "bool":
            return self.of(self.rng.choice(("Not", "Identity")), x)
        if x.dtype in ("uint8", "uint64", "int8", "object"):
            return self.of("Identity", x)
        ops = ("Neg", "Abs", "Relu", "Identity", "Add", "Mul", "Cast", "Where")
        op = self.rng.choice(ops[:4] if x.dtype == "float16" else ops)
        if op == "Relu" and x.dtype.startswith(
            "i"
        ):  # a function alone: ONNX Runtime lacks a kernel
            op = "Abs"
        if op in ("Add", "Mul"):
            return self.of(op, x, self.constant(self.numbers((), x.dtype), x.dtype))
        if op == "Cast":
            wide = self.cast(x.name, "float64" if x.dtype != "int64" else "int64")
            return Value(self.cast(wide, x.dtype), x.dtype, x.dims)
        if op == "Where":
            one = self.constant(self.numbers((), x.dtype), x.dtype)
            chosen = self.node("Less", x.name, one)
            return Value(self.node("Where", chosen, x.name, one), x.dtype, x.dims)
        return self.of(op, x)
