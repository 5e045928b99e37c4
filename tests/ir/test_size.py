"""How large a model is as a file: exactly what writing it would make."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.ir import io, size
from onnx_scatterx.ir.size import external_size, file_size
from tests.helpers.many_scatters import many_scatters

MODELS = sorted(Path("models").glob("*.onnx"))


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
    assert file_size(model, is_checked=True) == len(model.SerializeToString())


@pytest.mark.parametrize(
    "more",
    [
        {"doc_string": "text"},
        {"metadata_props": [onnx.StringStringEntryProto(key="k", value="v")]},
        {"segment": onnx.TensorProto.Segment(begin=1, end=2)},
        {"data_location": onnx.TensorProto.DEFAULT},
        {"data_type": onnx.TensorProto.INT4, "dims": [2 * (4 << 16) - 1]},
        {"dims": []},
    ],
)
def test_of_large_tensors_with_all_that_they_may_have(more: dict[str, Any]) -> None:
    count = 1 << 16
    fields: dict[str, Any] = {
        "name": "w",
        "data_type": onnx.TensorProto.FLOAT,
        "dims": [count],
    } | more
    tensor = onnx.TensorProto(**fields, raw_data=bytes(4 * count))
    model = many_scatters(1)
    model.graph.initializer.append(tensor)
    if more == {"dims": []}:
        tensor.raw_data = bytes(4)
        model.graph.initializer[-1].CopyFrom(tensor)
    assert file_size(model, is_checked=True) == len(model.SerializeToString())
    model.graph.initializer[-1].MergeFromString(b"\xf8\x3f\x07")  # field 1023: 7
    assert file_size(model, is_checked=True) == len(model.SerializeToString())


def test_large_tensors_are_not_copied_to_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    model = many_scatters(1)
    weight = onnx.numpy_helper.from_array(np.zeros(1 << 20, "f"), "w")
    model.graph.initializer.append(weight)
    measured: list[int] = []

    def whole(message: Any) -> int:
        measured.append(message.ByteSize())
        return measured[-1]

    monkeypatch.setattr(size, "_whole", whole)
    assert file_size(model, is_checked=True) > 1 << 20
    assert max(measured) < 1000


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


@pytest.mark.parametrize(
    "tensor",
    [
        onnx.helper.make_tensor("w", onnx.TensorProto.INT64, [50], [-1] * 50),
        onnx.helper.make_tensor("w", onnx.TensorProto.INT8, [50], [-1] * 50),
        onnx.helper.make_tensor("w", onnx.TensorProto.DOUBLE, [50], [0.5] * 50),
        onnx.TensorProto(
            name="w",
            data_type=onnx.TensorProto.STRING,
            dims=[2],
            string_data=[b"a" * 900, b"b"],
        ),
        onnx.numpy_helper.from_array(np.zeros(50, np.complex128), "w"),
    ],
)
def test_the_bytes_of_tensors_bound_what_is_copied(tensor: onnx.TensorProto) -> None:
    model = many_scatters(1)
    alone = io.open_model(model).held
    model.graph.initializer.append(tensor)
    name = len(tensor.name) + 2
    held = io.open_model(model).held
    assert held - alone >= tensor.ByteSize() - name - 16  # its dims and its type
    assert file_size(model, is_checked=True, held=held) == len(model.SerializeToString())
