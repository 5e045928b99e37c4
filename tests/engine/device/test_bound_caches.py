"""tensorscatter for a target that writes in place: only from an input of the model to an output."""

from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

HEAD = '<ir_version: 13, opset_import: ["" : 24]>'
WRITE = "i = Reshape (at, [1, 1]) z = ScatterND (t, i, v)"
TRANSPOSED = f"""t = Transpose <perm = [2, 1, 0, 3]> (x) v = Transpose <perm = [2, 1, 0, 3]> (u)
    {WRITE} y = Transpose <perm = [2, 1, 0, 3]> (z)"""


def model(
    body: str, size: str = "8", of: str = "float", more: str = "", dims: str = "2,3,{},4"
) -> str:
    whole, row = dims.format(size), dims.format(1)
    return f"""{HEAD} g ({of}[{whole}] x, int64 at, {of}[{row}] u) => ({of}[{whole}] y{more}) {{
        {body} }}"""


CASES = {
    "a cache": (model(TRANSPOSED), True),
    "its shape is read": (model(f"{TRANSPOSED} s = Shape (x)", more=", int64[4] s"), True),
    "another reader": (model(f"{TRANSPOSED} n = Neg (x)", more=", float[2,3,8,4] n"), False),
    "no input": (model(TRANSPOSED.replace("(x)", "(n)").replace("t =", "n = Neg (x) t =")), False),
    "no output": (model(TRANSPOSED.replace("y =", "o =") + " y = Neg (o)"), False),
    "an output that is read, too": (
        model(f"{TRANSPOSED} n = Neg (y)", more=", float[2,3,8,4] n"),
        True,
    ),
    "a size that is no number": (model(TRANSPOSED, "S"), False),
    "another element type": (model(TRANSPOSED, of="double"), False),
    "another axis": (
        model(TRANSPOSED.replace("[2, 1, 0, 3]", "[1, 0, 2, 3]"), dims="2,{},3,4"),
        False,
    ),
    "in an If": (
        f"""{HEAD} g (float[2,3,8,4] x, int64 at, float[2,3,1,4] u, bool c) =>
        (float[2,3,8,4] y) {{ y = If (c) <
            then_branch = yes () => (float[2,3,8,4] a) {{ {TRANSPOSED.replace("y =", "a =")} }},
            else_branch = no () => (float[2,3,8,4] b) {{ b = Identity (x) }}> }}""",
        False,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_written_in_place(case: str) -> None:
    text, bound = CASES[case]
    proto = parse(text)
    result = onnx_scatterx.optimize(proto, target="tensorrt", assume="at: nonnegative")
    written = [n.op_type for n in nodes(result.model)]
    assert ("TensorScatter" in written) == bound, written
    assert result.report.violations == () or case == "another element type"
    pairs = result.report.to_dict()["cache_pairs"]
    assert pairs == ({"x": "y"} if bound else {}) == onnx_scatterx.cache_pairs(result.model)
    if bound:
        assert onnx_scatterx.check_bound_cache(result.model) == ()
    axis = next(
        a for a, d in enumerate(proto.graph.input[2].type.tensor_type.shape.dim) if d.dim_value == 1
    )
    sizes = [2, 3, 4]
    sizes.insert(axis, 8)
    kind = "float64" if "double" in text else "float32"
    feeds: list[dict[str, Any]] = [
        {
            "x": sample(kind, *sizes),
            "at": np.array(at),
            "u": sample(kind, *[1 if a == axis else n for a, n in enumerate(sizes)], seed=1),
            **({"c": np.array(True)} if case == "in an If" else {}),
        }
        for at in (0, 3, 7)
    ]
    assert_same(proto, result.model, feeds)


def test_a_start_that_may_be_negative_is_not_written_in_place() -> None:
    """It would go round the cache, and the layer has no such mode."""
    result = onnx_scatterx.optimize(parse(model(TRANSPOSED)), target="tensorrt")
    assert "TensorScatter" not in {n.op_type for n in nodes(result.model)}
    assert result.report.violations == ()


def test_an_inner_write_of_the_model_is_named() -> None:
    proto = parse(f"""{HEAD} g (float[2,3,8,4] x, int64[2] at, float[2,3,1,4] u)
        => (float[2,3,8,4] y, float[2,3,8,4] z) {{
            y = TensorScatter <axis = 2> (x, u, at) n = Neg (x) 
            o = TensorScatter <axis = -2> (n, u, at) z = Abs (o) }}""")
    report = onnx_scatterx.inspect(proto, target="tensorrt", passes=["CheckTarget"])
    assert [(v.node, v.why) for v in report.violations] == [
        ("o", "tensorrt takes no TensorScatter that is not from an input of the model to an output")
    ]
