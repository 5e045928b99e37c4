"""How large a model is as a file: exactly what writing it would make."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.files import io, size
from onnx_scatterx.files.size import file_size
from onnx_scatterx.tell.entries import external_size
from tests.helpers.many_scatters import many_scatters

MODELS = sorted(Path("models").glob("*.onnx"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", MODELS[::6], ids=lambda p: p.stem)
def test_it_is_the_size_of_the_file(path: Path) -> None:
    model = onnx.load(path)
    assert file_size(model) == len(model.SerializeToString())
    about = onnx_scatterx.optimize(path).report.about
    assert about is not None
    assert about.size_before == file_size(model)
    assert about.model == str(path)


@pytest.mark.parametrize("count", [0, 1, 31, 4096, 70_000])
def test_of_tensors_and_names_of_any_length(count: int) -> None:
    model = many_scatters(2)
    weight = onnx.numpy_helper.from_array(np.zeros(count, "f"), "w" * (count % 200))
    model.graph.initializer.append(weight)
    model.producer_name = "p" * count
    model.metadata_props.add(key="k", value="v" * count)
    assert file_size(model) == len(model.SerializeToString())


def test_a_model_of_large_weights_is_not_serialized(monkeypatch: pytest.MonkeyPatch) -> None:
    model = many_scatters(1)
    model.doc_string = "text"
    model.graph.metadata_props.add(key="k", value="v" * 1000)
    for i in range(100):
        weight = onnx.numpy_helper.from_array(np.zeros(1000, "f"), f"weight{i}")
        model.graph.initializer.append(weight)
    exact = file_size(model)
    monkeypatch.setattr(size, "_LARGE", 1000)
    assert abs(file_size(model) - exact) < 100 * 24


def test_data_in_other_files_are_counted_once(tmp_path: Path) -> None:
    model = many_scatters(1)
    weights = np.zeros((300, 10), "f")
    for name in "ab":
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, name))
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=1000)
    loaded = io.load(path)
    assert external_size(loaded) == 2 * weights.nbytes
    shared = onnx.load(path, load_external_data=False)
    first, second = shared.graph.initializer[-2:]
    del second.external_data[:]
    second.external_data.extend(first.external_data)
    path.write_bytes(shared.SerializeToString())
    assert external_size(io.load(path)) == weights.nbytes
    about = onnx_scatterx.inspect(path).about
    assert about is not None
    assert about.size_outside == weights.nbytes
    assert about.size_before == path.stat().st_size


def test_data_of_attributes_in_other_files_are_counted(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 18]> g () => (float[1000] y)
        { y = Constant <value = float[1] {0}> () }"""
    )
    weights = np.zeros(1000, "f")
    model.graph.node[0].attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(weights))
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0, convert_attribute=True)
    assert external_size(io.load(path)) == weights.nbytes
