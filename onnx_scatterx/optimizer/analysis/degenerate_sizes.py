"""Sizes that a result's shape depends on if they are 0 or 1.

    a reduction of a negative axis       ONNX Runtime may keep the axis if there are no elements
    a Squeeze of all ones                removes every dim that is 1
    a Reshape to ``[n, ...]``            copies a dim if n is 0
    a Reshape to ``[n, -1]``             ignores zeros, if it does not copy

Often the model cannot run at such a size. The interpreter tests this for the sizes that a model's
inputs declare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.call import Call, UnknownAttributeError
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.analysis.operators.movement import beyond, is_never_one
from onnx_scatterx.optimizer.analysis.operators.reduction import REDUCTIONS
from onnx_scatterx.optimizer.analysis.operators.reshape_target import sizes_at_stake
from onnx_scatterx.optimizer.symbolic.terms import Term, as_term

Exclusion: TypeAlias = "tuple[Term, int]"
"""A size, and a value, 0 or 1, that it cannot have."""

SUSPICIOUS = frozenset({"Reshape", "Squeeze", *REDUCTIONS})
"""The operators whose shapes depend on such sizes."""


def suspected_sizes(call: Call, results: Sequence[TensorValue]) -> Iterator[Exclusion]:
    """Yield the sizes that must be excluded to know more of a node's first result."""
    x = call.input(0)
    if x is None or not x.shape or not results or call.node.domain != "":
        return
    if call.node.op_type == "Reshape":
        try:
            yield from ((t, 0) for t in sizes_at_stake(call))
        except UnknownAttributeError:
            return
    if results[0].shape is not None:
        return
    if call.node.op_type in REDUCTIONS:
        facts = call.older_facts
        sizes = (d for d in x.shape if not facts.is_nonnegative(d - 1))
        yield from ((as_term(leaf), 0) for d in sizes for leaf in d.leaves())
    elif call.node.op_type == "Squeeze":
        yield from ((d, 1) for d in x.shape if not is_never_one(d, call.facts))


def is_reduction(node: ir.Node) -> bool:
    """Return whether a node is a reduction, which is uncertain only in older ONNX Runtimes."""
    return node.op_type in REDUCTIONS


def fact_of(exclusion: Exclusion) -> Term:
    """Return the term that is >= 0 because a size is not 0, or not 1."""
    size, number = exclusion
    return beyond(size) if number else size - 1
