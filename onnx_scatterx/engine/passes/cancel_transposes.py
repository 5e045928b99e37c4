"""Two transposes that undo each other are removed, if one of them replaces a scatter.

before   y = Transpose(Transpose(x, perm=a), perm=b)
after    y = x                                                if a[b] is the identity
         y = Transpose(x, perm=a[b])                          if nothing else reads the inner one
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.engine.plan import REPLACES
from onnx_scatterx.graphs import perm_of, remove_dead, replace_uses


def cancel_transposes(job: Job) -> bool:
    """Let the readers of such a pair read its input, if one of the two replaces a scatter."""
    graphs = job.held.graphs
    new = [n for n in job.held.nodes if REPLACES in n.metadata_props]
    before = sum(map(len, graphs))
    for node in new:
        if node.op_type != "Transpose" or node.domain != "" or node.graph is None:
            continue
        _cancel(node, new)
        for reader in node.successors():
            if reader.op_type == "Transpose" and reader.domain == "":
                _cancel(reader, new)
    return sum(map(len, graphs)) < before


CancelTransposes = Pass(cancel_transposes, looks_for=("Transpose",))


def _cancel(outer: ir.Node, new: list[ir.Node]) -> None:
    """Remove a transpose of a transpose, or make one of the two."""
    (inside,), (result,) = outer.inputs, outer.outputs
    inner = None if inside is None else inside.producer()
    a, b = perm_of(inner), perm_of(outer)
    if inner is None or inner.graph is not outer.graph or a is None or b is None:
        return
    (source,) = inner.inputs
    if source is None or len(a) != len(b):
        return
    perm = [a[d] for d in b]
    if perm != list(range(len(a))):
        if inner.outputs[0].uses() == ((outer, 0),) and not inner.outputs[0].is_graph_output():
            outer.replace_input_with(0, source)
            outer.attributes["perm"] = ir.AttrInt64s("perm", perm)
            remove_dead([inner])
        return
    is_seen = result.is_graph_output()  # by a caller: then its name is kept
    if is_seen and (source.producer() not in new or source.is_graph_output()):
        return
    replace_uses(result, source, keeps_name=is_seen)
    remove_dead([outer])
