"""The report: a table, JSON, a page of HTML, all with the same content."""

import json
from collections import Counter
from dataclasses import replace

import pytest

import onnx_scatterx
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.tell.entries import Action, GatherReport, ScatterReport
from onnx_scatterx.tell.entry_lines import move_lines
from onnx_scatterx.tell.report import Report
from onnx_scatterx.text.reasons import Reason, Refusal
from onnx_scatterx.text.visible_text import as_html
from tests.helpers.html import Page
from tests.helpers.support import parse

GONE = ScatterReport(
    node="[b]a[/b]", op="ScatterND", graph="main", reduction="add", footprint="box [a:b, :]",
    verdict="sliceable", unique="proven", action=Action.REMOVED, rules=("concat", "view"),
    written=("Concat", "Slice"), facts=("declared-dims: <N>",),
)  # fmt: skip
KEPT = ScatterReport(
    node="/x" * 90, op="ScatterElements", graph="main", reduction="none", footprint="unknown",
    verdict="not sliceable", unique="unknown", action=Action.KEPT,
    refusal=Refusal(Reason.UNKNOWN_INDICES, "axis 1"),
)  # fmt: skip
DEAD = ScatterReport(
    node="d", op="Scatter", graph="own.f", reduction="none", footprint="everything",
    verdict="sliceable", unique="proven", action=Action.DEAD,
)  # fmt: skip
REPORT = Report(
    "standard", (GONE, KEPT, DEAD), 9, 5, GONE.facts,
    Counter(ScatterND=1, ScatterElements=1, Scatter=1, Shape=6),
    Counter(ScatterElements=1, Slice=3, Concat=1),
)  # fmt: skip


def column(text: str, place: int) -> str:
    """Return a column of a table that is text, its lines put together."""
    return "".join(row.split("│")[place].strip() for row in text.splitlines() if "│" in row)


def test_counts() -> None:
    assert REPORT.removed == 2
    assert REPORT.summary() == "2 of 3 scatters removed, 9 -> 5 nodes"
    assert (GONE.reason, KEPT.reason) == (None, Reason.UNKNOWN_INDICES)
    assert str(Report("standard", (), 3, 3)) == "no scatter in this model"


def test_the_headline_says_what_scatterx_needs() -> None:
    needs = "ScatterX is for ONNX Runtime"
    other = "`--target standard` for other runtimes"
    assert REPORT.headline() == REPORT.summary()
    native = replace(KEPT, action=Action.NATIVE)
    report = Report("scatterx", (GONE, native, native), 9, 5)
    told = f"1 of 3 scatters removed, 2 written as ScatterX, 9 -> 5 nodes; {needs}: {other}"
    assert report.headline() == told
    assert report.summary() == told.partition(";")[0]
    assert " ".join(str(report).split("┏")[0].split()) == told
    assert report.summary().replace("->", "→") in report.to_html()
    assert "ONNX Runtime: <code>--target standard</code> for other runtimes" in report.to_html()
    planned = replace(report, planned=True)
    told = f"1 of 3 scatters can be removed, 2 can be written as ScatterX, 9 -> 5 nodes; {needs}"
    assert planned.headline() == f"{told}: {other}"
    line = "the target standard removes 2 of 3: --target standard"
    for count, says in (None, False), (1, False), (2, True):
        found = replace(planned, by_standard=count)
        assert found.standard_lines() == [line] * says
        assert (line in str(found).splitlines()) == says
        assert (other in found.headline()) != says
        assert (line.capitalize() in Page(found.to_html()).said) == says


def test_the_default_target_says_it_of_a_model() -> None:
    text = """g (float[5, 4] x, int64[N, 1] i, float[N, 4] y) => (float[5, 4] z)
              { z = ScatterND(x, i, y) }"""
    for target, told in ("scatterx", True), ("ort-cpu", True), ("standard", False):
        report = onnx_scatterx.optimize(parse(text), target=target).report
        assert ("1 written as ScatterX, 1 -> " in report.headline()) == told, target


def test_a_result_prints_its_report_and_another_run_finds_scatterx() -> None:
    text = """g (float[5, 4] x, int64[N, 1] i, float[N, 4] y) => (float[5, 4] z)
              { z = ScatterND(x, i, y) }"""
    result = onnx_scatterx.optimize(parse(text))
    assert str(result) == str(result.report)
    assert (
        onnx_scatterx.inspect(result.model).summary() == "no scatter in this model, 1 of ScatterX"
    )


def test_the_table_has_every_word() -> None:
    text = str(REPORT)
    assert text.startswith("2 of 3 scatters removed, 9 -> 5 nodes\n")
    names = column(text, 1)
    assert names == "[b]a[/b]" + "/x/x/x/x/x/x/x/x/x/x/…x/x/x/x/x/x/x/x/x/x/x" + "d"
    assert "ScatterND (add)" in text
    assert "box [a:b, :]" in text
    assert "removed by Concat, Slice" in text
    assert text.endswith("\nassumed:\n  declared-dims: <N>")
    assert "┘\nby the indices: the elements are known only at run time\n5 nodes, 1 of them " in text
    assert "Slice 0 -> 3" in text
    assert "removed: nothing reads" in text
    assert max(len(line) for line in text.splitlines() if "│" in line) <= 120
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_json_has_everything() -> None:
    content = json.loads(REPORT.to_json())
    assert content == REPORT.to_dict()
    assert next(iter(content.items())) == ("schema", 1)
    assert [s["action"] for s in content["scatters"]] == ["removed", "kept", "dead"]
    assert content["scatters"][1]["reason"] == "unknown_indices"
    assert content["scatters"][1]["why"] == (
        "the indices are known only when the model runs (axis 1)"
    )
    assert content["nodes"] == {"before": 9, "after": 5}
    assert content["ops"]["after"]["Slice"] == 3
    assert "verification" not in content
    verified = json.loads(REPORT.to_json(Verification(3, 2)))
    assert verified["verification"]["accepted"] == 2


def test_the_page_says_the_same() -> None:
    html = REPORT.to_html(Verification(3, 2))
    page = Page(html)
    for scatter in REPORT.scatters:
        for cell in (scatter.row()[0], scatter.row()[1], scatter.footprint, scatter.verdict):
            assert as_html(cell) in html or cell == "unknown"
    assert as_html(KEPT.done.removeprefix("kept: ")) in html
    assert page.cells == [
        *("operator", "", "before", "after", "change"),
        *("Scatter", "", "1", "0", "-1"),
        *("ScatterND", "", "1", "0", "-1"),
        *("ScatterElements", "", "1", "1", ""),
        *("Shape", "", "6", "0", "-6"),
        *("Slice", "", "0", "3", "+3"),
        *("Concat", "", "0", "1", "+1"),
        *("total", "", "9", "5", "-4"),
    ]
    assert "declared-dims: &lt;N&gt;" in html
    assert "the same, bit for bit, on 2 sets of inputs (the first model rejected 1 more)" in html
    assert "http:" not in html
    assert "https:" not in html
    empty = Page(Report("standard", (), 3, 3).to_html())
    assert empty.cells == []


def test_kept_scatters_need_no_assumption() -> None:
    model = parse("""g (float[N, 2] x, int64[M, 1] i, float[M, 2] u) => (float[N, 2] y)
        { y = ScatterND(x, i, u) }""")
    report = onnx_scatterx.inspect(model, target="standard")
    assert report.scatters[0].facts
    assert report.assumptions == ()
    assert onnx_scatterx.inspect(model, target="scatterx").assumptions


@pytest.mark.parametrize(("size", "limited"), [("N", True), ("5", False)])
def test_sizes_that_only_the_run_knows_are_below_a_limit(size: str, limited: bool) -> None:
    text = f"""g (float[{size},2] x, float[1,2] u) => (float[{size},2] y)
        {{ y = ScatterND (x, [[0]], u) }}"""
    report = onnx_scatterx.inspect(parse(text))
    assert report.assumptions == (("axis-limit: no axis has 2^31 elements or more",) * limited)
    assert ("2^31 elements" in onnx_scatterx.explain(parse(text), "y")) is limited
    assert ("2^31 elements" in report.to_html()) is limited


def test_what_goes_with_its_readers_says_so() -> None:
    """Here the scatter that takes the indices needs them no more."""
    model = parse("""g (float[N, 2] x, float[2, 2] u) => (float[N, 2] y) {
            i = ScatterND([0, 0], [[1]], [1])
            y = ScatterND(x, Unsqueeze(i, [1]), u) }""")
    report = onnx_scatterx.inspect(model, target="standard")
    assert [s.done for s in report.scatters] == [
        "removed, with all its readers",
        "removed by Concat, Slice",
    ]
    assert "removed, with all its readers" in onnx_scatterx.explain(model, "i", target="standard")


def test_gathers_are_told_where_they_were_asked_for() -> None:
    read = GatherReport(
        node="r", op="GatherND", graph="main", footprint="box [0:2]", verdict="sliceable",
        action=Action.REMOVED, rules=("view",),
    )  # fmt: skip
    report = Report("standard", (KEPT,), 3, 2, gathers=(read,), with_gathers=True)
    assert report.gathers_removed == 1
    assert report.removed == 0
    assert "0 of 1 scatters removed, 1 of 1 gathers removed, 3 -> 2 nodes" in report.summary()
    assert report.columns[2] == "writes or reads"
    for word in ("r", "GatherND", "box [0:2]", "removed without a node"):
        assert word in str(report)
    (told,) = json.loads(report.to_json())["gathers"]
    assert (told["node"], told["op"], told["rules"]) == ("r", "GatherND", ["view"])
    assert '<span class="op">GatherND</span> <span class="foot">reads box' in report.to_html()
    assert "gathers" not in json.loads(REPORT.to_json())
    none = Report("standard", (), 3, 3, with_gathers=True)
    assert str(none) == "no scatter and no gather in this model"
    unasked = replace(report, only_refused_gathers=True)
    assert unasked.summary() == "0 of 1 scatters removed, 1 gather removed, 3 -> 2 nodes"
    alone = replace(unasked, scatters=())
    assert alone.summary() == "no scatter in this model, 1 gather removed, 3 -> 2 nodes"
    alone = Report("standard", (), 3, 2, gathers=(read,), with_gathers=True)
    assert alone.summary() == "1 of 1 gathers removed, 3 -> 2 nodes"
    assert alone.columns[2] == "reads"


def test_what_would_be_done() -> None:
    model = parse("""g (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
        { z = ScatterND(x, [[1]], y) }""")
    before = model.SerializeToString(deterministic=True)
    planned, done = onnx_scatterx.inspect(model), onnx_scatterx.optimize(model).report
    assert model.SerializeToString(deterministic=True) == before
    assert planned.scatters == done.scatters
    assert planned.summary().startswith("1 of 1 scatters can be removed, 1 -> ")
    assert planned.columns[-1] == "what would be done"
    assert (planned.planned, done.planned) == (True, False)
    assert planned.scatters[0].node == "z"  # it has no name of its own


@pytest.mark.parametrize(
    ("indices", "unique"),
    [("0, 2", "proven"), ("1, 1", "collides"), ("1, -3", "collides"), ("0, 3, 1, 3", "collides")],
)
def test_uniqueness_of_known_indices(indices: str, unique: str) -> None:
    count = indices.count(",") + 1
    model = parse(f"""g (float[4, 2] x, float[{count}, 2] y) => (float[4, 2] z)
        <int64[{count}, 1] i = {{{indices}}}> {{ z = ScatterND(x, i, y) }}""")
    assert onnx_scatterx.inspect(model).scatters[0].unique == unique


@pytest.mark.parametrize(
    ("text", "verdict", "unique"),
    [
        ("indices = Constant <value = int64[1, 1] {1}> ()", "sliceable", "proven"),
        ("indices = Identity(i)", "sliceable", "unknown"),
    ],
)
def test_what_is_said_where_sizes_are_unknown(text: str, verdict: str, unique: str) -> None:
    model = parse(f"""g (float[N, M] x, float[K, M] y, int64[K, 1] i) => (float[N, M] z)
        {{ {text} z = ScatterND(x, indices, y) }}""")
    (scatter,) = onnx_scatterx.inspect(model).scatters
    assert (scatter.verdict, scatter.unique) == (verdict, unique)


def test_a_write_that_is_all_overwritten_is_gone_whatever_is_known_of_it() -> None:
    model = parse("""g (float[3,2] x, int64[1,1] i, float[1,2] u, float[3,2] w) => (float[3,2] y)
        {
            d = ScatterND (x, i, u)
            y = ScatterND (d, [[0], [1], [2]], w) }""")
    result = onnx_scatterx.optimize(model, target="standard")
    assert [s.action for s in result.report.scatters] == [Action.DEAD, Action.REMOVED]
    assert [n.op_type for n in result.model.graph.node] == ["Identity"]


def test_what_scatters_move() -> None:
    """Data and updates in contiguous pieces, and the strided copies that would do."""
    text = """g (float[8, 2] x, float[3, 2] u, {}) => (float[8, 2] y, float[8, 2] z)
        <int64[3, 1] i = {{5, 3, 1}}> {{ y = ScatterND (x, i, u) z = ScatterND {} }}"""
    # 64 bytes of data and 24 of updates; three rows that lie apart
    one = parse(text.format("int64[3, 1] j", "(x, j, u)"))
    assert move_lines(onnx_scatterx.inspect(one).scatters) == [
        "in the given model the scatters (1 of them) move 88 bytes in 4 pieces, "
        "where 24 bytes in 1 strided copy would do"
    ]
    both = parse(text.format("float[3, 2] v", "(y, i, v)"))
    report = onnx_scatterx.inspect(both)
    (line,) = move_lines(report.scatters)
    assert line.startswith(
        "in the given model the scatters move 176 bytes in 8 pieces, where 48 bytes in 2 strided"
    )
    assert line in report.plain()
    reduced = parse(text.format("float[3, 2] v", '<reduction = "add"> (x, i, v)'))
    assert "(1 of them)" in move_lines(onnx_scatterx.inspect(reduced).scatters)[0]
    assert move_lines(()) == []
