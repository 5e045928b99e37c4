"""Paths with characters that no file has: one line, in every function that takes a path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from tests.helpers.commands import NEG, saved
from tests.helpers.support import parse

NUL = "a\0b"
CALLS: dict[str, Callable[[], Any]] = {
    "optimize": lambda: onnx_scatterx.optimize(NUL),
    "inspect": lambda: onnx_scatterx.inspect(NUL),
    "verify": lambda: onnx_scatterx.verify(NUL, parse(NEG)),
    "second": lambda: onnx_scatterx.verify(parse(NEG), NUL),
    "extract": lambda: onnx_scatterx.extract(NUL, "y"),
    "save": lambda: onnx_scatterx.optimize(parse(NEG)).save(NUL),
    "target": lambda: onnx_scatterx.optimize(parse(NEG), target=f"{NUL}.toml"),
    "target path": lambda: onnx_scatterx.optimize(parse(NEG), target=Path(f"{NUL}.toml")),
    "many": lambda: onnx_scatterx.optimize_many(NUL, "out", jobs=1),
    "many out": lambda: onnx_scatterx.optimize_many(".", NUL, jobs=1),
    "bench": lambda: onnx_scatterx.bench({"a": NUL}),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_path_with_a_nul(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScatterXError):
        CALLS[call]()


def test_a_profile_that_extends_a_nul(tmp_path: Path) -> None:
    profile = tmp_path / "npu.toml"
    profile.write_text('name = "npu"\nextends = "x\\u0000.toml"\n')
    with pytest.raises(ScatterXError):
        onnx_scatterx.inspect(parse(NEG), target=profile)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("scores", "scores"),
        ("../../evil", "..%2F..%2Fevil"),
        ("..\\evil", "..%5Cevil"),
        ("/model/y:0", "/model/y:0"),
        ("a\0b", "a%00b"),
        ("n" * 70_000, None),
    ],
)
def test_names_in_an_archive(name: str, entry: str | None, tmp_path: Path) -> None:
    """No entry leads out of the place where it is unpacked; as an input it has its name again."""
    from onnx_scatterx.files.writing import Writing
    from onnx_scatterx.runtime.array_files import read_arrays, save_arrays

    array = np.zeros(2, np.float32)
    out = tmp_path / "out.npz"
    if entry is None:
        with pytest.raises(ScatterXError, match="too long for a"), Writing() as writing:
            save_arrays([{name: array}], out, writing)
        return
    with Writing() as writing:
        save_arrays([{name: array}], out, writing)
    with np.load(out) as file:
        assert file.files == [entry]
    assert list(read_arrays([(None, str(out))], {name})) == [name]


def test_a_long_name_of_an_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = saved(tmp_path / "m.onnx", NEG.replace("y", "y" * 300))
    assert main(["run", model, "--output", str(tmp_path / "out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "File name too long" in line
