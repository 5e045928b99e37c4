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
REDUCTIONS = ("none", "add", "mul", "max", "min")


def model() -> onnx.ModelProto:
    """Return a model with a scatter of each reduction, with sizes for which a form is allowed."""
    outputs = ", ".join(f"float[8, 4] {name}" for name in REDUCTIONS)
    nodes = "\n".join(f'{n} = ScatterND <reduction = "{n}"> (x, i, u)' for n in REDUCTIONS)
    return parse(f"g (float[8, 4] x, int64[6, 1] i, float[6, 4] u) => ({outputs}) {{ {nodes} }}")


def found(target: str) -> str:
    """Return the cells of a target: how it takes a scatter of each reduction."""
    own = onnx_scatterx.inspect(model(), target=target, rules=[])
    written = onnx_scatterx.inspect(model(), target=target)
    held = {violation.node: violation for violation in own.violations}
    cells = []
    for name, entry in zip(REDUCTIONS, written.scatters, strict=True):
        by_form = ["form"] * (entry.action is Action.REMOVED)
        refused = name in held and not held[name].is_taken
        itself = [] if refused else ["on its host" if name in held else "itself"]
        cells.append(", ".join(itself + by_form) or "no")
    assert cells[-1] == cells[-2], "max and min have one column"
    return " | ".join(cells[:-1])


def test_every_target_has_a_row() -> None:
    assert [name for name in ROWS if name in profile_names()] == profile_names()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("target", profile_names())
def test_the_row_of_a_target(target: str) -> None:
    assert ROWS[target] == found(target)
