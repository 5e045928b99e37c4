"""Functions of the last axis: products, normalizations, reductions."""

import numpy as np

from tests.helpers.drawing.drawing import Drawing, Value, enter


def width_of(x: Value) -> int:
    """Return the size of the last axis, if it is a number; else 0."""
    last = x.dims[-1] if x.dims else 0
    return last if isinstance(last, int) else 0


def weights(d: Drawing, x: Value, *shape: int, scale: float = 1) -> str:
    """Return a constant of small numbers."""
    draw = np.random.default_rng(d.rng.randrange(1 << 30))
    return d.constant(draw.standard_normal(shape) * scale, x.dtype)


@enter("computations")
def mixed(d: Drawing, x: Value) -> Value | None:
    """Mix the elements of the last axis; the shape is kept."""
    width = width_of(x)
    if not width or np.dtype(x.dtype).kind != "f":
        return None
    op = d.choose("mixed")
    if op in ("MatMul", "Gemm"):
        square = weights(d, x, width, width)
        return d.of(op if len(x.dims) == 2 else "MatMul", x, square)
    if op == "LayerNormalization" and d.opset >= 17:
        return d.of(op, x, weights(d, x, width), axis=-1)
    return d.of("Softmax", x)
