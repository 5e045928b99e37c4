"""The parts of a model that its target does not take: operators, uses, ranks, sizes, opsets.

Nodes that every compiler removes first are not reported: unused nodes, nodes that compute with
constants and known sizes alone, Identity, and Dropout that drops nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import onnx_ir as ir

from onnx_scatterx.ir.constants import constant, overridable
from onnx_scatterx.ir.graphs import called_function, is_scatterx_domain
from onnx_scatterx.ir.opset import newer_opset, obstacles
from onnx_scatterx.optimizer.analysis.convergence import interpret
from onnx_scatterx.optimizer.analysis.domain.scope import Knowledge, Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.budget import within_limits
from onnx_scatterx.optimizer.targets.limits import Use
from onnx_scatterx.optimizer.targets.taken_out import TakenOut
from onnx_scatterx.optimizer.targets.target import Target

_UNCHECKED = "not checked: the limit of steps was reached"


@dataclass(frozen=True)
class Violation:
    """A node or an input that the target does not take, and why.

    A node without a name is named by its first output. ``op`` of an input is "input", of the model
    itself "model". ``on_host`` says that the target takes the node, and runs it on its host.
    """

    node: str
    op: str
    graph: str
    why: str
    on_host: bool = False

    def __str__(self) -> str:
        return f"{self.node} ({self.op}): {self.why}"


def violations(
    model: ir.Model, target: Target, knowledge: Knowledge | None = None
) -> tuple[Violation, ...]:
    r"""Return the parts of a model that a target does not take, in the order of the graphs.

    ``knowledge`` is what is known of its values; without it, the model is interpreted.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (bool[N] x) => (int64[1, M] y) { y = NonZero(x) }''')
    >>> npu = Target("npu", avoid=frozenset({"NonZero"}), static_only=True)
    >>> print(*violations(model, npu), sep="\n")
    x (input): the size N is not a number
    y (NonZero): npu takes no NonZero
    y (NonZero): a size is known only when the model runs
    """
    found = refusals(model, target, knowledge or interpret(model))
    return tuple(dict.fromkeys(violation for _, violation in found))


def refusals(
    model: ir.Model, target: Target, knowledge: Knowledge
) -> list[tuple[ir.Node | None, Violation]]:
    """Return the violations of a model, each with its node, if it is one of a node."""
    return list(_Checker(target, model, knowledge).all())


def by_reason(found: Iterable[Violation]) -> dict[tuple[str, str], list[str]]:
    """Return the names of nodes by operator and reason.

    >>> by_reason([Violation("a", "Erf", "main", "no Erf"), Violation("b", "Erf", "f", "no Erf")])
    {('Erf', 'no Erf'): ['a', 'b']}
    """
    names: dict[tuple[str, str], list[str]] = {}
    for violation in found:
        names.setdefault((violation.op, violation.why), []).append(violation.node)
    return names


class _Checker:
    """Visits a model once."""

    def __init__(self, target: Target, model: ir.Model, knowledge: Knowledge) -> None:
        self.target = target
        self._with_host = target.with_host()
        self.model = model
        self.knowledge = knowledge
        self._overridable = overridable(model)

    def of(self, value: ir.Value) -> TensorValue:
        """Return the abstract value of a value."""
        return self.knowledge.values.get(value) or TensorValue(value.dtype, None)

    def all(self) -> Iterator[tuple[ir.Node | None, Violation]]:
        """Yield all violations, in the order of the graphs, each with its node."""
        model, main = self.model, self.model.graph.name or "main"
        yield from ((None, found) for found in self._of_opset(main))
        for value in model.graph.inputs:
            if value.name not in model.graph.initializers:
                for why in self._of_input(value):
                    yield None, Violation(value.name or "?", "input", main, why)
        taken_out = TakenOut(model, lambda value: self.of(value).static_shape is not None)
        for name, graph in taken_out.graphs():
            scope = self.knowledge.scopes.get(graph)
            for node in graph:
                if taken_out.has(node, graph):
                    continue
                if called_function(model, node) is None or is_scatterx_domain(node.domain):
                    label = node.name or node.outputs[0].name or "?"
                    found = within_limits(partial(self._of_node, node, scope))
                    for why in (_UNCHECKED,) if found is None else found:
                        yield node, Violation(label, node.op_type, name, why)
                    use = self._use(node, scope) if found == [] else None
                    if use is not None and not self.target.limits_of(use.op_type).is_native(
                        use.dtype
                    ):
                        why = f"{self.target.name} runs {use.op_type} on its host"
                        yield node, Violation(label, use.op_type, name, why, on_host=True)

    def _of_opset(self, main: str) -> Iterator[Violation]:
        """Yield the nodes that prevent lowering a model whose operator set is too new."""
        most = self.target.max_opset
        version = newer_opset(self.model, most)
        if most is None or version is None:
            return
        why = f"operator set {version}, and {self.target.name} takes {most}"
        found = obstacles(self.model, most)
        if not found:  # it could be lowered
            yield Violation(main, "model", main, why)
        for node in found:
            yield Violation(node.name, node.node.op_type, node.graph, f"{why}: {node.why}")

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

    def _of_node(self, node: ir.Node, scope: Scope | None) -> list[str]:
        target = self._with_host
        use = self._use(node, scope)
        found = [f"{target.name} takes no {objection}" for objection in target.objections(use)]
        rank = max((t.rank or 0 for t in use.outputs), default=0)
        if target.max_rank is not None and rank > target.max_rank:
            found.append(f"rank {rank}, and {target.name} takes {target.max_rank}")
        if target.static_only and use.makes_size:
            found.append("a size is known only when the model runs")
        return found

    def _use(self, node: ir.Node, scope: Scope | None) -> Use:
        name = node.op_type
        if node.domain != "" and not is_scatterx_domain(node.domain):
            name = f"{node.domain}.{name}"
        inputs = [None if v is None else self.of(v) for v in node.inputs]
        attributes = {k: a.value for k, a in node.attributes.items() if not a.is_ref()}
        is_constant = [constant(v, self._overridable) is not None for v in node.inputs]
        outputs = [self.of(v) for v in node.outputs]
        facts = {} if scope is None else {"facts": scope.facts}
        return Use(name, inputs, outputs, attributes, is_constant, **facts)
