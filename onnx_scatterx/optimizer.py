"""The pipeline: interpret, lift, find mosaics, plan, write, clean up, report.

Values that a reader needs are written out from their mosaics; scatters that are not needed any more
disappear with the chains that computed their indices. What cannot be written keeps its scatter.
Where reads are asked for, gathers go likewise, as far as what is written instead is no more nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause
from onnx_scatterx.cleanup import read_by, remove_dead
from onnx_scatterx.emit.numbers import Numbers, Sources
from onnx_scatterx.emit.target import Target
from onnx_scatterx.emit.writer import Names, Writer
from onnx_scatterx.indexing.interpreter import Knowledge, Scope, interpret
from onnx_scatterx.indexing.terms import Term
from onnx_scatterx.lift import Scatter, is_scatter
from onnx_scatterx.lift_reads import is_arithmetic, is_gather
from onnx_scatterx.mosaic.fills import Fills
from onnx_scatterx.mosaic.plan import Form, Plan, Planner, Region
from onnx_scatterx.mosaic.provenance import Provenance
from onnx_scatterx.native import is_ours
from onnx_scatterx.reasons import Reason, Refusal, RefusedError
from onnx_scatterx.rewrites.rule import Context, Rewriting, ScatterRule
from onnx_scatterx.transposes import cancel_transposes
from onnx_scatterx.weighing.costs import Costs, NodeCosts, Work
from onnx_scatterx.weighing.machine import KINDS

REPLACES = "onnx_scatterx.replaces"
"""The metadata key on a new node: the names of the scatters and gathers that it replaces."""

WORK = "onnx_scatterx.work"
"""The metadata key on the nodes of a dense form: how many elements its largest tensor has."""

_SHORT = 64  # letters of a term that a user reads
_WORTH = 32  # nodes that removing one scatter may cost
_NEEDED = 256  # the same where the target has no such scatter


@dataclass
class Outcome:
    """What became of the scatters of one graph, and of its gathers where reads are rewritten."""

    graph: ir.Graph
    provenance: Provenance
    forms: dict[ir.Node, frozenset[str]] = field(default_factory=dict)
    refusals: dict[ir.Node, Refusal] = field(default_factory=dict)
    dead: set[ir.Node] = field(default_factory=set)
    gathers: list[ir.Node] = field(default_factory=list)
    work: dict[ir.Node, Term] = field(default_factory=dict)


class GraphRewriter:
    """Rewrites the scatters of one graph (main graph, subgraph or function body), and its reads."""

    def __init__(
        self,
        graph: ir.Graph,
        scope: Scope,
        rules: Sequence[Form | ScatterRule],
        names: Names,
        overridable: set[ir.Value],
        constant_nodes: bool,
        target: Target,
        costs: Costs,
        *,
        reads: bool = False,
    ) -> None:
        self.costs = costs
        self.constant_nodes = constant_nodes
        self.target = target
        self.graph = graph
        self.scope = scope
        self.forms = [r for r in rules if isinstance(r, Form)]
        self.rules = [r for r in rules if isinstance(r, ScatterRule)]
        self.rewritings: dict[ir.Node, tuple[str, Rewriting]] = {}
        self.names = names
        self.fills = Fills(scope, overridable)
        self.kept: dict[ir.Node, Refusal] = {}
        self.plans: dict[ir.Value, Plan | Refusal] = {}
        self.shapes: set[ir.Node] = set()
        # What is computed of sizes alone is no data, and is left to go with its readers.
        self.gathers = (
            [n for n in graph if is_gather(n) and not is_arithmetic(n, scope)] if reads else []
        )
        self.reads = set(self.gathers)
        self.staying: dict[ir.Node, Refusal] = {}

    def run(self) -> Outcome:
        """Rewrite the graph; scatters whose results cannot be written are sources themselves."""
        before = [n for n in self.graph if is_scatter(n)]
        unread = {n for n in [*before, *self.gathers] if not any(map(_is_read, n.outputs))}
        while True:
            self.provenance = Provenance(self.graph, self.scope, self.kept, self.reads)
            self.reads = {n for n in self.reads if n.outputs[0] in self.provenance.passed}
            self._prepare()
            if self._prefer():
                continue
            chosen = self._choose()
            # What goes with the gathers that stay is worth less than was thought.
            stay = self.reads & self.staying.keys()
            self.reads -= stay
            if chosen is not None and not stay:
                break
        outcome = Outcome(self.graph, self.provenance, gathers=self.gathers)
        for lifted in self.provenance.scatters.values():
            if lifted.refusal is not None and lifted.node not in self.rewritings:
                outcome.refusals[lifted.node] = self.kept.get(lifted.node, lifted.refusal)
        dead: list[ir.Node] = []
        # In the graph's order: a node that is made once stands before all that use it.
        for node in list(self.graph):
            if node in self.shapes:
                self._write_shape(node)
            if node in self.rewritings:
                name, rewriting = self.rewritings[node]
                self._write(node.outputs[0], rewriting.write, {node}, node, rewriting.work)
                if rewriting.work is not None:
                    outcome.work[node] = rewriting.work
                outcome.forms[node] = frozenset((name,))
                dead.append(node)
            for value in [v for v in node.outputs if v in chosen]:
                self._write(value, chosen[value].write, self.provenance.passed[value], node)
                for scatter in self.provenance.passed[value]:
                    forms = outcome.forms.get(scatter, frozenset())
                    outcome.forms[scatter] = forms | chosen[value].forms
        dead += self.shapes
        dead += [n for v in self.provenance.passed if (n := v.producer()) is not None]
        remove_dead(dead)
        cancel_transposes(self.writer.made)
        outcome.dead = {n for n in unread if n.graph is None}
        for node in self.gathers:
            if node.graph is not None:
                found = self.provenance.unmoved.get(node) or self.staying.get(node)
                outcome.refusals[node] = found or Refusal(Reason.NO_GAIN)
        for node in before:
            if node.graph is not None and node not in outcome.refusals:
                outcome.refusals[node] = Refusal(Reason.TOO_COSTLY)
        return outcome

    def _prepare(self) -> None:
        version = self.scope.opsets.get("", 0)
        self.writer = Writer(
            self.graph,
            version,
            self.names,
            constant_nodes=self.constant_nodes,
            target=self.target,
            rank_of=lambda value: self.provenance.abstract(value).rank,
        )
        spared = [v for n in self.provenance.scatters for v in n.outputs if n not in self.kept]
        self.indices = {n: self._indices_of(n) for n in self.reads}
        self.shares = Counter(n for nodes in self.indices.values() for n in nodes)
        spared += [v for nodes in self.indices.values() for n in nodes for v in n.outputs]
        sources = Sources(self.graph, self.scope, [*spared, *self.provenance.passed])
        self.numbers = Numbers(self.writer, self.scope, sources)
        self.planners: dict[ir.DataType, Planner] = {}
        self.aliases = self.provenance.aliases()
        self.plans = {}
        self.rewritings = {}

    def _prefer(self) -> bool:
        """Keep scatters from slices that a rule which comes first writes; tell if there are new."""
        first = [r for r in self.rules if r.comes_first]
        found = []
        for node, lifted in self.provenance.scatters.items():
            if not first or lifted.scatter is None or lifted.refusal is not None:
                continue
            self.writer.anchor = node
            if any(isinstance(self._asked(r, lifted.scatter), Rewriting) for r in first):
                found.append(node)
        self.kept.update(dict.fromkeys(found, Refusal(Reason.NO_RULE)))
        return bool(found)

    def _asked(self, rule: ScatterRule, scatter: Scatter) -> Rewriting | Refusal:
        context = Context(self.provenance, self.writer, self.fills, self.numbers, self.target)
        try:
            found = rule.plan(scatter, context)
        except RefusedError as error:
            return error.refusal
        if isinstance(found, Rewriting):
            output = scatter.node.outputs[0].is_graph_output()
            return self.writer.rehearse(found.write, as_output=output) or found
        return found

    def _plan(self, value: ir.Value) -> Plan | Refusal:
        """Return the best plan for a value, written in front of its producer."""
        if value not in self.plans:
            self.writer.anchor = value.producer()
            dtype = self.provenance.abstract(value).dtype or value.dtype
            mosaic = self.provenance.mosaic(value)
            assert mosaic is not None
            if dtype is None:
                self.plans[value] = Refusal(Reason.UNKNOWN_TYPE)
            else:
                planner = Planner(
                    self.forms,
                    self.writer,
                    self.numbers,
                    self.scope.facts,
                    self.fills,
                    self.aliases,
                    dtype,
                    self.costs,
                    copies=not self._is_reading(value),
                )
                found = planner.best(Region.of(mosaic))
                limit = self._worth(value) + 2 * len(mosaic.cells)
                if isinstance(found, Plan) and value.is_graph_output():
                    found = self.writer.rehearse(found.write, as_output=True) or found
                if isinstance(found, Plan) and found.cost > limit:
                    found = Refusal(Reason.TOO_COSTLY, f"{found.cost} nodes")
                self.plans[value] = found
        return self.plans[value]

    def _worth(self, value: ir.Value) -> int:
        """Return how many nodes a value may cost: more for a target that has not what goes."""
        passed = self.provenance.passed[value]
        return sum(_WORTH if self.target.has(n.op_type) else _NEEDED for n in passed)

    def _choose(self) -> dict[ir.Value, Plan] | None:
        """Return the values to write, or None after a scatter was found that must be kept.

        Nodes are visited from the last to the first, so all that need a value are known when its
        producer is met: a value that is written out needs its sources, any other its inputs.
        """
        passed = self.provenance.passed
        needed = {v for v in self.graph.outputs if v is not None}
        chosen: dict[ir.Value, Plan] = {}
        self.shapes = set()
        for node in reversed(list(self.graph)):
            wanted = [v for v in node.outputs if v in needed]
            if not wanted:
                continue
            if node.op_type in ("Shape", "Size") and self._is_readable_elsewhere(node):
                self.shapes.add(node)
                continue
            rewriting = self._rewriting(node)
            if rewriting is not None:
                needed.update(rewriting.reads)
                continue
            kept = [v for v in wanted if v not in passed]
            for value in wanted:
                if value not in passed:
                    continue
                plan = self._plan(value)
                if is_scatter(node) and isinstance(plan, Refusal):
                    self.kept[node] = plan
                    return None
                if isinstance(plan, Refusal) or not self._is_worth(plan, node, needed):
                    kept.append(value)
                    if node in self.reads:
                        self.staying[node] = _why_not(plan)
                    continue
                chosen[value] = plan
                mosaic = self.provenance.mosaic(value)
                assert mosaic is not None
                needed.update(v for c in mosaic.cells for v in c.source.values())
            if kept:
                needed.update(read_by(node))
        return chosen

    def _rewriting(self, node: ir.Node) -> Rewriting | None:
        """Return what a rule writes for a scatter that fills no boxes, or None."""
        lifted = self.provenance.scatters.get(node)
        if lifted is None or lifted.scatter is None or lifted.refusal is None:
            return None
        self.writer.anchor = node
        invalid = lifted.refusal.reason is Reason.INVALID
        for rule in self.rules:
            if invalid and not rule.keeps_invalid:
                continue
            found = self._asked(rule, lifted.scatter)
            if isinstance(found, Rewriting):
                self.rewritings[node] = (rule.name, found)
                return found
            if found.reason is not Reason.NO_RULE:
                self.kept[node] = found
        return None

    def _is_readable_elsewhere(self, node: ir.Node) -> bool:
        """Return whether the shape of a value that may go is that of another tensor, or known."""
        value = node.inputs[0]
        shape = None if value is None else self.provenance.abstract(value).shape
        if value not in self.provenance.passed or shape is None:
            return False
        if node.op_type == "Size" or node.outputs[0].is_graph_output():
            return False
        self.writer.anchor = node
        try:
            part = self._shape_part(node)
            cheap = self.numbers.shape_cost(part) <= 1
            return cheap and self.writer.rehearse(lambda: self.numbers.shape(part)) is None
        except RefusedError:
            return False

    def _shape_part(self, node: ir.Node) -> Sequence[Term]:
        found = self.provenance.abstract(node.outputs[0]).vector()
        if found is None:
            raise RefusedError(Reason.UNKNOWN_SIZE)
        return found

    def _is_reading(self, value: ir.Value) -> bool:
        """Return whether a value may be written only because of gathers."""
        return not any(map(is_scatter, self.provenance.passed[value]))

    def _is_worth(self, plan: Plan, node: ir.Node, needed: set[ir.Value]) -> bool:
        """Return whether an output of a node that moves is to be written by a plan.

        A scatter goes in any case. A gather goes where the plan is no more nodes than it is itself,
        what is only behind one where it is fewer.
        """
        if is_scatter(node):
            return True
        if self._is_reading(node.outputs[0]):
            most = self._cost_of_reading(node, needed)
            return plan.cost <= most if node in self.reads else plan.cost < most
        return plan.weight <= self._cost_of_keeping(node, needed)

    def _cost_of_reading(self, node: ir.Node, needed: set[ir.Value]) -> float:
        """Return how many nodes it takes to leave one that reads, with what goes only if it goes.

        Gathers share alike in the nodes that compute indices for several.
        """
        cost = 1.0 + sum(
            self._cost_of_having(v, needed) for v in node.inputs if v in self.provenance.passed
        )
        if node in self.reads:
            going = (n for n in self.indices[node] if n.op_type != "Constant")
            cost += sum(1 / self.shares[n] for n in going)
        return cost

    def _cost_of_having(self, value: ir.Value, needed: set[ir.Value]) -> float:
        """Return how many nodes it takes to have an input of a node that reads, if that is left."""
        producer = value.producer()
        if value in needed or producer is None:
            return 0.0
        plan = self._plan(value)
        cost = plan.cost if isinstance(plan, Plan) else float("inf")
        if self._is_reading(value):
            cost = min(cost, self._cost_of_reading(producer, needed))
        return cost

    def _indices_of(self, node: ir.Node) -> set[ir.Node]:
        """Return the nodes that compute indices for gathers that are to go, and nothing else.

        Single numbers do not count: what is written may read them.
        """
        found: set[ir.Node] = set()
        stack = [v for v in node.inputs[1:] if v is not None]
        while stack:
            value = stack.pop()
            producer = value.producer()
            if producer is None or producer.graph is not self.graph or producer in found:
                continue
            scalar = self.provenance.abstract(value).static_shape in ((), (1,))
            readers = {u.node for v in producer.outputs for u in v.uses()}
            output = any(v.is_graph_output() for v in producer.outputs)
            if not scalar and not output and readers <= self.reads | found:
                found.add(producer)
                stack += [v for v in read_by(producer) if v not in stack]
        return found

    def _cost_of_keeping(self, node: ir.Node, needed: set[ir.Value]) -> float:
        """Return what it costs to leave a node that moves, and write its inputs instead."""
        output = node.outputs[0]
        plan, mosaic = self._plan(output), self.provenance.mosaic(output)
        few = isinstance(plan, Plan) and mosaic is not None and plan.cost <= len(mosaic.cells) + 1
        if few and not is_gather(node):
            return float("inf")  # a slice for each piece and a Concat: nothing is saved
        shape = self.provenance.abstract(output).shape or ()
        kind = node.op_type if node.op_type in KINDS else "Elementwise"
        dtype = self.provenance.abstract(output).dtype or ir.DataType.FLOAT
        cost = self.costs.weigh(1, [Work(kind, shape, len(shape))], dtype)
        for value in node.inputs:
            if value is None or value not in self.provenance.passed or value in needed:
                continue
            plan = self._plan(value)
            cost += plan.weight if isinstance(plan, Plan) else float("inf")
        return cost

    def _write_shape(self, node: ir.Node) -> None:
        """Read a shape from another tensor than the one that goes."""
        self.writer.anchor = node
        self.writer.stem = node.outputs[0].name or "shape"
        self.writer.metadata = {}
        (value,) = node.outputs
        result = self.numbers.shape(self._shape_part(node))
        value.replace_all_uses_with(result)
        self.writer.replaced[value] = result

    def _write(
        self,
        value: ir.Value,
        write: Callable[[], ir.Value],
        scatters: Collection[ir.Node],
        anchor: ir.Node,
        work: Term | None = None,
    ) -> None:
        w = self.writer
        w.anchor = anchor
        replaced = sorted(n.name or n.op_type for n in scatters)
        w.metadata = {REPLACES: ", ".join(replaced)}
        if work is not None:
            w.metadata = {**w.metadata, WORK: told(work)}
        w.stem = value.name or "scatterx"
        made = len(w.made)
        result = w.current(write())
        dtype = self.provenance.abstract(value).dtype or value.dtype
        assert dtype is not None
        result = self._named(value, result, dtype, result.producer() in w.made[made:])
        value.replace_all_uses_with(result, replace_graph_outputs=True)
        w.replaced[value] = result
        # Subgraphs that read it come later, and may know of it what was known of the value.
        self.scope.values.setdefault(result, self.provenance.abstract(value))

    def _named(
        self, value: ir.Value, result: ir.Value, dtype: ir.DataType, is_new: bool
    ) -> ir.Value:
        """Give a result the name of the value that it replaces, so that readers stay as they are.

        A graph output keeps its name through an Identity where the result has one of its own.
        """
        own = is_new and not result.uses() and not result.is_graph_output()
        if not own and not value.is_graph_output():
            return result
        if not own:
            identity = ir.Node(
                "",
                "Identity",
                [result],
                outputs=[ir.Value(type=ir.TensorType(dtype))],
                name=self.names.new(f"{self.writer.stem}/Identity"),
                metadata_props=dict(self.writer.metadata),
            )
            assert self.writer.anchor is not None
            self.graph.insert_before(self.writer.anchor, identity)
            (result,) = identity.outputs
        if value.is_graph_output():
            result.type, result.shape = value.type, value.shape
            result.metadata_props.update(value.metadata_props)
        result.name, value.name = value.name, self.names.new(f"{value.name}/replaced")
        return result


def _why_not(plan: Plan | Refusal) -> Refusal:
    """Return why a gather stays, given the plan that was not taken."""
    if isinstance(plan, Refusal):
        return plan
    return Refusal(Reason.NO_GAIN, f"{plan.cost} nodes" if plan.cost > 1 else "")


def told(work: Term) -> str:
    """Return a number of elements as text, where it is short enough to be read.

    >>> from onnx_scatterx.indexing.terms import term
    >>> told(term(12))
    '12'
    """
    text = str(work)
    return text if len(text) <= _SHORT else "as many as the data and the updates decide"


def _is_read(value: ir.Value) -> bool:
    return value.is_graph_output() or bool(value.uses())


def rewrite_model(
    model: ir.Model,
    rules: Sequence[Form | ScatterRule],
    target: Target,
    *,
    distrust_dims: bool = False,
    assumed: Sequence[Clause] = (),
    costs: Costs | None = None,
    reads: bool = False,
) -> tuple[list[Outcome], Knowledge]:
    """Rewrite all scatters of a model in place; return what became of them, graph by graph.

    ``costs`` weigh the plans, by their nodes where not given. ``reads`` rewrites gathers too, where
    that is no more nodes.
    """
    graphs = [*model.graphs(), *model.functions.values()]
    if not any(is_scatter(n) or (reads and is_gather(n)) for g in graphs for n in g):
        return [], Knowledge({}, {}, {})
    costs = NodeCosts() if costs is None else costs
    knowledge = interpret(model, distrust_dims=distrust_dims, assumed=assumed)
    names = Names(model)
    overridable: set[ir.Value] = set()
    if (model.ir_version or 0) >= 4:
        overridable = {v for v in model.graph.inputs if v.name in model.graph.initializers}
    outcomes = []
    for graph, scope in knowledge.scopes.items():
        if scope.function is not None and is_ours(scope.function.domain):
            continue  # what a ScatterX falls back to
        if any(is_scatter(n) or (reads and is_gather(n)) for n in graph):
            nodes_only = scope.function is not None or (model.ir_version or 0) < 4
            rewriter = GraphRewriter(
                graph,
                scope,
                rules,
                names,
                overridable,
                nodes_only,
                target,
                costs,
                reads=reads,
            )
            outcomes.append(rewriter.run())
    return outcomes, knowledge
