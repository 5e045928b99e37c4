"""The abstract interpreter: it visits the nodes of a graph in order, and may forget a visit.

It enters the bodies of If, Loop, Scan and SequenceMap, and model-local functions at every call. A
function's own nodes are then visited once more with what holds for all its callers, because a
rewriting of the body may use only that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause
from onnx_scatterx.engine.analysis import control, functions, shapes
from onnx_scatterx.engine.analysis.assumed import ModelInputs, ReadConstants
from onnx_scatterx.engine.analysis.domain.call import (
    Call,
    Knowledge,
    Scope,
    Versions,
    operator_sets,
)
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.domain.widening import ANY_NUMBER, has_negative_size, widened
from onnx_scatterx.engine.analysis.operators import sequences
from onnx_scatterx.engine.analysis.preconditions import InfeasibleError, facts_of, first_false
from onnx_scatterx.engine.analysis.running import (
    DeclaredSizes,
    ReadInputs,
    needed_by,
    read_inputs,
    running_nodes,
)
from onnx_scatterx.engine.analysis.shapes import (
    SUSPICIOUS,
    Exclusion,
    fact_of,
    is_reduction,
    suspected_sizes,
)
from onnx_scatterx.engine.analysis.transfers import transferred
from onnx_scatterx.engine.budget import (
    LIMITS,
    PRICES,
    LimitError,
    PartSpentError,
    SpentError,
    TooLargeError,
    budget,
    own_budget,
)
from onnx_scatterx.engine.terms import Facts
from onnx_scatterx.graphs import (
    called_function,
    callers_first,
    constant,
    graphs_of,
    may_be_operator,
)


def forget(
    graph: ir.Graph, scope: Scope, scopes: dict[ir.Graph, Scope], first: ir.Node | None = None
) -> None:
    """Forget the abstract values that a graph's nodes compute, from ``first`` on or all of them.

    An earlier visit may have left values that held for a guess only, and facts about them. If all
    is forgotten, nothing is known of the graph's inputs either.
    """
    waiting = [(graph, scope, first)]
    while waiting:
        inner, where, start = waiting.pop()
        if start is None:
            where = scopes[inner] = _without_facts(where)
            for value in inner.inputs:
                where.values[value] = TensorValue(value.dtype, None)
        begun = start is None
        for node in inner:
            begun = begun or node is start
            if not begun:
                continue
            for value in node.outputs:
                where.values[value] = TensorValue(value.dtype, None)
            waiting += [(body, where.inner(), None) for body in graphs_of(node)]


def _without_facts(scope: Scope) -> Scope:
    """Return a scope in which nothing is known but the outer values."""
    return dataclasses.replace(scope, facts=Facts())


_CONTROL = {
    "If": control.if_,
    "Loop": control.loop,
    "Scan": control.scan,
    "SequenceMap": control.sequence_map,
}

CallOfFunction: TypeAlias = "tuple[list[TensorValue | None], ir.Node, functions.Attributes]"


@dataclass(eq=False)
class Interpreter:
    """Walks a model once; ``model_analysis.interpret`` is the way to use it.

    ``calls`` are the calls of every function: inputs, node, and the caller's own attributes.
    ``ruled_out`` are pairs of a size and a number that it cannot be; ``suspected`` are pairs that
    would have to be ruled out for a shape to be known, and with ``speculate`` they are assumed to
    be. Then ``believed`` says whether one was. With ``probe``, such a pair, the question is whether
    the model runs at that size: InfeasibleError means that it does not. ``older`` are pairs that
    are ruled out only in the older of the ``versions`` of ONNX Runtime. ``noted`` are the ranges of
    integers that are known of new values (``Scope``). With ``only``, just these nodes of the main
    graph are visited, and no function that they do not call.
    """

    model: ir.Model
    distrust_dims: bool
    _: KW_ONLY
    assumed: Sequence[Clause] = ()
    ruled_out: Sequence[Exclusion] = ()
    speculate: bool = False
    probe: Exclusion | None = None
    versions: Versions = Versions.ALL
    older: Sequence[Exclusion] = ()
    reading: ReadConstants = field(default_factory=ReadConstants)
    noted: dict[ir.Value, tuple[float, float]] = field(default_factory=dict)
    only: Collection[ir.Node] | None = None
    suspected: dict[Exclusion, bool] = field(default_factory=dict, init=False)
    """Whether newer versions must rule it out, too."""
    believed: bool = field(default=False, init=False)
    values: dict[ir.Value, TensorValue] = field(default_factory=dict, init=False)
    scopes: dict[ir.Graph, Scope] = field(default_factory=dict, init=False)
    calls: dict[ir.OperatorIdentifier, list[CallOfFunction]] = field(
        default_factory=dict, init=False
    )
    read_inputs: ReadInputs = field(default_factory=dict)
    visits: int = 0  # of functions
    depth: int = 0  # of bodies and functions that are being visited

    def __post_init__(self) -> None:
        self.older_facts = tuple(map(fact_of, self.older))
        self.inputs = ModelInputs(self.model, self.distrust_dims, self.probe)
        self.read_inputs = self.read_inputs or read_inputs(self.model)
        self.declared_sizes = DeclaredSizes(self.inputs.declared)

    def run(self) -> Knowledge:
        graph = self.model.graph
        opsets, overridable = operator_sets(graph.opset_imports), self.inputs.overridable
        scope = Scope(opsets, Facts(), self.values, overridable=overridable, noted=self.noted)
        with own_budget():  # linear in the inputs and the assumptions about them
            self.values.update(self.inputs.learn(scope, self.assumed, self.ruled_out))
        self._visit(graph, scope)
        for function in () if self.only is not None else callers_first(self.model):
            self._visit(function, self._joined(function))
        declared = self.inputs.declared
        doubted = dict.fromkeys(Clause(declared[s], f">= {n + 1}") for s, n in self.suspected)
        return Knowledge(self.values, self.scopes, self.inputs.shared, tuple(doubted))

    def _initializers(self, graph: ir.Graph, scope: Scope) -> None:
        for value in graph.initializers.values():
            tensor = constant(value, scope.overridable)
            if tensor is not None:
                scope.values[value] = self.reading.initializer(value, tensor)

    def _joined(self, function: ir.Function) -> Scope:
        with own_budget():  # linear in the calls
            return functions.joined(self, function)

    def _visit(self, graph: ir.Graph | ir.Function, scope: Scope) -> bool:
        """Visit the nodes of a graph; return whether the budget of the model sufficed.

        If not, nothing is known of the nodes' results.
        """
        inner = graph.graph if isinstance(graph, ir.Function) else graph
        self.scopes[inner] = scope
        self._initializers(inner, scope)
        scope.running = running_nodes(inner, self.read_inputs)
        spending = budget()
        chosen = self.only if inner is self.model.graph else None
        for node in inner:
            if chosen is not None and node not in chosen:
                continue
            try:
                with spending.of_part(LIMITS.scatter_steps):
                    spending.charge_part(PRICES.visit + (len(node.inputs) + len(node.outputs)) // 2)
                    self._node(node, scope, node in scope.running)
            except (TooLargeError, PartSpentError):
                self._forget_node(node, scope)
            except SpentError:
                forget(inner, scope, self.scopes, node)
                return False
        scope.facts.ask_again()
        return True

    def _forget_node(self, node: ir.Node, scope: Scope) -> None:
        """Forget the outputs of a node, and its bodies."""
        for value in node.outputs:
            scope.values[value] = TensorValue(value.dtype, None)
        for body in graphs_of(node):
            forget(body, scope.inner(), self.scopes)

    def add(self, nodes: Iterable[ir.Node]) -> bool:
        """Visit nodes that were added after the run.

        Their checks, and the sizes of their shapes, prove nothing about the original model. A value
        of which something is known keeps it; returns whether a node gives more for one.
        """
        self.speculate = False
        gives_more = False
        for node in nodes:
            scope = self.scopes.get(node.graph) if isinstance(node.graph, ir.Graph) else None
            if scope is None:
                continue
            for value in node.inputs:
                tensor = constant(value, scope.overridable)
                if value is not None and value not in scope.values and tensor is not None:
                    scope.values[value] = TensorValue.of_tensor(tensor)
            known = {v: scope.values[v] for v in node.outputs if v in scope.values}
            try:
                with budget().of_part(LIMITS.scatter_steps):
                    self._node(node, scope, runs=False)
            except LimitError:
                self._forget_node(node, scope)
            gives_more |= any(scope.values[v].says_more_than(old) for v, old in known.items())
            scope.values.update(known)
        return gives_more

    def _node(self, node: ir.Node, scope: Scope, runs: bool) -> None:
        if node.op_type == "Constant" and node.domain == "" and len(node.outputs) == 1:
            known = self.reading.constant(node)
            if known is not None:
                scope.values[node.outputs[0]] = known
                return
        inputs = [None if v is None else scope.of(sequences.held(v, node)) for v in node.inputs]
        call = scope.call(node, inputs, self.versions, self.older_facts)
        must_run = self.probe is not None and runs and node.graph is self.model.graph
        checked = [call] if runs and node.domain == "" else []
        if runs and self.declared_sizes.are_asked(call):
            more = list(needed_by(node.inputs, node.graph, self.read_inputs, scope.running))
            scope.running.update(more)
            checked += [scope.call(n) for n in more if n.domain == ""]
        if must_run and any(first_false(c) is not None for c in checked):
            raise InfeasibleError
        results = self._results(call, scope)
        if must_run and any(has_negative_size(result.shape) for result in results):
            raise InfeasibleError
        if node.op_type in SUSPICIOUS:
            doubted = [p for p in suspected_sizes(call, results) if self._is_doubted(p)]
            for pair in doubted:
                self.suspected[pair] = self.suspected.get(pair, False) or not is_reduction(node)
            if self.speculate and doubted:
                self.believed = True
                scope.facts.add(map(fact_of, doubted))
                results = self._results(call, scope)
        for one in checked:
            proven = facts_of(one)
            if proven:
                scope.facts.add(proven)
        for value, result in zip(node.outputs, results, strict=False):
            within = self.noted.get(value, ANY_NUMBER)
            known = widened(value, result, scope.visit_id, scope.facts, within)
            scope.values[value] = self.inputs.chosen.marked(known, value, scope, node)
            self.declared_sizes.note(value, result)
        for value in node.outputs[len(results) :]:
            scope.values[value] = TensorValue(value.dtype, None)

    def _is_doubted(self, pair: Exclusion) -> bool:
        return pair[0] in self.inputs.declared and pair not in self.ruled_out

    def _results(self, call: Call, scope: Scope) -> Sequence[TensorValue]:
        node = call.node
        function = called_function(self.model, node)
        if function is not None:
            return self._function(function, call, scope)
        if node.domain == "" and call.version and node.op_type in _CONTROL:
            return _CONTROL[node.op_type](self, call, scope)
        results = transferred(call)
        if results is not None:
            return results
        for body in graphs_of(node):
            self.body(body, [None] * len(body.inputs), scope)
        if node.domain != "" or not call.version:
            return [TensorValue(v.dtype, None) for v in node.outputs]
        return shapes.infer(call)

    def body(
        self, graph: ir.Graph, inputs: Sequence[TensorValue | None], scope: Scope
    ) -> list[TensorValue]:
        """Visit a subgraph, and return its outputs for these inputs (None: not known)."""
        inner = scope.inner()
        self.depth += 1
        try:
            if self.depth > LIMITS.depth:
                raise TooLargeError(f"{self.depth} bodies in each other")
            budget().charge_part(1)
            for value, argument in zip(graph.inputs, inputs, strict=True):
                known = argument or TensorValue(value.dtype, None)
                inner.values[value] = widened(value, known, inner.visit_id, inner.facts)
            lasted = self._visit(graph, inner)
        except LimitError:
            lasted = False
        finally:
            self.depth -= 1
        if not lasted:
            forget(graph, inner, self.scopes)
        return [inner.of(v) for v in graph.outputs]

    def _function(self, function: ir.Function, call: Call, scope: Scope) -> list[TensorValue]:
        """Visit a function's body for one of its callers."""
        caller = (list(call.inputs), call.node, scope.attributes)
        self.calls.setdefault(function.identifier(), []).append(caller)
        self.visits += 1
        deep = self.depth >= LIMITS.depth or self.visits > LIMITS.visits
        if deep or may_be_operator(function):
            return [TensorValue(v.dtype, None) for v in call.node.outputs]
        inner = functions.called(function, call, scope)
        # Functions that it calls are visited again, in a joined visit: this one leaves no traces.
        depth = self.depth + 1
        quiet = replace(self, assumed=(), ruled_out=(), speculate=False, probe=None, depth=depth)
        quiet._visit(function, inner)
        self.visits = quiet.visits
        return [inner.of(v) for v in function.outputs]
