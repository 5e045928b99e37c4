"""Scatters lose an attribute that says nothing.

    before   ScatterND <reduction = "none">
    after    ScatterND

Some compilers of devices reject a scatter with the default reduction, or misread it.
"""

from __future__ import annotations

from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.passes import Job, Pass
from onnx_scatterx.graphs import attribute_of
from onnx_scatterx.operators import SCATTERS


def drop_default_reductions(job: Job) -> bool:
    """Remove a default attribute from ScatterND and ScatterElements."""
    if job.obstacle is not None:
        return False
    modified = False
    for node in job.held.of(*SCATTERS):
        if is_scatter(node) and attribute_of(node, "reduction", "") == "none":
            del node.attributes["reduction"]
            modified = True
    return modified


DropDefaultReductions = Pass(drop_default_reductions, looks_for=SCATTERS)
