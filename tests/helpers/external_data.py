"""Models with a tensor in a file beside them."""

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.files.io import load
from tests.helpers import small_models
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


def with_weights(directory: Path, size: int = 400) -> Path:
    """Write a model whose one weight is in `weights/w.bin` beside it."""
    (directory / "weights").mkdir(parents=True)
    values = np.arange(size, dtype=np.float32)
    (directory / "weights" / "w.bin").write_bytes(values.tobytes())
    proto = small_models.parse(
        f"g (float[N, {size}] x) => (float[N, {size}] y) {{ y = Add(x, w) }}"
    )
    tensor = ir.ExternalTensor(
        "weights/w.bin", 0, 4 * size, ir.DataType.FLOAT, shape=ir.Shape([size]), name="w"
    )
    proto.graph.initializer.append(ir.serde.serialize_tensor(tensor))
    (directory / "model.onnx").write_bytes(proto.SerializeToString())
    return directory / "model.onnx"


def weight(path: Path) -> np.ndarray:
    value = load(path).graph.initializers["w"].const_value
    assert value is not None
    return value.numpy()
