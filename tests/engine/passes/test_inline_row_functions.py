"""Functions that compute with chosen rows are inlined, if the choice then goes."""

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import Pair
from tests.helpers.support import parse, sample

TARGET = "standard, avoid = ['NonZero']"
MODEL = """g (float[N, 4] x, bool[N] m) => (float[N, 4] y) {
        n = NonZero (m)  i = Transpose (n)  r = GatherND (x, i)
        BODY
        y = ScatterND <reduction = "add"> (x, i, u) }
    <domain: "local", opset_import: ["" : 18]> gate (a) => (b) { s = Relu (a)  b = Mul (a, s) }
    <domain: "local", opset_import: ["" : 18, "local" : 1]>
    twice (a) => (b) { s = local.gate (a)  b = local.gate (s) }
    <domain: "local", opset_import: ["" : 18]>
    least (a) => (b) {
        axis = Constant <value_ints = [0]> ()
        s = ReduceMin <keepdims = 1> (a, axis)  b = Sub (a, s) }"""
NESTED = """c = ArgMax <axis = 1, keepdims = 0> (r)  p = NonZero (c)  q = Transpose (p)
    a = GatherND (r, q)  b = local.gate (a)  t = ScatterND (r, q, b)  u = local.gate (t)"""


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("u = local.gate (r)", set()),
        ("u = local.twice (r)", set()),
        ("e = local.gate (r)  o = local.gate (x)  p = GatherND (o, i)  u = Mul (e, p)", set()),
        (NESTED, set()),
        ("u = local.least (r)", {"NonZero", "least"}),  # a function of all rows
        ("e = local.gate (r)  u = local.least (e)", {"NonZero", "least", "gate"}),
    ],
)
def test_what_is_inlined(body: str, left: set[str]) -> None:
    model = parse(MODEL.replace("BODY", body), 18, 10)
    result = onnx_scatterx.optimize(model, target=TARGET).model
    found = {n.op_type for n in result.graph.node} & {"NonZero", "least", "gate", "twice"}
    assert found == left
    pair = Pair(model, result)
    for size in (1, 5):
        x = np.arange(4 * size, dtype="f4").reshape(size, 4) % 7 - 3
        assert pair.accepts({"x": x, "m": sample("bool", size, seed=size)})
