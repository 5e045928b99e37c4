"""Gathers that a target lacks are rewritten without a request."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse, sample

BOTH = """g (float[6, 4] x, int64[2] at) => (float[2, 4] y, float[2, 4] z) {
        y = Gather (x, [4, 1])  z = GatherND (x, [[3], [5]]) }"""


def operators(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in model.graph.node}


@pytest.mark.parametrize(("lacking", "left"), [("Gather", {"GatherND"}), ("GatherND", {"Gather"})])
def test_only_what_is_lacking(lacking: str, left: set[str]) -> None:
    """Other reads are kept; all are, if the target has the operators of all."""
    model = parse(BOTH)
    result = onnx_scatterx.optimize(model, target=f'standard, avoid = ["{lacking}"]')
    assert operators(result.model) & {"Gather", "GatherND"} == left
    assert [gather.op for gather in result.report.gathers] == [lacking]
    assert result.report.gathers_removed == 1
    assert not result.report.violations
    feeds = [{"x": sample("float32", 6, 4), "at": np.array([0, 1])}]
    assert_same(model, result.model, feeds)
    assert onnx_scatterx.optimize(model, target="standard").model is model


def test_any_number_of_nodes_is_better() -> None:
    """Otherwise a gather is removed only if that takes no more nodes."""
    text = """g (float[6, 4] x) => (float[4, 4] y) { y = Gather (x, [4, 1, 2, 0]) }"""
    model = parse(text)
    asked = onnx_scatterx.optimize(model, target="standard", gathers=True)
    assert operators(asked.model) == {"Gather"}
    result = onnx_scatterx.optimize(model, target='standard, avoid = ["Gather"]')
    assert "Gather" not in operators(result.model)
    assert len(result.model.graph.node) > 1
    assert_same(model, result.model, [{"x": sample("float32", 6, 4)}])


def test_what_no_operator_of_the_target_reads_stays() -> None:
    text = "g (float[6, 4] x, int64[2] i) => (float[2, 4] y) { y = Gather (x, i) }"
    report = onnx_scatterx.inspect(
        parse(text), target='standard, avoid = ["Gather", "GatherElements", "GatherND", "Where"]'
    )
    (gather,) = report.gathers
    assert gather.done.startswith("kept: the target does not support a required operator (Where")
    assert [violation.op for violation in report.violations] == ["Gather"]
