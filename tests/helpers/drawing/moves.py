"""Steps that move the elements of a tensor, or read some of them."""

from math import prod
from typing import Any

from tests.helpers.drawing.drawing import Drawing, Value, enter
from tests.helpers.drawing.indices import At, read


def axis_of(d: Drawing, x: Value) -> int | None:
    """Return an axis that a step may change."""
    rank = len(x.dims)
    return d.rng.randrange(d.kept, rank) if rank > d.kept else None


def is_known(d: Drawing, x: Value, times: int = 1) -> bool:
    """Return whether the sizes of the axes that may change are numbers, and not too large."""
    own = x.dims[d.kept :]
    return all(isinstance(n, int) for n in own) and times * prod(map(d.size, own)) <= d.largest


@enter("moves")
def identity(d: Drawing, x: Value) -> Value:
    return d.of("Identity", x)


@enter("moves")
def transpose(d: Drawing, x: Value) -> Value | None:
    """Turn all axes round, or put them into any order."""
    rank = len(x.dims)
    if rank - d.kept < 1:
        return None
    if not d.kept and d.does(0.5):
        return d.of("Transpose", x, dims=x.dims[::-1])
    perm = [*range(d.kept), *d.rng.sample(range(d.kept, rank), rank - d.kept)]
    return d.of("Transpose", x, perm=perm, dims=tuple(x.dims[p] for p in perm))


@enter("moves")
def merge(d: Drawing, x: Value) -> Value | None:
    """Let the first two axes be one."""
    if len(x.dims) < 2 or d.kept or 0 in d.shape(x.dims[2:]):
        return None
    shape = d.constant([-1, *d.shape(x.dims[2:])])
    return d.of("Reshape", x, shape, dims=(f"({x.dims[0]})*({x.dims[1]})", *x.dims[2:]))


@enter("moves")
def lead(d: Drawing, x: Value) -> Value | None:
    """Put an axis of one element in front, by a shape that is computed."""
    if d.kept:
        return None
    shape = d.node("Concat", d.constant([1]), d.node("Shape", x.name), axis=0)
    return d.of("Reshape", x, shape, dims=(1, *x.dims))


@enter("moves")
def regroup(d: Drawing, x: Value) -> Value | None:
    """Let the axes be others, of as many elements."""
    if not is_known(d, x) or not x.dims or 0 in x.dims:
        return None
    left, new = prod(map(d.size, x.dims[d.kept :])), []
    for _ in range(d.rng.choice((0, 0, 1, 1, 2, 3, 4, 5))):
        new.append(d.rng.choice([n for n in (1, 2, 3, 4) if left % n == 0]))
        left //= new[-1]
    new = d.rng.sample([*new, left], len(new) + 1)
    shown = list(new)
    if not d.kept and d.does(0.3):
        shown[d.rng.randrange(len(new))] = -1
    lead = [d.rng.choice((-1, 0))] * d.kept
    return d.of("Reshape", x, d.constant([*lead, *shown]), dims=(*x.dims[: d.kept], *new))


@enter("moves")
def slice_(d: Drawing, x: Value) -> Value | None:
    """Take a slice of an axis."""
    axis = axis_of(d, x)
    if axis is None:
        return None
    at = At.of_cut(d, x, axis, d.draw("cuts", x, axis))
    if not d.may_be_empty and d.size(at.count) == 0:
        return None
    return read(d, x, axis, at)


@enter("moves")
def concat(d: Drawing, x: Value) -> Value | None:
    """Put another tensor beside it, of one, two or as many elements along the axis."""
    axis = axis_of(d, x)
    if axis is None or (is_known(d, x) and not is_known(d, x, 2)):
        return None
    size = d.rng.choice((1, 2, x.dims[axis])) if not d.kept else x.dims[axis]
    part = d.other(x.dtype, (*x.dims[:axis], size, *x.dims[axis + 1 :]))
    pair = [x, part] if d.does(0.5) else [part, x]
    total = added(x.dims[axis], part.dims[axis])
    joined = d.node("Concat", *(v.name for v in pair), axis=axis)
    return Value(joined, x.dtype, (*x.dims[:axis], total, *x.dims[axis + 1 :]))


def added(one: int | str, other: int | str) -> int | str:
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    return f"({one})+({other})"


@enter("moves")
def split(d: Drawing, x: Value) -> Value | None:
    """Split in two; both are kept for others."""
    axis = axis_of(d, x)
    size = 0 if axis is None else d.size(x.dims[axis])
    if axis is None or size < 2 or (size % 2 and d.opset < 18):
        return None
    n = x.dims[axis]
    sizes: tuple[int | str, int | str] = (f"(({n})+1)//2", f"({n})//2")
    if isinstance(n, int):
        sizes = (n + 1) // 2, n // 2
    more: dict[str, Any] = {"num_outputs": 2} if d.opset >= 18 else {}
    names = d.several("Split", x.name, count=2, axis=axis, **more)
    made = [
        Value(name, x.dtype, (*x.dims[:axis], part, *x.dims[axis + 1 :]))
        for name, part in zip(names, sizes, strict=True)
    ]
    d.pool += made
    return d.rng.choice(made)


@enter("moves")
def unsqueeze(d: Drawing, x: Value) -> Value | None:
    if len(x.dims) > 6:
        return None
    axis = d.rng.randint(d.kept, len(x.dims))
    dims = (*x.dims[:axis], 1, *x.dims[axis:])
    return d.of("Unsqueeze", x, d.constant([axis]), dims=dims)


@enter("moves")
def squeeze(d: Drawing, x: Value) -> Value | None:
    ones = [axis for axis, n in enumerate(x.dims) if n == 1 and axis >= d.kept]
    if not ones or (d.kept and len(x.dims) < d.kept + 2):
        return None
    axis = d.rng.choice(ones)
    return d.of("Squeeze", x, d.constant([axis]), dims=(*x.dims[:axis], *x.dims[axis + 1 :]))


@enter("moves")
def there_and_back(d: Drawing, x: Value) -> Value:
    """Put an axis in front, and remove it."""
    wide = d.of("Unsqueeze", x, d.constant([0]))
    return d.of("Squeeze", wide, d.constant([0]), dims=x.dims)


@enter("moves")
def expand(d: Drawing, x: Value) -> Value | None:
    """Repeat the element of an axis that has one."""
    ones = [axis for axis, n in enumerate(x.dims) if n == 1 and axis >= d.kept]
    if not ones or (not d.kept and "M" not in d.sizes and not is_known(d, x, 3)):
        return None
    axis = d.rng.choice(ones)
    before, after = x.dims[:axis], x.dims[axis + 1 :]
    if d.kept or "M" not in d.sizes:
        n = d.rng.choice((2, 3))
        shape = d.constant([*[1] * axis, n, *[1] * len(after)])
        return d.of("Expand", x, shape, dims=(*before, n, *after))
    like = d.tensor("int32", (*before, d.rng.choice((2, "M")), *after))
    return d.of("Expand", x, d.node("Shape", like.name), dims=like.dims)


@enter("moves")
def where(d: Drawing, x: Value) -> Value | None:
    """Take some elements of another tensor."""
    if x.dtype in ("bool", "float16"):
        return None
    chosen, other = d.other("bool", x.dims), d.other(x.dtype, x.dims)
    return Value(d.node("Where", chosen.name, x.name, other.name), *x[1:])


@enter("moves")
def cast(d: Drawing, x: Value) -> Value:
    """Take another type; no integer is known for NaN."""
    wanted = d.rng.choice(("float32", "int64", "int32", "bool", "float16", x.dtype))
    if x.dtype == "object":
        wanted = x.dtype
    if x.dtype.startswith("float") and wanted.startswith("int"):
        wanted = "bool"
    return Value(d.cast(x.name, wanted), wanted, x.dims)


@enter("moves")
def pad(d: Drawing, x: Value) -> Value | None:
    """Add an element at the end of an axis."""
    axis = axis_of(d, x)
    if axis is None or x.dtype in ("bool", "object") or not is_known(d, x, 2):
        return None
    if isinstance(x.dims[axis], str) or (x.dtype[:3] == "int" and d.opset < 18):
        return None
    pads = [0] * 2 * len(x.dims)
    pads[len(x.dims) + axis] = 1
    dims = (*x.dims[:axis], d.size(x.dims[axis]) + 1, *x.dims[axis + 1 :])
    return d.of("Pad", x, d.constant(pads), dims=dims)


@enter("moves")
def tile(d: Drawing, x: Value) -> Value | None:
    """Repeat an axis."""
    axis = axis_of(d, x)
    if axis is None or not is_known(d, x, 2) or isinstance(x.dims[axis], str):
        return None
    counts = [2 if a == axis else 1 for a in range(len(x.dims))]
    dims = (*x.dims[:axis], 2 * d.size(x.dims[axis]), *x.dims[axis + 1 :])
    return d.of("Tile", x, d.constant(counts), dims=dims)
