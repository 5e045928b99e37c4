"""Models are read with an error of one line for any mistake, and written whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_scatterx.errors import ModelError
from onnx_scatterx.files.data import to_proto
from onnx_scatterx.files.io import load, open_model
from onnx_scatterx.files.saving import save
from tests.helpers.external_data import weight, with_weights
from tests.helpers.small_models import negation, parse


@pytest.mark.parametrize("name", ["m.onnx", "m.onnxtxt", "m.textproto", "m.json"])
def test_a_saved_model_is_loaded(tmp_path: Path, name: str) -> None:
    save(negation(), tmp_path / name)
    assert [node.op_type for node in load(tmp_path / name).graph] == ["Neg"]
    assert os.listdir(tmp_path) == [name]


def broken_files() -> dict[str, bytes]:
    whole = negation().SerializeToString()
    headless = negation()
    headless.ClearField("graph")
    return {
        "empty": b"",
        "text": b"this is no model\n" * 20,
        "zeros": bytes(64),
        "truncated": whole[: len(whole) // 2],
        "truncated at a field": headless.SerializeToString(),
        "random": np.random.default_rng(0).bytes(500),
        "a zip": b"PK\x03\x04" + bytes(40),
    }


@pytest.mark.parametrize("case", broken_files())
def test_broken_files(tmp_path: Path, case: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(broken_files()[case])
    known = {"empty": "the file is empty", "a zip": "checkpoints of PyTorch .* torch.onnx.export"}
    because = known.get(case, "not an ONNX model, or a truncated one")
    with pytest.raises(ModelError, match=because) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_truncation_is_a_model_error(tmp_path: Path) -> None:
    whole = negation().SerializeToString()
    refused = 0
    for length in range(1, len(whole)):
        (tmp_path / "m.onnx").write_bytes(whole[:length])
        try:  # where a field ends, the rest may be a valid model by chance
            load(tmp_path / "m.onnx")
        except ModelError:
            refused += 1
    assert refused > 0.9 * len(whole)


@pytest.mark.parametrize("suffix", [".json", ".textproto", ".onnxtxt"])
def test_broken_text_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"m{suffix}"
    for content in (b"{ not a model", b"\xff\xfe\x00broken"):
        path.write_bytes(content)
        with pytest.raises(ModelError, match="not an ONNX model") as caught:
            load(path)
        assert "b'" not in str(caught.value)


def test_no_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        load(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="is a directory"):
        load(tmp_path)


def test_operators_that_a_runtime_fused() -> None:
    """What ONNX Runtime saves has operators of its own in the standard domain."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[N, 3] x, float[3] scale) => (float[N, 3] y) {
        y = SimplifiedLayerNormalization <axis = -1, epsilon = 0.00001, stash_type = 1> (x, scale) }
    """)
    assert load(model).graph.node(0).domain == ""


INVALID = {
    "nothing defines the value 'q'": "{ y = Add(x, q) }",
    "nothing defines the value 'y'": "{ z = Neg(x) }",
    "a cycle through the value": "{ y = Add(x, a) a = Neg(y) }",
    "used as output names multiple times": "{ y = Neg(x) y = Abs(x) }",
    "has input size 2 not in range": "{ y = ScatterND(x, x) }",
    "No Op registered for NoSuchOp": "{ y = NoSuchOp(x) }",
    "Unrecognized attribute: colour": "{ y = Neg <colour = 1> (x) }",
    "nothing defines the value 'r'": (
        "{ c = Constant <value = bool {1}> () y = If (c) <"
        "then_branch = a () => (float[N] s) { s = Neg(r) },"
        "else_branch = b () => (float[N] t) { t = Neg(x) }> }"
    ),
    "Scatter is deprecated": "{ y = Scatter(x, x, x) }",
}


@pytest.mark.parametrize("because", INVALID)
def test_invalid_graphs(because: str) -> None:
    with pytest.raises(ModelError, match=because):
        load(parse("g (float[N] x) => (float[N] y) " + INVALID[because]))


@pytest.mark.parametrize(
    ("opset", "because"), [(8, "Scatter begins with opset 9"), (999, "update onnx")]
)
def test_opsets_out_of_reach(opset: int, because: str) -> None:
    proto = negation()
    proto.opset_import[0].version = opset
    with pytest.raises(ModelError, match=f"opset {opset} is .*{because}"):
        load(proto)


def test_an_ir_version_of_the_future() -> None:
    proto = negation()
    proto.ir_version = 999
    with pytest.raises(ModelError, match="IR version 999 is newer"):
        load(proto)


TOLERATED: dict[str, Callable[[onnx.ModelProto], object]] = {
    "an unnamed graph": lambda m: m.graph.ClearField("name"),
    "an output of no shape": lambda m: m.graph.output[0].type.tensor_type.ClearField("shape"),
    "an output of no type": lambda m: m.graph.output[0].ClearField("type"),
    "an initializer that is no input, IR version 3": lambda m: m.MergeFrom(
        onnx.ModelProto(
            ir_version=3,
            graph=onnx.GraphProto(initializer=[onnx.numpy_helper.from_array(np.zeros(2), "w")]),
        )
    ),
}


@pytest.mark.parametrize("case", TOLERATED)
def test_models_that_runtimes_accept_are_accepted(case: str) -> None:
    proto = negation()
    TOLERATED[case](proto)
    assert len(load(proto).graph) == 1


def test_nodes_are_put_in_order() -> None:
    proto = parse(
        "g (bool c, float[N] x) => (float[N] y) { y = Neg(a) a = If (c) <"
        "then_branch = t () => (float[N] s) { s = Neg(r) },"
        "else_branch = e () => (float[N] u) { u = Neg(x) }> r = Abs(x) }"
    )
    assert [node.op_type for node in load(proto).graph] == ["Abs", "If", "Neg"]


def test_a_function_may_have_its_own_opset() -> None:
    proto = parse(
        "g (float[N] x) => (float[N] y) { y = local.f (x) }"
        '<domain: "local", opset_import: ["": 13]> f (x) => (y) { y = ReduceMax <axes = [0]> (x) }',
        head='<ir_version: 8, opset_import: ["": 18, "local": 1]>',
    )
    assert len(load(proto).functions) == 1


def test_a_tensor_of_too_few_bytes() -> None:
    proto = parse("g (float[N] x) => (float[N] y) { y = Add(x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(2, np.float32), "w"))
    proto.graph.initializer[0].raw_data = bytes(7)
    with pytest.raises(ModelError, match=r"tensor w of shape \[2\] needs 8 bytes and has 7"):
        load(proto)


def test_external_data_are_found_and_checked(tmp_path: Path) -> None:
    path = with_weights(tmp_path)
    np.testing.assert_array_equal(weight(path), np.arange(400))
    (tmp_path / "weights" / "w.bin").write_bytes(bytes(10))
    with pytest.raises(ModelError, match="has 10 bytes, but the model names bytes 0 to 1600"):
        load(path)
    (tmp_path / "weights" / "w.bin").unlink()
    with pytest.raises(ModelError, match=r"w\.bin does not exist"):
        load(path)


def test_external_data_outside_the_directory(tmp_path: Path) -> None:
    path = with_weights(tmp_path)
    proto = onnx.load(path, load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = "../w.bin"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match="is not inside the model's directory"):
        load(path)


@pytest.mark.parametrize("within", ["graph", "function", "unsorted graph"])
def test_a_subgraph_of_an_operator_that_takes_none(within: str, tmp_path: Path) -> None:
    # Nothing looks into such a subgraph for names, tensors and files.
    if within == "function":
        proto = parse("g (float[2] x) => (float[2] y) { y = local.f(x) }")
        made = onnx.helper.make_node("Relu", ["q"], ["r"])
        opsets = [onnx.helper.make_opsetid("", 17)]
        proto.functions.append(
            onnx.helper.make_function("local", "f", ["q"], ["r"], [made], opsets)
        )
        node = proto.functions[0].node[0]
    else:
        later = " z = Neg(x)" if within == "unsorted graph" else ""
        proto = parse(
            f"g (float[2] x) => (float[2] y) {{ y = Relu({'z' if later else 'x'}){later} }}"
        )
        node = proto.graph.node[0]
    body = onnx.parser.parse_graph("b (float[2] q) => (float[2] r) { r = Add(q, w) }")
    weight = body.initializer.add(name="w", data_type=onnx.TensorProto.FLOAT, dims=[2])
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="../outside.bin")
    node.attribute.append(onnx.helper.make_attribute("body", body))
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match="Unrecognized attribute: body for operator Relu"):
        load(path)


def test_a_message_is_read_once_more_after_its_model_has_changed() -> None:
    """With the names of its weights, though onnx_ir renames a weight's message with its value."""
    proto = parse(
        """g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
            y = Neg (z)  z = Add (x, w) }"""
    )
    opened = open_model(proto)
    original = opened.original()
    before = to_proto(original())
    assert [node.op_type for node in before.graph.node] == ["Add", "Neg"]
    weight_read = opened.model.graph.initializers["w"]
    weight_read.name = "w_1"
    opened.model.graph.remove(opened.model.graph.node(1))
    assert proto.graph.initializer[0].name == "w_1"
    again = original()
    assert to_proto(again) == before
    assert [v.name for v in to_proto(opened.model).graph.initializer] == ["w_1"]
    assert to_proto(again) == before
