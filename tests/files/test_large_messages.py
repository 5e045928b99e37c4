"""A large message is read from a map of its file, and written piece by piece, byte by byte."""

import random
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from onnx_scatterx.errors import ModelError
from onnx_scatterx.files import mapped, parse
from onnx_scatterx.files import message_parts as large
from onnx_scatterx.files.io import read
from onnx_scatterx.files.mapped import varint
from onnx_scatterx.files.parse import parsed_file
from onnx_scatterx.files.saving import save
from tests.helpers.small_models import negation

MODELS = sorted(Path("models").glob("*.onnx"))


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((mapped, "LARGE"), (large, "LARGE"), (parse, "_MAPPED")):
        monkeypatch.setattr(module, name, 1)


def everywhere() -> onnx.ModelProto:
    """Return a model with tensors at each place where one may be."""
    model = negation()
    graph = model.graph
    body = onnx.GraphProto(name="body", doc_string="")
    for i, held in enumerate((graph, body)):
        for n in (3, 0, 200):
            tensor = held.initializer.add(name=f"w{i}.{n}", dims=[n], doc_string="d")
            tensor.data_type, tensor.raw_data = onnx.TensorProto.UINT8, bytes(range(n))
            tensor.metadata_props.add(key="k", value="v")
        held.initializer.add(name=f"typed{i}", dims=[2], data_type=1, float_data=[1, 2])
    attribute = onnx.helper.make_attribute
    graph.node.add(op_type="Constant", output=["c"]).attribute.extend(
        [attribute("value", graph.initializer[2]), attribute("note", "text")]
    )
    graph.node.add(op_type="If", output=["d"], domain="own").attribute.extend(
        [attribute("then_branch", body), attribute("both", [body, body])]
    )
    graph.node.add(op_type="Many", domain="own").attribute.append(
        attribute("tensors", list(body.initializer))
    )
    function = model.functions.add(name="f", domain="own")
    function.node.extend(graph.node)
    model.training_info.add().algorithm.CopyFrom(body)
    graph.sparse_initializer.add(dims=[3]).values.CopyFrom(body.initializer[0])
    model.metadata_props.add(key="", value="")
    return model


@pytest.mark.parametrize("path", [None, *MODELS], ids=lambda p: p.stem if p else "everywhere")
def test_a_large_message_keeps_its_bytes(path: Path | None, tmp_path: Path) -> None:
    model = everywhere() if path is None else onnx.load(path)
    content = model.SerializeToString()
    parts = large.message_parts(model)
    assert path is not None or parts is not None
    assert b"".join(parts or [content]) == content
    (tmp_path / "m.onnx").write_bytes(content)
    again = parsed_file(tmp_path / "m.onnx", "m", "protobuf")
    assert again == model
    assert again.SerializeToString() == content


def test_no_two_large_tensors_are_in_memory_beside_the_message(tmp_path: Path) -> None:
    model = negation()
    for name in "abc":
        model.graph.initializer.add(name=name, dims=[1000], data_type=2, raw_data=bytes(1000))
    assert max(map(len, large.message_parts(model) or [bytes(3000)])) == 1000
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    parsed: list[int] = []

    def whole(content: bytes) -> onnx.ModelProto:
        parsed.append(len(content))
        return onnx.load_model_from_string(content)

    with (tmp_path / "m.onnx").open("rb") as stream:
        assert mapped.message_in(stream, whole) == model
    assert max(parsed) < 1000


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


WEIGHT = field(8, b"w") + b"\x10\x02" + b"\x08\x02"  # name, uint8, dims = [2]
STRANGE: dict[str, Callable[[], bytes]] = {
    "numbers twice": lambda: field(7, field(5, WEIGHT + field(9, b"ab") + field(9, b"cd"))),
    "graph twice": lambda: (
        field(7, field(5, WEIGHT + field(9, b"ab"))) + field(7, field(5, WEIGHT + field(9, b"cd")))
    ),
    "a tensor in two parts": lambda: field(
        7,
        field(1, field(5, field(5, field(9, b"ab"))) + field(5, field(5, WEIGHT + field(9, b"c")))),
    ),
    "unknown fields": lambda: field(7, field(5, WEIGHT + field(9, b"ab") + field(3000, b"x"))),
    "long numbers": lambda: b"\x88\x80\x80\x00\x08" + field(7, field(5, WEIGHT + field(9, b"ab"))),
    "a list instead of bytes": lambda: field(7, field(5, WEIGHT + b"\x48\x05")),
    "a group": lambda: b"\x08\x08" + varint(999 << 3 | 3) + varint(999 << 3 | 4),
    "a truncated length": lambda: field(7, b"\x2a\x05a"),
    "no field 0": lambda: field(7, field(5, WEIGHT + field(9, b"ab"))) + b"\x00\x00",
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_bytes_are_read_as_protobuf_reads_them(name: str, tmp_path: Path) -> None:
    judge(STRANGE[name](), tmp_path / "m.onnx")


def test_spoilt_bytes_are_read_as_protobuf_reads_them(tmp_path: Path) -> None:
    whole, drawn = everywhere().SerializeToString(), random.Random(5)
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(drawn.choice((1, 1, 3))):
            content[drawn.randrange(len(content))] = drawn.randrange(256)
        judge(
            bytes(content[: drawn.choice((len(content), drawn.randrange(len(content))))]),
            tmp_path / "m",
        )


def judge(content: bytes, path: Path) -> None:
    """Compare what is read of a file with what protobuf parses, and what is written with it."""
    path.write_bytes(content or b"\x08")
    try:
        meant = onnx.load_model_from_string(content or b"\x08")
    except Exception:  # protobuf raises what it likes
        with pytest.raises(ModelError, match="not an ONNX model"):
            parsed_file(path, "m", "protobuf")
        return
    read = parsed_file(path, "m", "protobuf")
    assert read == meant
    assert read.SerializeToString() == meant.SerializeToString()
    parts = large.message_parts(read)
    assert parts is None or b"".join(parts) == meant.SerializeToString()


def test_a_write_that_fails_between_pieces_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = everywhere()
    del model.training_info[:], model.functions[:], model.graph.node[1:]
    del model.graph.sparse_initializer[:], model.graph.initializer[3:]

    def full(message: onnx.ModelProto) -> object:
        yield message.SerializeToString()[:50]
        raise OSError(28, "No space left on device")

    out = tmp_path / "m.onnx"
    out.write_text("an older model")
    monkeypatch.setattr("onnx_scatterx.files.saving.message_parts", full)
    with pytest.raises(ModelError, match="cannot be written: No space left on device"):
        save(model, out)
    assert out.read_text() == "an older model"
    monkeypatch.undo()
    save(model, out)
    assert out.read_bytes() == model.SerializeToString()
    assert read(out) == model
