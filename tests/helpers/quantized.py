"""Models with quantizers: is a write done on their integers, or on floats, and why."""

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import helper

import onnx_scatterx
from onnx_scatterx.text.reasons import FloatReason
from tests.helpers.pair import SESSIONS, agree
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample

QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")

WRITE = """g (uint8[4,3] x, uint8[2,3] u) => (uint8[4,3] y) <int64[2,1] i = {1, 2}, SCALES> {
    a = DequantizeLinear (x, s, z)
    b = DequantizeLinear (u, t, z)
    c = ScatterND (a, i, b)
    y = QuantizeLinear (c, s, z) }"""

ONE = "float s = {0.25}, float t = {0.25}, uint8 z = {7}"

PER_CHANNEL = """g (int8[4,3] x, int8[2,3] u) => (int8[4,3] y)
    <int64[2,1] i = {1, 2}, float[3] s = {0.1, 0.2, 0.4}, int8[3] z = {0, 1, -1}> {
        a = DequantizeLinear <axis = 1> (x, s, z)
        b = DequantizeLinear <axis = -1> (u, s, z)
        c = ScatterND (a, i, b)
        y = QuantizeLinear <axis = 1> (c, s, z) }"""

LIMITS = {name: np.iinfo(name) for name in ("int8", "uint8", "int16", "uint16")}

SCALES = st.one_of(
    st.floats(2.0**-126, 2.0**100, width=32),
    st.sampled_from([2.0**-126, 2.0**-149, 1.0, 0.1, 1 / 3, 255.0, 3e38]),
)


def count(model: onnx.ModelProto) -> int:
    """Count the nodes that quantize and dequantize."""
    return sum(node.op_type in QUANTIZERS for node in nodes(model))


def feeds(model: onnx.ModelProto, *seeds: int) -> list[dict[str, np.ndarray]]:
    """Draw inputs of a model of which all sizes are numbers."""
    found = []
    for seed in seeds:
        feed = {}
        for value in model.graph.input:
            kind = value.type.tensor_type
            shape = [d.dim_value for d in kind.shape.dim]
            name = helper.tensor_dtype_to_np_dtype(kind.elem_type).name
            feed[value.name] = np.asarray(sample(name, *shape, seed=seed))
        found.append(feed)
    return found


def on_integers(text: str, *, left: int = 0, quantizers: int = 0) -> onnx.ModelProto:
    """Check that a model is sound without scatters, and with how many quantizers."""
    model = parse(text)
    assert_sound(model, *feeds(model, 0, 1, 2), left=left)
    made = optimize(model)
    assert count(made) == quantizers, [n.op_type for n in made.graph.node]
    return made


def on_floats(text: str, why: FloatReason) -> None:
    """Check that a model is sound, and keeps its quantizers as they are, for a reason."""
    model = parse(text)
    made = optimize(model)
    assert quantizers(made) == quantizers(model)
    for feed in feeds(model, 0, 1, 2):
        for load in SESSIONS:
            before, after = (load(m).run(None, feed) for m in (model, made))
            assert agree(before, after)
    report = onnx_scatterx.inspect(model, target="standard")
    told = {entry.quantized for entry in report.scatters}
    assert told == {f"on floats: {why.value}"}


def quantizers(model: onnx.ModelProto) -> list[bytes]:
    """Return the nodes that quantize and dequantize, but for what they read and are called."""
    found = [node for node in nodes(model) if node.op_type in QUANTIZERS]
    return sorted(f"{n.op_type} {n.input[1:]} {n.attribute}".encode() for n in found)


def whole_range(model: onnx.ModelProto, *seeds: int) -> list[dict[str, np.ndarray]]:
    """Draw inputs of a model of which all sizes are numbers; integers are of the whole type."""
    found = []
    for seed, feed in zip(seeds, feeds(model, *seeds), strict=True):
        rng = np.random.default_rng(seed)
        for name, array in feed.items():
            if array.dtype.kind in "iu" and array.dtype.itemsize < 8:
                bounds = np.iinfo(array.dtype)
                drawn = rng.integers(bounds.min, bounds.max, array.shape, np.int64, endpoint=True)
                feed[name] = drawn.astype(array.dtype)
        found.append(feed)
    return found
