"""Functions of a tensor, element by element, and where another tensor comes from."""

import numpy as np

from tests.helpers.builder import Dims
from tests.helpers.drawing.drawing import UNKNOWN, Drawing, Value, enter

INTEGERS = ("Neg", "Abs", "Sign", "Identity")
_SMALL = ("uint8", "uint64", "int8", "object")


@enter("computations")
def unary(d: Drawing, x: Value) -> Value | None:
    """An operator that has a kernel for the type."""
    op = d.choose("unary")
    kind = np.dtype(x.dtype).kind
    if kind == "b":
        return d.of(d.rng.choice(("Not", "Identity")), x)
    if kind != "f" and (x.dtype in _SMALL or op not in INTEGERS):
        return d.of("Identity", x)
    return d.of(op, x)


@enter("computations")
def identity(d: Drawing, x: Value) -> Value:
    return x


@enter("computations")
def binary(d: Drawing, x: Value) -> Value | None:
    """An operator, and a number or a tensor of the same shape beside it."""
    if x.dtype in ("bool", *_SMALL):
        return None
    op = d.choose("binary")
    if UNKNOWN in x.dims or d.does(0.6):
        other = d.constant(d.numbers((), x.dtype), x.dtype)
    else:
        other = d.other(x.dtype, x.dims).name
    pair = [x.name, other]
    if d.does(0.3):
        pair.reverse()
    return Value(d.node(op, *pair), x.dtype, x.dims)


@enter("computations")
def through(d: Drawing, x: Value) -> Value | None:
    """Go through a wider type, or a narrower one."""
    if x.dtype in ("bool", *_SMALL):
        return None
    kinds = {
        "float16": "float32",
        "int64": "int64",
        "float32": d.rng.choice(("float64", "float16")),
    }
    wide = d.cast(x.name, kinds.get(x.dtype, "float64"))
    return Value(d.cast(wide, x.dtype), x.dtype, x.dims)


@enter("computations")
def choice(d: Drawing, x: Value) -> Value | None:
    """The elements that are less than a number, and this for the others."""
    if x.dtype in ("bool", "float16", *_SMALL):
        return None
    number = d.constant(d.numbers((), x.dtype), x.dtype)
    chosen = d.node("Less", x.name, number)
    return Value(d.node("Where", chosen, x.name, number), x.dtype, x.dims)


@enter("sources")
def alike(d: Drawing, dtype: str, dims: Dims) -> Value | None:
    found = [v for v in d.pool if v.dtype == dtype and v.dims == dims]
    return d.rng.choice(found) if found else None


@enter("sources")
def fed(d: Drawing, dtype: str, dims: Dims) -> Value:
    return d.tensor(dtype, dims)


@enter("sources")
def constant(d: Drawing, dtype: str, dims: Dims) -> Value | None:
    if any(isinstance(n, str) for n in dims):
        return None
    return Value(d.constant(d.numbers(d.shape(dims), dtype), dtype), dtype, dims)


@enter("sources")
def cast(d: Drawing, dtype: str, dims: Dims) -> Value:
    kinds = {"float16": ("float32",), "float32": ("float32", "int32", "float16")}
    like = d.tensor(d.rng.choice(kinds.get(dtype, ("float32", "int32"))), dims)
    return Value(d.cast(like.name, dtype), dtype, dims)


@enter("sources")
def expanded(d: Drawing, dtype: str, dims: Dims) -> Value:
    one = d.constant(d.numbers((), dtype), dtype)
    like = d.tensor("float32", dims)
    return Value(d.node("Expand", one, d.node("Shape", like.name)), dtype, dims)


@enter("sources")
def filled(d: Drawing, dtype: str, dims: Dims) -> Value | None:
    """A constant of one number."""
    if any(isinstance(n, str) for n in dims):
        return None
    array = np.full(d.shape(dims), d.rng.choice((0.0, 0.5, 0.33)))
    return Value(d.constant(array, dtype), dtype, dims)


@enter("sources")
def computed(d: Drawing, dtype: str, dims: Dims) -> Value:
    return d.computed(d.tensor(dtype, dims))
