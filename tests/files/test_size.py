"""How large a model is as a file: exactly what writing it would make."""

import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.files import size
from onnx_scatterx.files.parse import parsed_file
from onnx_scatterx.files.size import file_size
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


def test_a_small_file_is_read_into_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(many_scatters(2), path)
    tracemalloc.start()
    try:
        for _ in range(2):
            parsed_file(path, "m", "protobuf")
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
