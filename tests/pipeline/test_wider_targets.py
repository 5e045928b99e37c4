"""A scatter that needs one operator that the target lacks, and whose indices need more of them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.targets.target import Target
from tests.helpers.pair import assert_same
from tests.helpers.support import sample

HEAD = '<ir_version: 8, opset_import: ["" : 18]>'
FILLED = """n = NonZero (m)  i = Transpose <perm = [1, 0]> (n)  s = Shape <start = 1> (n)
    u = Expand (one, s)  y = ScatterND (x, i, u)"""
MASKED = f"{HEAD} g (float[4,5] x, bool[4,5] m, float one) => (float[4,5] y) {{ {FILLED} }}"
LACKING = frozenset({"NonZero", "Expand", "Where", "Mul", "Max"})


def test_fewer_missing_operators_count_for_more_than_none_that_is_new() -> None:
    model = onnx.parser.parse_model(MASKED)
    result = onnx_scatterx.optimize(model, target=Target("npu", avoid=LACKING))
    assert [n.op_type for n in result.model.graph.node] == ["Where"]
    assert result.report.violation_lines() == [
        "1 violation of the target npu (2 if all scatters were kept):",
        "  y/Where (Where): npu takes no Where",
    ]
    assert result.report.to_dict()["violations_if_kept"] == 2
    feeds = [
        {"x": sample("float32", 4, 5), "m": mask, "one": np.array(2, np.float32)}
        for mask in (np.zeros((4, 5), bool), np.ones((4, 5), bool), np.eye(4, 5, dtype=bool))
    ]
    assert_same(model, result.model, feeds)


@pytest.mark.parametrize("lacking", [{"Where", "Mul"}, {"Where", "Expand", "Add"}])
def test_a_scatter_is_kept_if_that_takes_no_more(lacking: set[str]) -> None:
    model = onnx.parser.parse_model(MASKED)
    result = onnx_scatterx.optimize(model, target=Target("npu", avoid=frozenset(lacking)))
    assert result.report.removed == 0
    assert result.report.violations_if_kept is None


def test_what_is_misread_is_never_written() -> None:
    """A compiler would refuse the scatter, and compute something else for the Where."""
    model = onnx.parser.parse_model(MASKED)
    target = Target("npu", avoid=LACKING, misread=frozenset({"Where"}), onnxruntime=False)
    assert onnx_scatterx.optimize(model, target=target).report.removed == 0


def test_limits_of_what_is_misread_stay() -> None:
    """The Mod of MNN gives the remainder of C, and it reads indices from the end wrongly."""
    text = """g (float[2, 4, 8, 3] past, float[2, 4, 1, 3] new, int64[2] at)
        => (float[2, 4, 8, 3] y) {
        y = TensorScatter <mode = "circular", axis = 2> (past, new, at) }"""
    model = onnx.parser.parse_model('<ir_version: 11, opset_import: ["" : 24]>' + text)
    target = "mnn, remove = ['Max', 'Add']"  # by which positions are counted from the start
    assert onnx_scatterx.optimize(model, target=target).report.removed == 0
    assert onnx_scatterx.optimize(model, target="mnn").report.removed == 1


def test_a_scatter_that_the_target_takes_is_left_to_it() -> None:
    """One mask is made of the run; the other write needs GatherElements, and is taken."""
    text = f"""{HEAD} g (float[4,5] x, bool[4,5] m, float one, float[8,2] a, int64[3,1] k,
        float[3,2] b) => (float[4,5] y, float[8,2] z) {{ {FILLED}  z = ScatterND (a, k, b) }}"""
    target = Target("npu", avoid=LACKING | {"GatherElements", "GatherND", "Equal", "OneHot"})
    result = onnx_scatterx.optimize(onnx.parser.parse_model(text), target=target)
    assert [n.op_type for n in result.model.graph.node] == ["Where", "ScatterND"]


def test_subgraphs_and_functions_survive_the_second_plan() -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 18, "f" : 1]>
        g (float[4,5] x, bool[4,5] m, float one, bool c) => (float[4,5] w) {{
            w = If (c) <then_branch = t () => (float[4,5] v) {{ v = f.Fill (x, m, one) }},
                        else_branch = e () => (float[4,5] v) {{ v = Identity (x) }}> }}
        <domain: "f", opset_import: ["" : 18]> Fill (x, m, one) => (y) {{ {FILLED} }}"""
    model = onnx.parser.parse_model(text)
    result = onnx_scatterx.optimize(model, target=Target("npu", avoid=LACKING))
    assert result.report.removed == 1
    feed = {
        "x": sample("float32", 4, 5),
        "m": np.eye(4, 5, dtype=bool),
        "one": np.array(2, np.float32),
    }
    assert_same(model, result.model, [{**feed, "c": np.array(c)} for c in (True, False)])
