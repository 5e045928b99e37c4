"""Tensors between quantizers: where they come from, and steps that quantize."""

import numpy as np

from tests.helpers.builder import Dims
from tests.helpers.drawing.drawing import Drawing, Value, enter

SCALES = (0.05, 0.05, 0.1, 0.3, 0.5)


def parameters(d: Drawing, dtype: str, dims: Dims) -> tuple[list[str], dict[str, int], str]:
    """Return a scale and perhaps a zero point, an axis, and the domain that takes the type."""
    domain = "com.microsoft" if dtype.endswith("16") and d.opset < 21 else ""
    if d.choose("scales") == "one":
        return [d.constant(0.05, "float32"), d.constant(3, dtype)], {}, domain
    fixed = [axis for axis, n in enumerate(dims) if isinstance(n, int) and n]
    axis = d.rng.choice(fixed) if fixed and d.does(0.15) else None
    size = () if axis is None else (d.size(dims[axis]),)
    factor = np.ones(()) if axis is None else np.linspace(1, 2, *size)
    found = [d.constant(d.rng.choice(SCALES) * factor, "float32")]
    if d.does(0.6):
        number = 0 if dtype == "int32" else d.rng.choice((0, 0, 3, 100))
        found.append(d.constant(np.full(size, number), dtype))
    return found, {} if axis is None else {"axis": axis}, domain


@enter("sources")
def dequantized(d: Drawing, dtype: str, dims: Dims) -> Value:
    """Integers that a DequantizeLinear reads, if floats are wanted."""
    if dtype != "float32":
        return d.tensor(dtype, dims)
    kind = d.main_type if d.does(0.8) else d.choose("integers")
    read, axis, domain = parameters(d, kind, dims)
    x = d.tensor(kind, dims)
    return Value(d.node("DequantizeLinear", x.name, *read, domain=domain, **axis), dtype, dims)


@enter("computations")
@enter("ends")
def requantized(d: Drawing, x: Value) -> Value | None:
    """Quantize, and go back by the same parameters."""
    if x.dtype != "float32":
        return None
    y, read, axis, domain = quantized(d, x)
    return Value(d.node("DequantizeLinear", y.name, *read, domain=domain, **axis), *x[1:])


@enter("ends")
def quantize(d: Drawing, x: Value) -> Value | None:
    return quantized(d, x)[0] if x.dtype == "float32" else None


def quantized(d: Drawing, x: Value) -> tuple[Value, list[str], dict[str, int], str]:
    kind = d.main_type if d.main_type != "int32" else "uint8"
    read, axis, domain = parameters(d, kind, x.dims)
    if len(read) == 1 and kind != "uint8":
        size = (d.size(x.dims[axis["axis"]]),) if axis else ()
        read.append(d.constant(np.zeros(size), kind))
    name = d.node("QuantizeLinear", x.name, *read, domain=domain, **axis)
    return Value(name, kind, x.dims), read, axis, domain
