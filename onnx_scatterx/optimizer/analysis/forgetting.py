"""Forgetting a graph, if its analysis was given up in the middle of a visit."""

from __future__ import annotations

import dataclasses

import onnx_ir as ir

from onnx_scatterx.ir.graphs import graphs_of
from onnx_scatterx.optimizer.analysis.domain.scope import Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.prove import Facts


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
    return dataclasses.replace(scope, facts=Facts(), visit_id=object())
