"""A model at fixed sizes: all that `--fix` does to a model, as a pass that stands by itself."""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.optimizer.assumptions.fixed_sizes import Fix
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.targets.catalogue import AnyTarget
from onnx_scatterx.optimizer.transforms.fold_sizes import FoldSizes
from onnx_scatterx.optimizer.transforms.inline_if import InlineKnownIfs
from onnx_scatterx.optimizer.transforms.job import Job
from onnx_scatterx.optimizer.transforms.write_sizes import WriteSizes


class FixSizes(ir.passes.InPlacePass):
    """Writes sizes into the inputs of a model, and folds the values that depend only on them.

    ``fix`` gives numbers by the name of a dim, and shapes by the name of an input. For a ``target``
    that is a device, functions that compute sizes are inlined. ``distrust_dims`` says that inputs
    that declare a dim under one name need not agree in it. Raises ScatterXError if the model lacks
    a name, or if two sizes contradict each other.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4] x) => (float[M] y) <int64[1] all = {-1}> {
    ...         s = Shape (x)
    ...         n = ReduceProd <keepdims = 1> (s)
    ...         y = Reshape (x, n) }''')
    >>> FixSizes({"N": 2})(model).modified
    True
    >>> [node.op_type for node in model.graph], str(model.graph.outputs[0].shape)
    (['Reshape'], '[8]')
    """

    def __init__(
        self, fix: Fix, *, target: AnyTarget = "standard", distrust_dims: bool = False
    ) -> None:
        self.settings = Settings.of(target=target, distrust_dims=distrust_dims, fix=fix)

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Fix the sizes of a model in place."""
        job = Job(model, self.settings)
        changed = [step.run(job) for step in (WriteSizes(), InlineKnownIfs(), FoldSizes())]
        return ir.passes.PassResult(model, modified=any(changed))
