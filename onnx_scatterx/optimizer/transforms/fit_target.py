"""Small passes that fit a model to its target, and the note of what it still does not take.

    LowerOperatorSet         opset 24    Neg, ReduceMax (x, axes)
                             opset 17    Neg, ReduceMax <axes> (x), if each means the same there
    DropDefaultReductions    ScatterND <reduction = "none">    ScatterND
    AttachFallbacks          every new ScatterX gets a function of standard operators
    CheckTarget              changes nothing; promises do not change what a compiler sees

Some compilers of devices reject a scatter with the default reduction, or misread it.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.ir.opset import lower_opset, newer_opset
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.native.attach_fallbacks import attach_fallbacks
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.budget import own_budget
from onnx_scatterx.optimizer.targets.violations import refusals
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


class AttachFallbacks(Pass):
    """Adds the functions that ScatterX nodes call in runtimes without the library."""

    is_guard = True

    def applies(self, settings: Settings) -> bool:
        return settings.target.has_scatterx

    def run(self, job: Job) -> bool:
        with own_budget():  # a plan is written completely
            return attach_fallbacks(job.model)


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
