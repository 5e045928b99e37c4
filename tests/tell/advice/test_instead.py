"""What to write in the module: the recipe for the write that a scatter is, and none for others."""

import onnx.parser
import onnx_ir as ir
import pytest

from onnx_scatterx import advise
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.tell.advice.instead import recipe_for
from onnx_scatterx.tell.reporting import optimize_ir
from onnx_scatterx.text.reasons import Reason
from onnx_scatterx.text.recipes import RECIPES
from tests.tell.advice.advised import HEAD

MASKED = """{ p = NonZero (m)  i = Transpose (p)
    two = Constant <value_ints = [2]> ()  count = Shape <start = 1> (p)
    wide = Concat <axis = 0> (count, two)  u = Expand (v, wide)  y = ScatterND (x, i, u) }"""
AT = """{ last = Constant <value_ints = [-1]> ()
    i = Unsqueeze (at, last)  y = ScatterND (x, i, v) }"""


@pytest.mark.parametrize(
    ("inputs", "body", "write"),
    [
        ("bool[8] m, float[n, 2] v", MASKED, "rows"),
        ("bool[8] m, float[1, 2] v", MASKED, "mask"),
        ("bool[8] m, float v", MASKED, "mask"),
        ("int64[1] at, float[1, 2] v", AT, "step"),
        ("int64[3] at, float[3, 2] v", AT, None),
    ],
)
def test_recipe_is_that_of_the_write(inputs: str, body: str, write: str | None) -> None:
    text = f"{HEAD} g (float[8, 2] x, {inputs}) => (float[8, 2] y) {body}"
    model = ir.from_proto(onnx.parser.parse_model(text))
    _, (record,) = optimize_ir(model, Settings.of(target="standard", rules=()))
    assert recipe_for(record, Reason.NOT_IN_TARGET) == (RECIPES[write] if write else None)


def test_recipe_is_printed() -> None:
    text = f"{HEAD} g (float[8, 2] x, bool[8] m, float[n, 2] v) => (float[8, 2] y) {MASKED}"
    target = f"standard, operators = {['NonZero', 'Transpose', 'Expand', 'Concat', 'Unsqueeze']}"
    found = advise(onnx.parser.parse_model(text), target=target)
    assert [each.instead for each in found if each.nodes == ("y",)] == [str(RECIPES["rows"])]
