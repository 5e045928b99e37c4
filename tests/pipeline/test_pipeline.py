"""The pipeline as data: every pass runs alone, and what is known of a model passes through all."""

import sys
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import Reason, ScatterXError, passes
from onnx_scatterx.doors.cli import main
from onnx_scatterx.engine.analysis.interpreter import Interpreter
from onnx_scatterx.engine.analysis.model_analysis import ModelAnalysis
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.lower_scatters import LowerScatters
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.passes.simplify_gathers import SimplifyGathers
from onnx_scatterx.engine.passes.step import Kind, Pass
from onnx_scatterx.pipeline.order import PIPELINE, runs
from onnx_scatterx.text.reasons import Refusal
from tests.helpers.support import parse

ROW = """g (float[N, 2] x, float[1, 2] y) => (float[N, 2] z)
    <int64[1, 1] i = {1}> { z = ScatterND (x, i, y) }"""
# Two updates go to row 1: the second is written.
TWICE = """g (float[4, 2] x, float[2, 2] y) => (float[4, 2] z)
    <int64[2, 1] i = {1, 1}> { z = ScatterND (x, i, y) }"""


def operators(model: ir.Model) -> list[str]:
    return [node.op_type for node in model.graph]


def read(text: str) -> ir.Model:
    return ir.from_proto(parse(text))


def test_the_passes_are_called_in_order() -> None:
    seen: list[tuple[str, bool]] = []

    def note(name: str, model: ir.Model) -> None:
        seen.append((name, "ScatterND" in operators(model)))

    onnx_scatterx.optimize(
        parse(ROW),
        target="standard",
        deterministic=True,
        gathers=True,
        fix={"N": 4},
        opset=18,
        on_pass=note,
    )
    # They are for ScatterX, and for targets with limits.
    others = {
        "AttachFallbacks",
        "AvoidFaults",
        "ComputeConstants",
        "LowerOperatorSet",
        "LowerRewritten",
        "ShortenAllShapes",
        "CheckTarget",
    }
    assert [name for name, _ in seen] == [p.name for p in PIPELINE if p.name not in others]
    assert [there for _, there in seen] == [True] * 9 + [False] * 9


@pytest.mark.parametrize("step", PIPELINE, ids=lambda step: step.name)
def test_every_pass_runs_alone(step: Pass) -> None:
    model = read(ROW)
    assert step.run(Job(model)) == (step.name == "LowerScatters")
    onnx.checker.check_model(ir.to_proto(model))


@pytest.mark.parametrize("step", PIPELINE, ids=lambda step: step.name)
def test_a_pass_stands_in_a_file_of_its_name(step: Pass) -> None:
    module = sys.modules[step.run.__module__]
    assert module.__name__.rpartition(".")[2] == step.run.__name__
    assert [n for n, held in vars(module).items() if isinstance(held, Pass)] == [step.name]


def test_all_passes_are_public() -> None:
    """But for those that keep the result right, which run with each of the others."""
    guards = {step.name for step in PIPELINE if step.kind is Kind.GUARD}
    named = {step.name for step in PIPELINE} - guards
    assert {*passes.__all__} == named | {"FixSizes", "RemoveScatters"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("step", PIPELINE, ids=lambda step: step.name)
def test_a_chosen_pass_runs_with_those_that_keep_the_result_right(step: Pass) -> None:
    seen: list[str] = []
    result = onnx_scatterx.optimize(
        parse(ROW),
        target="qnn, max_opset = 17",
        opset=17,
        passes=[step.name],
        gathers=True,
        deterministic=True,
        fix={"N": 4},
        on_pass=lambda name, _: seen.append(name),
    )
    others = {p.name for p in PIPELINE if p.kind is not Kind.CHOICE} - {"AttachFallbacks"}
    assert {*seen, step.name} == others | {step.name}
    assert result.report.removed == (step.name == "LowerScatters")
    assert onnx_scatterx.verify(parse(ROW), result.model, samples=2).same


def test_what_runs_if_the_model_or_its_rest_is_kept() -> None:
    """Passes that lower only report then, and those about the rest and the target do not run."""
    settings = Settings.of(target="scatterx, max_rank = 5", gathers=True, fix={"N": 4})
    every = [step.name for step in PIPELINE if runs(step, Job(read(ROW), settings))]
    is_kept = Job(read(ROW), settings, forbidden=Refusal(Reason.QUANTIZER), keeps_rest=True)
    assert [step.name for step in PIPELINE if runs(step, is_kept)] == [
        "LowerScatters",
        "SimplifyGathers",
        "DropDefaultReductions",
        "KeepApart",
        "AttachFallbacks",
    ]
    assert {"WriteSizes", "ShareMasks", "FoldSizes", "MoveAboveQuantizers", "CheckTarget"} <= {
        *every
    }


def test_passes_that_were_not_chosen_remove_nothing() -> None:
    for none in ["ShareMasks"], []:
        report = onnx_scatterx.inspect(parse(ROW), passes=none)
        assert [entry.reason for entry in report.scatters] == [Reason.NOT_CHOSEN]
    model = parse("g (float[4] x) => (float[2] y) <int64[2] i = {1, 2}> { y = Gather (x, i) }")
    report = onnx_scatterx.inspect(model, gathers=True, passes=["LowerScatters"])
    assert [entry.reason for entry in report.gathers] == [Reason.NOT_CHOSEN]


def test_a_pass_that_was_not_chosen_is_the_reason_in_every_graph() -> None:
    model = parse("""g (float[4] x, bool c) => (float[2] y) {
        a = Gather (x, [1, 2])
        b = If (c) <then_branch = t () => (float[2] p) { p = Gather (x, [0, 1]) },
                    else_branch = e () => (float[2] q) { q = Gather (x, [2, 3]) }>
        y = Add (a, b) }""")
    report = onnx_scatterx.inspect(model, gathers=True, passes=["LowerScatters"])
    assert [entry.reason for entry in report.gathers] == [Reason.NOT_CHOSEN] * 3


def test_an_unknown_pass_is_an_error() -> None:
    with pytest.raises(ScatterXError, match="no pass is called 'ShareMask'; did you mean ShareMa"):
        onnx_scatterx.inspect(parse(ROW), passes=["ShareMask"])


def test_a_model_of_which_only_a_shape_is_written_is_modified() -> None:
    """Nothing but the sizes of the result is read, so the gather goes without a plan."""
    model = read("""g (float[N,4] x) => (int64[2] s) {
        s = Neg (Shape (Gather (x, [0, 1]))) }""")
    job = Job(model, Settings.of(target="standard", gathers=True))
    assert SimplifyGathers.run(job)
    assert "Gather" not in operators(model)


def test_a_scatter_of_which_only_the_shape_is_read_is_not_written() -> None:
    model = read("""g (float[4,N] x, float[1,N] u) => (int64[2] s) {
        s = Neg (Shape (ScatterND (x, [[1]], u))) }""")
    LowerScatters.run(Job(model, Settings.of(target="standard")))
    assert [node.op_type for node in model.graph] == ["Shape", "Neg"]


def test_scatters_are_lowered_alone() -> None:
    model = read(ROW)
    LowerScatters.run(Job(model, Settings.of(target="standard")))
    assert "ScatterND" not in operators(model)


@pytest.fixture
def interpretations(monkeypatch: pytest.MonkeyPatch) -> list[Interpreter]:
    """Return the interpretations, which are noted as they run."""
    noted: list[Interpreter] = []
    run = Interpreter.run

    def counted(self: Interpreter) -> object:
        noted.append(self)
        return run(self)

    monkeypatch.setattr(Interpreter, "run", counted)
    return noted


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_model_is_interpreted_once(
    deterministic: bool, interpretations: list[Interpreter]
) -> None:
    result = onnx_scatterx.optimize(parse(TWICE), target="standard", deterministic=deterministic)
    assert result.report.removed == deterministic
    assert len(interpretations) == 1


@pytest.mark.parametrize("dim", ["4", "N"])
def test_a_device_needs_no_other(dim: str, interpretations: list[Interpreter]) -> None:
    model = parse(ROW.replace("[N", f"[{dim}"))
    result = onnx_scatterx.optimize(model, target="qnn")
    assert result.report.removed == 1
    assert len(interpretations) == 1


def test_a_constant_in_the_place_of_a_scatter_is_read(interpretations: list[Interpreter]) -> None:
    """Of the scatter only the shape was known, so the Equal was not known to be constant."""
    model = parse("""g (float[4] x) => (float[4] y) <float[4] zeros = {0, 0, 0, 0}> {
        written = ScatterND (zeros, [[1], [2]], float [1.0, 1.0])
        y = Where (Equal (written, float 1.0), x, zeros) }""")
    result = onnx_scatterx.optimize(model, target="qnn")
    assert [node.op_type for node in result.model.graph.node] == ["Where"]
    assert len(interpretations) == 2


def test_new_nodes_are_known_and_prove_nothing() -> None:
    """Of a Reshape that the original has not, nothing follows for the sizes of the original."""
    model = read("g (float[N] x, int64[1] i) => (float[N] y) { y = Neg (x) }")
    analysis = ModelAnalysis(model)
    graph = model.graph
    scope = analysis.knowledge.scopes[graph]
    (size,) = scope.values[graph.inputs[0]].shape or ()
    shape = ir.Value(name="four", const_value=ir.tensor([4]))
    graph.register_initializer(shape)
    node = ir.Node("", "Reshape", [graph.inputs[0], shape])
    graph.insert_before(graph[0], node)
    analysis.add([node])
    analysis.catch_up()
    assert [str(d) for d in scope.values[node.outputs[0]].shape or ()] == ["4"]
    assert not scope.facts.equal(size, 4)


def test_the_model_after_a_pass_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(parse(ROW), path)
    arguments = ["optimize", str(path), "-o", str(tmp_path / "o.onnx"), "--target", "standard"]
    assert main([*arguments, "--print-after", "LowerScatters", "-q"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("after LowerScatters:\n")
    assert "Concat" in err
    assert main([*arguments, "--print-after", "all", "-q"]) == 0
    assert capsys.readouterr().err.count("after ") == 13
    assert main([*arguments, "--print-after", "Nothing"]) == 2
    assert "there are all, ChangeOperatorSet" in capsys.readouterr().err
