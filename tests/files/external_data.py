"""Models with a tensor in a file beside them."""

from pathlib import Path

import numpy as np
import onnx

from tests.helpers.support import parse

INDEXED = "g (float[3, 2] x, float[1, 2] u) => (float[3, 2] y) { y = ScatterND(x, i, u) }"


def with_index(path: Path, location: str = "w.json", text: str = INDEXED) -> Path:
    """Write a model whose one index is external data, at this location."""
    model = parse(text)
    index = np.array([[1]], np.int64)
    model.graph.initializer.append(onnx.numpy_helper.from_array(index, "i"))
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    (path.parent / location).parent.mkdir(parents=True, exist_ok=True)
    (path.parent / location).write_bytes(index.tobytes())
    path.write_bytes(model.SerializeToString())
    return path
