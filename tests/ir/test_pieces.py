"""A model is read and written piece by piece as it is in one, and takes its size of memory once."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.ir import io as model_io
from onnx_scatterx.ir.pieces import PIECE, read_in_pieces, write_in_pieces

MODELS = sorted(Path("models").glob("*.onnx"))[::8]


def in_pieces(content: bytes, piece: int) -> onnx.ModelProto | None:
    """Return the message that is read from some bytes."""
    return read_in_pieces(io.BytesIO(content), len(content), piece)


def written(model: onnx.ModelProto) -> bytes:
    """Return the bytes that are written for a model."""
    stream = io.BytesIO()
    write_in_pieces(model, stream)
    return stream.getvalue()


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_it_is_what_the_parser_reads_and_the_serializer_writes(path: Path) -> None:
    content = path.read_bytes()
    model = onnx.load_model_from_string(content)
    for piece in (1, 100, 1 << 20):
        assert in_pieces(content, piece) == model
    assert written(model) == model.SerializeToString()


@given(st.binary(max_size=40), st.integers(0, 200), st.integers(1, 60))
def test_any_bytes_give_the_answer_of_the_parser(inserted: bytes, at: int, piece: int) -> None:
    whole = MODELS[0].read_bytes()[:400]
    for content in (whole[:at], whole[:at] + inserted, whole[:at] + inserted + whole[at:]):
        try:
            model = onnx.load_model_from_string(content)
        except Exception:  # of protobuf, which has several
            continue  # a truncated file may be read if each field is whole
        assert in_pieces(content, piece) in (None, model)


def test_unknown_fields_are_kept() -> None:
    graph = onnx.GraphProto(name="g").SerializeToString() + b"\xf8\x3f\x07"  # field 1023: 7
    model = onnx.ModelProto(ir_version=8)
    model.graph.MergeFromString(graph)
    content = model.SerializeToString()
    assert b"\xf8\x3f\x07" in content
    found = in_pieces(content, 1)
    assert found is not None
    assert found.SerializeToString() == content == written(found)


def test_graphs_of_one_file_are_merged() -> None:
    halves = [onnx.ModelProto(graph=onnx.GraphProto(name=name)) for name in ("a", "b")]
    halves[0].graph.node.add(op_type="Neg")
    content = b"".join(half.SerializeToString() for half in halves)
    assert in_pieces(content, 1) == onnx.load_model_from_string(content)


def test_large_files_are_read_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def read(stream: io.BytesIO, size: int) -> onnx.ModelProto | None:
        seen.append(size)
        return read_in_pieces(stream, size)

    monkeypatch.setattr(model_io, "read_in_pieces", read)
    model = onnx.load(MODELS[0])
    model.graph.initializer.add(name="w", data_type=1, dims=[PIECE // 4]).raw_data = bytes(PIECE)
    path = tmp_path / "large.onnx"
    path.write_bytes(model.SerializeToString())
    assert model_io.read(path) == model
    assert seen == [path.stat().st_size]


MEMORY = """
import resource, sys
import onnx_scatterx
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
onnx_scatterx.optimize(sys.argv[1])
before = peak()
onnx_scatterx.optimize(sys.argv[2]).save(sys.argv[3])
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count other memory")
def test_weights_are_in_memory_once(tmp_path: Path) -> None:
    side, layers = 1024, 40
    body = "".join(f"h{i} = MatMul (h{i - 1}, w{i})\n" for i in range(1, layers + 1))
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, {side}] h0, float[1, {side}] u) => (float[2, {side}] y)
        <int64[1, 1] row = {{1}}> {{ {body} y = ScatterND (h{layers}, row, u) }}""")
    small, large, out = (tmp_path / f"{name}.onnx" for name in ("small", "large", "out"))
    small.write_bytes(MODELS[0].read_bytes())
    for i in range(1, layers + 1):
        tensor = model.graph.initializer.add(name=f"w{i}", data_type=1, dims=[side, side])
        tensor.raw_data = np.full(side * side, i, np.float32).tobytes()
    large.write_bytes(model.SerializeToString())
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, small, large, out],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(ran.stdout) < 1.5 * large.stat().st_size
    assert "ScatterND" not in {node.op_type for node in onnx.load(out).graph.node}
