"""Transposes that undo each other are removed, if one of them is new.

before   y = Transpose(Transpose(x, perm=a), perm=b)          a[b] the identity
after    y = x
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import remove_dead, replace_uses
from onnx_scatterx.optimizer.lowering.commit import REPLACES
from onnx_scatterx.optimizer.transforms.job import Job, Pass


class CancelTransposes(Pass):
    """Makes the readers of such a pair read its input.

    If it runs alone, no node is new, and nothing changes.
    """

    def run(self, job: Job) -> bool:
        graphs = [outcome.graph for outcome in job.outcomes]
        new = [n for g in graphs for n in g if REPLACES in n.metadata_props]
        before = sum(len(g) for g in graphs)
        for node in new:
            if node.op_type != "Transpose" or node.graph is None:
                continue
            _cancel(node, new)
            readers = [use.node for v in node.outputs for use in v.uses()]
            for reader in dict.fromkeys(readers):
                if reader.op_type == "Transpose" and reader.domain == "":
                    _cancel(reader, new)
        return sum(len(g) for g in graphs) < before


def _cancel(outer: ir.Node, new: list[ir.Node]) -> None:
    (inside,), (result,) = outer.inputs, outer.outputs
    inner = None if inside is None else inside.producer()
    if inner is None or inner.op_type != "Transpose" or inner.domain != "":
        return
    (source,) = inner.inputs
    a, b = _perm(inner), _perm(outer)
    if source is None or inner.graph is not outer.graph or a is None or b is None:
        return
    if len(a) != len(b) or [a[d] for d in b] != list(range(len(a))):
        return
    if result.is_graph_output():
        if source.producer() not in new or source.is_graph_output():
            return
        # The output that a caller sees is kept.
        source.type, source.shape = result.type, result.shape
        source.metadata_props.update(result.metadata_props)
        source.name, result.name = result.name, source.name
    replace_uses(result, source)
    remove_dead([outer])


def _perm(node: ir.Node) -> list[int] | None:
    """Return the perm of a Transpose; None if it is not written, or no permutation."""
    attribute = node.attributes.get("perm")
    perm = [] if attribute is None or attribute.is_ref() else list(attribute.as_ints())
    return perm if sorted(perm) == list(range(len(perm))) and perm else None
