"""The first screen says the target, whether it takes all, and what is left to do."""

from dataclasses import replace

import pytest

import onnx_scatterx
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.engine.device.violation import Violation
from onnx_scatterx.tell.entries import Action
from onnx_scatterx.tell.kept_advice import Advice, Way
from onnx_scatterx.tell.outcome import outcome
from onnx_scatterx.tell.report import Report
from onnx_scatterx.tell.to_do import Task, to_do
from tests.helpers.html import Page
from tests.helpers.many_scatters import many_scatters

NPU = Report("npu", (), 9, 5, has_profile=True)
LACKS = (Violation("a", "Erf", "main", "npu takes no Erf", lacked="Erf"),)
ADDED = Task("if npu takes Erf after all: --target 'npu, add = [\"Erf\"]'")
HOSTED = (Violation("a", "Erf", "main", "npu runs Erf on its host", on_host=True),)
WAY = Way("onnx-scatterx optimize m.onnx -o o.onnx --fix N=4", "or your own number")
FIX = Advice((), "the target npu wants all sizes as numbers", "", (WAY,), verb="fixed")
KEPT = Advice(("y",), "a size is unknown", "a size", (WAY,))
IDLE = Advice(("y",), "two updates collide", "other positions")


@pytest.mark.parametrize(
    ("report", "tasks"),
    [
        (NPU, []),
        (replace(NPU, violations=HOSTED), []),
        (
            replace(NPU, advice=(FIX, KEPT, FIX)),
            [
                Task(FIX.why, WAY.command, WAY.condition),
                Task("y is kept: a size is unknown", WAY.command, WAY.condition),
                Task("1 more below"),
            ],
        ),
        (
            replace(NPU, advice=(Advice((), "sizes are missing", "--fix N=N"),)),
            [Task("sizes are missing", condition="add --fix N=N")],
        ),
        (
            replace(NPU, violations=LACKS, advice=(IDLE,)),
            [Task("npu refuses a part of it: no option that was tried changes it"), ADDED],
        ),
        (
            replace(NPU, violations=LACKS),
            [Task("npu refuses a part of it: see what needs attention"), ADDED],
        ),
        (
            replace(NPU, violations=LACKS, to_fix="--fix N=4"),
            [Task("the target npu wants all sizes as numbers: add --fix N=4")],
        ),
    ],
)
def test_what_is_left_to_do(report: Report, tasks: list[Task]) -> None:
    assert to_do(report) == tasks
    (told,) = to_do(report, differs=True)
    assert told.why.startswith("do not use the result")


def test_a_kept_scatter_that_the_target_takes_is_nothing_to_do() -> None:
    """Of a target without a profile, it is open whether the scatter is taken."""
    report = onnx_scatterx.optimize(
        many_scatters(5), target="standard", rules=["concat", "view"]
    ).report
    assert any(entry.action is Action.KEPT for entry in report.entries)
    assert to_do(report) == [Task("2 scatters are kept: see what needs attention")]
    assert to_do(replace(report, has_profile=True)) == []


def test_the_first_screen() -> None:
    report = replace(onnx_scatterx.optimize(many_scatters(1)).report, target="npu")
    for has_profile in (True, False):
        told = replace(report, has_profile=has_profile)
        page = Page(told.to_html(Verification(3, 3)))
        page.check()
        first = page.said.split("Nodes of each operator")[0]
        assert f"Target npu Result {outcome(told)} To do nothing" in first
        assert "verdict fine" in page.text
    planned = Page(replace(told, planned=True).to_html())
    assert "To do nothing but to run optimize" in planned.said
    page = Page(replace(told, advice=(KEPT,)).to_html())
    page.check()
    first = page.said.split("Nodes of each operator")[0]
    assert f"To do y is kept: a size is unknown: {WAY.command} {WAY.condition}" in first
    assert "verdict open" in page.text
    differs = Verification(3, 3, interface=("the output y is missing",))
    assert "To do do not use the result" in Page(report.to_html(differs)).said
    assert "To do" not in Page(Report("standard", (), 3, 3).to_html()).said
