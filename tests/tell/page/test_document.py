"""The page: it loads nothing, has all that it must show, and is the same in every run."""

import base64
import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import onnx
import pytest
from markupsafe import Markup

import onnx_scatterx
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.tell.entries import About, bytes_text
from onnx_scatterx.tell.entry_lines import runtime_lines
from onnx_scatterx.tell.index_map import IndexMap, Panel
from onnx_scatterx.tell.kept_advice import Advice, Way
from onnx_scatterx.tell.page import environment
from onnx_scatterx.tell.page.map_figure import map_figures
from onnx_scatterx.tell.rendering import TextTable
from onnx_scatterx.tell.report import Report
from onnx_scatterx.text.reasons import FloatReason
from tests.helpers.html import Page
from tests.helpers.many_scatters import many_scatters
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(2)

NOON = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)
KV_CACHE = "models/kv_cache_dynamo.onnx"
GRAPH: dict[str, object] = {"lines": (), "tips": (), "outlines": {}}
EVIL = "a\x1b[2J<script>alert('1')</script>\"\u202e\n&"


def page_of(report: Report, verification: Verification | None = None) -> Page:
    page = Page(report.to_html(verification, date=NOON))
    page.check()
    return page


@pytest.mark.sampled(7, each="gathers")
@pytest.mark.parametrize("path", sorted(Path("models").glob("*.onnx"))[::5], ids=lambda p: p.stem)
@pytest.mark.parametrize("gathers", [False, True])
def test_pages_of_models(path: Path, gathers: bool) -> None:
    report = onnx_scatterx.inspect(path, target="standard", gathers=gathers)
    page = page_of(report)
    for entry in report.entries:
        assert entry.node in page.said
    assert sum("card" in words.split() for words in page.classes) == len(report.entries)


def test_the_first_screen() -> None:
    """One line of numbers, the chart, the first removed scatter; what it is about comes last."""
    model = many_scatters(5)
    result = onnx_scatterx.optimize(model, target="standard", rules=["concat", "view"])
    report = result.report
    verification = onnx_scatterx.verify(model, result.model, samples=3)
    page = page_of(report, verification)
    places = [
        page.said.index(words)
        for words in (
            "3 of 5 scatters removed, 19 → 24 nodes; the models were compared on 3 inputs",
            "Target standard Result 24 nodes, 2 of them scatters: ",
            "To do 2 scatters are kept: see what needs attention",
            "Nodes of each operator, before and after",
            "Slice 0 10 +10",  # what changed most
            "total 19 24 +5",
            "6 more operators",
            "y0 removed by Concat, Slice updates",
            "What is written",
            "What needs attention 2 scatters are kept",
            "Scatters Search",
            "Words",
            "Details",
            "File size",
            "2024-02-29 12:30 UTC",
        )
    ]
    assert places == sorted(places)
    bars = re.findall(r'<svg viewBox="0 0 (\d+) 14".*?0 1h(\d+)v5.*?0 8h(\d+)v5', page.text)
    shown = sorted(report.ops_before | report.ops_after)
    assert sorted(tuple(map(int, b[1:])) for b in bars) == sorted(
        (report.ops_before[op], report.ops_after[op]) for op in shown
    )
    assert {int(most) for most, *_ in bars} == {10}


def test_the_picture_is_of_a_kept_one_if_none_is_removed() -> None:
    report = onnx_scatterx.optimize(KV_CACHE, target="coreml").report
    node = report.scatters[0].node
    assert f"{node} kept: the target" in page_of(report).said.split("What needs attention")[0]


def test_a_card_is_one_line_and_names_are_whole() -> None:
    """A long name has two parts, of which the first can shrink; the search finds all of it."""
    model = many_scatters(5)
    name = "/model/encoder/layers.0/self_attention/kv_cache/ScatterND"
    model.graph.node[1].name = name
    page = page_of(onnx_scatterx.optimize(model).report)
    parts = f'title="{name}"><span>{name[:-12]}</span><span>{name[-12:]}</span>'
    assert f'<span class="node"><span class="cut" {parts}</span></span>' in page.text
    assert page.said.count(name) == 3  # with the link on top, and the title in a drawing
    assert 'title="y1"' not in page.text
    assert f"<title>{name}</title>" in page.text
    assert "<details open" not in page.text


def test_drawings_fit_or_scroll() -> None:
    """A tensor is narrower than a phone and has room for its text; a graph is in what scrolls."""
    model = many_scatters(5)
    page = page_of(onnx_scatterx.optimize(model).report)
    for within, (_, _, width, _) in page.svgs:
        assert within[-1] in ("drawing", "td")
        assert width < 390 or within[-1] == "drawing"
    long = "axis 1234, size 123456789012345"
    panel = Panel("updates", ("axis 0", 4), ("axis 1234", 123456789012345), ())
    data = Panel("data", ("", 1), ("", 1), ())
    first, second = map_figures(IndexMap(data, panel, is_read=False))
    assert long in first.content
    assert 6 * len(long) < first.width < 390
    assert "index map: the updates" in first.label
    assert second.width < 60
    assert map_figures(IndexMap(data, panel, is_read=True))[0].content == second.content


def test_the_head_says_what_it_is_about() -> None:
    result = onnx_scatterx.optimize(
        KV_CACHE, target="standard", gathers=True, assume="at: nonnegative"
    )
    verification = onnx_scatterx.verify(KV_CACHE, result.model, samples=3, assume="at: nonnegative")
    page = page_of(result.report, verification)
    size = bytes_text(Path(KV_CACHE).stat().st_size)
    for words in (
        "kv_cache_dynamo.onnx",
        f"{size} before",
        "14 before",
        "Target standard",
        "--gathers --assume 'at: nonnegative'",
        "on 3 inputs and are the same",
        "2024-02-29 12:30 UTC",
        f"onnx-scatterx {onnx_scatterx.__version__}",
        "Operator set 20",
    ):
        assert words in page.said, words
    assert "at: nonnegative" in page.said.split("Assumed", 1)[1]


def test_what_needs_attention_comes_first_and_says_what_would_help() -> None:
    said = page_of(onnx_scatterx.optimize(KV_CACHE).report).said
    assert said.index("2 became ScatterX") < said.index("Facts and proofs")
    assert "What would remove it" not in said  # the target asks for ScatterX
    report = onnx_scatterx.optimize(KV_CACHE, target="coreml").report
    said = Page(report.to_html(advice=onnx_scatterx.advise(KV_CACHE, target="coreml"))).said
    assert f"onnx-scatterx optimize {KV_CACHE} -o OUT.onnx --target 'coreml, add" in said
    assert "if your compiler has Mod, Equal" in said
    assert "other options were not tried" in page_of(report).said
    qnn = onnx_scatterx.optimize("models/one_hot_labels_ts_dynamic.onnx", target="qnn").report
    assert qnn.violations
    assert "Not taken by the target qnn" in page_of(qnn).said
    why, way = "npu takes no Erf (2): a, b", Way("onnx-scatterx optimize m.onnx", "if it is so")
    found = Advice(("a", "b"), why, "a compiler", (way,), is_violation=True)
    page = Page(qnn.to_html(advice=[found]))
    page.check()
    assert f"{why}; removed by: {way.command} {way.condition}" in page.said


@pytest.mark.parametrize("target", ["coreml", "standard"])  # the scatters are kept, and removed
def test_a_verdict_is_theory_and_promises_nothing(target: str) -> None:
    """It stands among the folded facts, and its words say that it does not decide alone."""
    report = onnx_scatterx.optimize(KV_CACHE, target=target).report
    assert {entry.verdict for entry in report.entries} == {"sliceable"}
    cards, words = page_of(report).said.split(" Words ")
    for card in cards.split("Facts and proofs")[:-1]:
        assert "sliceable" not in card.rpartition("graph main")[2]
    assert cards.count("verdict sliceable: ") == len(report.entries)
    assert "a sliceable scatter may be kept" in words
    assert "If the position of each slice is known, such a write can be" in words


def test_what_runs_on_the_host_is_no_violation() -> None:
    report = onnx_scatterx.optimize("models/one_hot_labels_ts_dynamic.onnx", target="qnn").report
    on_host = [replace(violation, on_host=True) for violation in report.violations[:1]]
    said = page_of(replace(report, violations=tuple(on_host))).said
    assert "qnn runs these on its host" in said
    assert "Not taken by the target" not in said


def test_a_larger_result_says_so_and_what_is_smaller() -> None:
    """Advice about sizes is shown, too; the sentence of the report only without it."""
    report = onnx_scatterx.optimize(many_scatters(1)).report
    grown = replace(report, nodes_after=99)
    assert grown.growth not in page_of(report).said
    assert f"A longer or larger result {grown.growth} " in page_of(grown).said
    way = Way("onnx-scatterx optimize m.onnx -o o.onnx", "4 nodes, ONNX Runtime")
    smaller = Advice((), grown.growth, "", (way,), verb="smaller")
    page = Page(grown.to_html(advice=[smaller], date=NOON))
    page.check()
    assert f"{grown.growth}; smaller by: {way.command} {way.condition}" in page.said
    assert page.said.count(grown.growth) == 2  # on the first screen, and in its section
    first, _, rest = page.said.partition(" What needs attention ")
    assert f"To do {grown.growth}: {way.command} {way.condition}" in first
    assert grown.growth in rest
    wants = replace(report, to_fix="--fix M=N")
    assert "add --fix M=N, with a number for each N" in page_of(wants).said
    fixed = Advice((), "the target wants numbers", "", (way,), verb="fixed")
    page = Page(wants.to_html(advice=[fixed], date=NOON))
    assert f"Sizes the target wants numbers; fixed by: {way.command}" in page.said
    assert "for each N" not in page.said
    failed = Advice((), "the model fails", "a size")
    assert "the model fails: add a size" in Page(wants.to_html(advice=[failed], date=NOON)).said


def test_what_onnx_runtime_may_change_is_told() -> None:
    report = onnx_scatterx.optimize(many_scatters(2)).report
    assert not runtime_lines(report.entries)
    told = [replace(entry, in_onnxruntime=(str(FloatReason.MOVED),)) for entry in report.scatters]
    report = replace(report, scatters=tuple(told))
    (line,) = runtime_lines(report.entries)
    assert f"In ONNX Runtime {line}" in page_of(report).said


def test_kept_scatters_come_before_removed_ones() -> None:
    report = onnx_scatterx.optimize(many_scatters(5), target="standard", rules=["concat", "view"])
    text = page_of(report.report).text
    kinds = [w.split()[1] for w in Page(text).classes if w.startswith("card ")]
    assert kinds == sorted(kinds, key=["kept", "native", "removed"].index)
    assert len(set(kinds)) == 2


def test_a_difference_is_an_alarm() -> None:
    before = parse("g (float[2] x) => (float[2] y) { y = Neg (x) }")
    after = parse("g (float[2] x) => (float[2] y) { y = Abs (x) }")
    report = onnx_scatterx.optimize(before).report
    said = page_of(report, onnx_scatterx.verify(before, after, samples=3)).said
    assert said.index("The models differ") < said.index("Nodes of each operator")
    assert "output 'y' differs" in said


def test_names_do_no_harm() -> None:
    model = many_scatters(3)
    model.graph.node[1].name = EVIL
    model.graph.name = EVIL
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [f"{EVIL}{name}" if name.startswith("y") else name for name in names]
    report = onnx_scatterx.optimize(model).report
    page = page_of(replace(report, about=About(EVIL, options=(EVIL,))))
    assert "<script>alert" not in page.text
    assert r"a\x1b[2J" in page.said


def test_templates_escape_and_take_no_text_as_safe() -> None:
    folder = Path(environment.__file__).parent / "templates"
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup", text), path.name
    for template, values in (
        ("cell.html", {"tables": [TextTable(EVIL, [EVIL], [[EVIL, EVIL]])]}),
        ("graph.svg", {"boxes": [((EVIL, EVIL), ("…", EVIL), 0, 0)], **GRAPH}),
    ):
        text = environment.filled(template, **values)
        assert text.count("&lt;script&gt;") == text.count(r"a\x1b[2J") >= 2
        assert not re.search("[\x1b\u202e]|<script", text)
    with pytest.raises(Exception, match="'figure' is undefined"):
        environment.filled("drawing.svg")


def test_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1709209800")
    pages = [onnx_scatterx.optimize(KV_CACHE).report.to_html() for _ in range(2)]
    assert pages[0] == pages[1] == onnx_scatterx.optimize(KV_CACHE).report.to_html(date=NOON)
    assert "2024-02-29T12:30:00Z" in pages[0]


def test_equal_drawings_are_kept_once() -> None:
    """Scatters that go together have one piece of graph."""
    text = onnx_scatterx.optimize("models/box_update_dynamo.onnx").report.to_html(date=NOON)
    assert text.count('<g id="g') == 6
    assert text.count("<use ") == 2 + 4  # the second card, and the first: it stands on top, too
    assert text.index('<g id="g0"') < text.index('class="card ') < text.index('<use href="#g0"')


def test_too_many_drawings_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "MOST_BYTES", 5000)
    page = page_of(onnx_scatterx.optimize(many_scatters(10)).report)
    assert "Its drawings are left out" in page.said
    assert len(page.text) < 120_000


def test_the_names_of_drawings_count() -> None:
    drawn = environment.Figures("a")
    shown = [
        drawn.svg(environment.Figure(Markup("<path/>"), 1, 1, "n" * 60_000)) for _ in range(100)
    ]
    assert sum(len(svg) for svg in shown if svg) < environment.MOST_BYTES + 60_000
    assert shown[0]
    assert shown[-1] is None


@pytest.mark.slow
@pytest.mark.full
def test_a_thousand_scatters() -> None:
    report = onnx_scatterx.optimize(many_scatters(1000)).report
    assert len(page_of(report).text.encode()) < 5_000_000


def test_an_onnx_ir_model_and_one_without_scatters() -> None:
    import onnx_ir as ir

    model = ir.from_proto(onnx.load(KV_CACHE))
    assert "File size" not in page_of(onnx_scatterx.optimize(model).report).said
    plain = parse("g (float[2] x) => (float[2] y) { y = Neg (x) }")
    page = page_of(onnx_scatterx.optimize(plain).report)
    assert "no scatter in this model" in page.said
    assert "total 1 1" in page.said


def test_the_policy_allows_the_style_and_the_script_of_the_page_only() -> None:
    """Each hash is that of the text between the tags; nothing else is allowed."""
    text = page_of(onnx_scatterx.inspect(KV_CACHE, target="standard")).text
    (policy,) = re.findall('<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    for tag, name in ("style", "style-src"), ("script", "script-src"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
