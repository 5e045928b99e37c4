"""Sizes that a user fixes are written into the inputs of a model.

    before   x: float[N, 3, H, W]  ->  y: float[N, 10]       N = 1, H = W = 224
    after    x: float[1, 3, 224, 224]  ->  y: float[1, 10]

A shape that was declared elsewhere in terms of such a size is forgotten: nothing checks it.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.optimizer.assumptions.fixed_sizes import FixedSizes, dims_of
from onnx_scatterx.optimizer.lift.first_failure import first_failure
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.declared_shapes import forget_declared
from onnx_scatterx.optimizer.transforms.job import Job


class WriteSizes(Pass):
    """Writes the sizes of the settings; does nothing if they fix none.

    Raises ScatterXError if a node cannot run at these sizes.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4] x, float[N, M] u) => (float[N, 4] y) { y = Neg (x) }''')
    >>> WriteSizes(Settings.of(target="qnn", fix={"N": 2}))(model).modified
    True
    >>> [str(value.shape) for value in model.graph.inputs]
    ['[2,4]', '[2,M]']
    """

    is_guard = True

    def applies(self, settings: Settings) -> bool:
        return bool(settings.given["fix"])

    def run(self, job: Job) -> bool:
        settings = job.settings
        found = settings.fixed_in(job.model)
        changed = write_sizes(job.model, found)
        failure = first_failure(job.model.graph, job.analysis.knowledge) if changed else None
        if failure is not None:
            raise ScatterXError(f"at the fixed sizes ({found}) {failure}")
        return changed


def write_sizes(model: ir.Model, fixed: FixedSizes) -> bool:
    """Write sizes into the inputs of a model; return whether there were others."""
    for value in model.graph.inputs:
        numbers = fixed.shapes.get(value.name or "")
        if numbers is None:
            continue
        dims = dims_of(value) or (None,) * len(numbers)
        value.shape = ir.Shape(
            n if n is not None else d for n, d in zip(numbers, dims, strict=True)
        )
    if fixed.shapes:
        forget_declared(model, fixed)
    return bool(fixed.shapes)
