"""A Where reads the condition from which its own is computed, if both have one shape."""

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse


def model_text(nodes: str, mask: str, dtype: str, shape: str) -> str:
    return f"""g ({dtype}[{shape}] x, bool{mask} m, {dtype} u) => ({dtype}[{shape}] y)
        <bool no = {{0}}, bool[1] one_no = {{0}}, bool[1, 1, 1] deep_no = {{0}},
         bool[1] one_yes = {{1}}, bool[3] three = {{0, 1, 0}}, int64[1] one = {{1}},
         int64[1] zero = {{0}}> {{
            {nodes}  i = NonZero (n)  at = Transpose (i)  s = Shape (at)
            k = Slice (s, zero, one)  v = Expand (u, k)  y = ScatterND (x, at, v) }}"""


@pytest.mark.parametrize("dtype", ["int64", "float"])
@pytest.mark.parametrize(
    ("nodes", "reads", "swaps"),
    [
        ("n = Not (m)", "m", True),
        ("n = Equal (m, no)", "m", True),
        ("n = Equal (no, m)", "m", True),
        ("n = Equal (m, one_no)", "m", True),
        ("n = Equal (one_yes, m)", "m", False),
        ("o = Not (m)  n = Equal (o, no)", "m", False),
        ("o = Not (m)  n = Equal (o, one_yes)", "m", True),
        ("n = Equal (m, three)", "n", False),  # of three elements
        ("o = Cast <to = 6> (m)  z = Cast <to = 6> (no)  n = Equal (o, z)", "n", False),
    ],
)
def test_what_a_where_reads(nodes: str, reads: str, swaps: bool, dtype: str) -> None:
    """Of floats, ONNX Runtime's Where loses the sign of a zero of its first value only."""
    model = parse(model_text(nodes, "[A, 3]", dtype, "A, 3"))
    made = onnx_scatterx.optimize(model, target="standard").model
    where = made.graph.node[-1]
    assert where.op_type == "Where"
    if swaps and dtype == "float":
        assert where.input[0] in ("n", "o")
    else:
        assert [*where.input] == [reads, *(["x", "u"] if swaps else ["u", "x"])]
    rng, kind = np.random.default_rng(0), np.float32 if dtype == "float" else np.int64
    feeds = [
        {
            "x": rng.choice([0.0, -0.0, -3.0], (size, 3)).astype(kind),
            "m": rng.random((size, 3)) < 0.5,
            "u": np.array(-0.0, kind),
        }
        for size in (0, 1, 4)
    ]
    assert_same(model, made, feeds)


@pytest.mark.parametrize(
    ("nodes", "mask", "shape"),
    [
        ("n = Equal (m, one_no)", "", "3"),  # it has no dims, and n has one
        ("n = Equal (m, deep_no)", "[4, 3]", "1, 4, 3"),
        ("n = Equal (m, one_no)", "[]", "4, 3"),  # of any rank
    ],
)
def test_a_condition_of_another_shape_stays(nodes: str, mask: str, shape: str) -> None:
    model = parse(model_text(nodes, mask, "int64", shape))
    made = onnx_scatterx.optimize(model, target="standard").model
    assert "Equal" in [node.op_type for node in made.graph.node]
