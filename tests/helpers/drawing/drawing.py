"""A random graph that grows by steps, and the inputs that it is fed.

What is drawn stands in tables (``enter``): functions of a drawing, by their names. A recipe has the
weights of these names. A function that cannot do anything with what it is given returns None, and
another one is drawn.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.helpers.builder import Builder, Dims

Weights: TypeAlias = Mapping[str, float]
Recipe: TypeAlias = Mapping[str, Weights]
"""Of each table the weights of its names; a name that is not there is not drawn."""
Sizes: TypeAlias = Mapping[str, int]
Feed: TypeAlias = dict[str, Any]
F = TypeVar("F", bound=Callable[..., Any])

TABLES: dict[str, dict[str, Callable[..., Any]]] = {}
UNKNOWN = "?"
"""The only dim of a tensor whose shape is not known."""
_TRIES = 40


def enter(table: str) -> Callable[[F], F]:
    """Enter a function into a table under its name."""

    def entered(work: F) -> F:
        TABLES.setdefault(table, {})[work.__name__.rstrip("_")] = work
        return work

    return entered


def even(names: str, weight: float = 1) -> Weights:
    """Return one weight for each of some names.

    >>> even("Neg Abs", 2)
    {'Neg': 2, 'Abs': 2}
    """
    return dict.fromkeys(names.split(), weight)


class Value(NamedTuple):
    """A tensor: its name, element type and dims: numbers, or expressions such as ``2*N``."""

    name: str
    dtype: str
    dims: Dims


class Drawing(Builder):
    """A model that grows; ``pool`` has the values that a step may read.

    Args:
        rng: what draws.
        opset: the version of the operator set.
        recipe: what is drawn, and how often.
        sizes: what the names in dims are while it grows; a feed may have others.
    """

    constants_as = "initializers"
    """Or ``nodes``, or ``shared``, or ``mixed``: some are nodes, some may be overridden."""
    special = 0.2
    """The share of floats that are special."""
    odd: tuple[float, ...] = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5)
    """What is special of floats."""
    spread = 0
    """The powers of ten by which other floats are larger or smaller."""
    whole = 0.2
    """The share of integers that are drawn from their whole type."""
    largest = 4096
    """The elements that a move may make of a tensor of known size."""
    kept = 0
    """How many axes in front stay as they are."""
    main_type = ""
    """The type of most integers that are quantized."""
    is_fixed = False
    """Whether the inputs are declared with the sizes of now."""
    may_be_empty = True

    def __init__(
        self, rng: random.Random, opset: int, recipe: Recipe, sizes: Sizes | None = None
    ) -> None:
        super().__init__(rng, opset)
        self.recipe = recipe
        self.sizes: Sizes = sizes or {}
        self.pool: list[Value] = []
        self.depth = 0  # of the graphs that are open
        self.is_function = False
        self.draws: dict[str, Callable[[Sizes], Any]] = {}
        """How the elements of an input are drawn, if any number would not do."""
        self._shared: dict[tuple[object, ...], str] = {}

    def does(self, chance: float) -> bool:
        """Return whether something is done."""
        return self.rng.random() < chance

    def may(self, what: str) -> bool:
        """Return whether something is done that the recipe has a chance for."""
        return self.does(self.recipe.get("chances", {}).get(what, 0))

    def choose(self, table: str) -> str:
        """Return a name, by the weights of the recipe."""
        weights = self.recipe[table]
        return self.rng.choices([*weights], [*weights.values()])[0]

    def draw(self, table: str, *given: Any) -> Any:
        """Call functions of a table until one does something; return what it returns."""
        for _ in range(_TRIES):
            made = TABLES[table][self.choose(table)](self, *given)
            if made is not None:
                return made
        raise AssertionError(f"none of {table} does anything with {given}")

    def grow(self, x: Value, count: int, *, keep: bool = False) -> Value:
        """Take so many steps; if ``keep``, the result has the same type and dims."""
        for _ in range(count):
            if not keep and self.pool and self.may("turn back"):
                x = self.rng.choice(self.pool)
            y: Value = self.draw("steps", x)
            if keep and y[1:] != x[1:]:
                continue
            self.pool.append(y)
            x = y
        return x

    def size(self, dim: int | str, sizes: Sizes | None = None) -> int:
        """Return the number that a dim is."""
        if isinstance(dim, int):
            return dim
        names = {"len": len, "range": range, "min": min, "max": max}
        return max(0, int(eval(dim, names, dict(sizes or self.sizes))))

    def shape(self, dims: Dims, sizes: Sizes | None = None) -> tuple[int, ...]:
        """Return the numbers that dims are."""
        return tuple(self.size(d, sizes) for d in dims)

    def constant(self, array: Any, dtype: str = "int64") -> str:
        """Return a constant in the style of the drawing."""
        values = np.asarray(array).astype(dtype)
        style = self.constants_as
        key = dtype, values.shape, values.tobytes()
        if style == "shared" and key in self._shared:
            return self._shared[key]
        name = super().constant(values, dtype)
        if self.is_function or style == "nodes" or (style == "mixed" and self.does(0.3)):
            value = numpy_helper.from_array(self.stored.pop(name))
            self.nodes.append(helper.make_node("Constant", [], [name], value=value))
        elif style == "shared":
            self._shared[key] = name
        elif style == "mixed" and self.does(0.06):
            self.inputs[name] = dtype, values.shape
        return name

    def tensor(
        self, dtype: str, dims: Dims, name: str = "", draw: Callable[[Sizes], Any] | None = None
    ) -> Value:
        """Return an input of the graph; in a function a constant."""
        if self.is_function:
            array = self.numbers(self.shape(dims), dtype) if draw is None else draw(self.sizes)
            return Value(self.constant(array, dtype), dtype, np.shape(array))
        made = self.input(dtype, dims, name)
        if draw is not None:
            self.draws[made] = draw
        return Value(made, dtype, dims)

    def of(self, op: str, x: Value, *more: str, dims: Dims | None = None, **given: Any) -> Value:
        """Return the output of a new node that keeps the type, and the dims if none are given."""
        name = self.node(op, x.name, *more, **given)
        return Value(name, x.dtype, x.dims if dims is None else dims)

    def dim(self, x: Value, axis: int) -> str:
        """Return a size of a tensor: a scalar that is computed."""
        return self.node("Gather", self.node("Shape", x.name), self.constant(axis))

    def every(self, x: Value, axis: int) -> str:
        """Return all positions of an axis of a tensor: a Range."""
        return self.node("Range", self.constant(0), self.dim(x, axis), self.constant(1))

    def other(self, dtype: str, dims: Dims) -> Value:
        """Return another tensor of a type and of dims."""
        made: Value = self.draw("sources", dtype, dims)
        return made

    def computed(self, x: Value) -> Value:
        """Return a function of a tensor, element by element."""
        made: Value = self.draw("computations", x)
        return made

    def show(self, x: Value) -> None:
        """Let a value be an output."""
        self.outputs[x.name] = x.dtype

    def numbers(
        self, shape: tuple[int, ...], dtype: str, special: float | None = None
    ) -> np.ndarray:
        """Draw elements: also what is special, and integers of the whole type."""
        share = self.special if special is None else special
        draw = np.random.default_rng(self.rng.randrange(1 << 30))
        kind = np.dtype(dtype)
        if kind.kind == "O":
            return draw.choice(np.array(["", "a", "b"], object), shape)
        if kind.kind == "b":
            return np.asarray(draw.random(shape) < self.rng.choice((0, 0.2, 0.5, 0.5, 1)))
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            whole = draw.integers(limits.min, limits.max, shape, kind, endpoint=True)
            small = draw.integers(max(-3, limits.min), 4, shape).astype(kind)
            return np.asarray(np.where(draw.random(shape) < self.whole, whole, small))
        plain = draw.integers(-9, 10, shape) if self.does(0.5) else draw.standard_normal(shape)
        drawn = plain * 10.0 ** self.rng.randint(-self.spread, self.spread)
        odd = draw.choice(self.odd, shape)
        return np.where(draw.random(shape) < share, odd, drawn).astype(kind)

    def model(self) -> onnx.ModelProto:
        """Return the model; dims that are no names have names of their own."""
        for function in self.functions:
            if not function.opset_import:
                function.opset_import.extend(self.opsets())
        exact = self.inputs
        self.inputs = {
            name: (dtype, tuple(self._declared(name, *d) for d in enumerate(dims)))
            for name, (dtype, dims) in exact.items()
        }
        try:
            return self.made()
        finally:
            self.inputs = exact

    def _declared(self, name: str, place: int, dim: int | str) -> int | str:
        if self.is_fixed or isinstance(dim, int):
            return self.size(dim)
        return dim if dim.isidentifier() else f"{name}_{place}"

    def feed(self, sizes: Sizes | None = None) -> Feed:
        """Draw inputs, and at times other values for what may be overridden."""
        found: Feed = {}
        for name, (dtype, dims) in self.inputs.items():
            if name in self.draws:
                found[name] = self.draws[name](sizes or self.sizes)
            elif name not in self.stored:
                found[name] = self.numbers(self.shape(dims, sizes), dtype)
            elif self.does(0.7):
                old = self.stored[name]
                if dtype != "int64":
                    found[name] = self.numbers(old.shape, dtype)
                elif self.does(0.4):
                    # A size of the whole type would take all memory.
                    few = [self.rng.randrange(3) for _ in range(old.size)]
                    found[name] = np.array(few, dtype).reshape(old.shape)
                else:
                    found[name] = np.asarray(old[::-1].copy() if old.ndim else old)
        return found
