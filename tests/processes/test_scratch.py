"""Temporaries that a killed process left are removed by the next one; those in use are not."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.processes import scratch_folders as scratch_module
from onnx_scatterx.processes.scratch_folders import MARK, clear, end_all, scratch
from tests.helpers.commands import NEG, saved

HOLD = """
import sys, time
from pathlib import Path
from onnx_scatterx.processes.scratch_folders import scratch
with scratch(Path(sys.argv[1])) as directory:
    (directory / "half").write_text("half")
    print(directory, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A process that writes in a directory, and where it does."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_what_a_killed_process_left_is_removed_by_the_next(
    holder: tuple["subprocess.Popen[str]", Path], tmp_path: Path
) -> None:
    process, directory = holder
    out = tmp_path / "o.onnx"
    command = ["optimize", saved(tmp_path / "m.onnx", NEG), "-o", str(out), "-q"]
    assert main(command) == 0
    assert (directory / "half").exists(), "its process runs"
    assert directory.is_relative_to(tmp_path)
    process.kill()
    process.wait()
    assert (directory / "half").exists()
    assert main(command) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "o.onnx"]


def test_what_only_looks_like_a_temporary_is_left_alone(tmp_path: Path) -> None:
    name = f".onnx-scatterx-{'0' * 32}"
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").touch()
    (tmp_path / name).symlink_to(tmp_path / "real")
    (tmp_path / f"{name}0").mkdir()
    (tmp_path / name.replace("0", "1")).touch()
    before = sorted(tmp_path.rglob("*"))
    clear(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_one_that_was_killed_before_it_had_a_lock(tmp_path: Path) -> None:
    (tmp_path / f".onnx-scatterx-{'0' * 32}").mkdir()
    with scratch(tmp_path) as directory, scratch(tmp_path) as other:
        held = {directory.parent, other.parent}
        assert set(tmp_path.iterdir()) == held, "the first is not removed by its own process"
    assert list(tmp_path.iterdir()) == []


def test_none_that_is_in_use_is_removed_by_others_in_a_hurry(tmp_path: Path) -> None:
    """Each is made, found by others before its lock is held, and there until its end."""

    def use(number: int) -> bool:
        with scratch(tmp_path) as directory:
            (directory / "file").write_text(str(number))
            for _ in range(3):
                clear(tmp_path)
            return (directory / "file").read_text() == str(number)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(use, range(400)))
    clear(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="Linux shows the environment of a process")
def test_a_process_that_begins_to_run_another_program_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no environment for a moment."""
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, MARK: str(tmp_path)}) as begun:
        environment, moments = scratch_module._environment, iter(range(3))

        def shown(process: int) -> list[bytes]:
            begins = process == begun.pid and next(moments, None) is not None
            return [b""] if begins else environment(process)

        monkeypatch.setattr(scratch_module, "_environment", shown)
        try:
            end_all(str(tmp_path))
            assert begun.wait(10) == -signal.SIGKILL
        finally:
            begun.kill()
