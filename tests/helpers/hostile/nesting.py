"""Functions that call each other, and graphs within graphs."""

from collections.abc import Sequence

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

from tests.helpers.hostile.registry import hostile, model_of


@hostile(20)
def _called(depth: int) -> onnx.ModelProto:
    """Functions that call the next one twice: 2^depth calls."""
    functions = [
        f"""<domain: "f", opset_import: ["" : 18, "f" : 1]>
        f{k} (a) => (b) {{ c = f.f{k + 1} (a) b = f.f{k + 1} (c) }}"""
        for k in range(depth)
    ]
    last = f"""<domain: "f", opset_import: ["" : 18]>
        f{depth} (a) => (b) {{ i = Constant <value = int64[1, 1] {{1}}> ()
                               u = Constant <value = float[1, 2] {{1.0, 2.0}}> ()
                               b = ScatterND (a, i, u) }}"""
    return model_of(["y = f.f0 (x)"], more="\n".join([*functions, last]))


@hostile(3000)
def _called_in_turn(depth: int) -> onnx.ModelProto:
    """Functions that call each other in a long row."""
    functions = [
        f"""<domain: "f", opset_import: ["" : 18, "f" : 1]>
        f{k} (a) => (b) {{ b = f.f{k + 1} (a) }}"""
        for k in range(depth)
    ]
    last = f"""<domain: "f", opset_import: ["" : 18]> f{depth} (a) => (b) {{ b = Identity (a) }}"""
    body = ["z = f.f0 (x)", "rows = Identity (first)", "i = Unsqueeze (rows, minus)"]
    return model_of([*body, "y = ScatterND (z, i, u)"], more="\n".join([*functions, last]))


def _graph(
    name: str, nodes: Sequence[onnx.NodeProto], inputs: int, outputs: Sequence[str]
) -> onnx.GraphProto:
    head = [
        helper.make_tensor_value_info(f"{name}/i", TensorProto.INT64, []),
        helper.make_tensor_value_info(f"{name}/c", TensorProto.BOOL, []),
        helper.make_tensor_value_info(f"{name}/v", TensorProto.FLOAT, ["N", 2]),
    ][:inputs]
    kinds = {1: [TensorProto.FLOAT], 2: [TensorProto.BOOL, TensorProto.FLOAT]}[len(outputs)]
    tail = [
        helper.make_tensor_value_info(o, kind, [] if kind == TensorProto.BOOL else ["N", 2])
        for o, kind in zip(outputs, kinds, strict=True)
    ]
    return helper.make_graph(list(nodes), name, head, tail)


def _nested(body: onnx.GraphProto | Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(body),
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2]),
            helper.make_tensor_value_info("u", TensorProto.FLOAT, [1, 2]),
            helper.make_tensor_value_info("b", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])],
        [numpy_helper.from_array(np.zeros((1, 1), np.int64), "i")],
    )
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


@hostile(28)
def _loops(depth: int) -> onnx.ModelProto:
    """Loops in loops, whose values take other shapes in each iteration."""
    nodes = [helper.make_node("ScatterND", ["l0/v", "i", "u"], ["l0/w"])]
    for k in range(depth):
        joined = helper.make_node("Concat", [f"l{k}/w", "u"], [f"l{k}/o"], axis=0)
        on = helper.make_node("Identity", [f"l{k}/c"], [f"l{k}/on"])
        body = _graph(f"l{k}", [*nodes, joined, on], 3, [f"l{k}/on", f"l{k}/o"])
        outer = f"l{k + 1}/v" if k + 1 < depth else "x"
        out = f"l{k + 1}/w" if k + 1 < depth else "y"
        nodes = [helper.make_node("Loop", ["", "b", outer], [out], body=body)]
    return _nested(nodes)


@hostile(28)
def _branches(depth: int) -> onnx.ModelProto:
    """Ifs in Ifs."""
    name, nodes = "e0", [helper.make_node("ScatterND", ["x", "i", "u"], ["e0"])]
    for k in range(depth):
        then = _graph(f"t{k}", nodes, 0, [name])
        other = _graph(f"o{k}", [helper.make_node("Identity", ["x"], [f"o{k}"])], 0, [f"o{k}"])
        name = f"e{k + 1}" if k + 1 < depth else "y"
        nodes = [helper.make_node("If", ["b"], [name], then_branch=then, else_branch=other)]
    return _nested(nodes)


@hostile(4000)
def _branches_in_a_row(count: int) -> onnx.ModelProto:
    """Known Ifs, one behind the other."""
    nodes = []
    before = "x"
    for k in range(count):
        then = _graph(f"t{k}", [helper.make_node("Abs", [before], [f"t{k}"])], 0, [f"t{k}"])
        other = _graph(f"o{k}", [helper.make_node("Neg", [before], [f"o{k}"])], 0, [f"o{k}"])
        nodes += [
            helper.make_node("Size", [before], [f"s{k}"]),
            helper.make_node("Equal", [f"s{k}", f"s{k}"], [f"c{k}"]),
            helper.make_node("If", [f"c{k}"], [f"e{k}"], then_branch=then, else_branch=other),
        ]
        before = f"e{k}"
    nodes.append(helper.make_node("ScatterND", [before, "i", "u"], ["y"]))
    return _nested(nodes)
