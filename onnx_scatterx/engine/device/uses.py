"""Uses of operators, and why a target does not take one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.engine.analysis import ElementOf, Scope, TensorValue, size_name
from onnx_scatterx.engine.device.angles import is_of_positions
from onnx_scatterx.engine.device.beyond import beyond, may_be_negative
from onnx_scatterx.engine.terms import Facts, Symbol
from onnx_scatterx.graphs import constant, is_scatterx_domain
from onnx_scatterx.operators import OPERATORS
from onnx_scatterx.targets import NO_LIMITS, Target


@dataclass(frozen=True)
class Use:
    """A node as the limits of a target see it.

    ``inputs`` and ``outputs`` are the abstract values of its tensors (None: an absent input);
    ``is_constant`` says of each input whether it is an initializer or the output of a Constant. A
    Mod ``of_any_sign`` is only read where the result may have the sign of the number, too; of other
    operators, the user promised that no index is negative. A node ``is_inner`` if it does not write
    from an input of the model to an output of it. The ``pattern`` is the operator that it computes
    together with the nodes around it, such as Gelu. A Cos or Sin is ``of_positions`` if it is one
    of integers that are cast to floats.
    """

    op_type: str
    inputs: Sequence[TensorValue | None]
    outputs: Sequence[TensorValue]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    is_constant: Sequence[bool] = ()
    facts: Facts = field(default_factory=Facts)
    of_any_sign: bool = False
    is_inner: bool = False
    pattern: str = ""
    of_positions: bool = False

    @property
    def data(self) -> TensorValue | None:
        """The input whose element type counts: of Where the second, else the first.

        ConstantOfShape reads a shape, which are no data: the type of its output counts.
        """
        row = OPERATORS[self.op_type]
        index = next(iter(row.moves), 0)
        if index < len(self.inputs) and index not in row.sizes:
            return self.inputs[index]
        return self.outputs[0] if self.outputs else None

    @property
    def dtype(self) -> ir.DataType | None:
        """The element type of the data."""
        return None if self.data is None else self.data.dtype

    @property
    def reduction(self) -> str:
        """How a scatter combines an update with the element that it is written to."""
        return str(self.attributes.get("reduction", "none"))

    @property
    def rank(self) -> int:
        """The most dims of a tensor that it reads or writes, as far as ranks are known."""
        tensors = [*self.inputs, *self.outputs]
        return max((t.rank or 0 for t in tensors if t is not None), default=0)

    @property
    def data_rank(self) -> int | None:
        """How many dims the first input has."""
        first = self.inputs[0] if self.inputs else None
        return None if first is None else first.rank

    @property
    def may_be_negative(self) -> bool:
        """Whether an index, a step or a dividend may be negative, or a pad is."""
        return not self.of_any_sign and may_be_negative(self)

    @property
    def makes_size(self) -> bool:
        """Whether a size of an output is known only at run time, and no size of an input is."""
        if self.counts_promised:
            return True
        known = [t for t in self.inputs if t is not None]
        return _has_unnamed(self.outputs) and not _has_unnamed(known)

    @property
    def counts_promised(self) -> bool:
        """Whether the user promises how many elements it finds: the target does not know it."""
        return self.op_type == "NonZero" and self.data is not None and self.data.chosen is not None

    @property
    def reads_size(self) -> bool:
        """Whether a size of an output is computed from the elements of a tensor of the run."""
        return any(isinstance(leaf.origin, ElementOf) for leaf in _leaves(self.outputs))

    def objections(self, target: Target) -> Iterator[str]:
        """Yield why a target does not take it: an operator that is missing, or one of its limits.

        >>> from onnx_scatterx.targets import OperatorLimits
        >>> npu = Target("npu", limits={"Pad": OperatorLimits(no_types=frozenset({"int64"}))})
        >>> line = TensorValue(ir.DataType.INT64, None)
        >>> list(Use("Pad", [line], [line]).objections(npu))
        ['Pad of int64']
        """
        if not target.has(self.op_type, of_constant=any(self.is_constant[:1])):
            yield self.op_type
            return
        limits = target.limits_of(self.op_type)
        if limits is not NO_LIMITS:  # most operators have none
            yield from beyond(limits, self)
            made = self.outputs[0].dtype if self.outputs else None
            if made is None or made == self.dtype or target.has_type(made):
                return
            if not _gives_one_type(self.op_type):
                yield f"{self.op_type} that gives {made.name.lower()}"


@cache
def _gives_one_type(op_type: str) -> bool:
    """Return whether ONNX allows one element type of the result only: int64 of a Shape."""
    return onnx.defs.has(op_type) and len(onnx.defs.get_schema(op_type).outputs[0].types) == 1


def is_lacked(node: ir.Node, target: Target) -> bool:
    """Return whether a target has no operator of a scatter or gather, or runs the node slowly."""
    attribute = node.attributes.get("reduction")
    reduction = "none" if attribute is None or attribute.is_ref() else attribute.as_string()
    return target.lacks(node.op_type, node.outputs[0].dtype, reduction)


def use_of(
    node: ir.Node,
    of: Callable[[ir.Value], TensorValue],
    overridable: Collection[ir.Value],
    scope: Scope | None,
    *,
    is_inner: bool = False,
) -> Use:
    """Return a node of a graph as a use; ``of`` returns what is known of a value."""
    name = node.op_type
    if node.domain != "" and not is_scatterx_domain(node.domain):
        name = f"{node.domain}.{name}"
    inputs = [None if v is None else of(v) for v in node.inputs]
    attributes = {k: a.value for k, a in node.attributes.items() if not a.is_ref()}
    is_constant = [constant(v, overridable) is not None for v in node.inputs]
    outputs = [of(v) for v in node.outputs]
    facts = Facts() if scope is None else scope.facts
    sign = is_of_any_sign(node)
    pattern = ""
    if name == "Erf":
        from onnx_scatterx.engine.device.patterns import pattern_of

        pattern = pattern_of(node, overridable)
    angles = is_of_positions(name, node.inputs, of, overridable)
    known = inputs, outputs, attributes, is_constant, facts
    return Use(name, *known, sign, is_inner, pattern, angles)


def _has_unnamed(tensors: Sequence[TensorValue]) -> bool:
    """Return whether a size of a tensor is known only at run time."""
    return None in map(size_name, _leaves(tensors))


def _leaves(tensors: Sequence[TensorValue]) -> set[Symbol]:
    return {leaf for t in tensors for dim in t.shape or () for leaf in dim.leaves()}


def is_of_any_sign(node: ir.Node) -> bool:
    """Return whether a node is only read as the inner Mod of ``Mod(Mod(a, n) + n, n)``."""
    if node.op_type != "Mod":
        return False
    value, divisor = node.outputs[0], node.inputs[1]
    sums = [use.node for use in value.uses()]
    users = [use.node for n in sums for use in n.outputs[0].uses()]
    if not users or any(v.is_graph_output() for v in (value, *(n.outputs[0] for n in sums))):
        return False
    added = all(n.op_type == "Add" and set(n.inputs) == {value, divisor} for n in sums)
    return added and all(n.op_type == "Mod" and n.inputs[1] is divisor for n in users)
