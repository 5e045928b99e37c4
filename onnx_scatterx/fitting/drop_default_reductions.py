"""Scatters lose an attribute that says nothing.

    before   ScatterND <reduction = "none">
    after    ScatterND

Some compilers of devices reject a scatter with the default reduction, or misread it.
"""

from __future__ import annotations

from onnx_scatterx.engine.lift.lifting import is_scatter
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.graphs.traversal import all_nodes, written


def drop_default_reductions(job: Job) -> bool:
    """Remove a default attribute from ScatterND and ScatterElements."""
    if job.obstacle is not None:
        return False
    modified = False
    for node in all_nodes(job.model):
        if is_scatter(node) and written(node, "reduction", "") == "none":
            del node.attributes["reduction"]
            modified = True
    return modified


DropDefaultReductions = Pass(drop_default_reductions)
