"""Large tensors in attributes are not copied, and the result is the same as with copies."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.files import check, size
from onnx_scatterx.files.data import from_proto
from onnx_scatterx.files.merge import Original

MODELS = sorted(Path("models").glob("*.onnx"))
UNKNOWN = b"\xf8\x3f\x07"  # field 1023: 7


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let every tensor of an attribute be large."""
    monkeypatch.setattr(check, "_LARGE", -1)
    return monkeypatch


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", MODELS[::3], ids=lambda path: path.stem)
def test_the_checker_gets_the_same_copy(path: Path, all_large: pytest.MonkeyPatch) -> None:
    model = onnx.load(path)
    copy = check.skeleton(model)
    all_large.setattr(check, "_LARGE", 1 << 60)
    assert copy == check.skeleton(model)
    assert check.skeleton(copied(model, 3)) == check.skeleton(copied(model, 4))


def copied(model: onnx.ModelProto, number: int) -> onnx.ModelProto:
    """Return a copy with another number in each Constant."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for node in copy.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t") and attribute.t.HasField("raw_data"):
                attribute.t.raw_data = bytes([number]) * len(attribute.t.raw_data)
    return copy


@pytest.mark.sampled(12, each="target")
@pytest.mark.parametrize("target", ["standard", "qnn"])
@pytest.mark.parametrize("path", MODELS[::3], ids=lambda path: path.stem)
def test_the_result_is_the_same(path: Path, target: str, all_large: pytest.MonkeyPatch) -> None:
    found = onnx_scatterx.optimize(path, target=target).model
    message = onnx.load(path)
    given = onnx_scatterx.optimize(message, target=target).model
    assert message == onnx.load(path)
    all_large.setattr(check, "_LARGE", 1 << 60)
    small = onnx_scatterx.optimize(path, target=target).model
    assert found.SerializeToString() == given.SerializeToString() == small.SerializeToString()


def constants() -> onnx.ModelProto:
    """Return a model with constants in the graph and in a branch."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2] x, bool k) => (float[2] y) {
            a = Constant <value = float[2] {1, 2}> ()
            b = Constant <value = float[2] {3, 4}> ()
            r = If (k) <then_branch = t () => (float[2] s) <float[2] w = {5, 6}> {
                            c = Constant <value = float[2] {7, 8}> ()  d = Add (c, w)
                            s = Neg (d) },
                        else_branch = e () => (float[2] v) { v = Add (a, b) }>
            y = Add (r, x) }""")
    for node in model.graph.node:
        node.MergeFromString(UNKNOWN)
    return model


def numbers(model: onnx.ModelProto) -> dict[str, list[float]]:
    """Return the constants of a model, by the names of their values."""
    then = model.graph.node[-2].attribute[0].g
    nodes = [node for node in (*model.graph.node, *then.node) if node.op_type == "Constant"]
    found = {node.output[0]: node.attribute[0].t for node in nodes}
    found |= {tensor.name: tensor for tensor in then.initializer}
    return {name: onnx.numpy_helper.to_array(t).tolist() for name, t in found.items()}


WERE = {"a": [1, 2], "b": [3, 4], "c": [7, 8], "w": [5, 6]}


def swap(model: ir.Model) -> None:
    """Exchange two constants of the graph, and those of the branch."""
    a, b = model.graph.node(0), model.graph.node(1)
    first, second = a.attributes["value"], b.attributes["value"]
    a.attributes["value"], b.attributes["value"] = second, first
    then = model.graph.node(2).attributes["then_branch"].as_graph()
    c, w = then.node(0), then.initializers["w"]
    inner = c.attributes["value"].as_tensor()
    c.attributes["value"] = ir.AttrTensor("value", w.const_value or inner)
    w.const_value = inner


def add(model: ir.Model) -> None:
    """Let a new node hold a constant of another one, which is removed."""
    a = model.graph.node(0)
    new = ir.node("Constant", [], attributes={"value": a.attributes["value"].as_tensor()})
    new.outputs[0].name = "n"
    model.graph.insert_before(a, new)
    a.outputs[0].replace_all_uses_with(new.outputs[0])
    model.graph.remove(a)


def change(model: ir.Model) -> None:
    """Give a constant other numbers, and rename the initializer of the branch."""
    model.graph.node(1).attributes["value"] = ir.AttrTensor("value", ir.tensor([9.0, 9.0]))
    then = model.graph.node(2).attributes["then_branch"].as_graph()
    then.initializers["w"].name = "u"


RESULTS = {
    swap: {"a": [3, 4], "b": [1, 2], "c": [5, 6], "w": [7, 8]},
    add: {"n": [1, 2], "b": [3, 4], "c": [7, 8], "w": [5, 6]},
    change: {"a": [1, 2], "b": [9, 9], "c": [7, 8], "u": [5, 6]},
}


@pytest.mark.parametrize("ours", [False, True])
@pytest.mark.parametrize("changed", RESULTS, ids=lambda f: f.__name__)
@pytest.mark.usefixtures("all_large")
def test_constants_may_move(changed: object, ours: bool) -> None:
    assert callable(changed)
    message = constants()
    model = from_proto(message)
    original = Original(message, model, ours=ours)
    changed(model)
    found = original.merged(model)
    assert numbers(found) == RESULTS[changed]
    assert "onnx_scatterx.weight" not in str(found)
    kept = 4 - (changed is add)
    assert sum(UNKNOWN in node.SerializeToString() for node in found.graph.node) == kept
    assert (found is message) == ours
    if not ours:
        assert message == constants()
        assert numbers(message) == WERE
    onnx.checker.check_model(found)


def test_a_text_of_the_model_stands_for_no_weight() -> None:
    """A file may have any text, also that of a message that was merged before."""
    message = constants()
    model = from_proto(message)
    original = Original(message, model)
    for tensor in (message.graph.node[0].attribute[0].t, *message.graph.initializer):
        tensor.doc_string = original._weights._mark
    again = from_proto(message)
    found = Original(message, again)
    change(again)
    assert numbers(found.merged(again)) == RESULTS[change]


@pytest.mark.usefixtures("all_large")
def test_nothing_changed_is_the_message_itself() -> None:
    message = constants()
    model = from_proto(message)
    original = Original(message, model)
    assert original.merged(model) is message
    assert model.graph.node(0).attributes["value"].as_tensor().numpy().tolist() == [1, 2]


def test_the_size_with_large_constants_is_right_to_some_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = constants()
    for i in range(100):
        node = onnx.helper.make_node("Constant", [], [f"c{i}"], name=f"node{i}", domain="")
        value = onnx.numpy_helper.from_array(np.zeros(20_000, "f"), f"tensor{i}")
        node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR, t=value)
        model.graph.node.append(node)
    exact = size.file_size(model)
    assert exact == len(model.SerializeToString())
    monkeypatch.setattr(size, "_LARGE", 1000)
    about = size.file_size(model)
    assert exact != about
    assert abs(about - exact) < 100 * 24
