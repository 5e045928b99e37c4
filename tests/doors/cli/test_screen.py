"""The default output of `optimize` and `inspect` is one screen; -v prints all of it."""

import re
from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.tell.advice.change import Command
from tests.doors.cli.terminal import ESCAPES, as_terminal
from tests.helpers.advised import inspected_with_advice
from tests.helpers.commands import MODELS, error_of, saved
from tests.helpers.html import Page
from tests.helpers.many_scatters import many_scatters

pytestmark = pytest.mark.sampled(2)

LONG = "/model/decoder/layers.{}/self_attn/some_more/cache/ScatterND"
SIZE = "number_of_rows_that_an_image_has_and_more"
WINDOW = f"""g (float[N, 4] x, float[{SIZE}, 4] u) => (float[N, 4] z) {{
    last = Constant <value_ints = [-1]> ()  one = Constant <value_int = 1> ()
    m0 = Shape <start = 0, end = 1> (u)  m = Squeeze (m0)  end = Add (m, m)
    r = Range (m, end, one)  i = Unsqueeze (r, last)  z = ScatterND (x, i, u) }}"""
MANY = ("Erf", "Tanh", "Asin") * 3
AT_RUN = """g (float[64, 32] x, int64[4, 1] i, float[4, 32] u) => (float[64, 32] z) {
    a = ScatterND (x, i, u)  b = Relu (a)  c = ScatterND (b, i, u)  d = Relu (c)
    e = ScatterND (d, i, u)  f = Relu (e)  h = ScatterND (f, i, u)  z = Relu (h) }"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of 60 scatters with long names."""
    model = many_scatters(60)
    for number, node in enumerate(model.graph.node):
        node.name = LONG.format(number)
    path = tmp_path_factory.mktemp("many") / "many.onnx"
    onnx.save(model, path)
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["scatterx", pytest.param("qnn", marks=pytest.mark.full)])
def test_60_scatters_fill_one_screen(
    target: str,
    many: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(Path(many).parent)
    out = str(tmp_path / "o.onnx")
    for command in (["inspect", "many.onnx"], ["optimize", "many.onnx", "-o", out]):
        assert main([*command, "--target", target]) == 0
        lines = ESCAPES.sub("", capsys.readouterr().out).splitlines()
        wrapped = sum(-(-len(line) // 80) for line in lines)
        assert wrapped <= 40, "\n".join(lines)
        assert any(" of 60 scatters " in line for line in lines)


def test_all_of_it(many: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", many, "--target", "standard", "-v"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines() if "\tScat" in line]
    assert len(rows) == 60
    assert main(["inspect", many, "--target", "standard"]) == 0
    printed = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    told = [row for row in printed if len(row) == 4 and row[0] != "node"]
    assert 2 <= len(told) <= 5
    assert sum(1 + int(row[1] or 0) for row in told) == 60
    assert {row[0] for row in told} <= {row[0] for row in rows}
    for idle in ["--json"], ["."]:
        assert main(["inspect", "-v", *([many] if idle == ["--json"] else []), *idle]) == 2
        assert "--verbose has no effect" in error_of(capsys)


def test_a_long_box_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With letters for its bounds, which `explain` tells."""
    model = saved(tmp_path / "m.onnx", WINDOW)
    assert main(["inspect", model]) == 0
    assert "\tbox [a:b, :]\t" in capsys.readouterr().out
    report = onnx_scatterx.inspect(model)
    assert "letters in [ ]: long terms, which explain prints\n" in str(report)
    assert "letters" not in str(onnx_scatterx.inspect(MODELS / "box_update_ts.onnx"))
    assert main(["explain", model]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"writes box [{SIZE}:2*{SIZE}, :]" in said


def test_a_long_result_says_so_and_what_is_shorter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = saved(tmp_path / "m.onnx", AT_RUN), str(tmp_path / "out.onnx")
    html = tmp_path / "r.html"
    arguments = ["--target", "standard", "--report", str(html)]
    assert main(["optimize", model, "-o", out, *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    first, why, by, command, about, *_ = lines[lines.index("what to do next:") :]
    before, after = len(onnx.load(model).graph.node), len(onnx.load(out).graph.node)
    assert (first, why) == (
        "what to do next:",
        f"  the result has {after} nodes instead of {before}:",
    )
    assert after > max(2 * before, before + 10)
    assert (by, command) == ("    smaller by:", f"      onnx-scatterx optimize {model} -o {out}")
    assert about.strip().startswith(f"{before} nodes, ONNX Runtime")
    said = Page(html.read_text(encoding="utf-8")).said
    assert f"{why.strip(' :')}; smaller by: {command.strip()} {about.strip()}" in said
    assert main(["optimize", str(tmp_path), "-o", str(tmp_path / "all"), *arguments, "-q"]) == 0
    said = Page(html.read_text(encoding="utf-8")).said
    assert f"{why.strip(' :')}; smaller by: onnx-scatterx optimize {model} -o " in said
    assert main(command.split()[1:]) == 0
    assert len(onnx.load(out).graph.node) == before
    assert "smaller by" not in capsys.readouterr().out


def test_what_standard_would_remove_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a ScatterX was written: of how many scatters, in one line, and with the option."""
    model, out = saved(tmp_path / "m.onnx", AT_RUN), str(tmp_path / "out.onnx")
    line = "the target standard removes 4 of 4: --target standard"
    for command, may in (["inspect", model], "can be "), (["optimize", model, "-o", out], ""):
        assert main(command) == 0
        lines = capsys.readouterr().out.splitlines()
        count = f"0 of 4 scatters {may}removed, 4 {may}written as ScatterX, 8 -> 8 nodes"
        assert f"{count}; ScatterX is for ONNX Runtime" in lines
        assert line in lines
        assert main([*command, "--no-advice"]) == 0
        assert line not in capsys.readouterr().out
    monkeypatch.setenv("ONNX_SCATTERX_LIBRARY", "no.so")  # then a result needs what is not there
    for target, times in ("scatterx", 1), ("standard", 0):
        assert main(["optimize", model, "-o", out, "--target", target]) == 0
        assert capsys.readouterr().out.count("\nhere ScatterX runs as functions, ") == times
    assert main(["optimize", model, "-o", out, "--target", "standard"]) == 0
    told = capsys.readouterr().out
    assert "4 of 4 scatters removed, " in told
    assert line not in told


@pytest.mark.parametrize("columns", ["80", ""])
def test_no_sentence_is_cut(
    columns: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a terminal or a pipe. Lists of names are shortened, and names in the cells of a table."""
    nodes = (f"a{n} = {op} (y{n})  y{n + 1} = ScatterND (a{n}, i, u)" for n, op in enumerate(MANY))
    text = f"""g (float[64, 32] y0, int64[40, 1] i, float[40, 32] u) => (float[64, 32] y9)
        {{ {" ".join(nodes)} }}"""
    model = onnx.load(saved(tmp_path / "m.onnx", text))
    for number, node in enumerate(model.graph.node):
        node.name = LONG.format(number)
    onnx.save(model, tmp_path / "m.onnx")
    (tmp_path / "mychip.toml").write_text('name = "mychip"\noperators = ["Where", "Relu"]')
    monkeypatch.chdir(tmp_path)
    if columns:
        as_terminal(monkeypatch)
        monkeypatch.setenv("COLUMNS", columns)
    assert main(["inspect", "m.onnx", "--target", "mychip.toml"]) == 0
    lines = ESCAPES.sub("", capsys.readouterr().out).splitlines()
    prose = [line for line in lines if "│" not in line]
    assert not [line for line in prose if "…" in line]
    report = onnx_scatterx.inspect("m.onnx", target="mychip.toml")
    first, second, *_ = (scatter.node for scatter in report.scatters)
    assert report.violation_lines()[:3] == [
        "18 violations of the target mychip:",
        f"  mychip takes no ScatterND (9): {first}, {second} and 7 more",
        f"  mychip takes no Erf (3): {', '.join(LONG.format(n) for n in (0, 6, 12))}",
    ]
    kept = f"{first}, {second} and 7 more are kept: {report.scatters[0].refusal}"
    words = " ".join(" ".join(prose).split())
    for told in (report.violation_lines()[2], kept):
        assert " ".join(told.split()) in words


def test_what_the_target_takes_is_nothing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a GatherND at positions of the run; what was not asked for is not counted."""
    read = """g (float[1, 8, 4] table, int64[1] at, float[64, 8] x, float[1, 8] u)
        => (float[1, 4] p, float[64, 8] y) <int64[1] last = {-1}, int64[1] zero = {0}> {
        first = Sub (at, at)  both = Concat <axis = 0> (first, at)  j = Unsqueeze (both, zero)
        p = GatherND (table, j)  i = Unsqueeze (at, last)  y = ScatterND (x, i, u) }"""
    model = saved(tmp_path / "m.onnx", read)
    taken = [v.op for v in onnx_scatterx.inspect(model, target="qnn").violations]
    assert "GatherND" not in taken
    assert main(["inspect", model, "--target", "qnn"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("1 of 1 scatters can be removed, ")
    assert "what to do next" not in told
    assert "GatherND" not in told
    assert "gathers" not in told
    assert main(["inspect", model, "--target", "qnn", "--gathers"]) == 0
    assert "1 of 1 scatters can be removed, 0 of 1 gathers can" in capsys.readouterr().out
    lacks = "standard, avoid = ['GatherND']"
    assert main(["inspect", model, "--target", lacks]) == 0
    told = capsys.readouterr().out
    assert told.startswith("1 of 1 scatters can be removed, 1 gather can be removed, ")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_standard_removes_what_is_said(path: Path) -> None:
    found = inspected_with_advice(path, Command(str(path)))
    assert (found.by_standard is None) == (found.native == 0)
    if found.by_standard is not None:
        assert found.by_standard == onnx_scatterx.inspect(path, target="standard").removed


def test_a_large_constant_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mask of a write into zeros is folded for a device, at the size that is fixed."""
    fill = """g (float[N] x) => (float[N] z) { n = Shape (x)  k = ConstantOfShape (n)
        b = Constant <value_ints = [0]> ()  e = Unsqueeze (b, b)
        u = Constant <value_floats = [1.0]> ()  m = ScatterND (k, e, u)  z = Add (x, m) }"""
    model, out = saved(tmp_path / "m.onnx", fill), str(tmp_path / "out.onnx")
    assert main(["optimize", model, "-o", out, "--target", "qnn", "--fix", "N=9000"]) == 0
    assert "\nthe result is larger: 240 bytes before, 36.1 kB after" in capsys.readouterr().out


def test_fixed_sizes_are_tried_for_a_device() -> None:
    """A report that says that the model was short is enough."""
    model = MODELS / "letterbox_ts_dynamic.onnx"
    command = Command("m.onnx", target="rknn")
    report = inspected_with_advice(model, command, said={"nodes_before": 1}, target="rknn")
    *_, advice = report.advice
    (way,) = advice.ways
    fixed = dict(re.findall(r"--fix (\w+)=(\d+)", way.command))
    nodes = re.findall(
        r"^(\d+) nodes at these sizes, or with numbers of your own: batch = axis 0 of image, ",
        way.condition,
    )
    sizes = {name: int(number) for name, number in fixed.items()}
    found = onnx_scatterx.optimize(model, target="rknn", fix=sizes).report
    assert [str(found.nodes_after)] == nodes
    assert found.nodes_after < report.nodes_after
    assert inspected_with_advice(model, command, target="rknn", fix=sizes).advice == ()
