"""Every computed shape of a model that is fitted to a device is computed from sizes.

    before   Reshape(x, Concat(Slice(Shape(Transpose(Reshape(x, ...))), ...), Slice(Shape(...))))
    after    Reshape(x, Shape(y))

Exporters compute shapes step by step, from tensors near by. If fewer nodes do, these are written
last, so that they read no tensor that lives for its shape alone.
"""

from __future__ import annotations

from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.passes import Job, Pass, shorten_shapes


def shorten_all_shapes(job: Job) -> bool:
    """Compute all shapes from sizes where that takes fewer nodes; return whether there are any.

    >>> import onnx_ir as ir
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4] x, float[M, 4] u) => (float[N, 4] y)
    ...     <int64[1] zero = {0}, int64[1] one = {1}, int64[1] four = {4}> {
    ...         s = Shape (x)  n = Slice (s, zero, one)  t = Concat <axis = 0> (n, four)
    ...         y = Reshape (u, t) }''')
    >>> shorten_all_shapes(Job(model, Settings.of(target="tract")))
    True
    >>> [node.op_type for node in model.graph]
    ['Shape', 'Reshape']
    """
    if job.obstacle_to("ShortenAllShapes", folds=True) is not None:
        return False
    modified = False
    try:
        with budget().share(1 / 4):
            known = job.analyses.promised.current()
            for context in list(job.contexts(known)):
                modified |= shorten_shapes(job, context, lambda node: True)
    except LimitError:
        pass  # the other shapes are kept
    return modified


ShortenAllShapes = Pass(
    shorten_all_shapes, applies=lambda s: s.target.is_device and not s.target.static_only
)
