"""Finds the subgraphs of nodes, and inlines the functions of a model."""

from __future__ import annotations

import onnx
from onnx import inliner

from onnx_scatterx.proof.core.terms import UnsupportedError

SCATTERX = "onnx_scatterx"
"""The first domain of ScatterX. The second to the eighth domain have their number after it."""

STANDARD = ("", "ai.onnx")
_RUNTIMES = ("ai.onnx", "com.microsoft", "com.ms", "org.pytorch")


def is_scatterx(domain: str) -> bool:
    """Return whether a domain is one of ScatterX's."""
    return domain in (SCATTERX, *(f"{SCATTERX}.{number}" for number in range(2, 9)))


def replaced(function: onnx.FunctionProto) -> bool:
    """Return whether a function is a fallback of ScatterX: the kernel runs instead if installed."""
    return function.name == "ScatterX" and is_scatterx(function.domain)


def bodies(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    """Return the graphs of an attribute."""
    return [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]


def subgraphs_of(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs of a node's attributes, without the graphs of inner nodes."""
    return [graph for a in node.attribute for graph in bodies(a)]


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs within a node, at any depth."""
    own = subgraphs_of(node)
    return own + [deeper for graph in own for n in graph.node for deeper in subgraphs(n)]


def nameless(attribute: onnx.AttributeProto, captured: dict[str, str]) -> bytes:
    """Return an attribute as bytes, with numbers instead of the names in subgraphs.

    The names of values that the subgraphs read from outside are added to ``captured``.
    """
    plain = onnx.AttributeProto()
    plain.CopyFrom(attribute)
    plain.doc_string = ""
    for graph in bodies(plain):
        _rename(graph, {}, captured)
    return bytes(plain.SerializeToString(deterministic=True))


def _rename(graph: onnx.GraphProto, outer: dict[str, str], captured: dict[str, str]) -> None:
    names = dict(outer)

    def new(name: str) -> str:
        return names.setdefault(name, f"inner {len(names)}") if name else ""

    def old(name: str) -> str:
        if not name or name in names:
            return names.get(name, "")
        return captured.setdefault(name, f"outer {len(captured)}")

    graph.name = graph.doc_string = ""
    for value in (*graph.input, *graph.initializer):
        value.name = new(value.name)
    for node in graph.node:
        node.name = node.doc_string = ""
        del node.metadata_props[:]
        node.input[:] = [old(n) for n in node.input]
        for attribute in node.attribute:
            for inner in bodies(attribute):
                _rename(inner, names, captured)
        node.output[:] = [new(n) for n in node.output]
    for value in (*graph.output, *graph.value_info):
        value.name = old(value.name)
    ordered = sorted(graph.value_info, key=lambda v: v.name)
    del graph.value_info[:]
    graph.value_info.extend(ordered)


def custom_domains(node: onnx.NodeProto) -> list[str]:
    """Return the domains of a node and its inner nodes, without those of ONNX and ONNX Runtime."""
    inner = (n for graph in subgraphs(node) for n in graph.node)
    domains = dict.fromkeys(n.domain for n in (node, *inner))
    own = ("ai.onnx.", "com.microsoft.")
    return [d for d in domains if d and not is_scatterx(d) and not f"{d}.".startswith(own)]


def without_functions(model: onnx.ModelProto, fallback: bool) -> onnx.ModelProto:
    """Return a model without functions; UnsupportedError if a call may mean several things.

    A node of the default domain always means the operator. A node of another domain in which a
    runtime has operators may mean the operator or the function. Functions with defaults of
    attributes are refused, because inlining loses the defaults. Without ``fallback``, the fallbacks
    of ScatterX are dropped.
    """
    flat = onnx.ModelProto()
    flat.CopyFrom(model)
    del flat.functions[:]
    flat.functions.extend(
        f for f in model.functions if f.domain not in STANDARD and (fallback or not replaced(f))
    )
    for function in flat.functions:
        name = f"the function {function.domain}.{function.name}"
        if any(f"{function.domain}.".startswith(f"{own}.") for own in _RUNTIMES):
            raise UnsupportedError(f"{name}, which a runtime may take for an operator of its own")
        if function.attribute_proto:
            raise UnsupportedError(f"{name} has defaults of attributes")
    if not flat.functions:
        return flat
    called = {(f.domain, f.name) for f in flat.functions}
    try:
        flat = inliner.inline_local_functions(flat)
    except (RuntimeError, onnx.checker.ValidationError) as error:
        raise UnsupportedError("functions that cannot be inlined") from error
    inner = (n for node in flat.graph.node for graph in subgraphs(node) for n in graph.node)
    for node in (*flat.graph.node, *inner):
        if (node.domain, node.op_type) in called:
            what = f"the function {node.domain}.{node.op_type}"
            raise UnsupportedError(f"{what}, which cannot be inlined")
    return flat
