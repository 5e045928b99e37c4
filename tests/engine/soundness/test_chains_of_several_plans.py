"""Chains of writes that one plan cannot write, and plans that read nodes that may be removed."""

from collections import Counter

import numpy as np
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.plan.planner import Planner
from onnx_scatterx.engine.plan.rule import Plan, Region, RegionRule
from onnx_scatterx.rewrites import RULES
from onnx_scatterx.text.reasons import Reason, Refusal
from tests.helpers.pair import Feed
from tests.helpers.support import assert_sound, f32, i64, optimize, parse, sample

# Two boxes whose order is known only at run time: [0:A, 0:B], then [C:C+D, E:E+F].
UNORDERED = """g (float[6,6] x, float[A,B] a, float[D,F] d, float[C] c, float[E] e)
    => (float[6,6] y) <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}> {
    sa = Shape (a)
    na = Gather <axis = 0> (sa, zero)
    nb = Gather <axis = 0> (sa, one)
    ra = Range (zero, na, one)
    rb = Range (zero, nb, one)
    ua = Unsqueeze (ra, last)
    ea = Expand (ua, sa)
    eb = Expand (rb, sa)
    va = Unsqueeze (ea, last)
    vb = Unsqueeze (eb, last)
    i = Concat <axis = -1> (va, vb)
    s1 = ScatterND (x, i, a)
    nc = Size (c)
    ne = Size (e)
    sd = Shape (d)
    nd = Gather <axis = 0> (sd, zero)
    nf = Gather <axis = 0> (sd, one)
    cd = Add (nc, nd)
    ef = Add (ne, nf)
    rd = Range (nc, cd, one)
    rf = Range (ne, ef, one)
    ud = Unsqueeze (rd, last)
    ed = Expand (ud, sd)
    ef2 = Expand (rf, sd)
    vd = Unsqueeze (ed, last)
    vf = Unsqueeze (ef2, last)
    j = Concat <axis = -1> (vd, vf)
    y = ScatterND (s1, j, d) }"""


def _boxes(*sizes: int) -> Feed:
    a, b, c, d, e, f = sizes
    shapes = {"x": (6, 6), "a": (a, b), "d": (d, f), "c": (c,), "e": (e,)}
    return {k: sample("float32", *shape, seed=n) for n, (k, shape) in enumerate(shapes.items())}


def test_boxes_in_no_known_order() -> None:
    rng = np.random.default_rng(0)
    feeds = [_boxes(*rng.integers(0, 4, 6)) for _ in range(24)]
    assert_sound(UNORDERED, *feeds, _boxes(6, 6, 2, 3, 0, 6), _boxes(1, 2, 4, 2, 5, 1), left=0)


# Positions known only at run time, one after the other.
GREEDY = """g (float[4,5] x, float[4] p, float[4] q, float[5] u) => (float[4,5] y) {
    i = ArgMax <axis = 0, keepdims = 1> (p)
    j = ArgMax <axis = 0, keepdims = 1> (q)
    i2 = Unsqueeze (i, [0])
    j2 = Unsqueeze (j, [0])
    a = ScatterND (x, i2, Unsqueeze (u, [0]))
    b = ScatterND (a, j2, float [[0.0, 0.0, 0.0, 0.0, 0.0]])
    y = ScatterND (b, i2, float [[0.0, 0.0, 0.0, 0.0, 0.0]]) }"""


def _greedy_feeds() -> list[Feed]:
    eye = np.eye(4, dtype=np.float32)
    x, u = sample("float32", 4, 5), sample("float32", 5, seed=1)
    return [{"x": x, "p": eye[i], "q": eye[j], "u": u} for i in range(4) for j in (0, 1, 3)]


def test_positions_of_the_run_are_compared_one_by_one() -> None:
    assert_sound(GREEDY, *_greedy_feeds(), left=0)
    # Not cut at each position in each order that they may have.
    assert len(optimize(parse(GREEDY)).graph.node) <= 13


# The second position is known of a vector that is there for its shape's sake alone: it reads what
# the first write gives, which nothing else needs.
HIDDEN = """g (int64[6] x, float[6] p, int64[1] u) => (int64[6] y, float[6] w, int64 checked) {
    i2 = Unsqueeze (ArgMax <axis = 0, keepdims = 1> (p), [0])
    w = ScatterND (p, i2, float [-5.0])
    k = Div (ArgMax <axis = 0, keepdims = 0> (w), 2)
    checked = Gather (x, k)
    first = ScatterND (x, i2, u)
    k1 = Expand (k, Shape (Gather (first, k)))
    y = ScatterND (first, Unsqueeze (Reshape (k1, [1]), [0]), u) }"""


def test_nothing_is_kept_for_a_number_that_is_elsewhere_too() -> None:
    rng = np.random.default_rng(0)
    feeds = [
        {"x": i64(rng.integers(0, 9, 6)), "p": f32(rng.permutation(6)), "u": [99]} for _ in range(6)
    ]
    assert_sound(HIDDEN, *feeds, left=0)
    made = [n.op_type for n in optimize(parse(HIDDEN)).graph.node]
    assert made.count("Gather") == 1


@pytest.mark.parametrize("target", ["standard", "scatterx"])
def test_long_chains_in_no_known_order(target: str) -> None:
    lines = ["y = ScatterND (s5, j, d)"]
    lines += [f"s{n} = ScatterND (s{n - 1}, {'ij'[n % 2]}, {'ad'[n % 2]})" for n in range(5, 1, -1)]
    model = UNORDERED.replace("y = ScatterND (s1, j, d)", "\n".join(reversed(lines)))
    assert_sound(model, _boxes(3, 2, 1, 4, 1, 2), _boxes(2, 2, 4, 2, 3, 3), left=0, target=target)
    report = onnx_scatterx.optimize(parse(model), target=target).report
    assert report.removed == 6


class Negated(RegionRule):
    """Writes a tensor as what is the negative of another one, which nothing else reads."""

    name = "negated"

    def __init__(self, other: ir.Value) -> None:
        self.other = other

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        if (
            planner.writer.graph.insertion_point is None
            or planner.writer.graph.insertion_point.outputs[0].name != "y"
        ):
            return Refusal(Reason.NO_RULE)
        return planner.plan(
            self, lambda: planner.writer.node("Neg", [self.other], ir.DataType.FLOAT)
        )


def test_what_a_form_reads_is_written_anew_too() -> None:
    text = """g (float[N] x, float[1] u) => (float[N] y, float z) {
        first = ScatterND (x, [[1]], u)
        z = ReduceSum <keepdims = 0> (first)
        negative = Neg (first)
        place = Unsqueeze (Sub (Shape (negative), [2]), [-1])
        y = ScatterND (x, place, u) }"""
    model = ir.from_proto(parse(text))
    other = next(v for n in model.graph for v in n.outputs if v.name == "negative")
    remove = onnx_scatterx.passes.RemoveScatters(
        target="standard",
        rules=[Negated(other), *(r for r in RULES if r.name in ("view", "concat"))],
    )
    remove(model)
    made = [n.op_type for n in model.graph]
    assert made.count("Neg") == 2
    assert "ScatterND" not in made


class Noted(RegionRule):
    """Writes nothing, and notes which planner asks about which region."""

    name = "noted"

    def __init__(self) -> None:
        self.asked: list[tuple[Planner, Region]] = []

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        self.asked.append((planner, region))
        return Refusal(Reason.NO_RULE)


def test_a_part_that_several_rules_ask_for_is_planned_once() -> None:
    noted = Noted()
    model = ir.from_proto(
        parse("""g (float[2,2] u) => (float[4,4] y) {
            x = ConstantOfShape ([4, 4])
            y = ScatterND (x, [[[1, 1], [1, 2]], [[2, 1], [2, 2]]], u) }""")
    )
    rules = [noted, *(r for r in RULES if r.name in ("view", "concat", "pad", "constant"))]
    onnx_scatterx.passes.RemoveScatters(target="standard", rules=rules)(model)
    assert [node.op_type for node in model.graph] == ["Pad"]
    regions = Counter((id(planner), region) for planner, region in noted.asked)
    assert set(regions.values()) == {1}
