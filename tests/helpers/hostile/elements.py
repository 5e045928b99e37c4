"""Tensors of far more elements than the bytes of a model."""

import onnx
import onnx.parser
from onnx import TensorProto

from tests.helpers.hostile.registry import WRITE, hostile, model_of, wide


@hostile(40)
def _expanded_indices(power: int) -> onnx.ModelProto:
    """One index, expanded to 2^power."""
    body = ["rows = Expand (zero, wide)", *WRITE]
    return model_of(body, inputs="float[4, 2] x, float[K, 2] u", known=wide(power))


@hostile(40)
def _gathered(power: int) -> onnx.ModelProto:
    """A Gather at one index, expanded, and a scatter at what it reads."""
    body = ["all = Expand (zero, wide)", "rows = Gather (table, all)", *WRITE]
    known = wide(power) + ", int64[4] table = {3, 1, 2, 0}"
    return model_of(body, inputs="float[4, 2] x, float[K, 2] u", known=known)


@hostile(30)
def _summed(power: int) -> onnx.ModelProto:
    """A CumSum over what an Expand made."""
    body = ["all = Expand (table, wide)", "rows = CumSum (all, zero)", *WRITE]
    known = wide(power) + ", int64[1] table = {3}"
    return model_of(body, inputs="float[4, 2] x, float[K, 2] u", known=known)


@hostile(4000)
def _many_large(count: int) -> onnx.ModelProto:
    """Ranges of 2^20 elements, each multiplied, summed up, and read at its ends."""
    body = ["n = Squeeze (wide)"]
    for k in range(count):
        body += [f"r{k} = Range (zero, n, one)", f"s{k} = Mul (r{k}, r{k})"]
        body += [f"c{k} = CumSum (s{k}, zero)", f"g{k} = Gather (q, c{k})"]
    body += ["rows = Gather (c0, first)", *WRITE]
    return model_of(body, inputs="float[4, 2] x, float[1, 2] u, float[Q] q", known=wide(20))


@hostile(40)
def _made(power: int) -> onnx.ModelProto:
    """Tile, Pad, ConstantOfShape, Range, OneHot and Resize to 2^power."""
    body = [
        "size = Squeeze (wide)",
        "tiled = Tile (first, wide)",
        "both = Concat <axis = 0> (wide, wide)",
        "padded = Pad (first, both)",
        "zeros = ConstantOfShape <value = int64[1] {0}> (wide)",
        "counted = Range (zero, size, one)",
        "hot = OneHot (first, size, pair)",
        "flat = Reshape (hot, minus)",
        "scaled = Cast <to = 1> (first)",
        'resized = Resize <mode = "nearest"> (scaled, , , wide)',
        "whole = Cast <to = 7> (resized)",
        "joined = Concat <axis = 0> (tiled, padded, zeros, counted, flat, whole)",
        "rows = Mod (joined, two)",
        *WRITE,
    ]
    inputs, known = "float[4, 2] x, float[K, 2] u", wide(power) + ", int64[2] pair = {0, 1}"
    return model_of(body, inputs=inputs, known=known)


@hostile(40)
def _no_data(power: int) -> onnx.ModelProto:
    """An initializer of 2^power elements that has none."""
    model = model_of(
        ["i = Identity (table)", "y = ScatterND (x, i, u)"], inputs="float[4, 2] x, float[1, 2] u"
    )
    model.graph.initializer.append(TensorProto(name="table", data_type=7, dims=[1 << power, 1]))
    return model
