"""A scatter at positions of the run: the table of the page says which target takes it, and how."""

import re
from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx import Action
from onnx_scatterx.targets.catalogue import profile_names
from tests.helpers.support import parse

PAGE = Path(__file__).parents[2] / "docs" / "data_dependent.md"
ROWS = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M))
REDUCTIONS = ("none", "add", "mul", "max")  # max and min have one column
FORMS = ("dense_write", "dense_reduce", "sorted_write")


def model(*reductions: str) -> onnx.ModelProto:
    """Return a model with a scatter of each reduction, with sizes for which a form is allowed."""
    outputs = ", ".join(f"float[8, 4] {name}" for name in reductions)
    nodes = "\n".join(f'{n} = ScatterND <reduction = "{n}"> (x, i, u)' for n in reductions)
    return parse(f"g (float[8, 4] x, int64[6, 1] i, float[6, 4] u) => ({outputs}) {{ {nodes} }}")


def itself(target: str) -> list[str]:
    """Return how a target takes a scatter of each reduction, if no rule removes it."""
    report = onnx_scatterx.inspect(model(*REDUCTIONS, "min"), target=target, rules=[])
    held = {violation.node: violation for violation in report.violations}
    assert ("max" in held) == ("min" in held)
    return [
        "itself" if name not in held else "on its host" if held[name].is_taken else ""
        for name in REDUCTIONS
    ]


def by_form(target: str) -> list[str]:
    """Return for which reductions a form of operators that a target takes does the work."""
    report = onnx_scatterx.inspect(model(*REDUCTIONS), target=target, rules=FORMS)
    return ["form" if entry.action is Action.REMOVED else "" for entry in report.scatters]


def told(target: str, words: tuple[str, ...]) -> list[str]:
    """Return which of these words stands in each cell of a target."""
    cells = [cell.split(", ") for cell in ROWS[target].split(" | ")]
    return [next((word for word in words if word in cell), "") for cell in cells]


def test_which_targets_take_it_themselves() -> None:
    """Each target has a row."""
    assert [name for name in ROWS if name in profile_names()] == profile_names()
    for target in profile_names():
        assert told(target, ("itself", "on its host")) == itself(target), target


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", {row: name for name, row in ROWS.items()}.values())
def test_which_targets_take_a_form(target: str) -> None:
    """One target of each kind of row."""
    assert told(target, ("form",)) == by_form(target)
