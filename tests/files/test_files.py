"""Nothing that was read is replaced, by any of its names, and every file is written whole."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from tests.helpers.commands import NEG, error_of, saved
from tests.helpers.external_data import with_index
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(2)

_opened: list[set[Path]] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened and isinstance(arguments[0], str | bytes | os.PathLike):
        mode = arguments[1]
        if mode is None or "r" in mode:
            _opened[-1].add(Path(os.fsdecode(arguments[0])).absolute())


sys.addaudithook(_note)


@pytest.fixture
def opened() -> Iterator[set[Path]]:
    """Every file that Python opens to read during the test."""
    _opened.append(set())
    yield _opened[-1]
    _opened.pop()


def read_by(command: list[str], opened: set[Path], folder: Path) -> list[Path]:
    """Return the files of a folder that a command opens to read."""
    opened.clear()
    assert main(command) == 0
    return sorted(file for file in opened if file.parent == folder)


def refused(command: list[str], place: Path, files: list[Path], capsys: Any) -> None:
    """Assert that a command fails that writes to a name of a file that it reads."""
    for file in files:
        before = file.read_bytes()
        for link in Path.symlink_to, Path.hardlink_to:
            link(place, file)
            assert main(command) == 2, (command, file, link)
            assert "choose another path" in error_of(capsys)
            place.unlink()
        assert file.read_bytes() == before


def test_optimize_replaces_nothing_that_it_reads(
    tmp_path: Path,
    opened: set[Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    model = with_index(folder / "m.onnx")
    (folder / "npu.toml").write_text('name = "npu"\nbase = "ort-cpu"\n')
    command = ["optimize", str(model), "--target", str(folder / "npu.toml")]
    command += ["-q", "-o", str(out / "o.onnx"), "--report", str(out / "r.json")]
    files = read_by(command, opened, folder)
    assert [file.name for file in files] == ["m.onnx", "npu.toml", "w.json"]
    for name in "o.onnx", "r.json":
        for file in out.iterdir():
            file.unlink()
        refused(command, out / name, files, capsys)
        assert list(out.iterdir()) == []


def test_run_replaces_nothing_that_it_reads(
    tmp_path: Path, opened: set[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out.npz"
    folder.mkdir()
    model = with_index(folder / "m.onnx")
    np.save(folder / "x.npy", np.zeros((3, 2), np.float32))
    np.savez(folder / "rest.npz", u=np.ones((1, 2), np.float32))
    command = ["run", str(model), "--input", f"x={folder}/x.npy", f"{folder}/rest.npz"]
    command += ["--output", str(out)]
    assert {"m.onnx", "rest.npz", "x.npy"} <= {
        file.name for file in read_by(command, opened, folder)
    }
    capsys.readouterr()
    out.unlink()
    for arguments in command, ["run", str(model), "--output", str(out)]:
        named = [folder / "x.npy", folder / "rest.npz"] if "--input" in arguments else []
        refused(arguments, out, [model, folder / "w.json", *named], capsys)
    # And as one of the files of a directory, of which then none is written.
    np.save(folder / "y.npy", np.zeros((3, 2), np.float32))
    before = (folder / "y.npy").read_bytes()
    names = {p.name for p in folder.iterdir()}
    command = ["run", str(model), "--input", f"x={folder}/y.npy", f"{folder}/rest.npz"]
    assert main([*command, "--output", str(folder)]) == 2
    assert "y.npy: the output is an input array" in error_of(capsys)
    assert (folder / "y.npy").read_bytes() == before
    assert {p.name for p in folder.iterdir()} == names


def test_the_library_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "lib.so"
    library.write_bytes(onnx_scatterx.library_path().read_bytes())
    monkeypatch.setenv("ONNX_SCATTERX_LIBRARY", str(library))
    command = ["run", saved(tmp_path / "m.onnx", NEG), "--output", str(tmp_path / "o.npz")]
    refused(command, tmp_path / "o.npz", [library], capsys)


@pytest.mark.parametrize("there", [False, True])
def test_a_report_does_not_replace_the_data_that_are_written(
    there: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither copied ones nor those that an earlier run has left."""
    model, out = with_index(tmp_path / "m.onnx"), tmp_path / "out"
    out.mkdir()
    if there:
        (out / "w.json").write_bytes((tmp_path / "w.json").read_bytes())
    before = sorted(out.iterdir())
    # A rule that leaves the scatter, so that the index is still needed.
    command = ["optimize", str(model), "-o", str(out / "o.onnx"), "--rules", "pad"]
    assert main([*command, "--report", str(out / "w.json")]) == 2
    assert "w.json" in error_of(capsys)
    assert sorted(out.iterdir()) == before


def test_a_summary_replaces_no_model_and_no_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zoo, out = tmp_path / "zoo", tmp_path / "out"
    zoo.mkdir()
    model = with_index(zoo / "m.onnx")
    report = tmp_path / "r.json"
    command = ["optimize", str(zoo), "-o", str(out), "-q", "--jobs", "1", "--rules", "pad"]
    refused([*command, "--report", str(report)], report, [model, zoo / "w.json"], capsys)
    assert not out.exists(), "it is refused before the work"
    for _ in range(2):  # the directory is made, or is there
        assert main([*command, "--report", str(out / "w.json")]) == 2
        assert "the report is an optimized model or its data" in error_of(capsys)
        assert (out / "w.json").read_bytes() == (zoo / "w.json").read_bytes()


def test_an_output_of_many_replaces_no_input_of_another(tmp_path: Path) -> None:
    """Neither its model, by a link, nor its data, by their own name."""
    zoo, out = tmp_path / "zoo", tmp_path / "zoo" / "out"
    zoo.mkdir()
    one = with_index(zoo / "a.onnx", "out/b.onnx")
    two = with_index(zoo / "b.onnx", "w.json")
    three = with_index(zoo / "c.onnx", "v.json")
    (out / "c.onnx").hardlink_to(two)
    before = {file: file.read_bytes() for file in (one, two, three, out / "b.onnx")}
    summary = onnx_scatterx.optimize_many(zoo, out, jobs=1)
    by_name = {outcome.source.name: outcome.error or "" for outcome in summary.outcomes}
    assert by_name["a.onnx"] == ""
    assert "b.onnx: the output is a data file of the input" in by_name["b.onnx"]
    assert "c.onnx: the output is the input" in by_name["c.onnx"]
    assert {file: file.read_bytes() for file in before} == before


def test_a_result_knows_what_was_read(tmp_path: Path) -> None:
    """In Python as on the command line; what another call has read may be replaced."""
    model = with_index(tmp_path / "m.onnx")
    profile = tmp_path / "npu.toml"
    profile.write_text('name = "npu"')
    result = onnx_scatterx.optimize(model, target=profile)
    for file, what in (model, "the input"), (tmp_path / "w.json", "a data"), (profile, "the prof"):
        (tmp_path / "link").symlink_to(file)
        with pytest.raises(ScatterXError, match=f"the output is {what}"):
            result.save(tmp_path / "link")
        (tmp_path / "link").unlink()
    other = onnx_scatterx.optimize(parse(NEG))
    other.save(profile)
    assert onnx.load(profile) == other.model


def test_a_report_is_written_as_a_model_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keeping the mode and a symbolic link; a pipe is written straight."""
    model, real = saved(tmp_path / "m.onnx", NEG), tmp_path / "real"
    real.mkdir()
    (real / "r.json").touch(mode=0o604)
    (real / "r.json").chmod(0o604)
    (tmp_path / "r.json").symlink_to(real / "r.json")
    command = ["optimize", model, "-o", str(tmp_path / "o.onnx"), "-q", "--report"]
    assert main([*command, str(tmp_path / "r.json")]) == 0
    assert (tmp_path / "r.json").is_symlink()
    assert (real / "r.json").read_text().startswith("{")
    assert (real / "r.json").stat().st_mode & 0o777 == 0o604
    if hasattr(os, "mkfifo"):
        pipe, found = tmp_path / "pipe.json", list[str]()
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
        reader.start()
        assert main([*command, str(pipe)]) == 0
        reader.join(60)
        written = [json.loads(text) for text in (*found, (real / "r.json").read_text())]
        assert written[0] | {"seconds": 0} == written[1] | {"seconds": 0}
        assert pipe.is_fifo()
