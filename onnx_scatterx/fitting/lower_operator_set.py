"""A model is lowered to the newest operator set of its target, if each node means the same there.

before   opset 24    Neg, ReduceMax (x, axes)
after    opset 17    Neg, ReduceMax <axes> (x)
"""

from __future__ import annotations

from onnx_scatterx.engine.passes import Job, Kind, Pass
from onnx_scatterx.fitting.known_values import Analysed
from onnx_scatterx.fitting.opset import newer_opset, write_for_opset


def lower_operator_set(job: Job) -> bool:
    """Lower a model to the newest operator set of the target, and note if that is impossible.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg (x) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> lower_operator_set(Job(model, Settings.of(target="standard, max_opset = 17")))
    True
    >>> model.opset_imports[""]
    17
    """
    return lower_for_target(job)


def lower_for_target(job: Job, analysed: Analysed | None = None) -> bool:
    """Lower a model to the newest operator set of the target, and note if that is impossible.

    ``analysed`` returns what is known of the model; without it, the model is interpreted.
    """
    target = job.settings.target
    for version in target.opsets():
        there = newer_opset(job.model, version)
        if there is None:
            break
        needed = version == target.max_opset  # the last bits of definitions may differ
        changed = write_for_opset(job.model, version, analysed, exact=not needed)
        is_lowered = not changed.obstacles
        job.lowered = job.lowered._replace(
            opset_kept=there if needed and not is_lowered else None,
            opset_lowered=version if is_lowered else None,
            defined=(*job.lowered.defined, *changed.defined),
            other_kernels=(*job.lowered.other_kernels, *changed.other_kernels),
        )
        if is_lowered:
            return True
    return False


LowerOperatorSet = Pass(lower_operator_set, Kind.GUARD, lambda s: any(s.target.opsets()))
