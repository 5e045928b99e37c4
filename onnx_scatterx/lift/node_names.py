"""What scatters, gathers and their inputs are called: a rewriting may change names."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.lift.gathers import is_gather
from onnx_scatterx.lift.scatters import is_scatter


@dataclass(frozen=True)
class NodeNames:
    """What a node is called, by its output where it has no name of its own; inputs and output."""

    name: str
    inputs: tuple[str, ...]
    output: str


def names_of(model: ir.Model) -> dict[ir.Node, NodeNames]:
    """Return what scatters, gathers and their inputs are called, which a rewriting may change."""
    return {
        n: NodeNames(
            n.name or n.outputs[0].name or "?",
            tuple((v.name or "?") if v is not None else "" for v in n.inputs),
            n.outputs[0].name or "?",
        )
        for g in all_graphs(model)
        for n in g
        if is_scatter(n) or is_gather(n)
    }
