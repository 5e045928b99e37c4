"""What cannot be read back is never written, in any format, to any place."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

import onnx_scatterx
from onnx_scatterx.errors import ModelError
from onnx_scatterx.files import saving as model_save
from onnx_scatterx.files.io import load
from onnx_scatterx.files.parse import difference
from onnx_scatterx.files.saving import save
from tests.helpers.external_data import weight, with_weights
from tests.helpers.small_models import negation


def spoilt(content: bytes) -> bytes:
    return content[:-3]


def other(content: bytes) -> bytes:
    return content.replace(b"Neg", b"Abs")


@pytest.mark.parametrize("fault", [spoilt, other])
@pytest.mark.parametrize("suffix", ["onnx", "textproto", "json"])
def test_a_file_that_reads_as_something_else_is_not_written(
    fault: Callable[..., Any], suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / f"m.{suffix}"
    out.write_text("an older model")
    write = model_save._serialize
    monkeypatch.setattr(model_save, "_serialize", lambda *given: fault(write(*given)))
    with pytest.raises(ModelError):
        save(negation(), out)
    assert os.listdir(tmp_path) == [out.name]
    assert out.read_text() == "an older model"


def test_nothing_reaches_a_pipe_that_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write = model_save._serialize
    monkeypatch.setattr(model_save, "_serialize", lambda *given: spoilt(write(*given)))
    with pytest.raises(ModelError):
        save(negation(), pipe)
    monkeypatch.undo()
    save(negation(), pipe)
    reader.join(60)
    assert [onnx.load_model_from_string(content).graph.node[0].op_type for content in got] == [
        "Neg"
    ]


@pytest.mark.parametrize("bytes_of", ["metadata", "annotation", "doc"])
def test_the_text_syntax_is_refused_if_it_would_lose_something(
    bytes_of: str, tmp_path: Path
) -> None:
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18]>
        g (float[4, 2] x, float[1, 2] u) => (float[4, 2] y) <int64[1, 1] i = {1}> {
            k = Neg (x)  y = ScatterND (k, i, u) }""")
    onnx_scatterx.optimize(model).save(tmp_path / "before.onnxtxt")
    assert load(tmp_path / "before.onnxtxt").graph[-1].op_type == "Concat"
    if bytes_of == "metadata":
        model.graph.node[0].metadata_props.add(key="k", value="v")
        lost = r"graph\.node\[0\]\.metadata_props"
    elif bytes_of == "annotation":
        model.graph.quantization_annotation.add(tensor_name="k")
        lost = r"graph\.quantization_annotation"
    else:
        model.graph.doc_string = "text"
        lost = r"graph\.doc_string"
    result = onnx_scatterx.optimize(model)
    with pytest.raises(ModelError, match=f"onnxtxt cannot hold {lost}; write .onnx"):
        result.save(tmp_path / "out.onnxtxt")
    assert not (tmp_path / "out.onnxtxt").exists()
    for suffix in ("onnx", "json", "textproto"):
        result.save(tmp_path / f"out.{suffix}")
        assert difference(onnx.load(tmp_path / f"out.{suffix}"), result.model) is None


def test_numbers_in_a_data_file_are_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_weights(tmp_path / "a")
    model = onnx.load(path)
    out = tmp_path / "out.onnx"
    save(model, out, message_limit=0)
    np.testing.assert_array_equal(weight(out), np.arange(400))

    import onnx_ir as ir

    write = ir.external_data.convert_tensors_to_external

    def shortened(tensors: Any, directory: Path, name: str) -> object:
        found = write(tensors, directory, name)
        with (Path(directory) / name).open("r+b") as stream:
            stream.write(b"\1\2")
        return found

    monkeypatch.setattr(ir.external_data, "convert_tensors_to_external", shortened)
    with pytest.raises(ModelError, match="would not be read as meant"):
        save(model, tmp_path / "other.onnx", message_limit=0)
    assert not (tmp_path / "other.onnx").exists()


def test_what_a_tensor_has_beside_its_numbers_stays_when_they_are_moved(tmp_path: Path) -> None:
    model = onnx.load(with_weights(tmp_path / "a"))
    model.graph.initializer[0].doc_string = "text"
    model.graph.initializer[0].metadata_props.add(key="k", value="v")
    save(model, tmp_path / "m.onnx", message_limit=0)
    written = onnx.load(tmp_path / "m.onnx", load_external_data=False).graph.initializer[0]
    assert (written.doc_string, written.metadata_props[0].value) == ("text", "v")
    assert load(tmp_path / "m.onnx").graph.initializers["w"].const_value is not None


MEMORY = """
import re, sys
from typing import Any
import onnx_scatterx
def peak():  # of this program: getrusage also counts the process that started it
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s*(\\d+) kB", status.read())[1]) << 10
onnx_scatterx.optimize(sys.argv[1])
before = peak()
onnx_scatterx.optimize(sys.argv[2]).save(sys.argv[3])
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count other memory")
@pytest.mark.parametrize(("place", "most"), [("inside", 2.3), ("constants", 2.3), ("outside", 0.1)])
def test_weights_are_in_memory_once(place: str, most: float, tmp_path: Path) -> None:
    """The pages of the file count, too. Weights in other files are never loaded."""
    side, layers = 1024, 40
    body = "".join(f"h{i} = MatMul (h{i - 1}, w{i})\n" for i in range(1, layers + 1))
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, {side}] h0, float[1, {side}] u) => (float[2, {side}] y)
        <int64[1, 1] row = {{1}}> {{ {body} y = ScatterND (h{layers}, row, u) }}""")
    for i in range(1, layers + 1):
        weights = np.full((side, side), i, np.float32)
        tensor = onnx.numpy_helper.from_array(weights, f"w{i}")
        if place == "constants":
            node = onnx.helper.make_node("Constant", [], [f"w{i}"], value=tensor)
            model.graph.node.insert(0, node)
        else:
            model.graph.initializer.append(tensor)
    small, large, out = (tmp_path / f"{name}.onnx" for name in ("small", "large", "out"))
    small.write_bytes(Path("models/letterbox_ts.onnx").read_bytes())
    onnx.save(model, large, save_as_external_data=place == "outside", location="large.bin")
    command = [sys.executable, "-c", MEMORY, *map(str, (small, large, out))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    weights_size = 4 * layers * side * side
    assert int(ran.stdout) < most * weights_size
    written = onnx.load(out, load_external_data=False)
    assert "ScatterND" not in {node.op_type for node in written.graph.node}
