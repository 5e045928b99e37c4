"""What is noted of a model before a pass writes nodes, so that the result is held against it."""

from __future__ import annotations

from onnx_scatterx.engine.passes import Job
from onnx_scatterx.fitting.declared_dims import note_body_dims
from onnx_scatterx.fitting.runtime_fusions import fusions


def note_original(job: Job) -> None:
    """Number the nodes of a model; note what ONNX Runtime rewrites of them, and infers of bodies.

    >>> import onnx_ir as ir
    >>> job = Job(ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (int64[1] b, int64[1] c) => (int64[1] y) <int64[1] one = {1}> {
    ...         d = Div (one, b)
    ...         y = Mul (d, c) }'''))
    >>> note_original(job)
    >>> len(job.fusions)
    1
    """
    job.number_nodes()
    job.fusions = frozenset(found.numbered for found in fusions(job.held))
    note_body_dims(job.held)
