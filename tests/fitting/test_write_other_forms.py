"""Nodes of a model that a target does not take are written in another form, and nothing else is."""

from functools import partial

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.engine.budget import of_command
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.passes.step import Kind, Pass
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.fitting.write_other_forms import write_other_forms
from onnx_scatterx.passes import WriteOtherForms
from onnx_scatterx.pipeline import order as pipeline
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

WHOLE = """g (float[6, 8] x, float[6, 4] u, bool[6, 4] m, bool c) => (float[6, 4] y, bool[6, 4] n,
    float[6, 4] s, float[6, 4] t) <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2},
        int64[1] six = {6}, int64[1] eight = {8}, int64[6, 1] i = {5, 4, 3, 2, 1, 0},
        int64[4] pads = {1, 0, 1, 0}, float none = {0}> {
    s = Slice (x, one, eight, one, two)
    p = Pad (s, pads, none)
    e = Slice (p, one, six, zero)
    k = Gather (s, six_rows)
    w = Where (m, s, none)
    y = ScatterND (w, i, u)
    n = Not (m)
    t = If (c) <
        then_branch = yes () => (float[6, 4] a) { a = Slice (x, zero, eight, one, two) },
        else_branch = no () => (float[6, 4] b) { b = Where (n, u, s) }> }""".replace(
    "    k = Gather (s, six_rows)\n", ""
)
FEED = {
    "x": sample("float32", 6, 8),
    "u": sample("float32", 6, 4, seed=1),
    "m": sample("bool", 6, 4),
    "c": np.array(True),
}


@pytest.mark.parametrize("more", ["m = Identity (x)", "m = Abs (x)"])
@pytest.mark.parametrize("size", [1, 6])
def test_indices_that_were_written_in_range_are_not_counted_from_the_start(
    size: int, more: str
) -> None:
    """What is proven of them is kept for those who read the graph later."""
    model = parse(f"""g (float[{size}] x, int64[5, 1] i, float[5] u) => (float[{size}] y)
        {{ {more}  y = ScatterND <reduction = "max"> (m, i, u) }}""")
    result = onnx_scatterx.optimize(model, target="qnn")
    made = [node.op_type for node in result.model.graph.node]
    assert (made.count("GatherElements"), made.count("Max"), made.count("Not")) == (1, 0, 0)
    assert result.report.violations == ()
    rng, feeds = np.random.default_rng(0), []
    for _ in range(20):
        x, u = (rng.choice(np.array([np.nan, -np.inf, -1, 2, 3], "f"), n) for n in (size, 5))
        feeds.append({"x": x, "u": u, "i": rng.integers(-size, size, (5, 1))})
    assert_same(model, result.model, feeds)


def test_forms_that_were_written_before_a_limit_are_reported() -> None:
    """The passes behind look for the nodes again: those that were replaced are in no graph."""
    settings, found = Settings.of(target="standard, avoid = ['Not', 'Pad', 'Slice']"), set[int]()
    for steps in range(0, 400, 10):
        job = Job(ir.from_proto(parse(WHOLE)), settings)
        with of_command(partial(float, steps)):
            before = [*job.held.nodes]
            modified = write_other_forms(job)
        gone = sum(node.graph is None for node in before)
        assert modified == bool(gone)
        found.add(gone)
    assert found >= {0, 1, 5}


@examples(40)
@given(
    st.sets(st.sampled_from(["Not", "Pad", "Gather", "Expand", "Identity", "Squeeze", "Equal"])),
    st.booleans(),
    st.booleans(),
)
def test_the_same_for_any_target(avoid: set[str], steps: bool, broadcast: bool) -> None:
    """What has a form is taken then; an output keeps its name, and so does what a branch reads."""
    listed = ", ".join(f"'{op}'" for op in sorted(avoid))
    keys = [f"avoid = [{listed}]"] if avoid else []
    keys += [] if steps else ["limits.Slice.steps = false"]
    keys += [] if broadcast else ["limits.Where.broadcast = false"]
    target = target_of(", ".join(["standard", *keys]))
    model = parse(WHOLE)
    result = onnx_scatterx.optimize(model, target=target)
    for c in (True, False):
        assert_same(model, result.model, [{**FEED, "c": np.array(c)}])
    left = {v.op for v in result.report.violations}
    assert left <= avoid & {"Identity", "Not"}
    if "Not" in left:
        assert "Equal" in avoid


@pytest.mark.parametrize("op", ["Not", "Slice"])
def test_nothing_changes_if_the_target_takes_it(op: str) -> None:
    model = parse(WHOLE)
    target = target_of("standard, max_rank = 4")
    result = onnx_scatterx.optimize(model, target=target)
    counts = [sum(n.op_type == op for n in nodes(m)) for m in (model, result.model)]
    assert counts[0] == counts[1] or op == "Slice"


NO_NOT = "standard, avoid = ['Not']"


@pytest.mark.parametrize(
    ("target", "written"), [("standard", "Not"), ("qnn", "Not"), (NO_NOT, "Equal")]
)
def test_a_model_without_scatters_is_fitted_to_a_device(target: str, written: str) -> None:
    """If the target takes it, not a byte changes."""
    model = parse("g (bool[3] m) => (bool[3] y) { y = Not (m) }")
    result = onnx_scatterx.optimize(model, target=target)
    assert isinstance(result.model, onnx.ModelProto)
    assert [n.op_type for n in result.model.graph.node] == [written]
    assert (result.model == model) == (written == "Not")
    assert not result.report.violations


def test_strings_are_not_written_out() -> None:
    model = parse("""g (string[3] x, string[2] u) => (string[3] y, string[2, 2] z)
        <string v = {"a"}, int64[2] s = {2, 2}, int64[2, 1] i = {0, 2}> {
            y = ScatterND (x, i, u)
            z = Expand (v, s) }""")
    result = onnx_scatterx.optimize(model, target="standard, avoid = ['Expand', 'Tile']")
    feed = {"x": np.array(["b", "", "c"], object), "u": np.array(["d", "e"], object)}
    assert_same(model, result.model, [feed])
    assert "Expand" in {node.op_type for node in nodes(result.model)}


def test_a_constant_is_written_again_if_its_readers_were_removed() -> None:
    """Equal reads the first constant, and becomes a constant itself. Then Mul needs the first."""
    text = """g (float[2, 3] x, float[1, 3] u, int64 k) => (float[2, 3] w, bool y, int64 z)
        <int64[1, 1] i = {0}, int64 zero = {0}, int64 two = {2}> {
        w = ScatterND (x, i, u)  s = Shape (x)
        a = Gather (s, zero)  y = Equal (a, two)
        b = Gather (s, zero)  z = Mul (b, k) }"""
    model = parse(text)
    target = target_of("standard, avoid = ['Gather', 'Equal']")
    result = onnx_scatterx.optimize(model, target=target)
    assert "Gather" not in nodes(result.model)
    feed = {"x": FEED["x"][:2, :3], "u": FEED["u"][:1, :3], "k": np.array(7)}
    assert_same(model, result.model, [feed])


IN_BODIES = """g (float[2, 3] x, float[1, 3] u, int64 k, bool c)
    => (float[2, 3] w, int64 o, int64 q, int64 z)
    <int64[1, 1] i = {0}, int64 zero = {0}, int64 two = {2}> {
    w = ScatterND (x, i, u)  s = Shape (x)  o = Gather (s, zero)
    q = If (c) < then_branch = yes () => (int64 y) {
        a = Gather (s, zero)  e = Equal (a, two)  n = Not (e)  b = Gather (s, zero)
        y = Mul (b, k) }, else_branch = no () => (int64 f) { f = Gather (s, zero) } >
    z = f.fn (x, k) }
<domain: "f", opset_import: ["" : 18]> fn (p, r) => (d) {
    at = Constant <value_int = 0> ()  rows = Constant <value_int = 2> ()  h = Shape (p)
    a = Gather (h, at)  e = Equal (a, rows)  b = Gather (h, at)  d = Mul (b, r) }"""


@pytest.mark.parametrize("avoid", ["'Gather', 'Equal'", "'Gather', 'Equal', 'Shape', 'Not'"])
def test_constants_of_branches_and_functions(avoid: str) -> None:
    """A function has Constant nodes in their place; one constant is an output of the graph."""
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18, "f" : 1]> {IN_BODIES}'
    )
    result = onnx_scatterx.optimize(model, target=f"standard, avoid = [{avoid}]")
    assert "Gather" not in nodes(result.model)
    feed = {"x": FEED["x"][:2, :3], "u": FEED["u"][:1, :3], "k": np.array(-(2**63))}
    assert_same(model, result.model, [feed | {"c": np.array(c)} for c in (True, False)])


def test_a_result_that_no_runtime_loads_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as by a pass of the future that removes too much: nothing is returned or written."""
    model = parse(WHOLE)

    def removed(job: Job) -> bool:
        job.model.graph.initializers.pop("two")
        return True

    step = Pass(removed, Kind.GUARD)
    monkeypatch.setattr(pipeline, "CHECKING", (step,))
    with pytest.raises(ScatterXError, match=r"please report it: nothing .* defines 'two'"):
        onnx_scatterx.optimize(model, target="standard")


def test_a_constant_that_nothing_reads_is_removed() -> None:
    """Its node got another form. ONNX Runtime would warn of it. One of the original stays."""
    text = """g (float[5, 2] x, float[5, 2] u) => (float[5, 2] y)
        <int64[5, 1] i = {4, 3, 2, 1, 0}, float[1] unread = {7}> { y = ScatterND (x, i, u) }"""
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="standard, limits.Slice.steps = false")
    assert result.report.removed == 1
    read = {name for node in result.model.graph.node for name in node.input}
    assert {t.name for t in result.model.graph.initializer} - read == {"unread"}
    assert_same(model, result.model, [{"x": FEED["u"][:5, :2], "u": FEED["u"][:5, 2:]}])


def test_a_node_that_cannot_run_is_kept_and_the_next_one_is_written() -> None:
    """It has more starts than ends, in a branch that is not taken."""
    model = parse("""g (float[6, 8] x, bool c) => (float[a, b] y, float[d, e] z) {
        s = Shape (x)
        y = If (c) <
            then_branch = t () => (float[f, h] o) {
                p = Slice (x, Sub (s, s), [3], [0], [2])
                r = Slice (x, [0], [6], [0], [2])
                o = Add (p, r) },
            else_branch = e () => (float[f, h] q) { q = Slice (x, [0], [6], [0], [3]) }>
        z = Slice (x, [0], [6], [0], [2]) }""")
    made = ir.from_proto(model)
    assert WriteOtherForms(target="standard, limits.Slice.steps = false")(made).modified
    result = ir.to_proto(made)
    assert [n.output[0] for n in nodes(result) if n.op_type == "Slice" and n.input[4:]] == ["p"]
    assert_same(model, result, [{"x": FEED["x"], "c": np.array(False)}])


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("t = Squeeze (x, [0])  y = QuantizeLinear (t, float 1e-45, uint8 3)", "uint8[A] y"),
        ("t = Squeeze (x, [0])  v = Reshape (t, [2, 2])  y = QuantizeLinear (v, float 1, uint8 3)",
         "uint8[A, B] y, float[C] t"),
    ],
)  # fmt: skip
def test_what_onnx_runtime_would_move_quantizers_past(text: str, outputs: str) -> None:
    """A scale that is not exact, and an output that would become integers."""
    model = parse(f"g (float[1, 4] x) => ({outputs}) {{ {text} }}")
    for runs, op in (("true", "Squeeze"), ("false", "Reshape")):
        target = target_of(f"standard, onnxruntime = {runs}, avoid = ['Squeeze']")
        result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
        (reader,) = (n for n in nodes(result.model) if n.input[0] == "x")
        assert reader.op_type == op


def test_a_form_that_only_the_host_runs() -> None:
    """A Clip of int32 is refused; Max and Min run on the CPU of the chip."""
    model = parse("""g (int64[4] x) => (float[4] y) <int32 low = {-2}, int32 high = {3}> {
        i = Cast <to = 6> (x)  c = Clip (i, low, high)  y = Cast <to = 1> (c) }""")
    result = onnx_scatterx.optimize(model, target="rknn")
    assert all(v.is_taken for v in result.report.violations)
    assert [n.op_type for n in result.model.graph.node] == ["Cast", "Max", "Min", "Cast"]
    assert_same(model, result.model, [{"x": np.array([-9, -2, 3, 2**40], np.int64)}])
