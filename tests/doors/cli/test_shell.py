"""Habits of a shell: pipes, several models, JSON, help, and names that are nearly right."""

import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import onnx
import pytest

from onnx_scatterx.doors.cli import main, program
from tests.helpers.commands import KV, MODELS, NEG, error_of, saved, started
from tests.helpers.support import scatters

pytestmark = pytest.mark.sampled(2)

BOX = str(MODELS / "box_update_dynamo.onnx")
READ = str(MODELS / "gather_rows_ts.onnx")
Piped = Callable[..., subprocess.CompletedProcess[bytes]]


class Stdin:
    """A stream of bytes."""

    def __init__(self, content: bytes, *, is_terminal: bool = False) -> None:
        self.buffer = io.BytesIO(content)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    bare = capsys.readouterr()
    assert main(["--help"]) == 0
    assert bare == capsys.readouterr()
    assert bare.out.startswith("onnx-scatterx removes scatters from ONNX models")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["optimise", KV], "no command is called 'optimise'; did you mean optimize?"),
        (["zzz"], "no command is called 'zzz'; there is optimize, inspect"),
        (["inspect", KV, "--jsn"], "unrecognized arguments: --jsn; did you mean --json?"),
        (["inspect", KV, "--qqqqq"], "unrecognized arguments: --qqqqq (see onnx-scatterx inspect"),
        (
            ["inspect", KV, "--output=r.html", "--json"],
            "--output is an option of optimize, run, extract, not of inspect (see",
        ),
        (["run", KV, "--rtol", "1"], "--rtol is an option of verify, "),
        (
            ["inspect", KV, "--strict=bad"],
            "there is --strict, --strict=native and --strict=taken, not 'bad' (see onnx-s",
        ),
        (["inspect", KV, "--strict", "native"], "write --strict=native, with = before"),
        (["inspect", "--strict", "taken", KV], "write --strict=taken, with = before"),
        (
            ["inspect", KV, "--strict", "--strict=taken"],
            "--strict and --strict=taken are given: give one of them",
        ),
        (
            ["optimize", KV, "-o", "a", "--target", "qnn", "--target", "rknn"],
            "--target is given twice, as qnn and as rknn: give it once",
        ),
        (["inspect", KV, "--target", "rknn,qnn"], "target 'rknn,qnn': these are several; one run"),
        (["inspect", f"{KV}x"], f"{KV}x: no such file; did you mean {KV}?"),
        (["verify", KV, f"{KV}x"], f"{KV}x: no such file; did you mean {KV}?"),
        (["target", "new", "a b", "--operators", "Add"], "'a b' is not a name: use letters"),
        (["target", "new", "QNN", "--operators", "Add"], "QNN is listed: take another name"),
        (["--verison"], "unrecognized arguments: --verison; did you mean --version?"),
        (["inspect", KV, "--target", "standrad"], "no target is called 'standrad'; did you mean"),
        (
            ["target", "my chip.toml"],
            "'my chip.toml' is not the word new; onnx-scatterx targets 'my chip.toml' shows a "
            "profile, onnx-scatterx target new NAME writes one",
        ),
        (["target", "qnn"], "'qnn' is not the word new; onnx-scatterx targets qnn shows a profile"),
        (
            ["check", KV, "--with", "npu.toml"],
            "npu.toml is a profile, not a consumer; `onnx-scatter",
        ),
        (
            ["optimize", KV, "-o", "o", "--rules", "view concat"],
            "argument --rules: 'view concat' has",
        ),
        (["optimize", KV, "-o", "o", "--rules", "concta"], "no rule is called 'concta'; did you"),
        (
            ["optimize", KV, "-o", "o", "--print-after", "LowerScatter"],
            "no pass is called 'LowerScatter'; did you mean LowerScatters?",
        ),
    ],
)
def test_did_you_mean(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert error_of(capsys).startswith(told)


def test_a_parser_reads_several_command_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """An option that was given to the first is given to the second for the first time."""
    parser = program._parser()
    line = ["optimize", KV, "-o", "a", "--target"]
    assert [parser.parse_args([*line, t]).target for t in ("qnn", "rknn")] == ["qnn", "rknn"]
    with pytest.raises(SystemExit):
        parser.parse_args([*line, "qnn", "--target", "qnn"])
    assert error_of(capsys).startswith("--target is given twice, as qnn and as qnn")


def commands(capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out.split("\ncommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+)  ", listed, re.M)


@pytest.mark.slow
def test_every_help_ends_with_an_example_that_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("model.onnx").write_bytes(Path(BOX).read_bytes())
    found = commands(capsys)
    assert len(found) >= 8
    for name in found:
        assert main([name, "--help"]) == 0
        lines = capsys.readouterr().out.rstrip().splitlines()
        assert lines[-2] == "example:", name
        example = shlex.split(lines[-1])
        assert example[:2] == ["onnx-scatterx", name]
        if name != "check":  # it needs a compiler
            assert main(example[1:]) == 0, example
            capsys.readouterr()


def test_every_command_has_json(capsys: pytest.CaptureFixture[str]) -> None:
    for name in commands(capsys):
        assert main([name, "--help", "all"]) == 0
        assert "--json" in capsys.readouterr().out, name


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["optimize", KV, "-o", "o.onnx"], "scatters"),
        (["optimize", KV, BOX, "-o", "many", "--jobs", "1"], "models"),
        (["inspect", BOX], "scatters"),
        (["inspect", KV, BOX, "--jobs", "1"], "models"),
        (["explain", BOX], "parts"),
        (["verify", BOX, BOX, "--samples", "2"], "same"),
        (["run", BOX], "outputs"),
        (["bench", BOX, "--target", "standard", "--rounds", "6"], "models"),
        (["targets"], "operators"),
        (["targets", "qnn"], "max_rank"),
    ],
)
def test_json(arguments: list[str], key: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is all that is on stdout."""
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert key in (found[0] if isinstance(found, list) else found)


def test_json_of_a_failure_is_json_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = saved(tmp_path / "b.onnx", NEG.replace("Neg", "Abs"))
    assert main(["verify", saved(tmp_path / "a.onnx", NEG), other, "--json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["same"] is False
    assert printed.err == "onnx-scatterx: the models differ\n"


def test_stdin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    content = Path(BOX).read_bytes()
    for arguments in (
        ["inspect", "-"],
        ["explain", "-"],
        ["verify", "-", BOX, "--samples", "2"],
        ["verify", BOX, "-", "--samples", "2"],
        ["run", "-"],
        ["bench", BOX, "-", "--rounds", "6"],
        ["optimize", "-", "-o", "o.onnx", "--verify", "--samples", "2"],
    ):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        assert main(arguments) == 0, arguments
        assert capsys.readouterr().out
    assert scatters(onnx.load("o.onnx")) == 0
    text = b'<ir_version: 8, opset_import: ["": 18]> g (float x) => (float y) { y = Neg(x) }'
    monkeypatch.setattr(sys, "stdin", Stdin(text))
    assert main(["inspect", "-"]) == 0
    assert capsys.readouterr().out == "no scatter in this model\n"


@pytest.mark.parametrize(
    ("stdin", "arguments", "told"),
    [
        (Stdin(b""), ["inspect", "-"], "stdin: the file is empty"),
        (Stdin(b"nothing"), ["inspect", "-"], "stdin: not an ONNX model, or a truncated one"),
        (Stdin(b"<nothing"), ["inspect", "-"], "stdin: not an ONNX model, or a truncated one"),
        (Stdin(b"{" * 9999), ["inspect", "-"], "stdin: "),
        (Stdin(b"", is_terminal=True), ["inspect", "-"], "-: no model comes from stdin: it is"),
        (None, ["inspect", "-"], "-: no model comes from stdin"),
        (Stdin(b""), ["inspect", "-", KV], "-: a model from stdin must be the only model"),
        (Stdin(b""), ["verify", "-", "-"], "-: only one model can come from stdin"),
    ],
)
def test_stdin_must_be_a_model(
    stdin: Stdin | None,
    arguments: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(arguments) == 2
    assert error_of(capsys).startswith(told)


@pytest.fixture
def piped(tmp_path: Path) -> Piped:
    """Return what runs a command in a directory of its own."""
    directory = tmp_path / "piped"
    directory.mkdir()
    return partial(started, directory)


def test_stdout_is_the_model_alone(piped: Piped) -> None:
    """Through real pipes, and to a file."""
    command = [sys.executable, "-m", "onnx_scatterx", "optimize", "-", "-o", "-"]
    done = subprocess.run(command, input=Path(BOX).read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0
    assert scatters(onnx.load_model_from_string(done.stdout)) == 0
    assert b"2 of 2 scatters removed" in done.stderr
    quiet = piped("optimize", BOX, "-o", "-", "--quiet")
    assert (quiet.stdout, quiet.stderr) == (done.stdout, b"")


def test_external_data_become_part_of_the_stream(tmp_path: Path, piped: Piped) -> None:
    model = onnx.load(READ)
    outside = tmp_path / "m.onnx"
    onnx.save(model, outside, save_as_external_data=True, location="w", size_threshold=0)
    done = piped("optimize", str(outside), "-o", "-", "--verify")
    found = onnx.load_model_from_string(done.stdout)
    assert not any(t.external_data for t in found.graph.initializer)
    elsewhere = tmp_path / "elsewhere" / "m.onnx"
    elsewhere.parent.mkdir()
    onnx.save(found, elsewhere)
    assert piped("verify", str(outside), str(elsewhere), "--samples", "3").returncode == 0


def test_no_model_is_streamed_to_a_terminal_or_beside_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["optimize", BOX, "-o", "-", "--json"]) == 2
    assert error_of(capsys).startswith("--json has no effect with -o -")
    assert main(["optimize", BOX, KV, "-o", "-"]) == 2
    assert error_of(capsys).startswith("-o -: several models are written to a directory")
    assert main(["optimize", BOX, KV, "-o", "two.onnx"]) == 2
    assert error_of(capsys).startswith("-o two.onnx: several models are written to a directory")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["optimize", BOX, "-o", "-"]) == 2
    assert error_of(capsys).startswith("-o -: a model is written to stdout; send it to a file")


def test_a_model_that_differs_is_not_streamed(tmp_path: Path, piped: Piped) -> None:
    never = "g (float[2] x) => (float[3] y) { y = Reshape (x, [3]) }"
    done = piped("optimize", saved(tmp_path / "m.onnx", never), "-o", "-", "--verify")
    assert (done.returncode, done.stdout) == (2, b"")


def test_several_models(capsys: pytest.CaptureFixture[str]) -> None:
    """Files and directories; missing directories of the output's path are made."""
    Path("in/deep").mkdir(parents=True)
    Path("in/deep/a.onnx").write_bytes(Path(BOX).read_bytes())
    Path("b.onnx").write_bytes(Path(KV).read_bytes())
    more = ["--report", "new/out/r/summary.json", "--jobs", "1"]
    assert main(["optimize", "in", "b.onnx", "-o", "new/out", *more]) == 0
    assert "2 of 2 models written" in capsys.readouterr().out
    made = sorted(str(p) for p in Path("new").rglob("*") if p.is_file())
    assert made == ["new/out/b.onnx", "new/out/in/deep/a.onnx", "new/out/r/summary.json"]
    assert main(["optimize", "b.onnx", "nowhere.onnx", "-o", "x"]) == 2
    assert error_of(capsys) == "nowhere.onnx: no such file"
    assert not Path("x").exists()


def test_inspect_a_directory(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").mkdir()
    Path("in/a.onnx").write_bytes(Path(BOX).read_bytes())
    Path("in/b.onnx").write_bytes(b"no model")
    assert main(["inspect", "in", "--jobs", "1", "--target", "standard"]) == 2
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].startswith("1 of 2 models inspected, 2 of 2 scatters can be removed, 1 failed")
    assert lines[1] == "model\tseconds\twhat would be done"
    assert lines[2].startswith("a.onnx\t")
    assert "in/b.onnx: not an ONNX model" in printed.err
    Path("in/a.onnx").write_bytes(b"no model")
    assert main(["inspect", "in", "--jobs", "1"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("0 of 2 models inspected, 2 failed")
    assert lines[1] == "model\tseconds\twhat would be done"
    assert sorted(p.name for p in Path().rglob("*")) == ["a.onnx", "b.onnx", "in"]


@pytest.fixture
def weighty() -> Path:
    model = onnx.load(BOX)
    model.graph.initializer.append(onnx.helper.make_tensor("w", 1, [1024], [1.0] * 1024))
    model.graph.node.append(onnx.helper.make_node("Neg", ["w"], ["unused"]))
    onnx.save(model, "w.onnx")
    return Path("w.onnx")


def test_weights_can_be_written_outside(weighty: Path) -> None:
    assert main(["optimize", str(weighty), "-o", "out.onnx", "--save-as-external-data"]) == 0
    (big,) = [
        t
        for t in onnx.load("out.onnx", load_external_data=False).graph.initializer
        if t.dims == [1024]
    ]
    assert big.data_location == onnx.TensorProto.EXTERNAL
    assert Path("out.onnx.data").stat().st_size >= 4096
    assert main(["verify", str(weighty), "out.onnx", "--samples", "2"]) == 0
    more = ["--save-as-external-data", "--jobs", "1"]
    assert main(["optimize", str(weighty), BOX, "-o", "many", *more]) == 0
    assert [p.name for p in Path("many").rglob("*.data")] == ["w.onnx.data"]
