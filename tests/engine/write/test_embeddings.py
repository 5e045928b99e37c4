"""Gathers for a compiler that takes embeddings only, and tokens in front of labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse

TABLE = f"float[5, 3] w = {{{', '.join(map(str, range(15)))}}}"
NPU = "standard, limits.Gather.unwritten = ['axis'], limits.Gather.computed_data = false"
NO_NUMBERS = "limits.Concat.zeros = ['int64'], limits.Pad.zeros = ['int64']"


@pytest.mark.parametrize("written", ["", " <axis = 0>"])
def test_an_embedding_has_no_axis_written(written: str) -> None:
    model = parse(
        f"g (int64[1, 4] i) => (float[1, 4, 3] y) <{TABLE}> {{ y = Gather{written} (w, i) }}"
    )
    result = onnx_scatterx.optimize(model, target=target_of(NPU), passes=["WriteOtherForms"])
    (node,) = nodes(result.model)
    assert (node.op_type, len(node.attribute)) == ("Gather", 0)
    assert not result.report.violations
    assert_same(model, result.model, [{"i": np.array([[0, -1, 4, -5]])}])


@pytest.mark.parametrize(
    ("limit", "text", "why"),
    [
        ("unwritten = ['axis']", "Gather <axis = 1> (w, i)", "Gather with axis written"),
        ("computed_data = false", "Gather (x, i)", "Gather"),
        ("data_rank = 1", "Gather (w, i)", "Gather of data of another rank than 1"),
        ("negative = false", "Gather (w, i)", "Gather at indices that may be negative"),
    ],
)
def test_what_is_no_embedding(limit: str, text: str, why: str) -> None:
    target = target_of(f"standard, avoid = ['Where', 'GatherElements'], limits.Gather.{limit}")
    model = parse(f"""g (int64[2] i, float[5, 3] x, bool[1] b) => (float[A, B] y)
        <{TABLE}> {{ y = {text} }}""")
    told = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"]).report
    assert [v.why.partition(" takes no ")[2] for v in told.violations] == [why]


def test_a_promise_says_that_no_index_is_negative() -> None:
    target = target_of("standard, avoid = ['Where'], limits.Gather.negative = false")
    model = parse(f"g (int64[N] i) => (float[N, 3] y) <{TABLE}> {{ y = Gather (w, i) }}")
    told = onnx_scatterx.optimize(
        model, target=target, assume="i: nonnegative", passes=["WriteOtherForms"]
    )
    assert not told.report.violations


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_table_of_few_rows(rows: int, axis: int) -> None:
    """It is repeated, so that an index from the end finds its row, too."""
    shape = [rows, 3] if axis == 0 else [3, rows]
    numbers = ", ".join(map(str, range(3 * rows)))
    model = parse(f"""g (int64[N] i) => (float[A, B] y) <float{shape} w = {{{numbers}}}> {{
        y = Gather <axis = {axis}> (w, i) }}""")
    target = target_of("standard, limits.Gather.refused = [{fewer = 8}]")
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    assert not result.report.violations
    (table,) = result.model.graph.initializer
    assert table.dims[axis] >= 8
    assert_same(model, result.model, [{"i": np.arange(-rows, rows)}, {"i": np.zeros(0, int)}])


PARTS = ["one", "two", "i", "j"]


@examples(40)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4), st.data())
def test_tokens_beside_labels(parts: list[str], data: st.DataObject) -> None:
    """Their rows are constants; a Gather along any axis joins them with the rows of the labels."""
    axis, table = data.draw(st.integers(0, 1)), data.draw(st.sampled_from(["w", "x"]))
    model = parse(f"""g (int64[2, 3] i, int64[2, 0] j, float[5, 3] x) => (float[A, B, C] y)
        <{TABLE}, int64[2, 1] one = {{-2, 1}}, int64[2, 2] two = {{0, 2, -3, 1}}> {{
            c = Concat <axis = 1> ({", ".join(parts)})
            y = Gather <axis = {axis}> ({table}, c) }}""")
    target = target_of(f"standard, {NO_NUMBERS}")
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    assert not result.report.violations
    feed = {"i": np.array([[0, -3, 2], [1, 1, -1]]), "j": np.zeros((2, 0), int)}
    feed["x"] = np.arange(15, dtype=np.float32).reshape(5, 3)
    assert_same(model, result.model, [feed])


@pytest.mark.parametrize("pads", ["0, 1, 0, 0", "0, 0, 0, 2", "0, 1, 0, 1", "1, 0, 0, 0"])
@pytest.mark.parametrize("fill", [0, 4, -1])
def test_a_token_that_a_pad_writes(pads: str, fill: int) -> None:
    model = parse(f"""g (int64[2, 3] i) => (float[A, B, 3] y) <{TABLE}, int64[4] p = {{{pads}}},
        int64 f = {{{fill}}}> {{ c = Pad (i, p, f)  y = Gather (w, c) }}""")
    target = target_of(f"standard, {NO_NUMBERS}")
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    assert not result.report.violations
    assert ("Pad" in [n.op_type for n in nodes(result.model)]) == (fill == 0)
    assert_same(model, result.model, [{"i": np.array([[0, -3, 2], [1, 1, -1]])}])
