"""Sizes that the shape of a result hangs on: what it would be if they were 0, or 1.

    a reduction of a negative axis       ONNX Runtime may leave it where there are no elements
    a Squeeze of all ones                takes every size that is 1
    a Reshape to ``[n, ...]``            copies a dim where n is 0
    a Reshape to ``[n, -1]``             leaves what is 0 out, where it does not copy

Often the model cannot run at such a size: the interpreter asks for those that a model's inputs
declare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.analysis.domain.call import Call, UnknownAttributeError
from onnx_scatterx.analysis.domain.tensor import TensorValue
from onnx_scatterx.analysis.operators.movement import beyond, is_never_one
from onnx_scatterx.analysis.operators.reduction import REDUCTIONS
from onnx_scatterx.analysis.operators.reshaping import sizes_at_stake
from onnx_scatterx.symbolic.terms import Term, as_term

Exclusion: TypeAlias = "tuple[Term, int]"
"""A size, and 0 or 1: what it may not be."""


def suspected_sizes(call: Call, results: Sequence[TensorValue]) -> Iterator[Exclusion]:
    """Yield what would have to be excluded for more to be known of a node's first result."""
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
    """Return whether a node is a reduction, of which only older versions of ONNX Runtime doubt."""
    return node.op_type in REDUCTIONS


def fact_of(exclusion: Exclusion) -> Term:
    """Return the term that is >= 0 because a size is not 0, or not 1."""
    size, number = exclusion
    return beyond(size) if number else size - 1
