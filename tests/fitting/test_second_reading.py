"""A model is read without trust in its dims only if something may follow from it."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.domain.call import Knowledge
from onnx_scatterx.engine.analysis.interpreter import Interpreter
from onnx_scatterx.engine.analysis.model_analysis import ModelAnalysis
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.fitting.compute_constants import compute_constants
from onnx_scatterx.fitting.fold_sizes import fold_sizes
from onnx_scatterx.fitting.write_other_forms import write_other_forms
from onnx_scatterx.graphs import overridable

PLAIN = "y = Add (x, u)"
FOLDED = """n = Shape <start = 1, end = 2> (x)  one = Constant <value_ints = [1]> ()
            s = Concat <axis = 0> (n, one)  h = Add (x, u)  f = Reshape (h, s)  y = Neg (f)"""
CHAIN = "c = Constant <value_float = 1.0> ()  d = Neg (c)  y = Add (d, u)"
REFUSED = "b = Cast <to = 9> (x)  c = Not (b)  d = Cast <to = 1> (c)  y = Add (d, u)"


def job_of(body: str) -> Job:
    model = ir.from_onnx_text(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[N, 4] x, float[N, 4] u) => (float y) {{ {body} }}""")
    return Job(model, Settings.of(target="qnn, avoid = ['Not']"))


@pytest.mark.parametrize(
    ("body", "folds", "writes", "reads"),
    [(PLAIN, False, False, False), (FOLDED, True, False, True), (REFUSED, False, True, True)],
)
def test_the_model_is_read_again_if_a_node_changes(
    body: str, folds: bool, writes: bool, reads: bool
) -> None:
    job = job_of(body)
    assert (fold_sizes(job), write_other_forms(job)) == (folds, writes)
    assert (job.analyses.at_most is None) is reads
    assert not overridable(job.model)


@pytest.mark.parametrize(("body", "reads"), [(PLAIN, False), (CHAIN, True)])
def test_a_model_without_chains_of_constants_is_not_read_for_them(body: str, reads: bool) -> None:
    job = job_of(body)
    assert not compute_constants(job)
    assert ("analyses" in vars(job)) is reads


def test_constants_that_follow_from_equal_names_alone_are_not_folded() -> None:
    job = job_of("n = Shape <end = 1> (x)  m = Shape <end = 1> (u)  e = Equal (n, m)  y = Not (e)")
    assert not fold_sizes(job)
    assert job.analyses.at_most is None, "with trust it is known"


def test_ranges_of_new_values_hold_in_another_reading_of_as_much_trust() -> None:
    job = job_of("c = Cast <to = 7> (x)  y = Identity (c)")
    value = job.model.graph[0].outputs[0]
    for analysis, most in ((job.analyses.full, 4), (job.analyses.without_trust, 5)):
        analysis.knowledge.scopes[job.model.graph].noted[value] = (0, most)
    job.analyses.read_again()
    readings = (job.analyses.without_promises, 4), (job.analyses.without_trust, 5)
    for analysis, most in readings:
        index = analysis.knowledge.values[value].index_map
        assert index is not None
        assert index.interval() == (0, most)


def test_what_is_ruled_out_is_not_tested_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ir.from_onnx_text("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[N, 1] x) => (float y, float z) <int64 at = {1}> {
            y = Squeeze (x)  z = Gather <axis = 0> (x, at) }""")
    walks: list[object] = []
    run = Interpreter.run

    def noted(self: Interpreter) -> object:
        walks.append(self.probe)
        return run(self)

    monkeypatch.setattr(Interpreter, "run", noted)
    first = ModelAnalysis(model, distrust_dims=True)
    known = first.knowledge
    tested = [probe for probe in walks if probe is not None]
    assert tested
    walks.clear()
    again = ModelAnalysis(model, distrust_dims=True, earlier=first).knowledge
    assert walks == [None]
    for node in model.graph:
        (value,) = node.outputs
        assert str(again.values[value].shape) == str(known.values[value].shape)


def test_what_more_is_known_now_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    job, read = job_of(FOLDED), list[bool]()
    (context,) = job.contexts()
    job.outcome_of(context).gives_more = True
    run = Interpreter.run

    def noted(self: Interpreter) -> Knowledge:
        read.append(self.distrust_dims)
        return run(self)

    monkeypatch.setattr(Interpreter, "run", noted)
    assert fold_sizes(job)
    assert read == [True]
