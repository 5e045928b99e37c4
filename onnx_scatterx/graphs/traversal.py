"""Questions about a model: what it holds, what a node is, what computes and what reads a value."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

import onnx_ir as ir

_DOMAIN = "onnx_scatterx"


def is_scatterx_domain(domain: str) -> bool:
    """Return whether a domain is a domain of ScatterX.

    >>> is_scatterx_domain("onnx_scatterx.12"), is_scatterx_domain("onnx_scatterx_more")
    (True, False)
    """
    return domain == _DOMAIN or domain.startswith(f"{_DOMAIN}.")


def is_operator(node: ir.Node | None, op_types: Container[str]) -> bool:
    """Return whether a node is one of these operators of the default domain.

    Functions and operators of other domains may have the same names.
    """
    return node is not None and node.op_type in op_types and node.domain == ""


def made_by(value: ir.Value | None, *op_types: str) -> ir.Node | None:
    """Return the node that computes a value, if it is one of these operators."""
    node = None if value is None else value.producer()
    return node if is_operator(node, op_types) else None


def attribute_of(node: ir.Node, name: str, default: Any) -> Any:
    """Return the value of an attribute; None if it refers to an attribute of a function."""
    attribute = node.attributes.get(name)
    return default if attribute is None else None if attribute.is_ref() else attribute.value


def perm_of(node: ir.Node | None, rank: int | None = None) -> tuple[int, ...] | None:
    """Return the perm of a Transpose; None for other nodes, or if the perm does not fit.

    A Transpose without a perm reverses all axes, so its perm is known only with the ``rank``.
    """
    if node is None or node.op_type != "Transpose" or node.domain != "":
        return None
    if "perm" not in node.attributes:
        return None if rank is None else tuple(range(rank))[::-1]
    perm = tuple(attribute_of(node, "perm", ()) or ())
    fits = sorted(perm) == list(range(len(perm) if rank is None else rank))
    return perm if fits and perm else None


def values_by_name(graph: ir.Graph) -> dict[str, ir.Value]:
    """Return the values of a graph, not those of the bodies of its nodes, by their names.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { h = Neg (x)  y = Abs (h) }''')
    >>> [*values_by_name(model.graph)]
    ['x', 'h', 'y']
    """
    made = (value for node in graph for value in node.outputs)
    every = chain(graph.inputs, graph.initializers.values(), made)
    return {value.name: value for value in every if value.name}


_HELD = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


def graphs_of(node: ir.Node) -> list[ir.Graph]:
    """Return the graphs in a node's attributes."""
    # Uses ``data``, because a loop over a UserDict calls two methods of Python for each entry.
    graphs: list[ir.Graph] = []
    for attribute in node.attributes.data.values():
        if attribute.type not in _HELD or attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            graphs.append(attribute.as_graph())
        else:
            graphs += attribute.as_graphs()
    return graphs


def all_graphs(root: ir.Model | ir.Function | ir.Graph) -> list[ir.Graph]:
    """Return every graph of a model, of a function, or of a graph with its subgraphs.

    Outer graphs come first, in the order of their nodes. The main graph of a model comes before
    those of its functions.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x, bool c) => (float[2] y) {
    ...         y = If (c) <then_branch = t () => (float[2] p) { p = Neg (x) },
    ...                     else_branch = e () => (float[2] q) { q = Abs (x) }> }''')
    >>> [graph.name for graph in all_graphs(model)]
    ['g', 't', 'e']
    """
    return [*nodes_by_graph(root)]


def all_nodes(root: ir.Model | ir.Function | ir.Graph) -> list[ir.Node]:
    """Return every node of a model, a function or a graph, also in subgraphs."""
    return [*chain.from_iterable(nodes_by_graph(root).values())]


def nodes_by_graph(root: ir.Model | ir.Function | ir.Graph) -> dict[ir.Graph, list[ir.Node]]:
    """Return the nodes of every graph, in the order of ``all_graphs``; each is visited once."""
    walked: dict[ir.Graph, list[ir.Node]] = {}
    if isinstance(root, ir.Model):
        parts = [root.graph, *(function.graph for function in root.functions.values())]
    else:
        parts = [root.graph if isinstance(root, ir.Function) else root]
    stack = parts[::-1]
    while stack:
        graph = stack.pop()
        if graph in walked:
            continue
        nodes = walked[graph] = [*graph]
        bodies: list[ir.Graph] = []
        for node in nodes:
            for attribute in node.attributes.data.values():
                if attribute.type in _HELD:
                    bodies += graphs_of(node)
                    break
        stack += bodies[::-1]
    return walked


H = TypeVar("H", bound=Hashable)


def reached(starts: Iterable[H], near: Callable[[H], Iterable[H]]) -> Iterator[H]:
    """Yield the starts, and all objects that ``near`` leads to, each once, the nearest first.

    ``near`` is called for an object when the caller asks for the next one.

    >>> list(reached([6, 2], lambda n: range(n - 2, n)[: n // 2]))
    [6, 2, 4, 5, 0, 3, 1]
    """
    seen = dict.fromkeys(starts)
    waiting = deque(seen)
    while waiting:
        here = waiting.popleft()
        yield here
        fresh = [other for other in dict.fromkeys(near(here)) if other not in seen]
        seen.update(dict.fromkeys(fresh))
        waiting += fresh


def makers(values: Iterable[ir.Value | None]) -> list[ir.Node]:
    """Return the nodes that compute some values; there is none for inputs and initializers."""
    return [made for v in values if v is not None and (made := v.producer()) is not None]


def read_by(node: ir.Node) -> list[ir.Value]:
    """Return the values that a node reads, and the values that its subgraphs capture."""
    read = [v for v in node.inputs if v is not None]
    for body in graphs_of(node):
        read += [v for inner in all_nodes(body) for v in inner.inputs if v is not None]
        read += [v for v in body.outputs if v is not None]
    return read


def live_nodes(
    graph: ir.Graph, read: Callable[[ir.Node], Iterable[ir.Value]] = read_by
) -> set[ir.Node]:
    """Return the nodes of a graph that its outputs need, also by values that subgraphs capture.

    ``read`` returns the values that a node needs.
    """
    live: set[ir.Node] = set()
    waiting = [value for value in graph.outputs if value is not None]
    while waiting:
        node = waiting.pop().producer()
        if node is not None and node not in live and node.graph is graph:
            live.add(node)
            waiting += read(node)
    return live


def called_function(model: ir.Model, node: ir.Node) -> ir.Function | None:
    """Return the model-local function that a node calls; None if the node is of an operator.

    If a function and an operator have the same name, ONNX lets the runtime choose: ONNX Runtime
    takes the operator. In the default domain, ONNX Runtime ignores all functions.
    """
    return None if node.domain == "" else model.functions.get(node.op_identifier())


_RUNTIMES = ("ai.onnx", "com.microsoft", "com.ms", "org.pytorch")


def may_be_operator(function: ir.Function) -> bool:
    """Return whether a runtime may have an operator with the name of a function."""
    return any(f"{function.domain}.".startswith(f"{own}.") for own in _RUNTIMES)


def callers_first(model: ir.Model) -> list[ir.Function]:
    """Return the functions, each after all functions that call it."""
    order: list[ir.Function] = []
    seen: set[ir.OperatorIdentifier] = set()

    def visit(function: ir.Function) -> None:
        if function.identifier() in seen:
            return
        seen.add(function.identifier())
        for node in all_nodes(function):
            callee = called_function(model, node)
            if callee is not None:
                visit(callee)
        order.append(function)

    for function in model.functions.values():
        visit(function)
    return order[::-1]
