"""Names of a model and of files, whatever stands in them, are seen and do nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import helper

import onnx_scatterx
from onnx_scatterx import ScatterXError
from onnx_scatterx.doors.cli import main
from onnx_scatterx.tell import inquiry
from onnx_scatterx.text.visible_text import as_html, visible
from tests.helpers.examples import are_all
from tests.helpers.html import Page

pytestmark = pytest.mark.sampled(2)

EVIL = "\x1b[2J\x07\x9b31m\r\nforged: line\u202e\u2028[bold]:bug:\x7f\t"
SEEN = r"\x1b[2J\x07\x9b31m\r\nforged: line\u202e\u2028[bold]:bug:\x7f\t"


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """Return a file of a model all of whose names do what they can."""
    inputs = [
        helper.make_tensor_value_info(f"x{EVIL}", onnx.TensorProto.FLOAT, [f"N{EVIL}", 4]),
        helper.make_tensor_value_info(f"i{EVIL}", onnx.TensorProto.INT64, [2, 1]),
        helper.make_tensor_value_info(f"u{EVIL}", onnx.TensorProto.FLOAT, [2, 4]),
    ]
    output = helper.make_tensor_value_info(f"y{EVIL}", onnx.TensorProto.FLOAT, None)
    nodes = [
        helper.make_node("ScatterND", [v.name for v in inputs], [f"s{EVIL}"], name=f"node{EVIL}"),
        helper.make_node(f"op{EVIL}", [f"s{EVIL}"], [f"y{EVIL}"], domain="of.mine"),
    ]
    own = helper.make_function(
        "of.mine",
        f"op{EVIL}",
        ["a"],
        ["b"],
        [helper.make_node("Neg", ["a"], ["b"])],
        [helper.make_opsetid("", 18)],
    )
    graph = helper.make_graph(nodes, f"graph{EVIL}", inputs, [output])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("of.mine", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=[own])
    path = tmp_path / f"model{EVIL}.onnx"
    path.write_bytes(model.SerializeToString())
    return str(path)


def check_seen(printed: str) -> None:
    """Check that all is visible, but for the colors of the tables on a terminal."""
    printed = re.sub(r"\x1b\[[0-9;]*m", "", printed)
    for line in printed.split("\n"):
        assert line.replace("\t", "").isprintable()  # cells of a table in a pipe
        assert not line.startswith("forged")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(
    ("command", "status", "shown"),
    [
        ("inspect IN", 0, "node"),
        ("inspect IN --target qnn --strict", 1, "N"),
        ("explain IN", 0, "node"),
        ("explain IN gone", 2, "node"),
        ("optimize IN -o OUT --target standard --verify --samples 2 -v", 0, "N"),
        ("verify IN IN --samples 2", 0, "N"),
        ("verify IN IN --assume Q<3", 2, "N"),
        ("run IN --size Q=3", 2, "N"),
        ("run IN", 0, "y"),
        ("bench IN IN --rounds 6", 0, "N"),
        ("inspect gone-IN", 2, "gone-"),
        ("optimize DIR -o DIR/out --jobs 1", 0, "model"),
    ],
)
def test_whatever_is_printed_is_seen(
    hostile: str,
    command: str,
    status: int,
    shown: str,
    terminal: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    places = {"IN": hostile, "OUT": str(tmp_path / "out.onnx"), "DIR": str(tmp_path)}
    words = [re.sub("IN|OUT|DIR", lambda m: places[m[0]], word) for word in command.split()]
    assert main(words) == status
    printed = capsys.readouterr()
    check_seen(printed.out)
    check_seen(printed.err)
    # Where a table folds or a line is cut, not all of it stands in one piece.
    found = re.search(re.escape(shown) + r"\S*\\x1b\[2", printed.out + printed.err)
    assert found or "…" in printed.out  # shortened in the middle


def test_reports_and_pages(hostile: str, tmp_path: Path) -> None:
    report, page = tmp_path / "r.json", tmp_path / "r.html"
    for place in report, page:
        out = str(tmp_path / "out.onnx")
        options = ["--target", "standard", "--verify", "--samples", "2", "--report", str(place)]
        assert main(["optimize", hostile, "-o", out, "-q", *options]) == 0
    content = report.read_text(encoding="utf-8")
    check_seen(content)
    (scatter,) = json.loads(content)["scatters"]
    assert (scatter["node"], scatter["graph"]) == (f"node{EVIL}", f"graph{EVIL}")
    check_seen(page.read_text(encoding="utf-8"))
    assert f"node{SEEN} ScatterND" in Page(page.read_text(encoding="utf-8")).said


def test_of_errors_and_of_texts_in_python(hostile: str) -> None:
    with pytest.raises(ScatterXError) as raised:
        onnx_scatterx.explain(hostile, "gone")
    check_seen(str(raised.value))
    report = onnx_scatterx.inspect(hostile)
    check_seen(str(report))
    assert f"node{SEEN}: updates may go" in str(report)
    assert onnx_scatterx.explain(hostile).startswith(f"node{SEEN}: ScatterND in graph graph{SEEN}")


def test_a_bug_is_seen_too(
    hostile: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AssertionError(f"of {EVIL}")

    monkeypatch.setattr(inquiry, "optimize_ir", broken)
    assert main(["inspect", hostile]) == 2
    assert "this is a bug" in (printed := capsys.readouterr().err)
    assert printed.replace("\n", "").isprintable()


def test_what_stdout_cannot_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names in other scripts are shown as they are, and escaped only for want of an encoding."""
    model = Path(__file__).parents[2] / "models" / "kv_cache_dynamo.onnx"
    path = tmp_path / "größe-漢字.onnx"
    shutil.copy(model, path)
    assert main(["inspect", str(path), "--target", "coreml"]) == 0  # in UTF-8
    assert "größe-漢字" in capsys.readouterr().out
    command = [sys.executable, "-m", "onnx_scatterx", "inspect", str(path), "--target", "coreml"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    found = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert r"gr\xf6\xdfe-\u6f22\u5b57" in found.stdout.decode("ascii")
    assert found.stderr == b""


def test_each_kind_of_character() -> None:
    for character in map(chr, range(0, sys.maxunicode + 1, 1 if are_all() else 7)):
        shown = visible(character)
        assert shown.isprintable()
        assert visible(shown) == shown
        if character.isprintable():
            assert shown == character
    assert as_html(f"<i>{EVIL}</i>") == f"&lt;i&gt;{SEEN}&lt;/i&gt;"
