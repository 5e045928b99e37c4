"""Changes of where a node stands: in a function, or in a branch."""

import onnx
from onnx import AttributeProto, helper

from tests.engine.fuzz.mutant import Mutant

_DOMAINS = ("local", "local", "com.microsoft", "", "ai.onnx")


def _place(m: Mutant) -> int | None:
    """Choose a node of the main graph that has no graphs of its own."""
    found = [
        place
        for place, node in enumerate(m.graph.node)
        if not any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for a in node.attribute)
        and all(node.output)
    ]
    return m.rng.choice(found) if found else None


def in_function(m: Mutant) -> bool:
    """Put a node into a function.

    ONNX Runtime calls none of the default domain: there the function is named like the operator,
    and does something else.
    """
    place = _place(m)
    if place is None:
        return False
    node = m.graph.node[place]
    domain = m.rng.choice(_DOMAINS)
    standard = domain in ("", "ai.onnx")
    inputs = [name for name in dict.fromkeys(node.input) if name]
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    name = node.op_type if standard else f"{node.op_type}_{len(m.model.functions)}"
    if standard:
        inner = helper.make_node("Identity", inputs[:1], node.output[:1])
    function = helper.make_function(
        domain, name, inputs, list(node.output), [inner], list(m.model.opset_import)
    )
    if any((f.domain, f.name) == (domain, name) for f in m.model.functions):
        return False
    m.model.functions.append(function)
    m.model.ir_version = max(m.model.ir_version, 8)
    if standard:
        return True
    node.CopyFrom(helper.make_node(name, inputs, list(node.output), node.name, domain=domain))
    if domain not in {i.domain for i in m.model.opset_import}:
        m.model.opset_import.append(helper.make_opsetid(domain, 1))
    return True


def in_branch(m: Mutant) -> bool:
    """Put a node into both branches of an If."""
    place = _place(m)
    if place is None:
        return False
    node = m.graph.node[place]
    bodies = []
    for side in ("then", "else"):
        inner = onnx.NodeProto()
        inner.CopyFrom(node)
        inner.output[:] = [f"{name}_{side}" for name in node.output]
        results = [onnx.ValueInfoProto(name=name) for name in inner.output]
        for value, name in zip(results, node.output, strict=True):
            value.type.tensor_type.elem_type = m.types.get(name, (0, None))[0]
        bodies.append(helper.make_graph([inner], f"{node.name}_{side}", [], results))
    condition = f"{node.output[0]}_condition"
    if m.rng.random() < 0.5:
        value = helper.make_tensor(condition, onnx.TensorProto.BOOL, [], [m.rng.random() < 0.5])
        m.graph.initializer.append(value)
    else:
        made = helper.make_tensor_value_info(condition, onnx.TensorProto.BOOL, [])
        m.graph.input.append(made)
    node.CopyFrom(
        helper.make_node(
            "If",
            [condition],
            list(node.output),
            node.name,
            then_branch=bodies[0],
            else_branch=bodies[1],
        )
    )
    return True
