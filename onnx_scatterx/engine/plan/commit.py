"""The outcome of the scatters and gathers of one graph: what is selected is written into it.

New nodes stand in the places of the replaced values, and have their names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue
from onnx_scatterx.engine.mosaic import Provenance
from onnx_scatterx.engine.plan.round import RewriteRound
from onnx_scatterx.engine.plan.rule import MultiplyAdds, Plan, Rule
from onnx_scatterx.engine.plan.selection import Selection
from onnx_scatterx.engine.quantizers import QUANTIZED
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.graphs import (
    Inventory,
    live_nodes,
    makers,
    reached,
    read_by,
    remove_dead,
    replace_uses,
)
from onnx_scatterx.operators import EVERY, described
from onnx_scatterx.text import Refusal, attempt, granted


def element_path(value: ir.Value, is_new: Callable[[ir.Node], bool]) -> list[ir.Node]:
    """Return the new nodes that elements pass through to a value, the last first.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4] x, float[4] y, bool[4] m) => (float[4] z) {
    ...     n = Not(m) z = Where(n, x, y) }''')
    >>> [node.op_type for node in element_path(model.graph.outputs[0], lambda _: True)]
    ['Where']
    """

    def new(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        return [node for node in makers(values) if is_new(node)]

    def before(node: ir.Node) -> list[ir.Node]:
        row = described(node)
        moved = row.moves or row.chooses or EVERY
        return new(value for i, value in enumerate(node.inputs) if i in moved)

    return list(reached(new([value]), before))


REPLACES = "onnx_scatterx.replaces"
"""The metadata key on a new node: the names of the scatters and gathers that it replaces."""

WORK = "onnx_scatterx.work"
"""The metadata key on the nodes of a dense form: how many elements its largest tensor has."""

_SHORT = 64  # letters of a term that a user reads


@dataclass
class NodeOutcome:
    """What became of one scatter or gather."""

    refusal: Refusal | None = None  # why it is kept
    is_dead: bool = False  # removed, since nothing reads it
    rules: frozenset[Rule] = frozenset()  # of the replacement
    work: Term | None = None  # of a dense form: how many elements the largest tensor has
    multiply_adds: MultiplyAdds | None = None  # of a function of chosen rows
    unique: bool | None = None  # of ScatterX: whether updates are proven not to collide
    selects_floats: bool = False  # a Where of floats was written for it
    path: tuple[ir.Node, ...] = ()  # the new nodes that its elements pass through, the last first
    is_constant: bool = False  # whether a constant was written for it

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of the new nodes that are still there, for people."""
        there = (n.op_type for n in self.path if n.graph is not None and n.op_type != "Identity")
        operators = tuple(dict.fromkeys(there))
        return ("a constant",) if self.is_constant and not operators else operators


@dataclass
class Outcome:
    """What was done with the scatters of a graph, and with its gathers if those are simplified."""

    graph: ir.Graph
    provenance: Provenance  # as it was when the scatters were lowered
    nodes: dict[ir.Node, NodeOutcome] = field(default_factory=dict)
    unwritten: dict[ir.Node, Refusal] = field(default_factory=dict)
    """Why nodes are kept although there is a plan: what it writes at last is refused."""
    index_nodes: set[ir.Node] = field(default_factory=set)
    """They computed the indices of removed scatters."""
    gives_more: bool = False
    """Whether more is known of a constant, or another value, than of the one that it replaces."""

    def of(self, node: ir.Node) -> NodeOutcome:
        """Return what became of a node."""
        return self.nodes.setdefault(node, NodeOutcome())

    def keep(self, nodes: Iterable[ir.Node], why: Refusal) -> None:
        """Note why nodes are kept."""
        for node in nodes:
            self.of(node).refusal = why

    def note_dead(self, nodes: Iterable[ir.Node]) -> None:
        """Note which of these nodes are no longer there, though nothing was written for them."""
        for node in nodes:
            self.of(node).is_dead |= node.graph is None

    @property
    def kept(self) -> dict[ir.Node, Refusal]:
        """The nodes that are kept, and why."""
        return {n: done.refusal for n, done in self.nodes.items() if done.refusal is not None}

    @property
    def has_rules(self) -> bool:
        """Whether a rule replaced a node."""
        return any(done.rules for done in self.nodes.values())

    def write(self, round_: RewriteRound, choice: Selection) -> bool:
        """Write a selection into the graph; return whether anything was written."""
        written, needed = False, live_nodes(round_.graph)
        # In the graph's order: a node that is written once must precede all its readers.
        for node in list(round_.graph):
            if node in choice.shapes:
                written |= _write_shape(round_, node, choice.shapes[node])
            if node in choice.rewritings:
                written |= self._write(round_, node.outputs[0], choice.rewritings[node], {node})
            for value in [v for v in node.outputs if v in choice.values]:
                plan = choice.values[value]
                if self._write(round_, value, plan, round_.provenance.absorbed[value]):
                    self.of(node).rules |= plan.rules
                    written = True
        moved = (v.producer() for v in round_.provenance.absorbed)
        remove_dead([*choice.rewritings, *choice.shapes, *(n for n in moved if n is not None)])
        _remove_unneeded(round_.graph, needed)
        return written

    def add_later(self, later: Outcome) -> None:
        """Add what was done with the scatters that were kept."""
        gone = {n: done for n, done in self.nodes.items() if done.refusal is None}
        self.nodes = gone | later.nodes
        self.index_nodes |= later.index_nodes
        self.gives_more |= later.gives_more

    def _write(
        self, round_: RewriteRound, value: ir.Value, plan: Plan, gone: Collection[ir.Node]
    ) -> bool:
        """Write a value into the graph; return whether its nodes were not refused."""
        w, scope, producer = round_.writer, round_.context.scope, granted(value.producer())
        metadata = {REPLACES: ", ".join(sorted(n.name or n.op_type for n in gone))}
        if plan.work is not None:
            metadata[WORK] = work_text(plan.work)
        results = set(w.replaced.values())
        known = round_.provenance.abstract(value)
        with w.graph.at(producer, value.name, metadata):
            # Other values were replaced since the plan was made, so that it is made for them.
            fragment = w.fragment_of(plan.write, as_output=value.is_graph_output())
            if isinstance(fragment, Refusal):
                self.unwritten.update(dict.fromkeys(gone, fragment))
                return False
            committed = w.graph.commit(fragment)
            result, new = committed.result, set(committed.nodes)
            # If the data come from a node that cannot run, only what is written has a known type.
            dtype = granted(known.dtype or value.dtype or result.dtype)
            selects, path = _selects_floats(result, results), element_path(result, new.__contains__)
            taken = w.graph.take_name(value, committed, dtype)
        tensor = result.const_value
        for node in gone:
            done = self.of(node)
            done.rules |= plan.rules
            done.work, done.unique = plan.work, plan.unique
            done.multiply_adds = plan.multiply_adds
            done.selects_floats |= selects
            done.path += tuple(path)
            done.is_constant |= tensor is not None
        changed = round_.changed_by_runtime.get(value)
        if changed is not None:
            for node in gone:
                node.meta[QUANTIZED] = changed
        if taken is result and result.producer() in new and result.shape is None:
            result.shape = _declared(value, known.shape)
        result = taken
        replace_uses(value, result)
        w.replaced[value] = result
        # Subgraphs that read it come later, and may use the abstract value.
        written = known if tensor is None else TensorValue.of_tensor(tensor)
        self.gives_more |= scope.values.setdefault(result, written).says_more_than(known)
        return True


def _remove_unneeded(graph: ir.Graph, needed: AbstractSet[ir.Node]) -> None:
    """Remove the nodes that were needed, and that only nodes read which nothing needed before."""
    live = live_nodes(graph)
    gone = {node: None for node in graph if node in needed and node not in live}
    for node in graph if gone else ():
        if node not in live and any(maker in gone for maker in makers(read_by(node))):
            gone[node] = None
    remove_dead([node for node in graph if node in gone])


def _write_shape(round_: RewriteRound, node: ir.Node, part: Sequence[Term]) -> bool:
    """Write the shape of a removed tensor from what is left; return False if it is refused."""
    (value,) = node.outputs
    with round_.writer.graph.at(node, value.name or "shape"):
        result = attempt(lambda: round_.writer.write(lambda: round_.numbers.shape(part)))
    if isinstance(result, Refusal):
        return False
    replace_uses(value, result)
    round_.writer.replaced[value] = result
    return True


def _declared(value: ir.Value, known: Sequence[Term] | None) -> ir.Shape | None:
    """Return the declared shape of a value, with the dims that are proven."""
    if value.shape is None or known is None or len(value.shape) != len(known):
        return None
    dims = [d if isinstance(d, int) else d.value for d in value.shape]
    return ir.Shape(d if str(d) == str(t) else None for d, t in zip(dims, known, strict=True))


def _selects_floats(result: ir.Value, others: Collection[ir.Value]) -> bool:
    """Return whether a new expression has a Where of floats; ``others`` are other results."""

    def new(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        return [n for n in makers(values) if REPLACES in n.metadata_props]

    nodes = reached(new([result]), lambda n: new(v for v in n.inputs if v not in others))
    chosen = (n.outputs[0].dtype for n in nodes if n.op_type == "Where")
    return any(dtype is not None and dtype.is_floating_point() for dtype in chosen)


def written_nodes(held: Inventory) -> list[ir.Node]:
    """Return the nodes that are written in place of scatters."""
    return [node for node in held.nodes if REPLACES in node.metadata_props]


def work_text(work: Term) -> str:
    """Return a number of elements as text, if it is short enough to be read.

    >>> from onnx_scatterx.engine.terms import term
    >>> work_text(term(12))
    '12'
    """
    text = str(work)
    return text if len(text) <= _SHORT else "as many as the data and the updates decide"
