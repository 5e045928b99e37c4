"""Walks over a model: subgraphs, live nodes, functions after their callers, makers and readers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import onnx_ir as ir

DOMAIN = "onnx_scatterx"
OPERATOR = "ScatterX"
FUNCTIONS = 8  # the IR version that has model-local functions


def domain_of(number: int) -> str:
    """Return the domain of the ScatterX nodes with a model's first, second, ... fallback.

    Overloads could distinguish functions of the same domain and name. But ONNX Runtime before 1.27
    ignores overloads, and 1.31 does not find them for a node within a function. The library has the
    operator in the first 8 domains. A node of a later domain always runs its fallback.

    >>> domain_of(1), domain_of(2)
    ('onnx_scatterx', 'onnx_scatterx.2')
    """
    return DOMAIN if number == 1 else f"{DOMAIN}.{number}"


def is_scatterx_domain(domain: str) -> bool:
    """Return whether a domain is a domain of ScatterX.

    >>> is_scatterx_domain("onnx_scatterx.12"), is_scatterx_domain("onnx_scatterx_more")
    (True, False)
    """
    return domain == DOMAIN or domain.startswith(f"{DOMAIN}.")


_HELD = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


SCATTERS = frozenset({"Scatter", "ScatterElements", "ScatterND", "TensorScatter"})
"""The operators of ONNX that write by indices."""

RANDOM = frozenset(
    {
        *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"),
        "RandomUniformLike",
    }
)
"""Operators that draw random numbers."""


def attribute_graphs(attribute: ir.Attr) -> list[ir.Graph]:
    """Return the graphs in an attribute."""
    if attribute.type not in _HELD or attribute.is_ref():
        return []
    if attribute.type == ir.AttributeType.GRAPH:
        return [attribute.as_graph()]
    return list(attribute.as_graphs())


def is_operator(node: ir.Node | None, op_types: Container[str]) -> bool:
    """Return whether a node is one of these operators of the default domain.

    Functions and operators of other domains may have the same names.
    """
    return node is not None and node.op_type in op_types and node.domain == ""


def made_by(value: ir.Value | None, *op_types: str) -> ir.Node | None:
    """Return the node that computes a value, if it is one of these operators."""
    node = None if value is None else value.producer()
    return node if is_operator(node, op_types) else None


def written(node: ir.Node, name: str, default: Any) -> Any:
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
    perm = tuple(written(node, "perm", ()) or ())
    fits = sorted(perm) == list(range(len(perm) if rank is None else rank))
    return perm if fits and perm else None


def graphs_of(node: ir.Node) -> list[ir.Graph]:
    """Return the graphs in a node's attributes."""
    # Uses ``data``, because a loop over a UserDict calls two methods of Python for each entry.
    graphs: list[ir.Graph] = []
    for attribute in node.attributes.data.values():
        if attribute.type in _HELD:
            graphs += attribute_graphs(attribute)
    return graphs


def with_subgraphs(root: ir.Graph) -> list[ir.Graph]:
    """Return a graph and its subgraphs at every depth, outer graphs first, in the nodes' order."""
    graphs: dict[ir.Graph, None] = {}
    stack = [root]
    while stack:
        graph = stack.pop()
        if graph not in graphs:
            graphs[graph] = None
            holders = [node for node in graph if node.attributes.data]  # skip nodes without any
            stack += [body for node in holders for body in graphs_of(node)][::-1]
    return list(graphs)


def all_graphs(model: ir.Model) -> list[ir.Graph]:
    """Return every graph of a model: the main graph, those of functions, and all subgraphs."""
    roots = (model.graph, *(function.graph for function in model.functions.values()))
    return [graph for root in roots for graph in with_subgraphs(root)]


def all_nodes(model: ir.Model) -> list[ir.Node]:
    """Return every node of a model, also in functions and subgraphs."""
    return [node for graph in all_graphs(model) for node in graph]


def nodes_within(graph: ir.Graph) -> Iterator[ir.Node]:
    """Yield the nodes of a graph, each before the nodes of its subgraphs."""
    for node in graph:
        yield node
        for body in graphs_of(node):
            yield from nodes_within(body)


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


def readers(values: Iterable[ir.Value]) -> list[ir.Node]:
    """Return the nodes that read some values, once for each use."""
    return [use.node for value in values for use in value.uses()]


def read_by(node: ir.Node) -> list[ir.Value]:
    """Return the values that a node reads, and the values that its subgraphs capture."""
    read = [v for v in node.inputs if v is not None]
    for body in graphs_of(node):
        read += [v for inner in nodes_within(body) for v in inner.inputs if v is not None]
        read += [v for v in body.outputs if v is not None]
    return read


def live_nodes(graph: ir.Graph) -> set[ir.Node]:
    """Return the nodes of a graph that its outputs need, also by values that subgraphs capture."""

    def within(values: Iterable[ir.Value]) -> list[ir.Node]:
        return [node for node in makers(values) if node.graph is graph]

    return set(reached(within(graph.outputs), lambda node: within(read_by(node))))


_RUNTIMES = ("ai.onnx", "com.microsoft", "com.ms", "org.pytorch")


def called_function(model: ir.Model, node: ir.Node) -> ir.Function | None:
    """Return the model-local function that a node calls; None if the node is of an operator.

    If a function and an operator have the same name, ONNX lets the runtime choose: ONNX Runtime
    takes the operator. In the default domain, ONNX Runtime ignores all functions.
    """
    return None if node.domain == "" else model.functions.get(node.op_identifier())


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
        for node in nodes_within(function.graph):
            callee = called_function(model, node)
            if callee is not None:
                visit(callee)
        order.append(function)

    for function in model.functions.values():
        visit(function)
    return order[::-1]


class Wired(NamedTuple):
    """A node: its operator, its name (or its output's name), its inputs and outputs."""

    op: str
    name: str
    inputs: tuple[ir.Value | None, ...]
    makes: tuple[ir.Value, ...]


@dataclass
class Wiring:
    """A copy of a model's edges: nodes, names of values, readers of values, outputs of graphs.

    ``constants`` are initializers that are not inputs of the graph, and outputs of Constant nodes.
    """

    nodes: dict[ir.Node, Wired] = field(default_factory=dict)
    names: dict[ir.Value, str] = field(default_factory=dict)
    makers: dict[ir.Value, ir.Node] = field(default_factory=dict)
    readers: dict[ir.Value, list[ir.Node]] = field(default_factory=dict)
    outputs: dict[ir.Graph, tuple[ir.Value, ...]] = field(default_factory=dict)
    constants: set[ir.Value] = field(default_factory=set)

    @classmethod
    def of(cls, model: ir.Model) -> Wiring:
        """Return the present wiring of a model, without the fallbacks of ScatterX.

        >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[2] x) => (float[2] y) { z = Neg (x)  y = Abs (z) }''')
        >>> wiring = Wiring.of(model)
        >>> [(wired.op, wired.name) for wired in wiring.nodes.values()]
        [('Neg', 'z'), ('Abs', 'y')]
        """
        wiring = cls()
        fallbacks = {
            graph
            for function in model.functions.values()
            if is_scatterx_domain(function.domain)
            for graph in with_subgraphs(function.graph)
        }
        for graph in all_graphs(model):
            if graph not in fallbacks:
                wiring._add(graph)
        return wiring

    def _add(self, graph: ir.Graph) -> None:
        self.outputs[graph] = tuple(graph.outputs)
        for value in (*graph.inputs, *graph.initializers.values()):
            self.names[value] = value.name or ""
        self.constants |= set(graph.initializers.values()) - set(graph.inputs)
        for node in graph:
            name = node.name or (node.outputs[0].name if node.outputs else None) or ""
            inputs = tuple(node.inputs)
            if node.op_type == "Constant" and node.domain == "":
                self.constants |= set(node.outputs)
            self.nodes[node] = Wired(node.op_type, name, inputs, tuple(node.outputs))
            for value in node.outputs:
                self.names[value] = value.name or ""
                self.makers[value] = node
            for value in dict.fromkeys(v for v in inputs if v is not None):
                self.readers.setdefault(value, []).append(node)
