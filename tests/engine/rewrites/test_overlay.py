"""overlay: a few boxes on an unchanged tensor are ScatterX nodes, if that takes less time."""

import random
from collections import Counter

import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.tell.entries import Action
from tests.helpers.drawing import Drawing
from tests.helpers.examples import scaled
from tests.helpers.machines import SLOW, use_machine
from tests.helpers.native_support import body, check, natives, operators
from tests.helpers.pair import assert_same
from tests.helpers.rules import Refuses, each, row, sizes
from tests.helpers.support import i64, parse, sample


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    use_machine(SLOW, monkeypatch)


BY = ["view"]
ROWS = """g ({0}[A,B] x, {0}[2,B] u) => ({0}[A,B] y) <int64[2,1] i = {{{1}}}> {{
        y = ScatterND (Identity (x), i, u) }}"""


GOLDEN = {
    "rows": row(*sizes(A=(3, 6), B=(0, 4)), by=BY, target="ort-cpu"),
    "columns between transposes": row(*sizes(A=(0, 3), B=(4, 6)), by=BY, target="ort-cpu"),
    "as many rows as a size says": row(*sizes(A=(5,), T=(0, 1, 5)), by=BY, target="ort-cpu"),
    "two boxes": row(*sizes(B=(1, 3)), by=BY, target="ort-cpu"),
}
test_golden = each(GOLDEN, "golden")


def test_an_element_type_that_scatterx_lacks(refuses: Refuses) -> None:
    text = ROWS.format("complex64", "1, 2")
    refuses(text, Reason.NO_KERNEL, beside=BY, target="ort-cpu")


def test_an_older_operator_set(refuses: Refuses) -> None:
    text = "g (float[6,2] x, float[2,2] u) => (float[6,2] y) <int64[2,2] i = {1, 1, 2, 2}> {"
    text += " y = Scatter (x, i, u) }"
    refuses(text, Reason.NO_RULE, beside=BY, target="ort-cpu", opset=10)


def test_the_whole_tensor(refuses: Refuses) -> None:
    text = ROWS.format("float", "0, 1").replace("[A,", "[2,")
    refuses(text, Reason.NO_RULE, target="ort-cpu")


def test_more_boxes_than_are_worth_it(refuses: Refuses) -> None:
    rows = ", ".join(str(n * n + n) for n in range(8))
    text = f"""g (float[A,B] x, float[8,B] u) => (float[A,B] y) <int64[8,1] i = {{{rows}}}>
        {{ y = ScatterND (x, i, u) }}"""
    refuses(text, Reason.NO_RULE, beside=BY, target="ort-cpu")


X, Y = sample("float32", 6, 4), sample("float32", 2, 4, seed=1)


def test_the_report_calls_it_a_scatter() -> None:
    result = onnx_scatterx.optimize(parse(ROWS.format("float", "1, 2")), target="ort-cpu")
    (scatter,), (node,) = result.report.scatters, natives(result.model)
    assert (scatter.action, scatter.rules) == (Action.NATIVE, ("overlay", "view"))
    assert result.report.native == 1
    assert body(result.model, node) == ["ScatterND"]


def test_there_is_no_range_in_operator_set_9() -> None:
    """Slices that the run bounds are not there either: the positions are what the model has."""
    text = "g (float[4] x, int64[1] i, float[1] u) => (float[4] y) { y = Scatter(x, i, u) }"
    original = parse(text, opset=9)
    result = onnx_scatterx.optimize(original, target="ort-cpu", assume=["i: nonnegative"])
    assert operators(result.model).count("ScatterX") == 1
    feed = {"x": X[0], "i": i64([3]), "u": Y[0, :1]}
    assert_same(original, result.model, [feed], library=True)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("opset", [9, 10, 11])
def test_the_fallback_is_of_operators_that_the_model_has(opset: int, axis: int) -> None:
    """Neither Range nor ScatterND stand in a set before 11."""
    part = ["2, 4", "6, 2"][axis]
    text = f"""g (float[6, 4] x, float[{part}] y) => (float[6, 4] z)
        <int64[{["2, 1", "1, 2"][axis]}] i = {{1, 2}}, int64[2] s = {{{part}}}> {{
            w = Neg(x)  j = Expand(i, s)
            z = {"Scatter" if opset < 11 else "ScatterElements"} <axis = {axis}> (w, j, y) }}"""
    feed = {"x": X}
    model = check(parse(text, opset), feed, target="ort-cpu")
    assert len(natives(model)) == (opset >= 11)


def test_a_gather_of_what_is_written_over() -> None:
    text = """g (float[6, 4] x, float[2, 4] y) => (float[6, 4] z) {
            w = Neg(x)  s = ScatterND(w, [[1], [2]], y)  z = Gather(s, [0, 1, 2, 3, 4, 5]) }"""
    result = onnx_scatterx.optimize(parse(text), target="ort-cpu", gathers=True)
    assert operators(result.model) == ["Neg", "ScatterX"]
    assert_same(parse(text), result.model, [{"x": X, "y": Y}], library=True)
    assert [e.done for e in result.report.entries] == ["becomes ScatterX", "removed without a node"]


def test_a_gather_that_makes_the_last_update_win() -> None:
    text = """g (float[6, 4] x, float[3, 4] y) => (float[6, 4] z)
        { w = Neg(x)  z = ScatterND(w, [[2], [1], [2]], y) }"""
    y = sample("float32", 3, 4, seed=1)
    result = onnx_scatterx.optimize(parse(text), target="ort-cpu", gathers=True, deterministic=True)
    assert_same(parse(text), result.model, [{"x": X, "y": y}], library=True)
    assert [(e.op, e.action) for e in result.report.entries] == [
        ("ScatterND", Action.NATIVE),
        ("Gather", Action.REMOVED),
    ]


def test_strings_are_weighed() -> None:
    x, u = sample("string", 6, 4), sample("string", 2, 4, seed=1)
    check(ROWS.format("string", "1, 2"), {"x": x, "u": u}, target="ort-cpu")


def test_in_functions() -> None:
    text = """g (float[6, 4] x, float[2, 4] y) => (float[6, 4] z) { z = local.f(x, y) }
        <domain: "local", opset_import: ["" : 18]> f (x, y) => (z) {
            i = Constant <value = int64[2, 1] {1, 2}> ()  z = ScatterND(x, i, y) }"""
    assert natives(check(parse(text), {"x": X, "y": Y}, target="ort-cpu"))


RECIPE = {
    "writes": {"columns": 1},
    "indices": {"listed": 1},
    "cuts": {"within": 1},
    "updates": {"other": 1},
    "sources": {"fed": 1},
    "reductions": {"none": 2, "add": 1},
}


@pytest.mark.slow
def test_random_chains() -> None:
    """Writes of slices on any axis, plain or adding, strided or not, one on the other."""
    rng = random.Random(1)
    written: Counter[str] = Counter()
    for _ in range(scaled(100)):
        d = chain(rng)
        written.update(operators(check(d.model(), d.feed(), target="ort-cpu")))
    assert written["ScatterX"] > scaled(66)
    assert written["Transpose"] < written["ScatterX"]


def chain(rng: random.Random) -> Drawing:
    sizes = {f"N{axis}": rng.randint(1, 5) for axis in range(rng.randint(1, 3))}
    d = Drawing(rng, 18, RECIPE, sizes)
    x = d.of("Neg", d.tensor("float32", tuple(rng.choice((n, sizes[n])) for n in sizes)))
    for _ in range(rng.randint(1, 3)):
        x = d.draw("writes", x)
    d.show(d.of("Abs", x))
    return d
