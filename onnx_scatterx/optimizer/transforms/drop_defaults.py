"""The attribute ``reduction="none"`` is removed from scatters that are kept: it is the default.

Some compilers of devices reject a scatter with this attribute, or misread it.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.job import Job


class DropDefaultReductions(Pass):
    """Removes a default attribute from ScatterND and ScatterElements."""

    def run(self, job: Job) -> bool:
        if job.obstacle is not None:
            return False
        modified = False
        for graph in all_graphs(job.model):
            for node in graph:
                if is_scatter(node) and _is_default(node.attributes.get("reduction")):
                    del node.attributes["reduction"]
                    modified = True
        return modified


def _is_default(reduction: ir.Attr | None) -> bool:
    return reduction is not None and not reduction.is_ref() and reduction.as_string() == "none"
