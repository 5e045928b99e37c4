"""How large the external data of a model are: a report says it beside the size of the file."""

from pathlib import Path

import numpy as np
import onnx

import onnx_scatterx
from onnx_scatterx.files.io import load
from onnx_scatterx.tell.entries import external_size
from tests.helpers.many_scatters import many_scatters


def test_data_in_other_files_are_counted_once(tmp_path: Path) -> None:
    model = many_scatters(1)
    weights = np.zeros((300, 10), "f")
    for name in "ab":
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, name))
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=1000)
    loaded = load(path)
    assert external_size(loaded) == 2 * weights.nbytes
    shared = onnx.load(path, load_external_data=False)
    first, second = shared.graph.initializer[-2:]
    del second.external_data[:]
    second.external_data.extend(first.external_data)
    path.write_bytes(shared.SerializeToString())
    assert external_size(load(path)) == weights.nbytes
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
    assert external_size(load(path)) == weights.nbytes
