"""A time limit for each of many models: one that takes longer is a line, and the others run."""

import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import onnx_scatterx
from onnx_scatterx.doors.batch.pool import PROGRAM, run_tasks
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.processes.child import NoReply, PythonChild
from onnx_scatterx.processes.serving import RawTensor
from onnx_scatterx.runtime.worker_client import Runner
from tests.helpers.commands import ROW, error_of, saved
from tests.helpers.endless import SPIN
from tests.helpers.late import LATE, end_what_is_stuck

pytestmark = [pytest.mark.slow, pytest.mark.sampled(2)]


STUCK = """
import os, time
try:
    note = open({note!r}, "x")
except FileExistsError:
    pass
else:
    print(os.getpid(), file=note, flush=True)
    time.sleep(3600)
"""


class Stuck(dict[str, int]):
    """Stands for no sizes; only the first process that receives it never gets there.

    Two processes may receive it at once, so who is first is decided by the one call that creates
    the file. It gets the number of the process, which alone is late.
    """

    def __init__(self, note: Path) -> None:
        self.note = note

    def __reduce__(self) -> tuple[Any, tuple[str, dict[str, Any]]]:
        return exec, (STUCK.format(note=str(self.note)), {})


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    note = tmp_path / "note"
    end_what_is_stuck(note, monkeypatch)
    return Stuck(note)


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    folder = tmp_path / "zoo"
    folder.mkdir()
    for name in "abc":
        saved(folder / f"{name}.onnx", ROW)
    return folder


@pytest.mark.parametrize(
    "jobs", [1, pytest.param(2, marks=[pytest.mark.full, pytest.mark.started])]
)
def test_a_process_that_is_late_is_ended(jobs: int, stuck: Any, zoo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary = onnx_scatterx.optimize_many(zoo, out, jobs=jobs, timeout=3600, size_hint=stuck)
    (late,) = summary.failed
    assert late.error == f"{late.source}: took longer than 3600 s, and is not written"
    written = {o.output.name for o in summary.outcomes if o.is_written and o.output is not None}
    assert len(written) == 2
    assert set(os.listdir(out)) == written, "nothing is left of what was late"


def test_the_command_line(
    zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is late in ONNX Runtime is so too: it has the rest of the time, which is over then."""
    (zoo / "b.onnx").unlink()
    saved(zoo / "c.onnx", SPIN)
    run, clock, limits = Runner.run, time.monotonic, list[float]()

    def late(runner: Runner, feeds: Any, timeout: float, **more: Any) -> Any:
        assert timeout < 3600
        if runner._model.path.name == "c.onnx":
            limits.append(timeout)
            timeout = LATE
        return run(runner, feeds, timeout, **more)

    monkeypatch.setattr(Runner, "run", late)
    for name in "monotonic", "perf_counter":
        monkeypatch.setattr(time, name, lambda: clock() + sum(limits))
    command = ["optimize", str(zoo), "-o", str(tmp_path / "out"), "--verify", "--samples", "1"]
    assert main([*command, "--jobs", "1", "--timeout", "3600"]) == 2
    printed = capsys.readouterr()
    assert "c.onnx: took longer than 3600 s, and is not written" in printed.err
    assert "1 of 2 models written" in printed.out
    assert os.listdir(tmp_path / "out") == ["a.onnx"]


@pytest.mark.full
@pytest.mark.started
def test_executors_of_others(zoo: Path, tmp_path: Path) -> None:
    """Their workers cannot be ended, but `verify` is, and nothing is written late."""
    spin = Path(saved(zoo / "spin.onnx", SPIN))
    with ThreadPoolExecutor(1) as threads:
        summary = onnx_scatterx.optimize_many(
            [spin], tmp_path / "o", executor=threads, timeout=2, verify=True
        )
        assert summary.outcomes[0].error == f"{spin}: took longer than 2 s, and is not written"
        summary = onnx_scatterx.optimize_many(zoo, tmp_path / "o", executor=threads, timeout=1e-6)
    assert len(summary.failed) == 4
    assert not (tmp_path / "o").exists()


def test_wrong_limits(zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ScatterXError, match="must be a number of seconds above 0"):
            onnx_scatterx.optimize_many(zoo, tmp_path / "out", timeout=wrong)
        command = ["optimize", str(zoo), "-o", str(tmp_path / "out"), f"--timeout={wrong}"]
        assert main(command) == 2
        assert "is not a number above 0" in error_of(capsys)
    command = ["optimize", str(zoo / "a.onnx"), "-o", str(tmp_path / "o.onnx"), "--timeout", "1"]
    assert main(command) == 2
    assert "--timeout has no effect on one model" in error_of(capsys)
    assert not (tmp_path / "out").exists()


def test_processes_take_turns(stuck: Any) -> None:
    """A late or a dead one is replaced; a task that cannot be sent is reported."""
    tasks = [stuck, 1]
    assert list(run_tasks(bool, tasks, 1, limit=3600)) == [
        (stuck, None),
        (stuck, NoReply("timeout", f"no answer within {LATE} s")),
        (1, None),
        (1, True),
    ]
    tasks = [lambda: None, 4]
    results = [result for _, result in run_tasks(os._exit, tasks, 1) if result is not None]
    assert [result.kind for result in results] == ["error", "crash"]


UNDOES = """
import pathlib, time
folder = pathlib.Path({folder!r})
try:
    (folder / "begun").touch()
    time.sleep(3600)
finally:
    (folder / "stopped").touch()
    time.sleep(0.3)
    (folder / "undone").touch()
"""


def test_a_process_is_told_once_to_end(tmp_path: Path) -> None:
    """The second signal would interrupt it while it undoes what it has begun."""
    call = pickle.dumps((exec, UNDOES.format(folder=str(tmp_path))))
    with PythonChild(PROGRAM, grace=3600) as child:
        child.send({}, [RawTensor("", 0, (), call)])
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        child.stop()
        while not (tmp_path / "stopped").exists():
            time.sleep(0.01)
    assert (tmp_path / "undone").exists()


def test_a_script_without_a_guard(zoo: Path, tmp_path: Path) -> None:
    """Its processes import it, and do not start others in turn."""
    script = tmp_path / "script.py"
    call = f"onnx_scatterx.optimize_many({str(zoo)!r}, {str(tmp_path / 'out')!r}, jobs=1)"
    script.write_text(f"import onnx_scatterx\nprint({call}.summary())\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout.startswith("3 of 3 models written"), done.stderr
    assert done.stdout.count("written") == 1
