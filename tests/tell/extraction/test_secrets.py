"""What is sent to strangers holds no text and no tensor of the model, in whatever field it was."""

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ModelError
from onnx_scatterx.files import io
from onnx_scatterx.tell.extraction.private import is_weight
from tests.helpers.protobuf_fields import absent, at, messages, set_field
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(2)

SECRET = "a text of ours"
NUMBERS = np.arange(40, dtype=np.float32) + 1234.5
NAMES = ("name", "dim_param", "overload", "input", "output", "domain", "ref_attr_name", "key")


def model() -> onnx.ModelProto:
    """Return a model in which a scatter writes to what an operator of ours makes."""
    made = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 18, "own" : 1, "called" : 1], producer_name: "p">
        main (float[N, 4] x, float[1, 4] u, bool b) => (float[N, 4] y)
        <int64[1, 1] i = {1}> {
            q = own.Opaque <axis = 1> (x)
            r = If (b) <
                then_branch = then () => (t) { w = Constant <value = float[1] {2}> ()
                    t = own.Other (q, w) },
                else_branch = other () => (e) { e = called.f (q) }>
            [scatter] y = ScatterND (r, i, u)
        }
        <opset_import: ["" : 18, "own" : 1], domain: "called"> f (a) => (c) {
            v = Constant <value = float[1] {2}> ()
            c = own.Other (a, v)
        }""")
    attributes = made.graph.node[0].attribute
    tensor = onnx.numpy_helper.from_array(NUMBERS, SECRET)
    for name, value in {
        "text": SECRET,
        "texts": [SECRET, SECRET],
        "tensor": tensor,
        "tensors": [tensor],
        "numbers": NUMBERS.tolist(),
    }.items():
        attributes.append(onnx.helper.make_attribute(name, value))
    branch = made.graph.node[1].attribute[0].g
    for node in (branch.node[0], made.functions[0].node[0]):
        node.attribute[0].t.CopyFrom(tensor)
    made.graph.input[0].type.denotation = SECRET
    return made


def with_texts(made: onnx.ModelProto) -> tuple[onnx.ModelProto, int]:
    """Set each field that takes a text, and an unknown one in each message, if it stays a model."""
    count = 0
    for path, name in [*absent(made), *[(path, "doc_string") for path in messages(made)]]:
        message = at(made, path)
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if name in NAMES or (field is None and name != "unknown"):
            continue
        before = onnx.ModelProto()
        before.CopyFrom(made)
        if field is None:
            text = SECRET.encode()
            message.MergeFromString(b"\xfa\x3f" + bytes([len(text)]) + text)
        elif field.containing_oneof is not None:
            continue  # it would remove another one
        elif field.message_type is not None:
            set_field(message, name)
            value = getattr(message, name)
            for part in value if hasattr(value, "extend") else [value]:
                if isinstance(part, onnx.TensorProto):
                    part.ClearField("data_location")
                texts = [f for f in part.DESCRIPTOR.fields if f.type == f.TYPE_STRING]
                for inner in texts:
                    is_list = hasattr(getattr(part, inner.name), "extend")
                    if inner.name not in NAMES and not is_list:
                        setattr(part, inner.name, SECRET)
        elif field.type == field.TYPE_STRING and not hasattr(getattr(message, name), "extend"):
            setattr(message, name, SECRET)
        else:
            continue
        try:
            io.load(made)
            count += 1
        except (ModelError, NotImplementedError):  # the secret makes it no model
            made.CopyFrom(before)
    return made, count


@pytest.mark.parametrize("kind", ["message", "onnx_ir"])
def test_no_field_tells_a_secret(kind: str, tmp_path: Path) -> None:
    made, count = with_texts(model())
    assert count > 100
    assert made.SerializeToString().count(SECRET.encode()) > 100
    given = made if kind == "message" else ir.from_proto(made)
    part = onnx_scatterx.extract(given, "scatter")
    part.save(tmp_path / "part.onnx")
    sent = (tmp_path / "part.onnx").read_bytes()
    assert onnx.load_model_from_string(sent).graph.node[0].op_type == "Opaque"
    assert SECRET.encode() not in sent
    assert NUMBERS.tobytes() not in sent
    assert NUMBERS[1:3].tobytes() not in sent
    assert set(part.removed) == {
        f"q.{n}" for n in ("text", "texts", "tensor", "tensors", "numbers")
    }
    assert "removed attributes: q.text, " in str(part)
    assert part.weights == ()


def test_external_data_are_not_sent(tmp_path: Path) -> None:
    """The index is in a file beside weights: only its own numbers come along."""
    row = "g (float[4, 2] x, float[1, 2] u) => (float[4, 2] z) "
    made = parse(row + "<int64[1, 1] i = {1}, float[40] w> { y = ScatterND (x, i, u) z = Neg (y) }")
    made.graph.initializer.append(onnx.numpy_helper.from_array(NUMBERS, "w"))
    source, out = tmp_path / "m.onnx", tmp_path / "out"
    onnx.save(made, source, save_as_external_data=True, location="secret.bin", size_threshold=0)
    out.mkdir()
    assert main(["extract", str(source), "y", "-o", str(out / "part.onnx")]) == 0
    assert [path.name for path in out.iterdir()] == ["part.onnx"]
    found = onnx.load(out / "part.onnx")
    assert [t.name for t in found.graph.initializer] == ["i"]
    assert onnx.numpy_helper.to_array(found.graph.initializer[0]).tolist() == [[1]]
    assert b"secret.bin" not in (out / "part.onnx").read_bytes()


KEPT = {"BOOL", "INT32", "INT64", "UINT32", "UINT64"}
HELD = [kind for kind in ir.DataType if kind.name not in ("UNDEFINED", "STRING")]


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.name)
def test_only_types_of_indices_are_no_weights(kind: ir.DataType) -> None:
    elements = np.arange(40).reshape(4, 10) % 2
    tensor = ir.Tensor(elements.astype(kind.numpy()), kind)
    assert is_weight(tensor) == (kind.name not in KEPT)
    assert not is_weight(ir.Tensor(np.ones((4, 10)).astype(kind.numpy()), kind)), "all are the same"


def test_a_weight_of_int16_stays_behind() -> None:
    """An initializer between quantizers: 16 bits are a weight's, not an index's."""
    made = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        main (int16[4, 20] q, float s, int64[1, 1] i) => (int16[4, 20] z) {
            x = DequantizeLinear (q, s)
            u = DequantizeLinear (w, s)
            [scatter] y = ScatterND (x, i, u)
            z = QuantizeLinear <output_dtype = 5> (y, s)
        }""")
    weight = np.arange(20, dtype=np.int16).reshape(1, 20) + 1234
    made.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    part = onnx_scatterx.extract(made, "scatter")
    assert (part.weights, len(part.model.graph.initializer)) == ((), 0)
    assert weight.tobytes() not in part.model.SerializeToString()
