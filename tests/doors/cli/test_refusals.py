"""The command line with bad models, places and arguments, and with interrupts."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.files import saving as model_save
from onnx_scatterx.tell import inquiry
from tests.helpers.commands import KV, MODELS, NEG, ROW, YOLOX, error_of, saved
from tests.helpers.late import patient
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(2)


def truncated(path: Path) -> None:
    path.write_bytes(Path(YOLOX).read_bytes()[:2000])


def pointer(path: Path) -> None:
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1234\n")


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
    "'git lfs pull' brings the model": pointer,
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
        "new/": "is a directory",
        "nowhere/out.onnx": "does not exist",
        "m.onnx/out.onnx": "does not exist",
    }.items():
        assert main(["optimize", str(model), "-o", f"{tmp_path}/{out}"]) == 2
        assert because in error_of(capsys)
    assert main(["optimize", str(model), "-o", ""]) == 2
    assert error_of(capsys) == "the path of the output is empty; name a file"
    full = Path("/dev/full")
    if full.exists():
        assert main(["optimize", str(model), "-o", str(full)]) == 2
        assert "cannot be written: No space left" in error_of(capsys)
    assert model.read_bytes() == before
    assert len(os.listdir(tmp_path)) == 4


def test_the_data_of_the_source_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even if the optimized model does not read them."""
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
        (model, "r.txt", "a report is .json, .html or .md"),
        (model, "nowhere/r.json", "does not exist"),
        (model, "folder.json", "is a directory"),
        (str(text), "m.json", "the report is the input"),
    ):
        report = str(tmp_path / report)
        assert main(["optimize", source, "-o", str(out), "--report", report]) == 2
        assert because in error_of(capsys)
        assert not out.exists()


def test_no_report_without_its_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "out.onnx")

    monkeypatch.setattr(model_save, "stage", fail)
    model, report = saved(tmp_path / "m.onnx", ROW), tmp_path / "r.json"
    out = str(tmp_path / "out.onnx")
    assert main(["optimize", model, "-o", out, "--report", str(report)]) == 2
    assert error_of(capsys) == "out.onnx: Permission denied"
    assert os.listdir(tmp_path) == ["m.onnx"]


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["train", YOLOX], "no command is called 'train'; there is optimize"),
        (
            ["optimize", YOLOX],
            "-o is missing; for example: onnx-scatterx optimize model.onnx -o new.onnx",
        ),
        (["optimize", YOLOX, "-o", "o.onnx", "--target", "npu"], "no target is called 'npu'"),
        (["optimize", YOLOX, "-o", "o.onnx", "--rules", "x"], "no rule is called 'x'; there are v"),
        (["verify", YOLOX, YOLOX, "--samples", "0"], "'0' is not a whole number"),
        (
            ["optimize", YOLOX, "-o", "o.onnx", "--size-hint", "batch=x"],
            "'batch=x' is not like 'batch=8'",
        ),
        (["verify", YOLOX, YOLOX, "--seed", "-1"], "'-1' is not a whole number from 0 on"),
        (["run", KV, "--threads", "100000"], "100000 threads are more than 1024"),
        (["run", "."], "is a directory, not an ONNX model"),
        (["run", YOLOX, "--output", ""], "the path of the outputs is empty"),
        (["optimize", "gone", "-o", "."], "gone: no such file"),
        (
            ["explain", YOLOX, "-q"],
            "-q is an option of optimize, inspect, not of explain "
            "(see onnx-scatterx explain --help)",
        ),
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


def test_a_shell_that_closed_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["inspect", "gone.onnx"]) == 2
    assert capsys.readouterr().out == ""
    assert main(["verify", KV, KV, "--samples", "2"]) == 0


def test_a_bug_has_status_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AssertionError("something unheard of")

    monkeypatch.setattr(inquiry, "optimize_ir", broken)
    assert main(["inspect", YOLOX]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert "AssertionError: something unheard of" in lines
    assert lines[-1] == "onnx-scatterx: this is a bug in onnx-scatterx, please report it"


def test_a_package_that_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of others is installed; one of ours is a bug."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert main(["bench", YOLOX, "--target", "standard", "--rounds", "6"]) == 2
    assert error_of(capsys).endswith(
        "onnxruntime halted; None in sys.modules): pip install onnxruntime"
    )
    monkeypatch.setitem(sys.modules, "onnx_scatterx.lab.benchmarking.models", None)
    assert main(["bench", YOLOX, "--target", "standard", "--rounds", "6"]) == 2
    assert capsys.readouterr().err.endswith("this is a bug in onnx-scatterx, please report it\n")


def test_interrupt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inquiry, "optimize_ir", interrupted)
    assert main(["inspect", YOLOX]) == 130
    assert error_of(capsys) == "interrupted"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)  # where ^C is on the line
    monkeypatch.setenv("TERM", "dumb")
    assert main(["inspect", YOLOX]) == 130
    assert capsys.readouterr().err.endswith("\nonnx-scatterx: interrupted\n")


def test_no_memory(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(inquiry, "optimize_ir", large)
    assert main(["inspect", YOLOX]) == 2
    assert error_of(capsys) == "not enough memory: Unable to allocate 9 TiB"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals a group of processes")
def test_interrupted_workers(tmp_path: Path) -> None:
    """They end at once, in silence, and leave nothing half-written."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "onnx_scatterx", "optimize", str(MODELS), "-o", str(out)]
    options = ["--jobs", "2", "--verify", "--samples", "100000"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, *options],
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=patient(tmp_path),
        start_new_session=True,
    ) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        printed = process.communicate(timeout=60)
    assert printed == ("", "onnx-scatterx: interrupted\n")
    assert process.returncode == 130
    assert list(out.rglob("*")) == []
