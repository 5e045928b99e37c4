"""Nodes that move elements go above quantizers that ONNX Runtime does not load before them."""

import onnx_ir as ir

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.fitting.move_above_quantizers import move_above_quantizers
from tests.helpers.pair import SESSIONS, agree
from tests.helpers.quantized import whole_range
from tests.helpers.support import parse

TWO = """g (int8[2, 3] x, int8[2, 3] z) => (float[3, 2] p, float[3, 2] q, float[2, 3] r) {
    a = DequantizeLinear (x, float 0.5, int8 3)
    t = Transpose (a)
    p = Neg (t)
    q = Abs (t)
    b = DequantizeLinear (z, float 0.5, int8 3)
    s = Slice (b, [0], [2], [0])
    r = Neg (s) }"""


def test_a_node_with_two_readers_stays_and_the_next_one_moves() -> None:
    original = parse(TWO, 21, 10)
    model = ir.from_proto(original)
    assert move_above_quantizers(Job(model))
    assert [node.op_type for node in model.graph if node.op_type not in ("Abs", "Neg")] == [
        *("DequantizeLinear", "Transpose", "Slice", "DequantizeLinear")
    ]
    made, (plain, _) = ir.to_proto(model), SESSIONS
    for feed in whole_range(original, 0, 1):
        expected = plain(original).run(None, feed)
        assert all(agree(expected, load(made).run(None, feed)) for load in SESSIONS)
