"""Updates that collide: the text of the report; with ``deterministic`` the last update wins."""

import json

import numpy as np
import onnx
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.targets.target import Target
from onnx_scatterx.tell.entry_lines import duplicate_lines
from tests.helpers.examples import examples
from tests.helpers.pair import Feed, assert_same
from tests.helpers.support import i64, parse, sample, scatters

OPEN = "and ONNX does not say which one wins"
LAST_WINS = "if several updates go to the same element, the last one wins"
ROWS = """g (float[4,D] x, float[3,D] u) => (float[4,D] y) <int64[3,1] i = {2, 0, -2}>
    { y = ScatterND (x, i, u) }"""
REPEATED = """g (float[N,4] x, float[N,K] u, int64[N,1] p) => (float[N,4] y)
    { s = Shape (u) i = Expand (p, s) y = ScatterElements <axis = 1> (x, i, u) }"""
UNKNOWN = """g (float[N,4] x, float[M,4] u, int64[M,1] i) => (float[N,4] y)
    { y = ScatterND (x, i, u) }"""


def optimized(
    model: onnx.ModelProto, *feeds: Feed, target: str | Target = "standard"
) -> onnx_scatterx.Result[onnx.ModelProto]:
    """Optimize with the last update winning, and compare with ONNX Runtime on one thread."""
    result = onnx_scatterx.optimize(model, target=target, deterministic=True)
    if feeds:
        assert_same(model, result.model, feeds)
    return result


def told(text: str, *, deterministic: bool = False, target: str = "standard") -> list[str]:
    report = onnx_scatterx.inspect(parse(text), target=target, deterministic=deterministic)
    return duplicate_lines(report.scatters)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (
            ROWS.replace("D]", "2]"),
            [f"y: updates (0, 0) and (2, 0) go to the same element (others to 1 more), {OPEN}"],
            [f"y: {LAST_WINS}"],
        ),
        (
            ROWS,
            [f"y: updates may go to the same element, {OPEN}; as written the last"],
            [f"y: {LAST_WINS}"],
        ),
        (
            REPEATED,
            [f"y: updates may go to the same element, {OPEN}; as written the last"],
            [f"y: {LAST_WINS}"],
        ),
        (UNKNOWN, *2 * ([f"y: updates may go to the same element, {OPEN}"],)),
        (UNKNOWN.replace("ScatterND (", 'ScatterND <reduction = "add"> ('), [], []),
        (ROWS.replace("2, 0, -2", "2, 0, 1"), [], []),
    ],
)
def test_what_the_report_says(text: str, before: list[str], after: list[str]) -> None:
    assert told(text) == before
    assert told(text, deterministic=True) == after


def test_in_every_kind_of_report() -> None:
    model = parse(ROWS.replace("D]", "2]"))
    report = onnx_scatterx.inspect(model)
    line = duplicate_lines(report.scatters)[0]
    assert line.endswith("in ScatterX the last")
    assert line in str(report)
    assert "Updates that collide" in report.to_html()
    (scatter,) = json.loads(report.to_json())["scatters"]
    assert scatter["duplicates"] == {
        "certain": True,
        "updates": [[[0, 0], [2, 0]], [[0, 1], [2, 1]]],
        "settled": False,
    }
    assert "made so: if several updates go to the same element" in onnx_scatterx.explain(
        model, deterministic=True
    )


def test_overwritten_updates_are_removed() -> None:
    known = ROWS.replace("D]", "3]")
    feed = {"x": sample("float32", 4, 3), "u": sample("float32", 3, 3)}
    result = optimized(parse(known), feed)
    assert scatters(result.model) == 0
    assert scatters(onnx_scatterx.optimize(parse(known), target="standard").model) == 1


def test_rows_of_a_block_of_updates_are_dropped() -> None:
    """No dim of the indices has the rows that are left: they are read from a list of all rows."""
    model = parse("""g (float[4,3] x, float[2,2,3] u) => (float[4,3] y) {
        y = ScatterND (x, [[[2], [0]], [[-2], [1]]], u) }""")
    result = optimized(model, {"x": sample("float32", 4, 3), "u": sample("float32", 2, 2, 3)})
    assert scatters(result.model) == 0


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_dim_that_decides_nothing(k: int) -> None:
    feed = {"x": sample("float32", 2, 4), "u": sample("float32", 2, k), "p": i64([[1], [-1]])}
    result = optimized(parse(REPEATED), feed)
    (scatter,) = result.report.scatters
    assert (scatter.unique, scatter.duplicates and scatter.duplicates.last_wins) == ("proven", True)


def test_updates_that_may_collide_are_kept_and_reported() -> None:
    result = optimized(parse(UNKNOWN))
    (scatter,) = result.report.scatters
    assert scatter.action.value == "kept"
    assert scatter.duplicates is not None
    assert not scatter.duplicates.certain
    native = onnx_scatterx.optimize(parse(UNKNOWN), deterministic=True)
    assert native.report.native == 1


def test_no_operator_is_written_that_a_target_lacks() -> None:
    target = Target("npu", avoid=frozenset({"Gather", "Slice"}))
    result = optimized(parse(ROWS), target=target)
    assert [n.op_type for n in result.model.graph.node] == ["ScatterND"]
    assert not duplicate_lines(result.report.scatters)[0].endswith(LAST_WINS)


def test_in_a_branch_and_in_a_function() -> None:
    text = """g (float[4] x, float[3] u, bool c) => (float[4] z) {
            a = own.write (x, u)
            z = If (c) <
                then_branch = yes () => (float[4] t) {
                    i = Constant <value = int64[3, 1] {0, 1, 0}> () t = ScatterND (a, i, u) },
                else_branch = no () => (float[4] e) { e = Neg (a) }>
        }
        <domain: "own", opset_import: ["" : 18]>
        write (x, u) => (y) {
            i = Constant <value = int64[3, 1] {2, 3, 2}> () y = ScatterND (x, i, u) }"""
    model = parse(text)
    for c in (True, False):
        feed = {"x": sample("float32", 4), "u": sample("float32", 3), "c": np.array(c)}
        result = optimized(model, feed)
    assert len(duplicate_lines(result.report.scatters)) == 2
    assert all(line.endswith(LAST_WINS) for line in duplicate_lines(result.report.scatters))


@examples(60)
@given(st.data())
def test_random_constant_indices(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    depth = data.draw(st.sampled_from(["ND1", "ND2", "elements 0", "elements 1"]))
    dims = (
        (rows, columns)
        if "elements" in depth
        else data.draw(st.sampled_from([(rows * columns,), (rows, columns)]))
    )
    width = {"ND1": 1, "ND2": 2}.get(depth)
    shape = dims if width is None else (*dims, width)
    limit = 3
    numbers = data.draw(
        st.lists(
            st.integers(-limit, limit - 1),
            min_size=int(np.prod(shape)),
            max_size=int(np.prod(shape)),
        )
    )
    updates = dims if width in (None, 2) else (*dims, 4)
    extents = (max(limit, rows), max(limit, columns)) if width is None else (limit, 4)
    if width == 2:
        extents = (limit, limit)

    def text(sizes: tuple[int, ...]) -> str:
        return ",".join(map(str, sizes))

    op = f"ScatterElements <axis = {depth[-1]}>" if width is None else "ScatterND"
    model = parse(f"""g (float[{text(extents)}] x, float[{text(updates)}] u)
        => (float[{text(extents)}] y)
        <int64[{text(shape)}] i = {{{text(tuple(numbers))}}}> {{ y = {op} (x, i, u) }}""")
    feed = {"x": sample("float32", *extents), "u": np.arange(np.prod(updates), dtype=np.float32)}
    feed["u"] = feed["u"].reshape(updates)
    result = optimized(model, feed)
    (scatter,) = result.report.scatters
    assert scatter.unique == "proven"
    (plain,) = onnx_scatterx.inspect(model, target="standard").scatters
    settled = scatter.duplicates is not None
    assert settled == (plain.unique == "collides")


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_axis_is_what_the_caller_of_a_function_says(axis: int) -> None:
    text = """g (float[4,3] x, float[2,2] u) => (float[4,3] y) {
        y = local.put <axis = AXIS> (x, u) }
        <domain: "local", opset_import: ["" : 18]> put <axis> (x, u) => (y) {
        i = Constant <value = int64[2,2] {2, 2, 2, 2}> ()
        y = ScatterElements <axis: int = @axis> (x, i, u) }"""
    model = parse(text.replace("AXIS", str(axis)))
    optimized(model, {"x": sample("float32", 4, 3), "u": sample("float32", 2, 2, seed=1)})
