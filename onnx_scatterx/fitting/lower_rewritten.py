"""A rewritten model is lowered for its target, if it could not be lowered before.

before   opset 24    TensorScatter(x, u, at)
after    opset 17    Concat(Slice(x, ...), u, Slice(x, ...))
"""

from __future__ import annotations

from onnx_scatterx.engine.passes import Job, Kind, Pass
from onnx_scatterx.engine.write import needs_fallbacks
from onnx_scatterx.fitting.lower_operator_set import lower_for_target


def lower_rewritten(job: Job) -> bool:
    """Lower a rewritten model to the newest operator set of the target, if it was not lowered yet.

    Scatters that the older set lacks may be gone. The fallbacks of new ScatterX nodes are written
    for the operator set of the model, which stays if there are any.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg (x) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> job = Job(model, Settings.of(target="standard, max_opset = 17"), modified=True)
    >>> lower_rewritten(job), lower_rewritten(job)
    (True, False)
    """
    if not job.modified or job.lowered.opset_lowered is not None:
        return False
    if needs_fallbacks(job.model):
        return False
    lowered = lower_for_target(job, job.proven)
    if lowered:
        job.forget_names()
        job.analyses.read_again()
    return lowered


LowerRewritten = Pass(lower_rewritten, Kind.GUARD, lambda s: any(s.target.opsets()))
