"""The script that lists what models compute at the positions of their masks."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.helpers.scripts import script
from tests.helpers.support import parse

ROWS = """g (float[5, 3] x, bool[5] m) => (float[?, ?] y) <float[3, 3] w, int64[3] c = {0, 2, 0}> {
    at = NonZero (m) i = Transpose <perm = [1, 0]> (at)
    BODY }"""
FUNCTIONS = {
    "f has listed operators alone": "r = GatherND (x, i) e = Exp (r) y = ScatterND (x, i, e)",
    "f has Log": "r = GatherND (x, i) e = Log (r) f = Mul (e, r) y = ScatterND (x, i, f)",
    "f has MatMul": """r = GatherND (x, i) e = MatMul (r, r) z = ScatterND (x, i, e)
        y = Softmax (z)""",
    "nothing is read there": "y = Cast <to = 1> (i)",
    "no mask: the positions are constants": "k = NonZero (c) y = Cast <to = 1> (k)",
}


@pytest.mark.parametrize("told", FUNCTIONS)
def test_what_is_computed(told: str) -> None:
    model = ir.from_proto(parse(ROWS.replace("BODY", FUNCTIONS[told])))
    node = [n for n in model.graph if n.op_type == "NonZero"][-1]
    scope = interpret(model).scopes[model.graph]
    assert script("masked_functions").function_of(node, scope) == told
