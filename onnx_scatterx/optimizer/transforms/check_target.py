"""What a target does not take of the result; promises do not change what a compiler sees."""

from __future__ import annotations

from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.targets.violations import refusals
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.job import Job


class CheckTarget(Pass):
    """Notes the nodes, types and sizes of a model that the target does not take.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4] x) => (float[4] y) { y = Erf (x) }''')
    >>> job = Job(model, Settings.of(target="standard, avoid = ['Erf']"))
    >>> CheckTarget().run(job), [violation.op for violation in job.violations]
    (False, ['Erf'])
    """

    is_guard = True
    of_the_rest = True

    def applies(self, settings: Settings) -> bool:
        return settings.target.is_limited or settings.target.static_only

    def run(self, job: Job) -> bool:
        found = refusals(job.model, job.settings.target, job.plain.current())
        job.violations = tuple(dict.fromkeys(violation for _, violation in found))
        job.refused = {n for n, violation in found if n is not None and not violation.on_host}
        return False
