"""A model for a target that takes only older operator sets.

before   opset 24    Neg, Concat
after    opset 17    the same nodes, if each of them means the same there
"""

from __future__ import annotations

from onnx_scatterx.ir.opset import lower_opset, newer_opset
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.job import Job


class LowerOperatorSet(Pass):
    """Lowers a model to the newest operator set of the target, and notes if that is impossible.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg (x) }''')
    >>> LowerOperatorSet(Settings.of(target="standard, max_opset = 17"))(model).modified
    True
    >>> model.opset_imports[""]
    17
    """

    is_guard = True

    def applies(self, settings: Settings) -> bool:
        return settings.target.max_opset is not None

    def run(self, job: Job) -> bool:
        newest = job.settings.target.max_opset
        there = newer_opset(job.model, newest)
        if newest is None or there is None:
            return False
        if lower_opset(job.model, newest):
            job.opset_kept = there
        else:
            job.opset_lowered = newest
        return job.opset_kept is None
