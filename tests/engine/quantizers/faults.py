"""The faults of ONNX Runtime's optimizer beside quantizers, each with the smallest models."""

from typing import NamedTuple

from onnx_scatterx.text.reasons import FloatReason


class Pattern(NamedTuple):
    """A fault of ONNX Runtime: the smallest model that shows it, and its effect."""

    model: str  # in ONNX's text form; its default outputs differ from those without optimizations
    loads: bool = True  # under default options


_MOVED_DOWN = """<ir_version: 10, opset_import: ["" : {0}]>
    g ({1}[4] x) => (float[2] y) <float s = {{0.5}}, {2}int64[1] b = {{0}}, int64[1] e = {{2}}> {{
        a = DequantizeLinear ({3})
        c = Slice (a, b, e)
        y = Neg (c) }}"""
_BETWEEN = """<ir_version: 8, opset_import: ["" : 13]>
    g (uint8[4, 64] u, uint8[4, 64] v, bool[4, 64] m) => (uint8[4, 64] y)
    <float{0} r = {{{2}}}, float{0} s = {{{3}}}, float{0} t = {{{4}}}> {{
        a = DequantizeLinear {1} (u, r)
        b = DequantizeLinear {1} (v, s)
        c = {5}
        y = QuantizeLinear {1} (c, t) }}"""
_SCALES = "0.5, 0.25, 0.75, 1", "1, 1, 0.25, 0.5", "0.25, 1, 0.5, 0.75"
PATTERNS: dict[FloatReason, tuple[Pattern, ...]] = {
    FloatReason.RETYPED: (
        Pattern(_MOVED_DOWN.format(13, "int8", "", "x, s")),
        Pattern(_MOVED_DOWN.format(19, "int32", "", "x, s")),
    ),
    FloatReason.REJECTED: (
        Pattern(_MOVED_DOWN.format(21, "int8", "int8 z = {3}, ", "x, s, z"), loads=False),
        Pattern(_MOVED_DOWN.format(25, "int2", "int2 z = {1}, ", "x, s, z"), loads=False),
        Pattern(_MOVED_DOWN.format(21, "int32", "", "x, s"), loads=False),
        Pattern(_MOVED_DOWN.format(13, "int32", "int32 z = {0}, ", "x, s, z"), loads=False),
    ),
    FloatReason.INTEGER_KERNEL: (
        Pattern(_BETWEEN.format("", "", "0.05", "0.05", "0.1", "Add (a, b)")),
        Pattern(_BETWEEN.format("", "", "0.05", "0.3", "0.9", "Mul (a, b)")),
    ),
    FloatReason.ONE_SCALE: (
        Pattern(_BETWEEN.format("[4]", "<axis = 0>", *_SCALES, "Where (m, a, b)"), loads=False),
    ),
    FloatReason.INEXACT: (
        Pattern("""<ir_version: 8, opset_import: ["" : 13]>
            g (uint8[4] x) => (uint8[2] y)
            <float s = {0}, uint8 z = {3}, int64[1] b = {0}, int64[1] e = {2}> {
                a = DequantizeLinear (x, s, z)
                c = Slice (a, b, e)
                y = QuantizeLinear (c, s, z) }"""),
    ),
    FloatReason.MOVED: (
        Pattern("""<ir_version: 8, opset_import: ["" : 13]>
            g (float[2, 3] x) => (float[2, 3] y, float[3, 2] w) <float s = {0.5}, uint8 z = {3}> {
                y = Neg (x)
                t = Transpose (y)
                q = QuantizeLinear (t, s, z)
                w = DequantizeLinear (q, s, z) }"""),
    ),
}
"""The faults, by the reason that a report gives."""
