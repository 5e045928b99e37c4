"""A command opens its model once, and a page gets its details when it is drawn."""

import pickle
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import Report
from onnx_scatterx.doors.cli import main
from onnx_scatterx.engine.budget.spending import budget
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.files.io import open_model
from onnx_scatterx.tell import inquiry, sections
from onnx_scatterx.tell.extraction import cutting, region
from onnx_scatterx.tell.inquiry import Inquiry
from tests.helpers.support import parse

DATE = datetime(2026, 1, 1)
ROWS = """g (float[N, 4] x, float[M, 4] u) => (float[N, 4] y) <int64 zero = {0}, int64 one = {1}> {
    d = Shape <start = 0, end = 1> (u)  m = Squeeze (d)  r = Range (zero, m, one)
    b = Constant <value_ints = [-1]> ()  i = Unsqueeze (r, b)  y = ScatterND (x, i, u) }"""
KEPT = """g (float[N, 4] x, int64[K, 1] i, float[K, 4] u) => (float[N, 4] y) {
    y = ScatterND <reduction = "mul"> (x, i, u) }"""
TAKING = {"target": "standard, remove = ['Mul', 'Where']"}


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return for how many nodes details were found, each time."""
    numbers: list[int] = []
    real = sections._found

    def noted(records: Any, wiring: Any) -> Any:
        numbers.append(len(records))
        return real(records, wiring)

    monkeypatch.setattr(sections, "_found", noted)
    return numbers


@pytest.mark.parametrize("ask", [onnx_scatterx.inspect, onnx_scatterx.optimize])
def test_details_are_found_once_when_a_page_is_drawn(
    ask: Callable[[onnx.ModelProto], Any], found: list[int]
) -> None:
    result = ask(parse(ROWS))
    report = result if isinstance(result, Report) else result.report
    told = report.headline(), report.to_json(), report.to_dict()
    assert (told, found) == ((report.headline(), report.to_json(), report.to_dict()), [])
    sent = pickle.loads(pickle.dumps(report))
    assert found == [1]
    assert sent == report
    assert report.to_html(date=DATE) == sent.to_html(date=DATE) == report.to_html(date=DATE)
    assert found == [1]


def test_the_page_is_that_of_the_result_also_if_a_user_changes_it() -> None:
    def spoil(model: ir.Model) -> None:
        model.graph.outputs.clear()
        for node in reversed(list(model.graph)):
            model.graph.remove(node, safe=True)

    message = parse(ROWS)
    unchanged = onnx_scatterx.optimize(ir.from_proto(message), target="standard")
    expected = unchanged.report.to_html(date=DATE)
    result = onnx_scatterx.optimize(ir.from_proto(message), target="standard")
    spoil(result.model)
    assert result.report.to_html(date=DATE) == expected
    model, remove = ir.from_proto(message), onnx_scatterx.RemoveScatters(target="standard")
    remove(model)
    before, cards = remove.report.to_html(date=DATE), remove.report.scatters[0].detail
    spoil(model)
    assert remove.report.to_html(date=DATE) == before
    assert unchanged.report.scatters[0].detail == cards


@pytest.mark.parametrize(
    ("words", "pages"), [(["--report", "r.html"], [1]), (["-v"], [1]), ([], []), (["--json"], [])]
)
def test_a_command_finds_details_for_a_page_and_for_all_lines(
    words: list[str],
    pages: list[int],
    found: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(parse(ROWS), "m.onnx")
    assert main(["optimize", "m.onnx", "-o", "out.onnx", "--verify", "--samples=2", *words]) == 0
    assert found == pages


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "m.onnx"],
        ["optimize", "m.onnx", "-o", "o.onnx"],
        ["optimize", "m.onnx", "-o", "o.onnx", "--report", "r.html"],
        ["optimize", "m.onnx", "-o", "o.onnx", "--json", "--advice"],
        ["explain", "m.onnx"],
        ["explain", "m.onnx", "y"],
        ["extract", "m.onnx", "y", "-o", "o.onnx"],
    ],
    ids=" ".join,
)
def test_a_model_is_opened_once(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(parse(KEPT), "m.onnx")
    opened: list[object] = []

    def noted(model: Any) -> Any:
        opened.append(model)
        return open_model(model)

    monkeypatch.setattr(inquiry, "open_model", noted)
    assert main([*words, "--target", TAKING["target"]]) == 0
    assert opened.count("m.onnx") == 1


def test_all_that_an_inquiry_gives_is_of_the_model_as_it_was_opened() -> None:
    message = parse(KEPT)
    for given in (message, ir.from_proto(message)):
        with Inquiry.about(given, Settings.of(target="standard")) as asked:
            _, first = asked.inspected
            (again,) = asked.named("y")
            assert again is first[0]
            other = asked.under(asked.settings.but(deterministic=True))
            assert len(other.inspected[1]) == 1
            assert [node.op_type for node in asked.model.graph] == ["ScatterND"]
            made = asked.optimized(keeps=True)
            assert made.report.scatters == asked.inspected[0].scatters
            assert [node.op_type for node in asked.model.graph] == ["ScatterND"]
            assert asked.model is not made.model


def test_a_part_is_cut_within_the_steps_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[float] = []

    def noted(*given: Any) -> Any:
        steps.append(budget().steps)
        return region.known_in(*given)

    monkeypatch.setattr(cutting, "known_in", noted)
    onnx_scatterx.extract(parse(KEPT), "y")
    assert 0 < steps[0] < float("inf")
