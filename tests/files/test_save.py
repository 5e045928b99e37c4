"""Models are written whole or not at all, with external data, never over a file that was read."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.errors import ModelError
from onnx_scatterx.files import saving as model_save
from onnx_scatterx.files.io import load
from onnx_scatterx.files.saving import save
from tests.helpers.external_data import weight, with_weights
from tests.helpers.small_models import negation


def test_saving_beside_the_source_leaves_the_data(tmp_path: Path) -> None:
    path = with_weights(tmp_path)
    saved = save(load(path), tmp_path / "out.onnx", source_path=path)
    assert saved == (tmp_path / "out.onnx", tmp_path / "weights" / "w.bin")
    np.testing.assert_array_equal(weight(tmp_path / "out.onnx"), np.arange(400))


def test_saving_elsewhere_takes_the_data_along(tmp_path: Path) -> None:
    path = with_weights(tmp_path / "a")
    out = tmp_path / "b" / "out.onnx"
    out.parent.mkdir()
    proto = onnx.load(path, load_external_data=False)
    for model in (load(path), proto):  # the second time they are there
        saved = save(model, out, source_path=path)
        assert saved == (out, out.parent / "weights" / "w.bin")
        np.testing.assert_array_equal(weight(out), np.arange(400))
    (out.parent / "weights" / "w.bin").unlink()
    (out.parent / "weights" / "w.bin").write_bytes(bytes(1600))
    with pytest.raises(ModelError, match="exists and is not the model's data"):
        save(load(path), out, source_path=path)


def test_the_output_is_never_the_input(tmp_path: Path) -> None:
    path = with_weights(tmp_path)
    before = path.read_bytes()
    (tmp_path / "link.onnx").symlink_to(path)
    for output in (path, tmp_path / "link.onnx", tmp_path / "weights" / ".." / "model.onnx"):
        with pytest.raises(ModelError, match="the output is the input"):
            save(load(path), output, source_path=path)
    with pytest.raises(ModelError, match="the output is a data file of the input"):
        save(load(path), tmp_path / "weights" / "w.bin", source_path=path)
    assert path.read_bytes() == before


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is a directory"):
        save(negation(), tmp_path)
    with pytest.raises(ModelError, match="does not exist"):
        save(negation(), tmp_path / "no" / "m.onnx")


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_weights(tmp_path / "a")
    out = tmp_path / "b"
    out.mkdir()
    (out / "m.onnx").write_text("an older model")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_save, "_serialize", full)
    with pytest.raises(ModelError, match="cannot be written: No space left on device"):
        save(load(path), out / "m.onnx")
    assert (out / "m.onnx").read_text() == "an older model"
    assert [file for file in out.rglob("*") if file.is_file()] == [out / "m.onnx"]


def test_large_weights_are_written_outside_of_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(with_weights(tmp_path / "a"))
    heavy = np.arange(1000, dtype=np.float32)
    model.graph.register_initializer(ir.Value(name="h", const_value=ir.tensor(heavy, name="h")))
    inside: list[bool] = []

    def written(*arguments: Any) -> bytes:
        tensor = model.graph.initializers["h"].const_value
        inside.append(isinstance(tensor, ir.Tensor))
        return write(*arguments)

    write = model_save._serialize
    monkeypatch.setattr(model_save, "_serialize", written)
    saved = save(model, tmp_path / "m.onnx", message_limit=2000)
    assert inside == [True], "another thread may read the model while it is written"
    assert sorted(file.name for file in saved[1:]) == ["m.onnx.data", "w.bin"]
    again = load(tmp_path / "m.onnx").graph.initializers
    for name, expected in (("h", heavy), ("w", np.arange(400))):
        tensor = again[name].const_value
        assert tensor is not None
        np.testing.assert_array_equal(tensor.numpy(), expected)
    assert isinstance(model.graph.initializers["h"].const_value, ir.Tensor)
    assert sorted(os.listdir(tmp_path)) == ["a", "m.onnx", "m.onnx.data", "weights"]


def test_a_data_file_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "m.onnx.data").write_text("of somebody else")
    model = load(negation())
    heavy = np.arange(1000, dtype=np.float32)
    model.graph.register_initializer(ir.Value(name="w", const_value=ir.tensor(heavy, name="w")))
    for _ in range(2):
        saved = save(model, tmp_path / "m.onnx", message_limit=2000)
        np.testing.assert_array_equal(weight(tmp_path / "m.onnx"), heavy)
        (name,) = (file.name for file in saved[1:])
        assert sorted(os.listdir(tmp_path)) == sorted(["m.onnx", "m.onnx.data", name])
    assert (tmp_path / "m.onnx.data").read_text() == "of somebody else"
