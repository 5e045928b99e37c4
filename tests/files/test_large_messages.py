"""A large message is read from a map of its file, and written piece by piece, byte by byte."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import pytest

from onnx_scatterx.errors import ModelError
from onnx_scatterx.files import mapped, parse
from onnx_scatterx.files import message_parts as large
from onnx_scatterx.files.io import open_model, read
from onnx_scatterx.files.mapped import varint
from onnx_scatterx.files.parse import parsed_file, read_back
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
    again = parsed_file(tmp_path / "m.onnx", "m", "protobuf").message
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

    with (tmp_path / "m.onnx").open("rb") as stream, mapped.mapped(stream, whole) as found:
        assert found.read().message == model
    assert max(parsed) < 1000


def test_the_largest_tensor_is_read_first(tmp_path: Path) -> None:
    """While the numbers of a tensor are set, they are in memory twice."""
    model = negation()
    for name, n in zip("abc", (10, 1000, 100), strict=True):
        model.graph.initializer.add(name=name, dims=[n], data_type=2, raw_data=bytes(n))
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    found = parsed_file(tmp_path / "m.onnx", "m", "protobuf")
    known = [(tensor.name, length) for tensor, length in vars(found.lengths)["_known"].values()]
    assert known == [("b", 1000), ("c", 100), ("a", 10)]
    assert [found.lengths.of(tensor) for tensor in found.message.graph.initializer] == [
        10,
        1000,
        100,
    ]


def test_numbers_of_another_length_are_refused(tmp_path: Path) -> None:
    model = negation()
    model.graph.initializer.add(name="w", dims=[300], data_type=2, raw_data=bytes(299))
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match=r"shape \[300\] needs 300 bytes and has 299"):
        open_model(tmp_path / "m.onnx")


@pytest.mark.parametrize("at", [b"numbers", b"initials", b"weight"])
def test_what_a_large_file_has_is_compared_with_what_was_meant(
    at: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No second copy of the numbers is read; of a changed byte, nothing is written."""
    model = everywhere()
    del model.training_info[:], model.functions[:], model.graph.node[1:]
    del model.graph.sparse_initializer[:], model.graph.initializer[3:]
    numbers = b"initials, many more, and numbers"
    model.graph.initializer.add(name="weight", data_type=2, dims=[len(numbers)], raw_data=numbers)
    save(model, tmp_path / "m.onnx")
    write = large.message_parts

    def changed(message: onnx.ModelProto) -> Iterator[bytes]:
        for part in write(message) or ():
            yield part.replace(at, at.upper())

    monkeypatch.setattr(mapped.InFile, "read", None)
    save(model, tmp_path / "m.onnx")
    monkeypatch.setattr("onnx_scatterx.files.saving.message_parts", changed)
    where = "name" if at == b"weight" else ": the numbers"
    with pytest.raises(ModelError, match=rf"initializer\[3\].?{where} would not be read as"):
        save(model, tmp_path / "m.onnx")
    monkeypatch.undo()
    assert read(tmp_path / "m.onnx") == model


@pytest.mark.parametrize("change", ["fewer", "shorter", "other numbers", "other field"])
def test_a_large_file_is_another_message(change: str, tmp_path: Path) -> None:
    model = everywhere()
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    read_back(path, path, model, {})
    tensor = model.graph.initializer[2]
    if change == "fewer":
        del model.graph.initializer[2:]
    elif change == "shorter":
        tensor.raw_data = tensor.raw_data[:-1]
    elif change == "other numbers":
        tensor.raw_data = tensor.raw_data[::-1]
    else:
        tensor.ClearField("raw_data")
        tensor.int32_data.extend(range(200))
    with pytest.raises(ModelError, match=r"initializer\[2\]: the numbers would not be read"):
        read_back(path, path, model, {})


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
    read = parsed_file(path, "m", "protobuf").message
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
