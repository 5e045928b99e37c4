"""A model for a target that takes only older operator sets.

before   opset 24    Neg, ReduceMax (x, axes)
after    opset 17    Neg, ReduceMax <axes> (x), if each of them means the same
"""

from __future__ import annotations

from onnx_scatterx.ir.opset import lower_opset, newer_opset
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.job import Job, Lowered


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
        return any(settings.target.opsets())

    def run(self, job: Job) -> bool:
        target = job.settings.target
        for version in target.opsets():
            there = newer_opset(job.model, version)
            if there is None:
                break
            needed = version == target.max_opset  # the last bits of definitions may differ
            found, defined = lower_opset(job.model, version, define=needed)
            if not found:
                job.lowered = Lowered(None, version, defined)
                return True
            job.lowered = Lowered(there if needed else None, None, defined)
        return False
