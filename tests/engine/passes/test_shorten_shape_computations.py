"""Shapes that updates were given from the index tensor, once the indices are gone."""

from collections import Counter

import numpy as np
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import passes
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.passes.shorten_shape_computations import ShortenShapeComputations
from tests.helpers.pair import SESSIONS, agree
from tests.helpers.support import assert_sound, i64, nodes, optimize, parse, sample

# What TorchScript writes for x[:, 1] = u.reshape(...): the shape is that of a sum of positions.
MODEL = """g (float[B,3,H,W] x, float[B,K] u{inputs}) => (float[B,3,H,W] y{outputs})
    <int64 c0 = {{0}}, int64 c1 = {{1}}, int64[1] minus = {{-1}}, int64[2] out = {{-1, 1}},
     int64[1] one = {{1}}, int64[1] v2 = {{2}}, int64[1] far = {{9223372036854775807}}> {{
    s = Shape (x)
    {rows}
    both = Add (rows, {second})
    k = Shape (both)
    i = Expand (rows, k)
    j = Expand ({second}, k)
    ii = Unsqueeze (i, minus)
    jj = Unsqueeze (j, minus)
    idx = Concat <axis = -1> (ii, jj)
    behind = Slice (s, v2, far)
    shape = Concat <axis = 0> (k, behind)
    w = Reshape (u, shape)
    y = ScatterND (x, idx, w) }}"""


ROWS = "b = Gather <axis = 0> (s, c0)  r = Range (c0, b, c1)  rows = Reshape (r, out)"


def model(inputs: str = "", outputs: str = "", rows: str = ROWS, second: str = "one") -> str:
    return MODEL.format(inputs=inputs, outputs=outputs, rows=rows, second=second)


SIZES = [(2, 4, 5), (1, 1, 1), (0, 2, 3), (3, 2, 1)]
FEEDS = [{"B": b, "H": h, "W": w, "K": h * w} for b, h, w in SIZES]


def test_the_shape_is_computed_from_sizes() -> None:
    assert_sound(model(), *FEEDS, left=0)
    found = Counter(n.op_type for n in optimize(parse(model())).graph.node)
    # Two slices and the updates side by side; B, 1, H and W for the Reshape.
    assert found == {"Slice": 2, "Reshape": 1, "Concat": 2, "Shape": 3}, found


def test_what_others_read_too_is_left() -> None:
    shared = model(outputs=", int64[B,1] both, int64[4] shape")
    assert_sound(shared, *FEEDS, left=0)
    found = Counter(n.op_type for n in optimize(parse(shared)).graph.node)
    assert found["Range"] == found["Add"] == 1
    assert found["Concat"] == 2, "the shape is not computed twice"


def test_the_shapes_of_a_scatter_that_stays_are_left() -> None:
    # Any rows: too many to be compared with.
    given = model(inputs=", int64[B,1] rows, int64[1] at", rows="", second="at")
    fed = [{**f, "rows": np.arange(f["B"])[:, None], "at": [1]} for f in FEEDS]
    assert_sound(given, *fed, left=1)
    before, after = parse(given), optimize(parse(given))
    assert len(after.graph.node) == len(before.graph.node)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_shape_with_a_zero_is_still_computed(rows: int) -> None:
    """ONNX Runtime's default options drop an Expand of one row to no rows, if that is constant."""
    model = parse(f"""g (float[4,1] x, float[1,1] u, int64[1] p) => (float[A,B] y)
        <int64[1] rows = {{{rows}}}> {{
            a = Mod (p, [1])  b = Add (a, rows)  s = Slice (x, a, b, [0])  t = Shape (s)
            v = Neg (u)  e = Expand (v, t)  y = Concat <axis = 0> (x, e) }}""")
    result = onnx_scatterx.optimize(model, passes=["ShortenShapeComputations"])
    feed = {"x": sample("float32", 4, 1), "u": sample("float32", 1, 1), "p": i64([7])}
    assert ("Shape" in {n.op_type for n in nodes(result.model)}) == (rows == 0)
    before, after = (SESSIONS[1](m).run(None, feed) for m in (model, result.model))
    assert agree(before, after)


LONG = """g (float[N, 4] x) => (float[A, B] z) <int64[1] none = {}, int64[1] last = {1}> {
    s = Shape (x) n = Gather (s, last) one = Neg (n) m = Neg (one) t = Concat <axis = 0> (m, n)
    z = ConstantOfShape (t) }"""


def test_shapes_are_shortened_alone() -> None:
    model = ir.from_proto(parse(LONG))
    alone = Settings.of(passes=["ShortenShapeComputations"])
    assert ShortenShapeComputations.run(Job(model, alone))
    assert len(model.graph) < len(ir.from_proto(parse(LONG)).graph)


def test_a_pass_runs_on_a_model_without_scatters() -> None:
    model = ir.from_proto(parse(LONG))
    assert passes.ShortenShapeComputations()(model).modified
    assert len(model.graph) < len(ir.from_proto(parse(LONG)).graph)


def test_a_shape_that_pays_only_once_another_is_written() -> None:
    given = parse("""g (float[N,M,4] u) => (int64[3] size, float[N,M,4] z, float[N,M,1,4] w)
        <int64 first = {0}, int64 second = {1}, int64[1] zero = {0}, int64[1] one = {1},
         int64[1] four = {4}> {
            size = Shape (u)  a = Gather (size, first)  b = Gather (size, second)
            n = Unsqueeze (a, zero)  m = Unsqueeze (b, zero)  all = Concat <axis = 0> (n, m, four)
            same = Identity (all)  v = Neg (u)  z = Reshape (v, same)
            more = Concat <axis = 0> (n, m, one, four)  w = Reshape (z, more) }""")
    result = onnx_scatterx.optimize(given, passes=["ShortenShapeComputations"], verify=True)
    assert "Gather" not in {n.op_type for n in nodes(result.model)}
