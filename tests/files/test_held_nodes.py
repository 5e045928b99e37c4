"""The one walk over the nodes of a message that its checks share."""

import logging
from typing import Any

import onnx
import onnx.parser
import pytest

from onnx_scatterx.files.data import from_proto, tensors, tensors_held
from onnx_scatterx.files.held_nodes import held_nodes
from onnx_scatterx.files.merge import Original

MODEL = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[2] x, bool k) => (float[2] y) <float[2] w = {1, 2}> {
        p = Add (x, w)
        q = own.f (p)
        c = Constant <value = float[1] {3}> ()
        y = If (k) <then_branch = t () => (float[2] s) <float[1] v = {4}> { s = Add (q, v) },
                    else_branch = e () => (float[2] r) {
                        r = If (k) <then_branch = i () => (float[2] a) { a = Neg (q) },
                                    else_branch = j () => (float[2] b) { b = Mul (q, c) }> }> }
    <domain: "own", opset_import: ["" : 18]> f (x) => (y) {
        one = Constant <value = float[1] {5}> ()
        y = Mul (x, one) }"""


def test_each_node_is_found_once_with_its_holder() -> None:
    model = onnx.parser.parse_model(MODEL)
    found = held_nodes(model)
    told = sorted((h.holder.name, h.node.op_type, h.in_function) for h in found)
    assert told == [
        *[("e", "If", False), ("f", "Constant", True), ("f", "Mul", True), ("g", "Add", False)],
        *[("g", "Constant", False), ("g", "If", False), ("g", "f", False), ("i", "Neg", False)],
        *[("j", "Mul", False), ("t", "Add", False)],
    ]
    inner = [[body.name for body in h.bodies] for h in found if h.node.op_type == "If"]
    assert inner == [["t", "e"], ["i", "j"]]
    assert all(h.attributes == list(h.node.attribute) for h in found)


def test_their_tensors_are_those_of_the_model() -> None:
    model = onnx.parser.parse_model(MODEL)
    found = [*model.graph.initializer, *tensors_held(held_nodes(model))]
    assert sorted(t.raw_data or t.float_data[0] for t in found) == sorted(
        t.raw_data or t.float_data[0] for t in tensors(model)
    )
    assert len(found) == 4


def test_what_other_parts_compute_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning of onnx_ir for each such value would take longer than to read its node."""
    warned: list[Any] = []
    monkeypatch.setattr(
        logging.getLogger("onnx_ir.serde"), "warning", lambda *told: warned.append(told)
    )
    message = onnx.parser.parse_model(MODEL)
    model = from_proto(message)
    original = Original(message, model)
    chosen = model.graph.node(3)
    chosen.name = "chosen"
    made = original.merged(model)
    assert made.graph.node[3].name == "chosen"
    assert list(made.graph.input) == list(message.graph.input)
    made.graph.node[3].ClearField("name")
    assert made == message
    assert warned == []
