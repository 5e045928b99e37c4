"""Files of one command appear together: after a failure, and if two commands write to one place."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.processes.scratch_folders import is_scratch
from tests.helpers.commands import error_of, saved

pytestmark = pytest.mark.sampled(2)

WEIGHTS = 4096


def weighty(path: Path, number: float) -> str:
    """Write a model that returns one number from its large weights, and again from a small one."""
    arrays = {"w": np.full(WEIGHTS, number, np.float32), "v": np.full(1, number, np.float32)}
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    outputs = [onnx.helper.make_tensor_value_info(f"{n}y", 1, a.shape) for n, a in arrays.items()]
    nodes = [onnx.helper.make_node("Identity", [name], [f"{name}y"]) for name in arrays]
    graph = onnx.helper.make_graph(nodes, "g", [], outputs, weights)
    opsets = [onnx.helper.make_opsetid("", 18)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return str(path)


def number(model: Path) -> float:
    """Return the number that a model of `weighty` has."""
    found = ort.InferenceSession(model).run(None, {})
    (one,) = np.unique(np.concatenate(found))
    return float(one)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def fail_at(which: int, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Let the rename to a place fail whose number this is; return the places, as they come."""
    places: list[Path] = []

    def failing(call: Callable[..., None]) -> Callable[..., None]:
        def called(source: Path, place: Path, **more: Any) -> None:
            undone = "old" in Path(source).parts
            if not undone and not any(map(is_scratch, Path(place).parts)):
                if place not in places:
                    places.append(place)
                if places.index(place) + 1 == which:
                    raise OSError(errno.EBUSY, "Device or resource busy")
            call(source, place, **more)

        return called

    for name in "replace", "link":
        monkeypatch.setattr(os, name, failing(getattr(os, name)))
    return places


OUTSIDE = ["optimize", "m.onnx", "-q", "-o", "out/o.onnx", "--save-as-external-data"]
COMMANDS = (
    [*OUTSIDE, "--report", "out/r.json"],
    ["optimize", "m.onnx", "-o", "out/o.onnx", "--report", "out/r.html", "-q"],
    ["run", "m.onnx", "--output", "out"],
    ["run", "m.onnx", "--output", "out/a.npz"],
    ["extract", "scatter.onnx", "y", "-o", "out/part.onnx"],
    ["optimize", "data.onnx", "-q", "-o", "out/o.onnx"],
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_failed_command_leaves_old_outputs_as_they_were(
    command: list[str],
    links: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whichever rename fails, on a file system with hard links or without."""
    monkeypatch.chdir(tmp_path)
    row = "row (float[4, 2] x, float[1, 2] u) => (float[4, 2] y) "
    saved(Path("scatter.onnx"), row + "<int64[1, 1] i = {1}> { y = ScatterND (x, i, u) }")
    Path("out").mkdir()
    for scale in 1.0, 2.0:
        weighty(Path("m.onnx"), scale)
        onnx.save(
            onnx.load("m.onnx"), "data.onnx", save_as_external_data=True, location=f"{scale}.bin"
        )
        if scale == 1.0:
            assert main(command) == 0
    before = tree(Path("out"))
    assert before
    for which in range(1, 10):
        with monkeypatch.context() as patch:
            if not links:
                patch.setattr(os, "link", no_link)
            places = fail_at(which, patch)
            status = main(command)
        if len(places) < which:
            assert status == 0
            break
        assert status == 2
        assert tree(Path("out")) == before, places
        assert "Device or resource busy" in error_of(capsys)
    else:
        raise AssertionError("it never succeeds")


def no_link(source: Any, place: Any, **_: Any) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_a_copy_of_an_old_output_keeps_its_weights(tmp_path: Path) -> None:
    """The data file that a copy refers to is kept when the output is written again."""
    out = tmp_path / "out.onnx"
    command = ["-o", str(out), "-q", "--save-as-external-data"]
    for scale in 1, 2, 2, 3, 1:
        assert main(["optimize", weighty(tmp_path / "m.onnx", scale), *command]) == 0
        copy = tmp_path / f"copy{scale}.onnx"
        copy.write_bytes(out.read_bytes())
    assert number(out) == 1
    assert [number(tmp_path / f"copy{scale}.onnx") for scale in (1, 2, 3)] == [1, 2, 3]
    names = sorted(p.name for p in tmp_path.glob("out.onnx*"))
    assert len(names) == 4, "the same weights are written once"
    assert "out.onnx.data" in names


SLOW = """
import os, sys, time
from pathlib import Path
from onnx_scatterx.doors.cli import main

model, out, begun, done = sys.argv[1:]

def slow(call):
    def called(source, place, **more):
        call(source, place, **more)
        if Path(place).parent == Path(out).parent and not Path(begun).exists():
            Path(begun).touch()
            end = time.monotonic() + 1
            while not Path(done).exists() and time.monotonic() < end:
                time.sleep(0.01)
    return called

os.replace, os.link = slow(os.replace), slow(os.link)
sys.exit(main(["optimize", model, "-o", out, "-q", "--save-as-external-data"]))
"""


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("there", [False, True])
def test_two_commands_that_write_one_output(there: bool, tmp_path: Path) -> None:
    """The second one comes behind the first rename of the first, which waits for it if it can."""
    out, begun, done = tmp_path / "out" / "o.onnx", tmp_path / "begun", tmp_path / "done"
    out.parent.mkdir()
    write = ["-o", str(out), "-q", "--save-as-external-data"]
    if there:
        assert main(["optimize", weighty(tmp_path / "old.onnx", 0), *write]) == 0
    models = [weighty(tmp_path / f"{n}.onnx", n) for n in (1, 2)]
    command = [sys.executable, "-c", SLOW, models[0], str(out), str(begun), str(done)]
    with subprocess.Popen(command) as first:
        while not begun.exists():
            assert first.poll() is None or begun.exists()  # it may be begun and done meanwhile
            time.sleep(0.01)
        status = main(["optimize", models[1], *write])
        done.touch()
    assert first.returncode == 0
    assert status in (0, 2)
    assert number(out) == (2 if status == 0 else 1)
