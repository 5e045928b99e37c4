"""Constants: the number that fills a tensor is seen through nodes that keep all elements."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.mosaic.constants import Constants
from tests.helpers.support import parse


@pytest.mark.parametrize(
    ("node", "is_known"),
    [
        ("Transpose (a)", True),
        ("Flatten (a)", True),
        ("Slice (a, i, j)", False),
        ("Gather (a, i)", False),
        ("Tile (a, p)", True),
        ("Split <axis = 1, num_outputs = 2> (a)", False),
        ("Concat <axis = 0> (a, x)", False),
        ("Pad (a, q)", False),
        ("Trilu (a)", False),
        ("Where (c, a, x)", False),
        ("Neg (a)", False),
    ],
)
def test_what_keeps_all_elements_keeps_the_number(node: str, is_known: bool) -> None:
    outputs = "y, z" if node.startswith("Split") else "y"
    model = ir.from_proto(
        parse(f"""g (float[2, 4] x, int64[2] s, int64[1] i, int64[1] j, bool[2, 4] c) => (float y)
            <float n = {{2}}, int64[2] p = {{1, 2}}, int64[4] q = {{0, 0, 1, 1}}> {{
                a = Expand (n, s)
                {outputs} = {node} }}""")
    )
    scope = interpret(model).scopes[model.graph]
    number = Constants(scope).splat(model.graph[-1].outputs[0])
    assert (number is not None and number == 2) == is_known
