"""A model is raised or lowered to the operator set that the user wants."""

from __future__ import annotations

from onnx_scatterx.engine.passes import Job, Kind, Pass
from onnx_scatterx.fitting.opset import change_opset


def change_operator_set(job: Job) -> bool:
    """Raise or lower a model to the operator set of the settings.

    Raises ModelError if it cannot be raised, or if nodes are in the way of lowering it.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg (x) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> change_operator_set(Job(model, Settings.of(opset=17))), model.opset_imports[""]
    (True, 17)
    """
    wanted, before = job.settings.options["opset"], job.model.opset_imports.get("")
    if wanted is not None:
        changed = change_opset(job.model, wanted)
        job.lowered = job.lowered._replace(
            defined=changed.defined, other_kernels=changed.other_kernels
        )
    return job.model.opset_imports.get("") != before


ChangeOperatorSet = Pass(change_operator_set, Kind.GUARD, lambda s: s.options["opset"] is not None)
