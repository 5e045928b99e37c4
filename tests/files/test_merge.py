"""A changed model as a message: its changes, and all else as it was read."""

from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.files.data import from_proto, to_proto
from onnx_scatterx.files.merge import Original
from onnx_scatterx.files.parse import difference

MODELS = sorted(Path("models").glob("*.onnx"))[::6]
UNKNOWN = b"\xf8\x3f\x07"  # field 1023: 7


def weighted() -> onnx.ModelProto:
    """Return a model with three weights, metadata, a subgraph, and fields that onnx_ir drops."""
    weights = ", ".join(f"float[2] {name} = {{{i}, 2}}" for i, name in enumerate("abc"))
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2] x, bool k) => (float[2] y) <{weights}> {{
            p = Add (x, a)  q = Add (p, b)
            r = If (k) <then_branch = t () => (float[2] s) {{ s = Neg (q) }},
                        else_branch = e () => (float[2] v) {{ v = Abs (q) }}>
            y = Add (r, c) }}""")
    model.graph.doc_string = "text"
    model.metadata_props.add(key="k", value="v")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("nobody", 1, [2]))
    branch = model.graph.node[2].attribute[0].g
    for message in (model, model.graph, model.graph.node[0], branch.node[0], branch):
        message.MergeFromString(UNKNOWN)
    return model


def merged(change: Callable[[ir.Model], None]) -> onnx.ModelProto:
    message = weighted()
    model = from_proto(message)
    original = Original(message, model)
    change(model)
    found = original.merged(model)
    assert message == weighted(), "the message that was read is not changed"
    fresh = to_proto(model)
    for part in (found, fresh):  # what onnx_ir writes is a part of it
        values = [v for v in part.graph.value_info if v.name not in ("nobody", "a", "b", "c", "d")]
        values = [v for v in values if v.name != "other"]
        del part.graph.value_info[:]
        part.graph.value_info.extend(sorted(values, key=lambda v: v.name))
        tensors = sorted(part.graph.initializer, key=lambda tensor: tensor.name)
        del part.graph.initializer[:]
        part.graph.initializer.extend(tensors)
    without = onnx.ModelProto()
    without.CopyFrom(found)
    without.DiscardUnknownFields()
    assert difference(without, fresh) is None
    return found


def drop(model: ir.Model) -> None:
    model.graph.initializers.pop("b")
    model.graph.node(1).replace_input_with(1, model.graph.initializers["a"])


def exchange(model: ir.Model) -> None:
    model.graph.initializers["b"].const_value = ir.tensor([7.0, 8.0], name="b")


def rename(model: ir.Model) -> None:
    model.graph.initializers["b"].name = "other"


def swap(model: ir.Model) -> None:
    a, b = (model.graph.initializers[name] for name in "ab")
    a.const_value, b.const_value = b.const_value, a.const_value


def append(model: ir.Model) -> None:
    tensor = ir.tensor([9.0, 9.0], name="d")
    value = ir.Value(
        name="d", type=ir.TensorType(tensor.dtype), shape=ir.Shape([2]), const_value=tensor
    )
    model.graph.register_initializer(value)


def empty(model: ir.Model) -> None:
    model.graph.doc_string = None
    model.metadata_props.clear()
    model.opset_imports["own"] = 1


def insert(model: ir.Model) -> None:
    graph = model.graph
    new = ir.node("Neg", [graph.node(0).outputs[0]], name="new")
    graph.insert_after(graph.node(0), new)
    graph.node(2).replace_input_with(0, new.outputs[0])


def in_a_branch(model: ir.Model) -> None:
    model.graph.node(2).attributes["then_branch"].as_graph().node(0).op_type = "Abs"


CHANGES = [drop, exchange, rename, swap, append, empty, insert, in_a_branch]


@pytest.mark.parametrize("change", CHANGES)
def test_it_has_the_changes_and_all_that_onnx_ir_drops(change: Callable[[ir.Model], None]) -> None:
    found = merged(change)
    assert found.SerializeToString().count(UNKNOWN) == (5 if change is not in_a_branch else 4)
    assert found != weighted()


def test_a_node_that_is_changed_keeps_fields_that_nobody_knows() -> None:
    def turn(model: ir.Model) -> None:
        model.graph.node(0).replace_input_with(1, model.graph.initializers["c"])

    found = merged(turn)
    assert list(found.graph.node[0].input) == ["x", "c"]
    assert UNKNOWN in found.graph.node[0].SerializeToString()


def test_nothing_changed_is_the_message_itself() -> None:
    message = weighted()
    model = from_proto(message)
    assert Original(message, model).merged(model) is message


def test_what_is_trained_is_kept() -> None:
    message = weighted()
    message.training_info.add().update_binding.add(key="b", value="b2")
    model = from_proto(message)
    original = Original(message, model)
    drop(model)
    assert "b" in {tensor.name for tensor in original.merged(model).graph.initializer}


@pytest.mark.parametrize("ours", [False, True])
def test_weights_may_change_their_names_and_numbers(ours: bool) -> None:
    message = weighted()
    model = from_proto(message)
    original = Original(message, model, ours=ours)
    a, b, c = (model.graph.initializers[name] for name in "abc")
    a.const_value, b.const_value = b.const_value, a.const_value
    c.const_value = ir.tensor([7.0, 8.0], name="c")
    found = original.merged(model)
    numbers = {t.name: onnx.numpy_helper.to_array(t).tolist() for t in found.graph.initializer}
    assert numbers == {"a": [1, 2], "b": [0, 2], "c": [7, 8]}
    assert (found is message) == ours


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_path_and_a_message_give_the_same(path: Path) -> None:
    one = onnx_scatterx.optimize(path).model
    other = onnx_scatterx.optimize(onnx.load(path)).model
    assert one.SerializeToString() == other.SerializeToString()


def test_the_type_of_a_value_that_did_not_exist_is_not_that_of_a_new_one() -> None:
    message = weighted()
    message.graph.quantization_annotation.add(tensor_name="nobody")
    model = from_proto(message)
    original = Original(message, model)
    insert(model)
    model.graph.node(1).outputs[0].name = "nobody"
    graph = original.merged(model).graph
    assert "nobody" in {name for node in graph.node for name in node.output}
    assert "nobody" not in {value.name for value in graph.value_info}
    assert not graph.quantization_annotation


@pytest.mark.parametrize(("declared", "kept"), [(["N", 4], ["N", 4]), (["K", 5], ["", 0])])
def test_a_value_that_is_written_otherwise_keeps_what_is_proven_of_it(
    declared: list[str | int], kept: list[str | int]
) -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[N, 4] x, float[1, 4] u) => (float[A, B] y) <int64[1, 1] i = {1}> {
            z = ScatterND (x, i, u)  y = Neg (z) }""")
    info = onnx.helper.make_tensor_value_info("z", 1, declared, "text")
    model.graph.value_info.append(info)
    made = onnx_scatterx.optimize(model, target="standard").model
    (found,) = (v for v in made.graph.value_info if v.name == "z")
    assert made.graph.node[-2].op_type == "Concat"
    assert found.doc_string == "text"
    assert [d.dim_param or d.dim_value for d in found.type.tensor_type.shape.dim] == [
        d or 0 for d in kept
    ]


CALLS = """<ir_version: {version}, opset_import: ["" : 18, "own" : 1]>
    g (float[N] x, float[N] z) => (float[N] y) {{
        a = own.F (x)  b = own.H (a)  c = Add (b, z)  d = Neg (c)  y = own.G (d) }}
    <domain: "own", opset_import: ["" : 18]> F (x) => (y) {{ m = Neg (x)  y = Abs (m) }}
    <domain: "own", opset_import: ["" : 18]> G (x) => (y) {{ m = Exp (x)  y = Abs (m) }}
    <domain: "own", opset_import: ["" : 18]> H (x) => (y) {{ m = Sin (x)  y = Cos (m) }}"""


def in_a_function(model: ir.Model) -> None:
    model.functions["own", "G", ""].graph.node(0).op_type = "Log"


def without_a_function(model: ir.Model) -> None:
    model.graph.node(1).op_type, model.graph.node(1).domain = "Sin", ""
    del model.functions["own", "H", ""]


def of_another_version(model: ir.Model) -> None:
    model.ir_version = 10


def of_another_type(model: ir.Model) -> None:
    for node in list(model.graph)[:-1]:
        node.outputs[0].dtype = ir.DataType.FLOAT16


def of_another_shape(model: ir.Model) -> None:
    model.graph.node(2).outputs[0].shape = ir.Shape([7])


def in_another_order(model: ir.Model) -> None:
    graph = model.graph
    new = ir.node("Exp", [graph.inputs[1]], name="new")
    graph.insert_before(graph.node(2), new)
    graph.node(3).replace_input_with(1, new.outputs[0])
    graph.insert_before(graph.node(0), new)


def computed_by_another_node(model: ir.Model) -> None:
    graph = model.graph
    old = graph.node(3)
    new = ir.node("Abs", old.inputs, name="new")
    new.outputs[0].type, new.outputs[0].shape = old.outputs[0].type, ir.Shape([3])
    graph.insert_after(old, new)
    old.outputs[0].replace_all_uses_with(new.outputs[0])
    graph.remove(old, safe=True)
    new.outputs[0].name = "d"


@pytest.mark.parametrize("version", [8, 10])
@pytest.mark.parametrize(
    "change",
    [
        in_a_function,
        without_a_function,
        of_another_version,
        of_another_type,
        of_another_shape,
        in_another_order,
        computed_by_another_node,
    ],
)
def test_it_is_what_onnx_ir_writes(change: Callable[[ir.Model], None], version: int) -> None:
    message = onnx.parser.parse_model(CALLS.format(version=version))
    for graph in (message.graph, *message.functions) if version == 10 else (message.graph,):
        for name in {output for node in graph.node for output in node.output} - {"y"}:
            graph.value_info.append(onnx.helper.make_tensor_value_info(name, 1, ["N"]))
    if version == 8:
        for name in "FGH":
            info = onnx.helper.make_tensor_value_info(f"own::{name}/m", 1, ["N"])
            message.graph.value_info.append(info)
    message.MergeFromString(UNKNOWN)
    model = from_proto(message)
    original = Original(message, model)
    change(model)
    found = original.merged(model)
    assert found != message or model.ir_version == version
    assert UNKNOWN in found.SerializeToString()
    found.DiscardUnknownFields()
    fresh = to_proto(model)
    for part in (found, fresh):
        for graph in (part.graph, *part.functions):
            infos = sorted(graph.value_info, key=lambda info: info.name)
            del graph.value_info[:]
            graph.value_info.extend(infos)
        functions = sorted(part.functions, key=lambda function: function.name)
        del part.functions[:]
        part.functions.extend(functions)
    assert difference(found, fresh) is None


def test_a_node_of_a_function_may_refer_to_another_attribute() -> None:
    message = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
        g (float[N, M] x) => (float[A, B] y) { y = own.F <p = 0, q = 1> (x) }
        <domain: "own", opset_import: ["" : 18]> F <p, q> (x) => (y) {
            y = Concat <axis : int = @p> (x, x) }""")
    model = from_proto(message)
    original = Original(message, model)
    node = model.functions["own", "F", ""].graph.node(0)
    node.attributes["axis"] = ir.RefAttr("axis", "q", ir.AttributeType.INT)
    found = original.merged(model)
    assert found.functions[0].node[0].attribute[0].ref_attr_name == "q"
