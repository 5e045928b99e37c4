"""Every reason that the tool can give for leaving a scatter, provoked by a model."""

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx import Reason, inspect, optimize
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.reasons import Refusal
from onnx_scatterx.text.recipes import RECIPES, recipe
from tests.helpers.kept_scatters import BEHIND_ROWS, EVERY_SIXTEENTH, OPSET, nd
from tests.helpers.limited import limited
from tests.helpers.support import parse

DIAGONAL = "<int64[3,2] i = {0,0, 1,1, 2,2}>"
FROM_A_START = f"""{OPSET} g (float[4,2] x, int32 q, float[N,2] u) => (float[4,2] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}> {{
        s = Shape (u)
        n = Gather <axis = 0> (s, zero)
        r = Range (zero, n, one)
        p = Cast <to = 7> (q)
        some = Add (p, r)
        i = Unsqueeze (some, last)
        y = ScatterND (x, i, u) }}"""
FAR_AWAY = f"""{OPSET} g (float[A] a, float[T,2] x, float[2,2] u) => (float[T,2] y)
    <int64[2] far = {{2147483649, 2147483649}}, int64[2] r = {{0, 1}}, int64[1] last = {{-1}}> {{
        m = Shape (a)
        p = Mul (m, far)
        some = Add (p, r)
        i = Unsqueeze (some, last)
        y = ScatterND (x, i, u) }}"""
EVERY_SEVENTEENTH = EVERY_SIXTEENTH.replace("{16}", "{17}")
ROWS = (np.random.default_rng(seed).permutation(11) for seed in range(10))
SHUFFLED = ", ".join(str(column) for row in ROWS for column in row)
OLD = """<ir_version: 8, opset_import: ["" : 9]> g (float[4,2] x, float[3,2] u) => (float[4,2] y)
    <int64[3,2] i = {2,2, 1,1, 0,0}> { y = Scatter <axis = 0> (x, i, u) }"""
FUNCTION = """<ir_version: 8, opset_import: ["" : 18, "f" : 1]>
    g (float[4,4] x, float[2,4] u, float[4,2] v) => (float[4,4] y, float[4,4] z)
    <int64[2,4] i = {0,0,0,0, 1,1,1,1}, int64[4,2] j = {0,1, 0,1, 0,1, 0,1}> {
        y = f.put <axis = 0> (x, i, u)
        z = f.put <axis = 1> (x, j, v) }
    <domain: "f", opset_import: ["" : 18]>
    put <axis> (x, i, u) => (y) { y = ScatterElements <axis: int = @axis> (x, i, u) }"""
TYPES = """<ir_version: 8, opset_import: ["" : 18, "f" : 1]>
    g (float[4] x, float[1] u, double[4] a, double[1] b) => (float[4] y, double[4] z)
    <int64[1,1] i = {1}> {
        y = f.put (x, i, u)
        z = f.put (a, i, b) }
    <domain: "f", opset_import: ["" : 18]>
    put (x, i, u) => (y) { y = ScatterND (x, i, u) }"""

PROVOKED = {
    Reason.UNKNOWN_RANK: f"{OPSET} g (float[M,2] x, float[1,2] u, int64[R] s) => (float[M,2] y) "
    "<int64[1,1] i = {0}> { d = Reshape (x, s) y = ScatterND (d, i, u) }",
    Reason.UNKNOWN_TYPE: TYPES,
    Reason.UNKNOWN_ATTRIBUTE: FUNCTION,
    Reason.INVALID: nd("4,2", "", "1,2", "<int64[1,1] i = {7}>"),
    Reason.UNKNOWN_INDICES: nd("4,2", "int64[3,1] i,", "3,2"),
    Reason.UNKNOWN_SIGN: FROM_A_START,
    Reason.UNKNOWN_BOUNDS: BEHIND_ROWS,
    Reason.IRREGULAR: f"""{OPSET} g (float[10,11] x, float[10,11] u) => (float[10,11] y)
        <int64[10,11] i = {{{SHUFFLED}}}> {{ y = ScatterElements <axis = 1> (x, i, u) }}""",
    Reason.DIAGONAL: nd("3,3", "", "3", DIAGONAL),
    Reason.COLLIDES: nd("4,1", "", "3,1", "<int64[3,1] i = {1, 1, 1}>"),
    Reason.MAY_COLLIDE: nd("N,2", "", "2,2", "<int64[2,1] i = {3, -1}>"),
    Reason.NO_CUT: EVERY_SEVENTEENTH,
    Reason.NO_KERNEL: """<ir_version: 8, opset_import: ["" : 18]>
        g (int16[4] x, int16[2] u) => (int16[4] y) <int64[2,1] i = {1, 2}>
        { y = ScatterND <reduction = "max"> (x, i, u) }""",
    Reason.OPSET: OLD,
    Reason.UNKNOWN_SIZE: FAR_AWAY,
    Reason.TOO_COSTLY: EVERY_SIXTEENTH,
    Reason.QUANTIZER: f"""{OPSET} g (uint8[4,2] x, float[1,2] u) => (float[4,2] y)
        <int64[1,1] i = {{1}}, float s = {{0.0}}, uint8 z = {{3}}> {{
            d = DequantizeLinear (x, s, z)
            y = ScatterND (d, i, u) }}""",
}


def refusals(model: str) -> list[Refusal | None]:
    """Why nothing is written for scatters, or nothing better than ScatterX."""
    proto = parse(model)
    reports = [inspect(proto, target=target) for target in ("standard", "scatterx")]
    return [s.refusal for report in reports for s in report.scatters]


@pytest.mark.parametrize("reason", PROVOKED)
def test_reason(reason: Reason) -> None:
    found = refusals(PROVOKED[reason])
    assert reason in {r.reason for r in found if r is not None}, [str(r) for r in found]


def test_no_rule() -> None:
    model = parse(nd("4,2", "", "1,2", "<int64[1,1] i = {1}>"))
    (scatter,) = optimize(model, target="standard", rules=["view"]).report.scatters
    assert scatter.reason is Reason.NO_RULE


def test_old_operator() -> None:
    # A model that is no file is taken as it is, so an operator can be older than its operator set.
    model = ir.from_proto(parse(nd("4,2", "", "1,2", "<int64[1,1] i = {1}>")))
    model.graph.opset_imports[""] = 10
    (scatter,) = optimize(model, target="standard").report.scatters
    assert scatter.reason is Reason.OLD_OPERATOR


def test_no_gain() -> None:
    model = parse("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[4,4] x) => (float[3,4] y) { y = Gather (x, [0, 3, 1]) }""")
    (gather,) = inspect(model, gathers=True).gathers
    assert gather.reason is Reason.NO_GAIN


def test_not_in_the_target() -> None:
    model = parse(nd("4,2", "", "1,2", "<int64[1,1] i = {1}>"))
    target = Target("npu", avoid=frozenset({"Concat", "Where", "Gather"}))
    (scatter,) = inspect(model, target=target).scatters
    assert scatter.reason is Reason.NOT_IN_TARGET


def test_too_many_dims_for_the_target() -> None:
    model = parse(nd("8,2", "", "4,2", "<int64[4,1] i = {0, 2, 4, 6}>"))
    target = Target("npu", max_rank=2, avoid=frozenset({"Where", "Gather"}))
    (scatter,) = inspect(model, target=target, rules=["view", "interleave"]).scatters
    assert scatter.reason is Reason.RANK


@pytest.mark.parametrize(
    ("size", "assumed", "told"),
    [
        ("300", [], "120000 elements, the target allows 1000"),
        ("N", [], "400*N + 400 elements without a known bound, the target allows 1000"),
        ("N", ["N <= 9"], "400*N + 400 elements, at most 4000, the target allows 1000"),
    ],
)
def test_too_large(size: str, assumed: list[str], told: str) -> None:
    model = parse(nd("400,2", f"int64[{size},1] i,", f"{size},2"))
    target = Target("small", dense_limit=1000, avoid=frozenset({"TopK"}))
    (scatter,) = inspect(model, target=target, assume=assumed).scatters
    assert scatter.reason is Reason.TOO_LARGE
    assert str(scatter.refusal) == f"{Reason.TOO_LARGE.value} ({told})"


def test_too_much_work() -> None:
    text = """g (float[6,2] x, bool[6] m, float[2,2] w) => (float[6,2] y) {
        n = NonZero (m) i = Transpose (n) r = GatherND (x, i)
        u = MatMul (r, w) y = ScatterND (x, i, u) }"""
    rules, target = ["mask"], Target("chooses", work_limit=0.5)
    (scatter,) = inspect(parse(text), target=target, rules=rules, last_bits=True).scatters
    assert str(scatter.refusal) == f"{Reason.TOO_MUCH_WORK.value} (1 times as many multiply-adds)"


def test_budget_of_the_model() -> None:
    with limited(model_steps=100, node_steps=0):
        (scatter,) = inspect(parse(BEHIND_ROWS)).scatters
    assert scatter.reason is Reason.MODEL_LIMIT


def test_budget_of_a_scatter() -> None:
    with limited(scatter_steps=50):
        (scatter,) = inspect(parse(BEHIND_ROWS)).scatters
    assert str(scatter.refusal) == "the limit of steps for one scatter was reached (50 steps)"


def test_budget_of_a_question() -> None:
    with limited(question_steps=5):
        (scatter,) = inspect(parse(EVERY_SEVENTEENTH)).scatters
    assert scatter.reason is Reason.QUESTION_LIMIT


def test_passes_that_were_not_chosen() -> None:
    (scatter,) = inspect(parse(BEHIND_ROWS), passes=["ShareMasks"]).scatters
    assert scatter.reason is Reason.NOT_CHOSEN


def test_every_reason_is_provoked() -> None:
    others = {
        *(Reason.NO_RULE, Reason.NOT_CHOSEN, Reason.OLD_OPERATOR, Reason.NO_GAIN),
        *(Reason.NOT_IN_TARGET, Reason.RANK, Reason.TOO_LARGE, Reason.TOO_MUCH_WORK),
        *(Reason.MODEL_LIMIT, Reason.SCATTER_LIMIT, Reason.QUESTION_LIMIT),
    }
    assert {*PROVOKED, *others} == set(Reason)


@pytest.mark.parametrize(
    ("node", "version", "why"),
    [
        ('ScatterND <reduction = "invalid"> (x, i, u)', 18, "reduction = 'invalid'"),
        ('ScatterElements <reduction = "Add"> (x, i, u)', 18, "reduction = 'Add'"),
        ('ScatterND <reduction = ""> (w, i, u)', 16, "reduction = ''"),
        ('TensorScatter <mode = "ring"> (x, u)', 24, "mode = 'ring'"),
    ],
)
def test_a_value_that_onnx_does_not_define_is_named(node: str, version: int, why: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : {version}]>
        g (float[3,1] x, float[1,1] u, int64[1,1] i, int64[R] s) => (float[M,N] y) {{
            w = Reshape (x, s)  y = {node} }}"""
    for refusal in refusals(text):
        assert refusal is not None
        assert refusal.reason is Reason.INVALID
        assert str(refusal).startswith(f"the node is invalid ({why} is not one of ")


def test_a_reason_has_something_to_write_in_the_module_or_is_named_here() -> None:
    """A new reason about positions stands in ``_OF_POSITIONS``."""
    writes = [(reduction, word) for reduction in ("none", "add") for word in ("", *RECIPES)]
    without = {r.name for r in Reason if not any(recipe(r, *write) for write in writes)}
    assert without == {
        *("COLLIDES", "INVALID", "MODEL_LIMIT", "NOT_CHOSEN", "NO_GAIN", "NO_KERNEL", "NO_RULE"),
        *("OLD_OPERATOR", "OPSET", "QUANTIZER", "QUESTION_LIMIT", "RANK", "SCATTER_LIMIT"),
        *("TOO_COSTLY", "TOO_MUCH_WORK", "UNKNOWN_ATTRIBUTE", "UNKNOWN_RANK", "UNKNOWN_SIZE"),
        "UNKNOWN_TYPE",
    }
