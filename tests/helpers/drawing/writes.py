"""Steps that write into a tensor, in the forms that exporters give them; its dims are kept."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.helpers.drawing.drawing import UNKNOWN, Drawing, Sizes, Value, enter
from tests.helpers.drawing.indices import At, Cut, different, read, sliced
from tests.helpers.drawing.updates import updates


def reduction(d: Drawing, dtype: str) -> dict[str, Any]:
    """Return an attribute, or none."""
    word = d.choose("reductions")
    if (
        d.opset < 16
        or dtype in ("bool", "object", "float16")
        or (word in ("max", "min") and d.opset < 18)
    ):
        return {}
    return {} if word == "none" and d.does(0.9) else {"reduction": word}


def upright(d: Drawing, vector: str) -> str:
    return d.node("Unsqueeze", vector, d.constant([d.rng.choice((-1, 1))]))


def scatter_rows(d: Drawing, x: Value, at: At, made: Value) -> Value:
    return d.of("ScatterND", x, upright(d, at.name), made.name, **reduction(d, x.dtype))


def scatter_along(d: Drawing, x: Value, axis: int, at: At, made: Value) -> Value:
    """Write along an axis, with indices that are expanded."""
    wide = [-1 if a == axis else 1 for a in range(len(x.dims))]
    others = [a for a, n in enumerate(wide) if n == 1]
    if others and d.does(0.5):
        turned = d.node("Unsqueeze", at.name, d.constant(others))
    else:
        turned = d.node("Reshape", at.name, d.constant(wide))
    full = d.node("Expand", turned, d.node("Shape", made.name))
    if d.may("int32 indices"):
        full = d.cast(full, "int32")
    signed = axis - len(x.dims) * d.does(0.3)
    inputs = x, full, made.name
    return d.of("ScatterElements", *inputs, axis=signed, **reduction(d, x.dtype))


def turned(d: Drawing, x: Value, axis: int) -> Value:
    """Exchange an axis and the first one."""
    perm = [*range(len(x.dims))]
    perm[0], perm[axis] = axis, 0
    if not axis and d.does(0.7):
        return x
    return d.of("Transpose", x, perm=perm, dims=tuple(x.dims[p] for p in perm))


def scatter_axis(d: Drawing, x: Value, axis: int, at: At, made: Value) -> Value:
    """Write at positions of an axis: between transposes, or along it."""
    if d.does(0.6):
        return turned(d, scatter_rows(d, turned(d, x, axis), at, turned(d, made, axis)), axis)
    return scatter_along(d, x, axis, at, made)


def scatter_box(d: Drawing, x: Value, found: Sequence[At], made: Value) -> Value:
    """Write a box of the first axes: a column of indices for each of them."""
    return d.of("ScatterND", x, grid(d, found), made.name, **reduction(d, x.dtype))


def grid(d: Drawing, found: Sequence[At]) -> str:
    """Return the tuples of all positions of some axes."""
    uprights = [
        d.node("Reshape", at.name, d.constant([-1 if a == axis else 1 for a in range(len(found))]))
        for axis, at in enumerate(found)
    ]
    if d.does(0.4):
        zeros = [d.node("Mul", n, d.constant(0)) for n in uprights]
        total = zeros[0]
        for zero in zeros[1:]:
            total = d.node("Add", total, zero)
        wide = [d.node("Add", n, total) for n in uprights]
        columns = [d.node("Unsqueeze", n, d.constant([-1])) for n in wide]
    else:
        counts = [d.node("Shape", at.name) for at in found]
        shape = d.node("Concat", *counts, axis=0) if len(counts) > 1 else counts[0]
        wide = [d.node("Expand", n, shape) for n in uprights]
        columns = [d.node("Unsqueeze", n, d.constant([-1])) for n in wide]
    return d.node("Concat", *columns, axis=-1) if len(columns) > 1 else columns[0]


@enter("writes")
def rows(d: Drawing, x: Value) -> Value | None:
    """Write at positions of the first axis."""
    return along(d, x, 0, scatter_rows_of) if x.dims else None


def scatter_rows_of(d: Drawing, x: Value, axis: int, at: At, made: Value) -> Value:
    return scatter_rows(d, x, at, made)


def along(
    d: Drawing, x: Value, axis: int, form: Callable[[Drawing, Value, int, At, Value], Value]
) -> Value:
    """Write at positions of an axis, in a form."""
    at: At = d.draw("indices", x, axis)
    dims = (*x.dims[:axis], at.count, *x.dims[axis + 1 :])
    return form(d, x, axis, at, updates(d, x, dims, lambda y: read(d, y, axis, at)))


@enter("writes")
def tuples(d: Drawing, x: Value) -> Value | None:
    """Write rows by tuples of one index, which are fed."""
    if not x.dims or d.is_function:
        return None
    count: int | str = d.rng.choice((1, 2, x.dims[0]))
    draw = different(d, x.dims[0], count)
    at = d.tensor("int64", (count, 1), draw=lambda sizes: draw(sizes)[:, None])
    dims = (count, *x.dims[1:])
    made = updates(d, x, dims, lambda y: d.of("GatherND", y, at.name, dims=dims))
    return d.of("ScatterND", x, at.name, made.name, **reduction(d, x.dtype))


@enter("writes")
def elements(d: Drawing, x: Value) -> Value | None:
    """Write along an axis, with indices for all elements."""
    return along(d, x, d.rng.randrange(len(x.dims)), scatter_along) if x.dims else None


@enter("writes")
def columns(d: Drawing, x: Value) -> Value | None:
    """Write at positions of an axis between transposes."""
    if not x.dims:
        return None

    def form(d: Drawing, x: Value, axis: int, at: At, made: Value) -> Value:
        return turned(d, scatter_rows(d, turned(d, x, axis), at, turned(d, made, axis)), axis)

    return along(d, x, d.rng.randrange(len(x.dims)), form)


@enter("writes")
def select(d: Drawing, x: Value) -> Value | None:
    """Write one row of an axis: an index that is expanded, as a select is exported."""
    axis = d.rng.randrange(len(x.dims)) if x.dims else 0
    if not x.dims or not d.size(x.dims[axis]):
        return None
    at = d.constant(d.rng.choice([n for n in (0, 0, 1, -1, -2, 2) if n < d.size(x.dims[axis])]))
    source = x if d.does(0.3) else d.other(x.dtype, x.dims)
    row = Value(d.node("Gather", source.name, at, axis=axis), x.dtype, ())
    if d.does(0.6):
        row = d.of("Expand", row, d.node("Shape", row.name))
        row = Value(d.node("Expand", d.constant(0, x.dtype), d.node("Shape", row.name)), *row[1:])
    made = d.node("Unsqueeze", row.name, d.constant([axis]))
    indices = d.node("Expand", at, d.node("Shape", made))
    return d.of("ScatterElements", x, indices, made, axis=axis)


@enter("writes")
def box(d: Drawing, x: Value) -> Value | None:
    """Write at positions of several axes."""
    if len(x.dims) < 2:
        return None
    depth = 2 if d.does(0.7) else len(x.dims)
    found = [d.draw("indices", x, axis) for axis in range(depth)]
    dims = (*(at.count for at in found), *x.dims[depth:])
    places: list[str] = []

    def read_box(y: Value) -> Value:
        if all(at.cut is not None for at in found) and d.does(0.5):
            for axis, at in enumerate(found):
                y = sliced(d, y, axis, at.cut)
            return y
        if not places:
            places.append(grid(d, found))
        return Value(d.node("GatherND", y.name, places[0]), y.dtype, dims)

    made = updates(d, x, dims, read_box)
    if not places:
        return scatter_box(d, x, found, made)
    return d.of("ScatterND", x, places[0], made.name, **reduction(d, x.dtype))


@enter("writes")
def nested(d: Drawing, x: Value) -> Value | None:
    """Write a slice of several axes: views of views, which are written back one by one."""
    if not x.dims:
        return None
    axes = d.rng.sample(range(len(x.dims)), d.rng.randint(1, len(x.dims)))
    cuts: list[Cut] = [d.draw("cuts", x, axis) for axis in axes]

    def part(y: Value) -> Value:
        for axis, cut in zip(axes, cuts, strict=True):
            y = sliced(d, y, axis, cut)
        return y

    views = [x]
    for axis, cut in zip(axes[:-1], cuts[:-1], strict=True):
        views.append(sliced(d, views[-1], axis, cut))
    dims = list(x.dims)
    for axis, cut in zip(axes, cuts, strict=True):
        dims[axis] = cut.count(dims[axis])
    made = updates(d, x, tuple(dims), part)
    for view, axis, cut in zip(reversed(views), reversed(axes), reversed(cuts), strict=True):
        dim = view.dims[axis]
        positions = sliced(d, Value(d.every(view, axis), "int64", (dim,)), 0, cut)
        made = scatter_axis(d, view, axis, At(positions.name, cut.count(dim), cut), made)
    return made


@enter("writes")
def place(d: Drawing, x: Value) -> Value | None:
    """Write a row where a column of another tensor is largest."""
    alike = [v for v in d.pool if v.dims == x.dims and v.dtype == "float32"]
    if not alike or len(x.dims) != 2:
        return None
    column = d.node("Gather", d.rng.choice(alike).name, d.constant(d.rng.randrange(6)), axis=1)
    at = d.node("ArgMax", column, axis=0, keepdims=1)
    row = d.constant([d.rng.randrange(6)])
    made = d.of("Gather", d.rng.choice(alike), row, axis=0, dims=(1, x.dims[1]))
    return d.of("ScatterND", x, upright(d, at), d.computed(made).name)


@enter("writes")
def copied(d: Drawing, x: Value) -> Value | None:
    """Write rows of a tensor over others of its rows: ``x[a:b] = x[c:d]``."""
    if not x.dims or d.size(x.dims[0]) < 8:
        return None
    start, other, count = d.rng.randrange(5), d.rng.randrange(5), d.rng.randint(1, 3)
    vector = Value(d.every(x, 0), "int64", x.dims[:1])
    at = sliced(d, vector, 0, Cut(start, start + count))
    part = sliced(d, x, 0, Cut(other, other + count))
    return d.of("ScatterND", x, upright(d, at.name), part.name)


@enter("writes")
def masked(d: Drawing, x: Value) -> Value | None:
    """Write a function of what a mask reads, by the same mask."""
    if not x.dims:
        return None
    chosen = d.other("bool", x.dims[: d.rng.randint(1, len(x.dims))])
    places = d.node("Transpose", d.node("NonZero", chosen.name))
    source = d.other(x.dtype, x.dims) if d.does(0.5) else x
    made = d.of("GatherND", source, places, dims=(UNKNOWN,))
    made = d.computed(made) if d.does(0.8) else made
    return d.of("ScatterND", x, places, made.name)


@enter("writes")
def marked(d: Drawing, x: Value) -> Value | None:
    """Write one number wherever a mask is true."""
    if not x.dims or x.dtype in ("bool", "object"):
        return None
    chosen = d.other("bool", x.dims).name
    places = d.node("Transpose", d.node("NonZero", chosen))
    count = d.node("ReduceSum", d.cast(d.node("Reshape", chosen, d.constant([-1])), "int64"))
    number = d.node("Expand", d.constant(d.rng.randint(1, 9), x.dtype), count)
    return d.of("ScatterND", x, places, number)


@enter("writes")
def cache(d: Drawing, x: Value) -> Value | None:
    """Write into a cache: a TensorScatter."""
    if d.opset < 24 or len(x.dims) < 2:
        return None
    axis = d.rng.choice((-2, 1)) if len(x.dims) > 2 else -1
    count = d.rng.choice((1, 1, 2, x.dims[axis]))
    place = axis % len(x.dims)
    made = d.other(x.dtype, (*x.dims[:place], count, *x.dims[place + 1 :]))
    more = [d.constant(np.zeros(d.size(x.dims[0])))] if d.does(0.3) else []
    if not more and d.does(0.6) and not d.is_function:

        def places(sizes: Sizes) -> Any:
            most = max(1, d.size(x.dims[axis], sizes) - d.size(count, sizes) + 1)
            return np.array([d.rng.randrange(most) for _ in range(d.size(x.dims[0], sizes))], "i8")

        more = [d.tensor("int64", (x.dims[0],), draw=places).name]
    mode: dict[str, Any] = {"mode": "circular"} if d.does(0.3) else {}
    return d.of("TensorScatter", x, made.name, *more, axis=axis, **mode)


@enter("steps")
def write(d: Drawing, x: Value) -> Value | None:
    made: Value | None = d.draw("writes", x) if x.dims else None
    return made


@enter("steps")
def move(d: Drawing, x: Value) -> Value:
    made: Value = d.draw("moves", x)
    return made


@enter("steps")
def compute(d: Drawing, x: Value) -> Value:
    return d.computed(x)


@enter("steps")
def around(d: Drawing, x: Value) -> Value | None:
    """Write into a tensor in another form, and turn it back."""
    if not x.dims:
        return None
    if len(x.dims) > 1 and d.does(0.7):
        perm = d.rng.sample(range(len(x.dims)), len(x.dims))
        back = [perm.index(i) for i in range(len(perm))]
        other = d.of("Transpose", x, perm=perm, dims=tuple(x.dims[p] for p in perm))
        return d.of("Transpose", d.draw("writes", other), perm=back, dims=x.dims)
    flat = "*".join(f"({n})" for n in x.dims)
    row = d.of("Reshape", x, d.constant([-1]), dims=(flat,))
    return d.of("Reshape", d.draw("writes", row), d.node("Shape", x.name), dims=x.dims)
