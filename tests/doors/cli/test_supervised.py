"""The process that the user starts: its output if the worker process ends or stops."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="forks, and signals"),
    pytest.mark.slow,
    pytest.mark.sampled(3),
]

PROGRAM = """
import os, signal, sys, time
import onnx_scatterx.doors.cli
from onnx_scatterx.doors.cli import supervised

def work(_):
    try:
        print(os.getpid(), flush=True)  # from here on signals come
        {work}
    except KeyboardInterrupt:
        time.sleep(0.3)  # a second Ctrl-C would interrupt this
        print("undone", flush=True)
        return 130
    return 0

onnx_scatterx.doors.cli.main = work
supervised._PATIENCE = {patience}
sys.exit(supervised.run())
"""


class Started:
    """A command in a process, and the number of the process that works for it."""

    def __init__(self, work: str, *before: str, patience: float = 20) -> None:
        program = PROGRAM.format(work=work, patience=patience)
        command = [*before, sys.executable, "-c", program]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.worker = int(self.process.stdout.readline())

    def end(self) -> tuple[int, str, str]:
        """Wait for the end; return the status and the output."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err

    @staticmethod
    def wait_for(pid: int, *states: str) -> None:
        """Wait until a process is in a state; without a state, until it has ended."""
        for _ in range(1000):
            found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True)
            state = found.stdout.decode().strip()[:1]
            if state in states or (not states and state in ("", "Z")):
                return
            time.sleep(0.02)
        raise AssertionError(f"{pid} is {state}")


@pytest.fixture
def sleeping() -> Iterator[Started]:
    started = Started("time.sleep(60)")
    yield started
    for pid in started.process.pid, started.worker:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    started.process.communicate()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("work", "status", "said"),
    [
        ("return 1", 1, ""),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 2, "a library crashed (SIGSEGV), as onnx does"),
        ("os.abort()", 2, "a library crashed (SIGABRT), as onnx does"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 2, "the process was killed, perhaps"),
        ("os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
    ],
)
def test_how_it_ends(work: str, status: int, said: str) -> None:
    found, _, err = Started(work).end()
    assert found == status
    assert len(err.splitlines()) == bool(said)
    assert said in err


def test_a_model_on_which_onnx_crashes(tmp_path: Path) -> None:
    """Its inference writes beyond the shape; a later onnx may say so instead."""
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2, 3] x, float[3] s) => (y, z) {
        y, z = LayerNormalization <axis = 9223372036854775807> (x, s) }"""
    (tmp_path / "m.onnxtxt").write_text(
        text.replace("(y, z) {", "(float[2, 3] y, float[2, 1] z) {")
    )
    command = [sys.executable, "-m", "onnx_scatterx", "verify", "m.onnxtxt", "m.onnxtxt"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert line.startswith("onnx-scatterx: ")


def test_ctrl_c_comes_once(sleeping: Started) -> None:
    os.killpg(sleeping.process.pid, signal.SIGINT)
    assert sleeping.end() == (130, "undone\n", "")


def test_a_signal_is_passed_on(sleeping: Started) -> None:
    sleeping.process.send_signal(signal.SIGTERM)
    assert sleeping.end() == (143, "", "")
    sleeping.wait_for(sleeping.worker)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_in_which_no_signal_arrives(number: signal.Signals) -> None:
    """As while C++ code runs that does not end."""
    deaf = f"signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}]); time.sleep(60)"
    started = Started(deaf, patience=0.5)
    time.sleep(0.2)
    started.process.send_signal(number)
    assert started.end() == (128 + number, "", "")
    Started.wait_for(started.worker)


def test_a_killed_parent(sleeping: Started) -> None:
    sleeping.process.kill()
    sleeping.wait_for(sleeping.worker)


def test_ctrl_z(sleeping: Started) -> None:
    sleeping.process.send_signal(signal.SIGTSTP)
    for pid in sleeping.process.pid, sleeping.worker:
        sleeping.wait_for(pid, "T")
    sleeping.process.send_signal(signal.SIGCONT)
    for pid in sleeping.process.pid, sleeping.worker:
        sleeping.wait_for(pid, "S")


def test_nohup() -> None:
    started = Started("time.sleep(1)", "nohup")
    started.process.send_signal(signal.SIGHUP)
    status, _, _ = started.end()
    assert status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_a_terminal_that_stops_background_writers(tmp_path: Path) -> None:
    """After `stty tostop` the command still prints, and ends."""
    import pty

    program = f"{sys.executable} -m onnx_scatterx targets > /dev/tty; echo status $?"
    child, terminal = pty.fork()
    if child == 0:
        os.execvp("sh", ["sh", "-c", f"stty tostop; {program}"])
    said = b""
    end = time.monotonic() + 60
    while b"status" not in said and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            try:
                said += os.read(terminal, 4096)
            except OSError:
                break
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(terminal)
    assert b"status 0" in said, said


def test_exit_skips_imports() -> None:
    """The last collection leaves out what the worker imported."""
    program = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count() > 0))
from onnx_scatterx.doors.cli import supervised
sys.exit(supervised.run(["--help"]))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["True", "False"]  # the worker, then its parent
