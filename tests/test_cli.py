"""The command line: what it prints, what it writes, and with which status it ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import onnx_scatterx.api
from onnx_scatterx.api import Result
from onnx_scatterx.cli import main
from tests.support import parse, scatters

MODELS = Path(__file__).parents[1] / "models"
YOLOX = str(MODELS / "yolox_head_ts_dynamic.onnx")
KV = str(MODELS / "kv_cache_dynamo.onnx")

ROW = """row (float[N, 2] x, float[1, 2] y) => (float[N, 2] z)
    <int64[1, 1] i = {1}> { [the_write] z = ScatterND(x, i, y) }"""
NEG = "g (float[N] x) => (float[N] y) { y = Neg(x) }"
ABS = "g (float[N] x) => (float[N] y) { y = Abs(x) }"
NEVER = """g (float[3] x) => (float[1] y) { i = Constant <value_ints = [9]> () y = Gather(x, i) }"""
RANDOM = """g (float[2, 2] x, float[1, 2] y) => (float[2, 2] z)
    <int64[1, 1] i = {1}> { r = RandomNormalLike(x) z = ScatterND(r, i, y) }"""


def saved(path: Path, text: str, opset: int = 18) -> str:
    onnx.save(parse(text, opset), path)
    return str(path)


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on stderr, without its head."""
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("onnx-scatterx: ")
    assert "Traceback" not in line
    return line.removeprefix("onnx-scatterx: ")


def test_optimize(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "out.onnx", tmp_path / "report.json"
    options = ["--verify", "--samples", "4", "--report", str(report)]
    assert main(["optimize", YOLOX, "-o", str(out), *options]) == 0
    onnx.checker.check_model(out, full_check=True)
    assert scatters(onnx.load(out)) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "2 of 2 scatters removed" in printed.out
    assert "/ScatterND_1 │ ScatterND" in printed.out
    assert "the same, bit for bit: 4 of" in printed.out
    content = json.loads(report.read_text())
    assert content["removed"] == 2
    assert content["verification"]["same"] is True
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.onnx", "report.json"]


def test_optimize_quietly_with_chosen_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = tmp_path / "out.onnx", tmp_path / "r.html"
    arguments = ["optimize", YOLOX, "-q", "-o", str(out), "--report", str(page)]
    assert main([*arguments, "--rules", "view"]) == 0
    assert capsys.readouterr() == ("", "")
    assert scatters(onnx.load(out)) == 2
    assert "none of the chosen rules" in page.read_text() or "kept" in page.read_text()
    assert main([*arguments, "--rules", "view, concat"]) == 0
    assert scatters(onnx.load(out)) == 0


def test_a_model_without_scatter_is_written_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = saved(tmp_path / "m.onnx", NEG), tmp_path / "out.onnx"
    assert main(["optimize", model, "-o", str(out), "--verify", "--samples", "2"]) == 0
    assert onnx.load(out) == onnx.load(model)
    assert capsys.readouterr().out.startswith("no scatter in this model\n")


def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(YOLOX).read_bytes()
    assert main(["inspect", YOLOX]) == 0
    text = capsys.readouterr().out
    assert "2 of 2 scatters can be removed" in text
    assert "what would be done" in text
    assert "box [:, :, 0:2]" in text
    assert main(["inspect", YOLOX, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [s["node"] for s in content["scatters"]] == ["/ScatterND", "/ScatterND_1"]
    assert content["planned"] is True
    assert Path(YOLOX).read_bytes() == before


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", KV, "node_ScatterND_23"]) == 0
    text = capsys.readouterr().out
    assert "J = p(f(p1(I)) ++ p2(I))" in text
    assert "node_ScatterND_11" not in text
    assert main(["explain", KV]) == 0
    assert "node_ScatterND_11" in capsys.readouterr().out
    assert main(["explain", KV, "node_ScatterND_2"]) == 2
    assert "'node_ScatterND_2'; there is node_ScatterND_23" in error_of(capsys)


def test_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = str(MODELS / "read_steps_ts_dynamic.onnx"), str(tmp_path / "out.onnx")
    assert main(["inspect", model, "--reads"]) == 0
    assert "3 of 3 gathers can be removed" in capsys.readouterr().out
    assert main(["explain", model, "/Gather_2"]) == 0
    assert "reads     everything" in capsys.readouterr().out
    assert main(["explain", model, "--reads"]) == 0
    assert capsys.readouterr().out.count("answer    goes") == 3
    assert main(["optimize", model, "-o", out, "--reads", "--verify"]) == 0
    assert "3 of 3 gathers removed" in capsys.readouterr().out
    assert {node.op_type for node in onnx.load(out).graph.node} == {"Slice", "Identity"}


def test_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    neg, other = saved(tmp_path / "a.onnx", NEG), saved(tmp_path / "b.onnx", ABS)
    assert main(["verify", neg, neg, "--samples", "5", "--seed", "3"]) == 0
    assert "the same, bit for bit: 5 of 5" in capsys.readouterr().out
    assert main(["verify", neg, other]) == 1
    printed = capsys.readouterr()
    assert "output 'y' differs" in printed.out
    assert printed.err == "onnx-scatterx: the models differ\n"
    sizes = ["--assume", "N <= 4", "--assume", "N>=3"]
    assert main(["verify", neg, neg, "--samples", "6", *sizes[2:]]) == 0
    drawn = capsys.readouterr().out.split("N = ")[1]
    assert all(int(n) >= 3 for n in drawn.split(", "))
    assert main(["verify", neg, KV]) == 2
    assert "take different inputs" in error_of(capsys)


def test_a_model_that_runs_on_no_input_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    never = saved(tmp_path / "never.onnx", NEVER)
    assert main(["verify", never, never, "--samples", "2"]) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("not compared: 0 of ")
    assert printed.err.startswith("onnx-scatterx: not compared, as the first model ran on no input")
    assert printed.err.count("\n") == 1


def test_what_differs_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, out = saved(tmp_path / "m.onnx", ROW), tmp_path / "out.onnx"
    right = onnx_scatterx.api.optimize

    def wrong(model: str, **options: object) -> Result:
        result = right(model)
        nodes = result.model.graph.node
        nodes[-1].input[1], nodes[-1].input[0] = nodes[-1].input[0], nodes[-1].input[1]
        return result

    monkeypatch.setattr(onnx_scatterx.api, "optimize", wrong)
    report = tmp_path / "r.json"
    assert main(["optimize", model, "-o", str(out), "--verify", "--report", str(report)]) == 1
    printed = capsys.readouterr()
    assert "output 'z'" in printed.out
    assert printed.err == f"onnx-scatterx: the models differ; {out} is not written\n"
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_what_cannot_be_compared_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = saved(tmp_path / "m.onnx", RANDOM), tmp_path / "out.onnx"
    out.write_text("precious")
    assert main(["optimize", model, "-o", str(out), "--verify"]) == 2
    assert "draws random numbers" in error_of(capsys)
    assert out.read_text() == "precious"


def truncated(path: Path) -> None:
    path.write_bytes(Path(YOLOX).read_bytes()[:2000])


def undefined(path: Path) -> None:
    onnx.save(parse("g (float[N] x) => (float[N] y) { y = Add(x, gone) }"), path)


def old(path: Path) -> None:
    onnx.save(parse(NEG, opset=8), path)


def future(path: Path) -> None:
    onnx.save(parse(NEG, opset=99), path)


def without_data(path: Path) -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Add(x, w) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(300, np.float32), "w"))
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    path.with_name("w.bin").unlink()


BAD: dict[str, Callable[[Path], object]] = {
    "no such file": lambda path: None,
    "is a directory": Path.mkdir,
    "the file is empty": lambda path: path.write_bytes(b""),
    "not an ONNX model": lambda path: path.write_text("# A text\n"),
    "a truncated one": truncated,
    "nothing defines the value 'gone'": undefined,
    "opset 8 is not supported": old,
    "opset 99 is newer than": future,
    "w.bin does not exist": without_data,
}


@pytest.mark.parametrize("because", BAD)
def test_bad_input(because: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "bad.onnx", tmp_path / "out.onnx"
    BAD[because](path)
    for command in (["optimize", str(path), "-o", str(out)], ["explain", str(path)]):
        assert main(command) == 2
        assert because in error_of(capsys)
    assert not out.exists()


def test_bad_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = Path(saved(tmp_path / "m.onnx", ROW))
    before = model.read_bytes()
    (tmp_path / "soft.onnx").symlink_to(model)
    (tmp_path / "hard.onnx").hardlink_to(model)
    (tmp_path / "folder").mkdir()
    for out, because in {
        "m.onnx": "the output is the input",
        "soft.onnx": "the output is the input",
        "hard.onnx": "the output is the input",
        "folder": "is a directory",
        "nowhere/out.onnx": "does not exist",
        "m.onnx/out.onnx": "does not exist",
    }.items():
        assert main(["optimize", str(model), "-o", str(tmp_path / out)]) == 2
        assert because in error_of(capsys)
    full = Path("/dev/full")
    if full.exists():
        assert main(["optimize", str(model), "-o", str(full)]) == 2
        assert "cannot be written: No space left" in error_of(capsys)
    assert model.read_bytes() == before
    assert len(os.listdir(tmp_path)) == 4


def test_the_data_of_the_source_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even where the optimized model reads them no longer."""
    text = "g (float[1, 300] u) => (float[1, 300] y) { y = ScatterND(w, i, u) }"
    model = parse(text.replace("{", "<int64[1, 1] i = {0}> {", 1))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((1, 300), "f"), "w"))
    source = tmp_path / "m.onnx"
    onnx.save(model, source, save_as_external_data=True, location="w.bin", size_threshold=1000)
    before = (tmp_path / "w.bin").read_bytes()
    (tmp_path / "link.onnx").symlink_to(tmp_path / "w.bin")
    for out in "w.bin", "link.onnx":
        assert main(["optimize", str(source), "-o", str(tmp_path / out)]) == 2
        assert "the output is a data file of the input" in error_of(capsys)
    assert (tmp_path / "w.bin").read_bytes() == before
    assert main(["optimize", str(source), "-o", str(tmp_path / "out.onnx")]) == 0
    assert not onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.initializer


def test_bad_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = saved(tmp_path / "m.onnx", ROW)
    text = tmp_path / "m.json"
    onnx.save(parse(ROW), text)
    (tmp_path / "folder.json").mkdir()
    out = tmp_path / "out.onnx"
    for source, report, because in (
        (model, "r.txt", "a report is .json or .html"),
        (model, "nowhere/r.json", "does not exist"),
        (model, "folder.json", "is a directory"),
        (str(text), "m.json", "is the model"),
    ):
        report = str(tmp_path / report)
        assert main(["optimize", source, "-o", str(out), "--report", report]) == 2
        assert because in error_of(capsys)
        assert not out.exists()


def test_no_report_without_its_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "out.onnx")

    monkeypatch.setattr(Result, "save", fail)
    model, report = saved(tmp_path / "m.onnx", ROW), tmp_path / "r.json"
    out = str(tmp_path / "out.onnx")
    assert main(["optimize", model, "-o", out, "--report", str(report)]) == 2
    assert error_of(capsys) == "out.onnx: Permission denied"
    assert os.listdir(tmp_path) == ["m.onnx"]


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["train", YOLOX], "invalid choice: 'train'"),
        (["optimize", YOLOX], "give -o OUT to write the model, or use inspect"),
        (["optimize", YOLOX, "-o", "o.onnx", "--target", "npu"], "no target is called 'npu'"),
        (["optimize", YOLOX, "-o", "o.onnx", "--rules", "x"], "no rule is called 'x'; there are v"),
        (["verify", YOLOX, YOLOX, "--samples", "0"], "'0' is not a whole number"),
        (
            ["optimize", YOLOX, "-o", "o.onnx", "--size", "batch=x"],
            "'batch=x' is not like 'batch=8'",
        ),
        (["calibrate", "-o", "."], "is a directory"),
        (["verify", YOLOX, YOLOX, "--seed", "-1"], "'-1' is no number from 0 on"),
        (["run", KV, "--threads", "100000"], "100000 threads are more than 1024"),
        (["run", "."], "is a directory, not an ONNX model"),
        (["verify", YOLOX, YOLOX, "--assume", "x"], "'x' is not like 'seq <= 512'"),
        (["verify", YOLOX, YOLOX, "--assume", "q < 3"], "cannot assume anything of 'q'"),
    ],
)
def test_bad_arguments(
    arguments: list[str],
    because: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert because in error_of(capsys)
    assert not list(tmp_path.iterdir())


def test_a_bug_is_no_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AssertionError("something unheard of")

    monkeypatch.setattr(onnx_scatterx.api, "inspect", broken)
    assert main(["inspect", YOLOX]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert "AssertionError: something unheard of" in lines
    assert lines[-1] == "onnx-scatterx: this is a bug in onnx-scatterx, please report it"


def test_interrupt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(onnx_scatterx.api, "inspect", interrupted)
    assert main(["inspect", YOLOX]) == 130
    assert error_of(capsys) == "interrupted"


def test_no_memory(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(onnx_scatterx.api, "inspect", large)
    assert main(["inspect", YOLOX]) == 2
    assert error_of(capsys) == "not enough memory: Unable to allocate 9 TiB"


@pytest.mark.skipif(os.name != "posix", reason="signals a group of processes")
def test_interrupted_workers(tmp_path: Path) -> None:
    """They end at once, in silence, and leave nothing half-written."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "onnx_scatterx", "optimize", str(MODELS), "-o", str(out)]
    options = ["--jobs", "2", "--verify", "--samples", "100000"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, *options], stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        printed = process.communicate(timeout=60)
    assert printed == ("", "onnx-scatterx: interrupted\n")
    assert process.returncode == 130
    assert list(out.rglob("*")) == []


def test_output_may_be_closed() -> None:
    program = (
        "import sys; from onnx_scatterx.cli import main; sys.stdout = None\n"
        f"sys.exit(main(['inspect', {YOLOX!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line


def test_nobody_reads_on() -> None:
    script = f"{sys.executable} -m onnx_scatterx explain {YOLOX} | true; exit ${{PIPESTATUS[0]}}"
    shell = shutil.which("bash")
    assert shell is not None
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode in (0, 141)


def test_names_are_neither_cut_nor_read_as_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = parse(ROW)
    name = "/model/" + "very_long/" * 12 + "[red]ScatterND[/bold]"
    model.graph.node[0].name = name
    onnx.save(model, tmp_path / "m.onnx")
    for terminal in (False, True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda answer=terminal: answer)
        for command in ("inspect", "explain"):
            assert main([command, str(tmp_path / "m.onnx")]) == 0
            text = capsys.readouterr().out
            assert "…" not in text
            column = "".join(line.split("│")[1].strip() for line in text.split("\n") if "│" in line)
            assert name in (column or text)


def test_help_needs_no_heavy_library() -> None:
    program = (
        "import sys; from onnx_scatterx.cli import main; status = main(['--help'])\n"
        "print(status, *sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    *help_text, last = done.stdout.splitlines()
    status, *modules = last.split()
    assert status == "0"
    assert any("optimize" in line for line in help_text)
    assert not {"numpy", "onnx", "onnx_ir", "onnxruntime", "rich", "torch"} & set(modules)
