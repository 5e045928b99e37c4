"""What the passes of a job know of its nodes without a walk, and the passes that need not run."""

from pathlib import Path

import onnx_ir as ir
import pytest

from onnx_scatterx import optimize
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.graphs.inventory import Inventory
from onnx_scatterx.pipeline import order

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))


@pytest.mark.parametrize(
    ("looks_for", "runs"), [((), True), (("If", "Abs"), True), (("If",), False)]
)
def test_a_pass_runs_if_there_is_an_operator_that_it_looks_for(
    looks_for: tuple[str, ...], runs: bool
) -> None:
    job = Job(
        ir.from_onnx_text(
            '<ir_version: 8, opset_import: ["": 18]> g (float x) => (float y) {y = Abs (x)}'
        )
    )
    ran: list[Job] = []

    def note(job: Job) -> bool:
        ran.append(job)
        return False

    order._run([Pass(note, looks_for=looks_for)], job)
    assert bool(ran) is runs


@pytest.mark.parametrize("target", ["standard", "qnn"])
def test_what_a_job_holds_is_true_after_each_pass(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, kept = order._run, []

    def checked(steps: tuple[Pass, ...], job: Job) -> None:
        for step in steps:
            run([step], job)
            if "held" in vars(job):
                there = Inventory(job.model)
                assert list(job.held.graphs.items()) == list(there.graphs.items()), step.name
                assert job.held.operators == there.operators, step.name
                kept.append(step)

    monkeypatch.setattr(order, "_run", checked)
    for path in MODELS[::6]:
        optimize(str(path), target=target)
    assert kept
