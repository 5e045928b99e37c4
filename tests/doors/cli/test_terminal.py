"""What a terminal shows: tables within its width, colors if they are wanted; a pipe gets tabs."""

from pathlib import Path

import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.doors.cli.output import show
from tests.doors.cli.terminal import ESCAPES, as_terminal
from tests.helpers.commands import KV, MODELS, saved

BOX = str(MODELS / "box_update_dynamo.onnx")
MASK = str(MODELS / "mask_fill_dynamo.onnx")
AT_RUN = """g (float[900, 2] x, int64[90, 1] i, float[90, 2] y) => (float[900, 2] z)
    { z = ScatterND(x, i, y) }"""
COMMAND = "  onnx-scatterx optimize "  # it is pasted, so it is one line
GREEN, YELLOW, RED = "\x1b[32m", "\x1b[1;33m", "\x1b[1;31m"


def test_colors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_terminal(monkeypatch)
    assert main(["inspect", MASK]) == 0
    assert f"{GREEN}removed by Where" in capsys.readouterr().out
    assert main(["inspect", KV]) == 0
    assert f"{YELLOW}becomes ScatterX" in capsys.readouterr().out
    kept = saved(tmp_path / "m.onnx", AT_RUN)
    assert main(["inspect", kept, "--target", "standard"]) == 0
    assert f"{RED}kept: " in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["inspect", KV]) == 0
    assert "\x1b[" not in capsys.readouterr().out


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A name may have tabs and breaks."""
    show("a\tb\nc")
    assert capsys.readouterr().out == "a\\tb\\nc\n"


def test_a_pipe_gets_tabs_and_no_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", BOX]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "2 of 2 scatters can be removed, 10 -> 6 nodes",
        "node\toperator\twrites\twhat would be done",
        "node_ScatterND_67\tScatterND\tbox [:, :, 2:8]\tremoved by Concat, Slice",
        "node_ScatterND_79\tScatterND\tbox [:, 1:5, :]\tremoved by Concat, Slice",
        "6 nodes, no scatter among them",
        "next:",
        f"  onnx-scatterx optimize {BOX} -o OUT.onnx --verify",
    ]
    assert main(["inspect", BOX, "-v"]) == 0
    facts = [
        "ScatterND 2 -> 0, Transpose 5 -> 0, Concat 0 -> 2, Slice 3 -> 4",
        "in the given model the scatters move 1.09 kB in 4 pieces, "
        "where 448 bytes in 2 strided copies would do",
    ]
    assert capsys.readouterr().out.splitlines() == [*lines, *facts]


def test_colors_can_be_forced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["inspect", MASK]) == 0
    assert f"{GREEN}removed by Where" in capsys.readouterr().out


@pytest.mark.sampled(5)
@pytest.mark.parametrize("columns", [200, 80, 60, 40, 20])
@pytest.mark.parametrize("model", [BOX, MASK, KV], ids=["box", "mask", "cache"])
def test_the_width_of_the_terminal(
    columns: int, model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wider than it, and no word is broken: all that is there is there when joined."""
    as_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["inspect", model]) == 0
    text = ESCAPES.sub("", capsys.readouterr().out)
    told = [line for line in text.splitlines() if COMMAND not in line]
    assert max(map(len, told)) <= columns
    if columns >= 80:
        assert "ScatterND" in text
    rows = [line for line in told if line.startswith("│")]
    assert rows or columns < 80
    assert columns > 20 or not rows
    assert main(["explain", model]) == 0
    explained = capsys.readouterr().out.splitlines()
    wide = [line for line in explained if len(line) > columns and COMMAND not in line]
    assert all(len(line.split()) <= 2 or columns < 60 for line in wide), wide


def test_a_legend_explains_the_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_terminal(monkeypatch)
    assert main(["inspect", MASK]) == 0
    text = " ".join(ESCAPES.sub("", capsys.readouterr().out).split())
    assert "by the indices: the elements are known only at run time" in text
    assert "unknown" not in text
    assert main(["inspect", BOX]) == 0
    text = " ".join(ESCAPES.sub("", capsys.readouterr().out).split())
    assert "[ ]: the axes are those before the Transpose in front of the node" in text


def test_what_does_not_fit_a_line_is_indented(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two letters more than its line; a command is one line, which can be pasted."""
    as_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["inspect", KV, "--target", "coreml"]) == 0
    lines = ESCAPES.sub("", capsys.readouterr().out).splitlines()
    place = lines.index("what to do next:")
    assert lines[place + 1].startswith("  node_ScatterND_11, node_ScatterND_23 are kept: ")
    assert lines[place + 2].startswith("    required operator ")
    assert lines[place + 3] == "    removed by:"
    assert COMMAND in lines[place + 4]
    assert len(lines[place + 4]) > 80
    assert not [line for line in lines if line != line.rstrip() and "│" not in line]


def test_equal_rows_are_counted_and_the_column_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nodes = "".join(f"z{k} = ScatterND (x, i, y)\n" for k in range(7))
    outputs = ", ".join(f"float[900, 2] z{k}" for k in range(7))
    text = f"g (float[900, 2] x, int64[90, 1] i, float[90, 2] y) => ({outputs}) {{ {nodes} }}"
    model, word = saved(tmp_path / "m.onnx", text), "more: how many more nodes a row is about"
    assert main(["inspect", model]) == 0
    assert word not in capsys.readouterr().out
    as_terminal(monkeypatch)
    assert main(["inspect", model]) == 0
    assert word in " ".join(ESCAPES.sub("", capsys.readouterr().out).split())
    assert main(["inspect", BOX]) == 0
    assert word not in " ".join(capsys.readouterr().out.split())


def test_the_axes_are_those_of_the_statement(capsys: pytest.CaptureFixture[str]) -> None:
    """``x[:, 1:-1, 2:] = y[:, 1:-1, 2:]``: the exporter transposes, and writes the first axis."""
    assert main(["explain", BOX, "node_ScatterND_67"]) == 0
    text = capsys.readouterr().out
    assert "writes    box [:, :, 2:8], in the axes before the Transpose" in text


def test_an_unwritable_name_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnx

    model = onnx.load(BOX)
    node = next(n for n in model.graph.node if n.op_type == "ScatterND")
    node.name = "a\tb\nc\x1b[2J"
    onnx.save(model, tmp_path / "m.onnx")
    assert main(["inspect", str(tmp_path / "m.onnx")]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split("\t") for line in lines if "\tScatterND" in line]
    assert [len(row) for row in rows] == [4, 4]
    assert rows[0][0] == r"a\tb\nc\x1b[2J"
