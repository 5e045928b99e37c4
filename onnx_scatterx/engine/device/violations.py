"""The parts of a model that its target does not take: operators, uses, ranks, sizes.

Nodes that every compiler removes first are not reported:

    nodes that no output of the model needs
    Identity, and Dropout in inference
    nodes that depend on constants and known sizes alone, if ONNX Runtime runs the model: it
        computes each of them once, as a constant. Other compilers compute such a node themselves,
        so it is reported if they refuse or misread it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cache, partial

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, Scope, TensorValue
from onnx_scatterx.engine.budget import within_limits
from onnx_scatterx.engine.device.uses import Use, use_of
from onnx_scatterx.engine.device.violation import Violation
from onnx_scatterx.graphs import (
    called_function,
    constant,
    graphs_of,
    is_scatterx_domain,
    live_nodes,
    overridable,
    reached,
)
from onnx_scatterx.operators import RANDOM
from onnx_scatterx.targets import Target

_NOT_FOLDED = RANDOM | {"DequantizeLinear", "QuantizeLinear"}
"""Operators that draw random numbers, and those that define quantized weights."""


class TakenOut:
    """Finds the nodes of one model that compilers remove.

    ``is_sized`` says whether all sizes of a value are known numbers. Without ``constants``, nodes
    that depend on constants alone are not removed.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
    ...         e = Erf (w)  s = Sin (x)  i = Identity (x)  y = Mul (e, i) }''')
    >>> taken_out = TakenOut(model)
    >>> [node.op_type for node in model.graph if taken_out.has(node, model.graph)]
    ['Erf', 'Sin', 'Identity']
    """

    def __init__(
        self,
        model: ir.Model,
        is_sized: Callable[[ir.Value], bool] = lambda _: False,
        *,
        constants: bool = True,
    ) -> None:
        self.model = model
        self._constants = constants
        self._is_sized = is_sized
        self._live_of = cache(live_nodes)
        self._constant: dict[ir.Value, bool] = {}
        self._overridable = overridable(model)

    def graphs(self) -> Iterator[tuple[str, ir.Graph]]:
        """Yield the graphs that the outputs of the model need, with their names."""

        def inner(named: tuple[str, ir.Graph]) -> Iterator[tuple[str, ir.Graph]]:
            for node in (n for n in named[1] if n in self._live_of(named[1])):
                yield from ((body.name or "main", body) for body in graphs_of(node))
                function = called_function(self.model, node)
                if function is not None and not is_scatterx_domain(function.domain):
                    yield f"{function.domain}.{function.name}", function.graph

        return reached([(self.model.graph.name or "main", self.model.graph)], inner)

    def has(self, node: ir.Node, graph: ir.Graph) -> bool:
        """Return whether a node of a graph is removed."""
        if node not in self._live_of(graph):
            return True
        if node.op_type == "Constant" or node.domain != "":
            return False
        if _does_nothing(node, self._overridable):
            return True
        return self._constants and self.computes_constant(node)

    def folds(self, node: ir.Node, graph: ir.Graph) -> bool:
        """Return whether a node of a graph is needed, and computes the same in every run."""
        is_plain = node.domain == "" and node.op_type != "Constant"
        is_needed = node in self._live_of(graph) and not _does_nothing(node, self._overridable)
        return is_plain and is_needed and self.computes_constant(node)

    def computes_constant(self, node: ir.Node) -> bool:
        """Return whether a node computes the same in every run."""
        return all(self.is_constant(value) for value in node.outputs)

    def is_constant(self, value: ir.Value) -> bool:
        """Return whether a value is computed from constants and sizes; without recursion."""
        stack = [value]
        while stack:
            top = stack[-1]
            if top in self._constant:
                stack.pop()
                continue
            node = top.producer()
            if node is None:
                self._constant[top] = constant(top, self._overridable) is not None
                continue
            if node.domain != "" or node.op_type in _NOT_FOLDED or graphs_of(node):
                self._constant[top] = False
                continue
            read = [v for v in node.inputs if v is not None]
            if node.op_type in ("Shape", "Size") and all(map(self._is_sized, read)):
                self._constant[top] = True
                continue
            unknown = [v for v in read if v not in self._constant]
            if unknown:
                stack += unknown
                continue
            is_known = all(self._constant[v] for v in read)
            is_known &= bool(read) or node.op_type == "Constant"
            self._constant.update(dict.fromkeys(node.outputs, is_known))
        return self._constant[value]


def _does_nothing(node: ir.Node, overridable: Collection[ir.Value]) -> bool:
    """Return whether a node returns its input: Dropout does, unless it trains."""
    if node.op_type == "Identity":
        return True
    if node.op_type != "Dropout" or any(v.uses() or v.is_graph_output() for v in node.outputs[1:]):
        return False
    training = node.inputs[2] if len(node.inputs) > 2 else None
    if training is None:
        return True
    tensor = constant(training, overridable)
    return tensor is not None and not tensor.numpy().any()


_UNCHECKED = "not checked: the limit of steps was reached"


def violating_nodes(
    model: ir.Model, target: Target, knowledge: Knowledge, promised: Knowledge | None = None
) -> list[tuple[ir.Node | None, Violation]]:
    """Return the violations of a model, each with its node, if it is one of a node.

    What is ``promised`` says which elements are not negative, but nothing of sizes: the compiler
    does not see a promise.
    """
    return list(_Checker(target, model, knowledge, promised or knowledge).all())


def judged_nodes(
    model: ir.Model, target: Target, knowledge: Knowledge, promised: Knowledge | None = None
) -> tuple[list[tuple[ir.Node | None, Violation]], Counter[str]]:
    """Return ``violating_nodes``, and the operators of refused nodes that ONNX Runtime folds.

    ONNX Runtime computes these nodes as constants when it loads the file, so the target does not
    see them.

    >>> from onnx_scatterx.engine.analysis import interpret
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { e = Erf (w)  y = Mul (e, x) }''')
    >>> judged_nodes(model, Target("npu", avoid=frozenset({"Erf"})), interpret(model))
    ([], Counter({'Erf': 1}))
    """
    checker = _Checker(target, model, knowledge, promised or knowledge)
    return list(checker.all()), checker.at_load


def objections_to(use: Use, target: Target) -> Iterator[str]:
    """Yield why a target does not take a use, as sentences: its limits, ranks and sizes.

    >>> import numpy as np
    >>> npu = Target("npu", max_rank=2)
    >>> list(objections_to(Use("Erf", [], [TensorValue.of(np.zeros((1, 1, 1)))]), npu))
    ['rank 3, and npu takes 2']
    """
    yield from (f"{target.name} takes no {objection}" for objection in use.objections(target))
    rank = max((t.rank or 0 for t in use.outputs), default=0)
    if target.max_rank is not None and rank > target.max_rank:
        yield f"rank {rank}, and {target.name} takes {target.max_rank}"
    if target.static_only and use.makes_size:
        yield "a size is known only when the model runs"


class _Checker:
    """Visits a model once."""

    def __init__(
        self, target: Target, model: ir.Model, knowledge: Knowledge, promised: Knowledge
    ) -> None:
        self.target, self._promised = target, promised
        self._with_host = target.with_host()
        self.model = model
        self.knowledge = knowledge
        self._overridable = overridable(model)
        self._taken_out = TakenOut(
            model,
            lambda value: self.of(value).static_shape is not None,
            constants=target.onnxruntime,
        )
        self._inputs, self._outputs = {*model.graph.inputs}, {*model.graph.outputs}
        self.at_load = Counter[str]()
        """The operators of the refused nodes that ONNX Runtime computes as constants."""

    def of(self, value: ir.Value) -> TensorValue:
        """Return the abstract value of a value."""
        return self.knowledge.values.get(value) or TensorValue(value.dtype, None)

    def all(self) -> Iterator[tuple[ir.Node | None, Violation]]:
        """Yield all violations, in the order of the graphs, each with its node."""
        model, main = self.model, self.model.graph.name or "main"
        for value in model.graph.inputs:
            if value.name not in model.graph.initializers:
                for why in self._of_input(value):
                    yield None, Violation(value.name or "?", "input", main, why)
        for value in dict.fromkeys(model.graph.outputs):
            for why in self._of_end(value, "output"):
                yield None, Violation(value.name or "?", "output", main, why)
        taken_out = self._taken_out
        for name, graph in taken_out.graphs():
            scope = self.knowledge.scopes.get(graph)
            for node in graph:
                if taken_out.has(node, graph):
                    if self.target.onnxruntime and taken_out.folds(node, graph):
                        self._note_folded(node, scope)
                    continue
                if called_function(model, node) is None or is_scatterx_domain(node.domain):
                    label = node.name or node.outputs[0].name or "?"
                    judged = within_limits(partial(self._judged, node, scope, self._promised))
                    use, reasons = judged or (None, [_UNCHECKED])
                    for why in reasons:
                        lacked = None if use is None else self._lacked(use)
                        yield node, Violation(label, node.op_type, name, why, lacked=lacked)
                    if use is not None and not reasons and not taken_out.computes_constant(node):
                        yield from ((node, v) for v in self._second_choice(use, label, name))

    def _note_folded(self, node: ir.Node, scope: Scope | None) -> None:
        """Note a node that ONNX Runtime computes as a constant, if the target refuses it."""
        judged = within_limits(partial(self._judged, node, scope, self.knowledge))
        if judged is None or judged[1]:
            self.at_load[node.op_type] += 1

    def _lacked(self, use: Use) -> str | None:
        """Return the operator of a use if the target lacks it, even of constants."""
        return None if self._with_host.has(use.op_type, of_constant=True) else use.op_type

    def _second_choice(self, use: Use, label: str, graph: str) -> Iterator[Violation]:
        """Yield that the target runs a use on its host, or slowly."""
        limits, op = self.target.limits_of(use.op_type), use.op_type
        if not limits.is_native(use.dtype):
            why = f"{self.target.name} runs {op} on its host"
            yield Violation(label, op, graph, why, on_host=True)
        elif limits.is_slow(use.dtype, use.reduction):
            yield Violation(label, op, graph, f"{self.target.name} runs {op} slowly", slow=True)

    def _of_input(self, value: ir.Value) -> Iterator[str]:
        shape, target = self.of(value).shape, self.target
        if shape is None:
            if target.static_only:
                yield "its rank is not known"
            return
        if target.static_only:
            for dim in shape:
                if dim.constant is None:
                    yield f"the size {dim} is not a number"
        if target.max_rank is not None and len(shape) > target.max_rank:
            yield f"rank {len(shape)}, and {target.name} takes {target.max_rank}"
        yield from self._of_end(value, "input")

    def _of_end(self, value: ir.Value, what: str) -> Iterator[str]:
        """Yield that the target does not take an input or an output of this type and rank."""
        known = self.of(value)
        kind = None if known.dtype is None else known.dtype.name.lower()
        for use in self.target.ends:
            of_type = use.types is None or kind in use.types
            if of_type and (use.ranks is None or known.rank in use.ranks):
                yield f"{self.target.name} takes no {what} {use}"

    def _judged(
        self, node: ir.Node, scope: Scope | None, promised: Knowledge
    ) -> tuple[Use, list[str]]:
        use = self._use(node, scope, promised)
        return use, list(objections_to(use, self._with_host))

    def _use(self, node: ir.Node, scope: Scope | None, promised: Knowledge) -> Use:
        data = node.inputs[0] if node.inputs else None
        inner = data not in self._inputs or node.outputs[0] not in self._outputs
        use = use_of(node, self.of, self._overridable, scope, is_inner=inner)
        if promised is self.knowledge or not use.may_be_negative:
            return use
        there = promised.scopes.get(node.graph) if isinstance(node.graph, ir.Graph) else None
        known = use if there is None else use_of(node, there.of, self._overridable, there)
        return use if known.may_be_negative else replace(use, of_any_sign=True)
