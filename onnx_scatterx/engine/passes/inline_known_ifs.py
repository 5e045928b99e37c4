"""An If is replaced by the branch that is always taken, before anything is planned.

    before   y = If (c) <then_branch = { y = A(x) }, else_branch = { y = B(x) }>      c is true
    after    y = A(x)

Exporters test ranks at run time (is this a scalar?). The rank of a value behind such an If is not
known before the If is removed.
"""

from __future__ import annotations

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.known_branches import take_known_branches
from onnx_scatterx.engine.passes.step import Pass


def inline_known_ifs(job: Job) -> bool:
    """Replace Ifs by their branches that are always taken, before anything is planned.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) <bool yes = {1}> {
    ...         y = If (yes) <then_branch = a () => (float[N] p) { p = Abs (x) },
    ...                       else_branch = b () => (float[N] q) { q = Neg (x) }> }''')
    >>> inline_known_ifs(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['Abs']
    """
    modified = take_known_branches(job)
    if modified:
        job.analyses.forget()
    return modified


InlineKnownIfs = Pass(inline_known_ifs, looks_for=("If",))
