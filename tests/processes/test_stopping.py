"""Commands that get a signal, or whose process is killed: no process and no file is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.tell import inquiry
from tests.helpers.commands import YOLOX, error_of, saved
from tests.helpers.endless import SPIN
from tests.helpers.late import patient

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="other systems have no such signals"),
    pytest.mark.slow,
]


@pytest.fixture
def model(tmp_path: Path) -> str:
    return saved(tmp_path / "spin.onnx", SPIN)


class Command:
    """The command line in a process, in directories of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.out, self.temporary = folder / "out", folder / "temporary"
        self.out.mkdir()
        self.temporary.mkdir()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-m", "onnx_scatterx", *arguments],
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=patient(folder) | {"TMPDIR": str(self.temporary)},
            start_new_session=True,
        )
        self.workers: set[int] = set()

    def wait_for_workers(self, wanted: int, work: float) -> None:
        """Wait until the processes that do the work are there, and have worked for some seconds."""
        while len([pid for pid, cpu in self.descendants().items() if cpu >= work]) < wanted:
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.1)
        self.workers = {*self.descendants()}

    def descendants(self) -> dict[int, int]:
        """Return the processes that this one started, and the seconds of CPU that each has used."""
        columns = ["ps", "-A", "-o", "pid=,ppid=,cputimes="]
        listed = subprocess.run(columns, capture_output=True, check=True)
        rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
        found = {self.process.pid}
        while more := {pid for pid, parent, _ in rows if parent in found} - found:
            found |= more
        return {pid: cpu for pid, _, cpu in rows if pid in found - {self.process.pid}}

    def left(self) -> list[Path]:
        """Return what is left of what was written; ONNX Runtime has a file of its own."""
        files = (*self.temporary.rglob("*"), *self.out.rglob("*"))
        return [file for file in files if file.name != ".ses"]

    def check_gone(self) -> None:
        """Assert that the workers end within two minutes."""
        assert self.workers
        end = time.monotonic() + 120
        while (left := [pid for pid in self.workers if _runs(pid)]) and time.monotonic() < end:
            time.sleep(0.05)
        assert left == []

    def close(self) -> None:
        for pid in (self.process.pid, *self.workers):
            if _runs(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.communicate()


def _runs(pid: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return done.stdout.strip()[:1] not in (b"", b"Z")


@pytest.fixture
def verifying(model: str, tmp_path: Path) -> Iterator[Command]:
    """One model whose verification does not end by itself: its worker is in ONNX Runtime."""
    out = str(tmp_path / "out" / "o.onnx")
    command = Command(tmp_path, "optimize", model, "-o", out, "--verify")
    command.wait_for_workers(2, 0)
    command.wait_for_workers(1, 1)
    yield command
    command.close()


@pytest.fixture
def optimizing(model: str, tmp_path: Path) -> Iterator[Command]:
    """Two models in two processes, whose verifications do not end by themselves."""
    zoo = tmp_path / "zoo"
    zoo.mkdir()
    for name in "ab":
        (zoo / f"{name}.onnx").write_bytes(Path(model).read_bytes())
    out = str(tmp_path / "out")
    command = Command(tmp_path, "optimize", str(zoo), "-o", out, "--verify", "--jobs", "2")
    command.wait_for_workers(7, 0)  # the command, two processes, and two workers of each
    command.wait_for_workers(2, 3)  # both are in ONNX Runtime: nothing else takes so long
    yield command
    command.close()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_status_says_which_signal(
    number: signal.Signals,
    status: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = signal.signal(number, signal.SIG_DFL)
    monkeypatch.setattr(inquiry, "optimize_ir", lambda *_, **__: signal.raise_signal(number))
    try:
        assert main(["inspect", YOLOX]) == status
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert error_of(capsys) == f"ended by {number.name}"


def test_a_signal_ends_a_command_like_ctrl_c(verifying: Command) -> None:
    verifying.process.terminate()
    printed = verifying.process.communicate(timeout=120)
    assert printed == ("", "onnx-scatterx: ended by SIGTERM\n")
    assert verifying.process.returncode == 143
    verifying.check_gone()
    assert verifying.left() == []


@pytest.mark.full
def test_a_signal_ends_the_processes_of_a_directory(optimizing: Command) -> None:
    optimizing.process.terminate()
    printed = optimizing.process.communicate(timeout=120)
    assert printed == ("", "onnx-scatterx: ended by SIGTERM\n")
    assert optimizing.process.returncode == 143
    optimizing.check_gone()
    assert optimizing.left() == []


def test_workers_end_with_a_parent_that_is_killed(verifying: Command) -> None:
    verifying.process.kill()
    verifying.check_gone()


@pytest.mark.full
def test_processes_of_a_directory_end_with_a_parent_that_is_killed(optimizing: Command) -> None:
    """And remove what they had begun to write."""
    optimizing.process.kill()
    optimizing.check_gone()
    assert optimizing.left() == []


def test_nohup_is_respected(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        command = Command(tmp_path, "verify", YOLOX, YOLOX, "--samples", "100000")
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        command.wait_for_workers(2, 0)
        command.process.send_signal(signal.SIGHUP)
        command.process.send_signal(signal.SIGTERM)
        assert command.process.communicate(timeout=120)[1] == "onnx-scatterx: ended by SIGTERM\n"
    finally:
        command.close()
