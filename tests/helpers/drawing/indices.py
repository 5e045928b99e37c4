"""Positions of an axis: slices of it, constants, or what the run computes or is fed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.helpers.drawing.drawing import Drawing, Sizes, Value, enter

MOST, LEAST, FAR = 2**63 - 1, -(2**63), 2**40
ENDS = (MOST, LEAST, -MOST, 2**31 - 1, -(2**31), 2**62)
USUAL = ((1, -1), (0, 2), (2, MOST), (-3, MOST), (-3, -1), (5, 2), (3, 4))
"""Starts and ends as people write them."""
_ALL = (0, 0, 1)


class Bound(NamedTuple):
    """A bound of a slice: a vector of one number, and the number as an expression."""

    name: str
    number: str


@dataclass(frozen=True)
class Cut:
    """A slice of an axis."""

    start: int | Bound
    end: int | Bound
    step: int = 1

    def count(self, dim: int | str) -> int | str:
        """Return how many elements it has."""
        start, end = (b if isinstance(b, int) else b.number for b in (self.start, self.end))
        if isinstance(dim, int) and isinstance(start, int) and isinstance(end, int):
            return len(range(dim)[start : end : self.step])
        return f"len(range({dim})[{start}:{end}:{self.step}])"


@dataclass(frozen=True)
class At:
    """Positions of an axis: a vector of them, how many, and the slice that they are."""

    name: str
    count: int | str
    cut: Cut | None = None

    @classmethod
    def of_cut(cls, d: Drawing, x: Value, axis: int, cut: Cut) -> "At":
        """Return a slice that only ``read`` takes: it has no vector."""
        return cls("", cut.count(x.dims[axis]), cut)


def sliced(d: Drawing, x: Value, axis: int, cut: Cut) -> Value:
    """Return a slice of a tensor."""
    parts = (b.name if isinstance(b, Bound) else d.constant([b]) for b in (cut.start, cut.end))
    signed = axis - len(x.dims) * d.does(0.1)
    more = (d.constant([n]) for n in (signed, cut.step))
    dims = (*x.dims[:axis], cut.count(x.dims[axis]), *x.dims[axis + 1 :])
    return d.of("Slice", x, *parts, *more, dims=dims)


def read(d: Drawing, x: Value, axis: int, at: At) -> Value:
    """Return the elements of a tensor at positions of an axis."""
    if at.cut is not None and (not at.name or d.does(0.8)):
        return sliced(d, x, axis, at.cut)
    dims = (*x.dims[:axis], at.count, *x.dims[axis + 1 :])
    return d.of("Gather", x, at.name, axis=axis, dims=dims)


@enter("cuts")
def usual(d: Drawing, x: Value, axis: int) -> Cut:
    """A slice as people write it."""
    return Cut(*d.rng.choice(USUAL))


@enter("cuts")
def whole(d: Drawing, x: Value, axis: int) -> Cut:
    return Cut(0, MOST)


@enter("cuts")
def strided(d: Drawing, x: Value, axis: int) -> Cut:
    step = d.rng.randint(2, 4)
    return Cut(d.rng.randrange(step), MOST, step)


@enter("cuts")
def backwards(d: Drawing, x: Value, axis: int) -> Cut:
    start = d.rng.choice((-1, -2, 2, MOST, FAR))
    return Cut(start, d.rng.choice((0, LEAST, -MOST, -FAR)), d.rng.choice((-1, -1, -2)))


@enter("cuts")
def run_of(d: Drawing, x: Value, axis: int) -> Cut:
    """A few elements from a start."""
    start = d.rng.randrange(10)
    return Cut(start, start + d.rng.randint(1, 5))


@enter("cuts")
def last(d: Drawing, x: Value, axis: int) -> Cut:
    """A few elements before the end."""
    end = d.rng.randint(1, 5)
    return Cut(-end - d.rng.randint(1, 3), -end)


@enter("cuts")
def within(d: Drawing, x: Value, axis: int) -> Cut | None:
    """A slice of an axis of known size."""
    n = d.size(x.dims[axis])
    if not n:
        return None
    start = d.rng.randrange(n)
    return Cut(start, d.rng.randint(start, n), d.rng.choice((1, 1, 2)))


@enter("cuts")
def clamped(d: Drawing, x: Value, axis: int) -> Cut:
    """A slice whose bounds may be anything: numbers, sizes, or what is fed."""
    step = d.rng.choice((1, 1, 1, 1, 1, 2, 3, -1, -1, -2, MOST, -MOST))
    return Cut(d.draw("bounds"), d.draw("bounds"), step)


@enter("bounds")
def small(d: Drawing) -> int:
    return int(d.rng.choice((*range(-4, 6), FAR)))


@enter("bounds")
def end(d: Drawing) -> int:
    return d.rng.choice(ENDS)


@enter("bounds")
def fed(d: Drawing) -> Bound:
    """A number that each feed has as a size: ``b``."""
    if "b" not in d.inputs:
        d.input("int64", (1,), "b")
        d.draws["b"] = lambda sizes: np.array([sizes["b"]], np.int64)
    return Bound("b", "b")


@enter("bounds")
def of_size(d: Drawing) -> Bound:
    """A function of a size of an input."""
    x = d.rng.choice([v for v in d.pool if v.name in d.inputs])
    axis = d.rng.randrange(len(x.dims))
    size = d.node("Shape", x.name, start=axis, end=axis + 1)
    k, n = d.rng.randint(1, 4), f"({x.dims[axis]})"
    op = d.rng.choice(("Add", "Sub", "Div", "Neg", "less", "size"))
    if op == "size":
        return Bound(size, n)
    if op == "Neg":
        return Bound(d.node(op, size), f"(-{n})")
    if op == "less":
        return Bound(d.node("Sub", d.constant([k]), size), f"({k}-{n})")
    sign = {"Add": "+", "Sub": "-", "Div": "//"}[op]
    return Bound(d.node(op, size, d.constant([k])), f"({n}{sign}{k})")


@enter("indices")
def cut(d: Drawing, x: Value, axis: int) -> At:
    """The positions of a slice: of a Range, or a constant."""
    made: Cut = d.draw("cuts", x, axis)
    dim = x.dims[axis]
    count = made.count(dim)
    start, end = made.start, made.end
    if isinstance(dim, int) and isinstance(start, int) and isinstance(end, int) and d.does(0.8):
        return At(d.constant([*range(dim)[start : end : made.step]]), count, made)
    vector = sliced(d, Value(d.every(x, axis), "int64", (dim,)), 0, made)
    return At(vector.name, count, made)


@enter("indices")
def listed(d: Drawing, x: Value, axis: int) -> At:
    """The positions of a slice as a constant, whether the size is known or not."""
    made: Cut = d.draw("cuts", x, axis)
    assert isinstance(made.start, int)
    assert isinstance(made.end, int)
    taken = range(d.size(x.dims[axis]))[made.start : made.end : made.step]
    return At(d.constant([*taken]), len(taken))


@enter("indices")
def constant(d: Drawing, x: Value, axis: int) -> At:
    """Different positions, some counted from the end."""
    size = d.size(x.dims[axis])
    taken = d.rng.sample(range(size), d.rng.randint(min(size, 1), size))
    if d.does(0.3):
        taken = [*range(len(taken))]
    return At(d.constant([i - size * d.does(0.2) for i in taken]), len(taken))


@enter("indices")
def repeated(d: Drawing, x: Value, axis: int) -> At:
    """A few positions in any order, perhaps one of them twice."""
    size = d.size(x.dims[axis])
    some = [n for n in (0, 1, -1, -2, 1) if -size <= n < size]
    taken = d.rng.choices(some, k=d.rng.randint(1, 3)) if some else []
    return At(d.constant(taken), len(taken))


@enter("indices")
def line(d: Drawing, x: Value, axis: int) -> At:
    """Positions at equal distances, all of them, or none; all or every other from the end."""
    size, count = d.size(x.dims[axis]), d.rng.choice((0, 1, 1, 2, 2, 3, 4))
    steps = d.rng.choice((0, 1, 1, -1, 2, -2, 3)) * np.arange(count)
    whole = np.arange(size)
    found = d.rng.choice((d.rng.randrange(max(size, 1)) + steps, whole, whole[::-1]))
    found = found[(found >= 0) & (found < size)]
    from_end = size * (np.arange(len(found)) % 2)
    found = found - d.rng.choice((0 * from_end, 0 * from_end, 0 * from_end + size, from_end))
    return At(d.constant(found), len(found))


@enter("indices")
def one(d: Drawing, x: Value, axis: int) -> At | None:
    """A position, perhaps counted from the end."""
    size = min(d.size(x.dims[axis]), 8)
    return At(d.constant([d.rng.randrange(-size // 2, size)]), 1) if size else None


@enter("indices")
def range_(d: Drawing, x: Value, axis: int) -> At:
    """A Range up to a size, or to a position before it, or down from it."""
    dim, size = x.dims[axis], d.dim(x, axis)
    if d.does(0.2):
        down = d.node("Sub", size, d.constant(1)), d.constant(-1), d.constant(-1)
        return At(d.node("Range", *down), dim)
    start, less, step = d.rng.choice(((0, 0, 1), (0, 0, 1), (1, 0, 1), (2, 0, 1), (0, 1, 1),
                                      (0, 2, 1), (0, 0, 2)))  # fmt: skip
    end = d.node("Sub", size, d.constant(less)) if less else size
    count = f"len(range({start}, ({dim}) - {less}, {step}))" if (start, less, step) != _ALL else dim
    return At(d.node("Range", d.constant(start), end, d.constant(step)), count)


@enter("indices")
def head(d: Drawing, x: Value, axis: int) -> At:
    """As many positions as another tensor has."""
    like = d.tensor("float32", ("M",))
    return At(d.node("Range", d.constant(0), d.dim(like, 0), d.constant(1)), like.dims[0])


@enter("indices")
def mask(d: Drawing, x: Value, axis: int) -> At:
    """Where a constant is true."""
    size = d.size(x.dims[axis])
    chosen = d.rng.sample(range(size), d.rng.randint(0, size))
    found = d.node("NonZero", d.constant(np.isin(np.arange(size), chosen), "bool"))
    return At(d.node("Squeeze", found, d.constant([0])), len(chosen))


@enter("indices")
def order(d: Drawing, x: Value, axis: int) -> At:
    """All positions, in the order of some keys."""
    keys = d.tensor("float32", (x.dims[axis],)).name
    k = d.node("Unsqueeze", d.dim(x, axis), d.constant([0]))
    return At(d.several("TopK", keys, k, count=2)[1], x.dims[axis])


@enter("indices")
def position(d: Drawing, x: Value, axis: int) -> At:
    """One position that is counted in the run."""
    found = d.dim(d.of("NonZero", d.tensor("int32", ("M",))), 1)
    most = d.node("Min", found, d.node("Sub", d.dim(x, axis), d.constant(1)))
    return At(d.node("Unsqueeze", most, d.constant([0])), 1)


@enter("indices")
def count(d: Drawing, x: Value, axis: int) -> At:
    """All positions, by counting ones."""
    like = d.tensor("int32", (x.dims[axis],)).name
    ones = d.node("Expand", d.constant(1), d.node("Shape", like))
    return At(d.node("Sub", d.node("CumSum", ones, d.constant(0)), d.constant(1)), x.dims[axis])


@enter("indices")
def run(d: Drawing, x: Value, axis: int) -> At:
    """Different positions that are fed, some counted from the end."""
    if d.is_function:
        return At(d.constant([0]), 1)
    count: int | str = d.rng.choice((1, 1, 2, x.dims[axis]))
    return At(d.tensor("int64", (count,), draw=different(d, x.dims[axis], count)).name, count)


def different(d: Drawing, dim: int | str, count: int | str) -> Callable[[Sizes], np.ndarray]:
    """Return what draws positions, different ones if there are so many."""

    def drawn(sizes: Sizes) -> np.ndarray:
        most, wanted = max(d.size(dim, sizes), 1), d.size(count, sizes)
        found = d.rng.sample(range(most), min(wanted, most)) + [0] * max(0, wanted - most)
        return np.array([i - most * d.does(0.3) for i in found], np.int64)

    return drawn
