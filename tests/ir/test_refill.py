"""A message that gets the nodes of its optimized model equals a newly made message."""

from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.ir.data import to_proto
from onnx_scatterx.ir.refill import refilled

MODELS = sorted(Path("models").glob("*.onnx"))[::6]


def weighted() -> onnx.ModelProto:
    """Return a model with three weights, metadata and a name."""
    weights = ", ".join(f"float[2] {name} = {{{i}, 2}}" for i, name in enumerate("abc"))
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2] x) => (float[2] y) <{weights}> {{
            p = Add (x, a)  q = Add (p, b)  y = Add (q, c) }}""")
    model.graph.doc_string = "text"
    model.metadata_props.add(key="k", value="v")
    return model


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_from_a_path_gives_the_same_as_one_in_memory(path: Path) -> None:
    kept = onnx_scatterx.optimize(path).model
    assert (
        kept.SerializeToString()
        == onnx_scatterx.optimize(onnx.load(path)).model.SerializeToString()
    )


def drop(model: ir.Model) -> None:
    model.graph.initializers.pop("b")
    model.graph.node(1).replace_input_with(1, model.graph.initializers["a"])


def put_first(model: ir.Model) -> None:
    initializers = model.graph.initializers
    initializers["a"] = initializers.pop("a")


def exchange(model: ir.Model) -> None:
    model.graph.initializers["b"].const_value = ir.tensor([7.0, 8.0], name="b")


def rename(model: ir.Model) -> None:
    model.graph.initializers["b"].name = "other"


def append(model: ir.Model) -> None:
    tensor = ir.tensor([9.0, 9.0], name="d")
    model.graph.register_initializer(
        ir.Value(
            name="d", type=ir.TensorType(tensor.dtype), shape=ir.Shape([2]), const_value=tensor
        )
    )


def empty(model: ir.Model) -> None:
    model.graph.doc_string = None
    model.metadata_props.clear()
    model.opset_imports["own"] = 1


@pytest.mark.parametrize("change", [drop, put_first, exchange, rename, append, empty])
def test_it_is_the_message_that_would_be_made(change: Callable[[ir.Model], None]) -> None:
    message = weighted()
    model = ir.from_proto(message)
    change(model)
    fresh = to_proto(model).SerializeToString()
    assert refilled(message, model).SerializeToString() == fresh


def test_the_weights_are_not_copied() -> None:
    message = weighted()
    tensors = list(message.graph.initializer)
    model = ir.from_proto(message)
    drop(model)
    found = refilled(message, model)
    assert found is message
    assert [t is u for t, u in zip(found.graph.initializer, tensors[::2], strict=True)] == [
        True
    ] * 2


def test_unknown_fields_of_a_message_are_not_copied() -> None:
    message = weighted()
    message.MergeFromString(b"\xf8\x3f\x07")  # field 1023: 7
    model = ir.from_proto(message)
    fresh = to_proto(model).SerializeToString()
    assert refilled(message, model).SerializeToString() == fresh
