"""Files with mistakes, on every command: some cases that are always the same, and their judge."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import onnx_scatterx.doors.cli
from tests.files.fuzz_files.cases import Case, case
from tests.files.fuzz_files.judge import faults
from tests.helpers.isolation import Ended, run

pytestmark = [
    pytest.mark.sampled(3),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process for each case"),
    pytest.mark.slow,
]


@pytest.mark.full
def test_some_cases() -> None:
    command = [sys.executable, "-m", "tests.files.fuzz_files", "--seed", "7", "--cases", "15"]
    root = Path(__file__).parents[3]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert found.stdout.startswith("15 cases, seed 7: "), found.stdout + found.stderr
    assert found.returncode == 0


def test_a_case_is_the_same_for_its_numbers() -> None:
    for number in range(60):
        assert case(3, number) == case(3, number)
    assert case(3, 1) != case(4, 1)


GOOD = Ended(2, "", "onnx-scatterx: m.onnx: no such file\n", 0.1)


@pytest.mark.parametrize(
    ("ended", "fault"),
    [
        (GOOD, None),
        (Ended(0, "a table\n", "", 0.1), None),
        (Ended(0, "", GOOD.err, 0.1), "1 lines on stderr"),
        (Ended(2, "", "", 0.1), "0 lines on stderr"),
        (Ended(2, "", GOOD.err * 2, 0.1), "2 lines on stderr"),
        (Ended(2, "", GOOD.err + GOOD.err.replace("m.", "n."), 0.1), None),  # of two models
        (Ended(2, "", "[W:onnxruntime] model.cc\n", 0.1), "a line that is not ours"),
        (Ended(2, "", "onnx-scatterx: this is a bug\n", 0.1), "a bug"),
        (Ended(-11, "", "onnx-scatterx: \n", 0.1), "status -11"),
        (Ended(70, "", GOOD.err, 0.1), "status 70"),
        (Ended(0, "\x1b[2J\n", "", 0.1), "something that cannot be seen"),
    ],
)
def test_the_judge(ended: Ended, fault: str | None, tmp_path: Path) -> None:
    made = Case(["inspect", "m.onnx"], {"m.onnx": b"model"})
    made.write(tmp_path)
    assert [*faults(made, ended, tmp_path)] == ([] if fault is None else [fault])


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        ("m.onnx", "m.onnx has changed"),
        ("out.json", "out.json is written, and it could not run"),
        (".out.onnx.1234", ".out.onnx.1234 is left behind"),
    ],
)
def test_the_judge_of_files(file: str, fault: str, tmp_path: Path) -> None:
    made = Case(["inspect", "m.onnx"], {"m.onnx": b"model"})
    made.write(tmp_path)
    (tmp_path / file).write_bytes(b"other")
    ended = Ended(0, "", "", 0.1) if fault.endswith("behind") else GOOD
    assert [*faults(made, ended, tmp_path)] == [fault]


def test_what_a_command_does_to_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_: Sequence[str]) -> int:
        os.kill(os.getpid(), signal.SIGTRAP)  # of which pytest does not tell
        return 0

    def loop(_: Sequence[str]) -> int:
        while True:
            pass

    directory = tmp_path / "case"
    directory.mkdir()
    assert run(["inspect", "gone.onnx"], directory, {}, 10).err == (
        "onnx-scatterx: gone.onnx: no such file\n"
    )
    for command, status in (crash, 2), (loop, 128 + signal.SIGXCPU):
        monkeypatch.setattr(onnx_scatterx.doors.cli, "main", command)
        assert run([], directory, {}, 1).status == status
