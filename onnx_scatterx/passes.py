"""The optimizer, and each of its passes, as a pass of onnx_ir for your own pipeline.

pipeline = ir.passes.Sequential(RemoveScatters(), RemoveUnusedNodesPass())
pipeline(model)

``RemoveScatters`` runs all passes. Each other class runs one pass, and the passes that keep the
result right: these change the operator set, write the sizes of ``fix``, keep quantizers where ONNX
Runtime loads them, and check the target. If ONNX Runtime would compute other values because of a
change, the model is restored.
"""

from __future__ import annotations

from typing import Unpack

import onnx_ir as ir

from onnx_scatterx.assumptions import Fix
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.files import follow_links
from onnx_scatterx.options import DEFAULTS, Options
from onnx_scatterx.targets import AnyTarget
from onnx_scatterx.tell import Report, optimize_ir, settled

__all__ = [
    "AvoidFaults",
    "CancelTransposes",
    "ComputeConstants",
    "DropDefaultReductions",
    "DropOverwrittenUpdates",
    "FixSizes",
    "FoldSizes",
    "InlineKnownIfs",
    "InlineRowFunctions",
    "InlineSequenceFunctions",
    "LowerScatters",
    "RemoveScatters",
    "ShareMasks",
    "ShortenAllShapes",
    "ShortenShapeComputations",
    "SimplifyGathers",
    "WriteOnIntegers",
    "WriteOtherForms",
]


class RemoveScatters(ir.passes.InPlacePass):
    """Removes the scatters of a model, in place, if other nodes are proven to write the same.

    The arguments and their errors are those of ``onnx_scatterx.optimize``. The model must be valid:
    this is not checked.

    Attributes:
        report: the report of the last run.

    Example:
        >>> import onnx_ir as ir
        >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
        ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
        ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
        >>> remove = RemoveScatters()
        >>> remove(model).modified, remove.report.removed
        (True, 1)

    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.settings = Settings.of(**options)
        self._report: Report | None = None

    def __repr__(self) -> str:
        chosen = self.settings.options.items()
        said = ", ".join(f"{name}={value!r}" for name, value in chosen if value != DEFAULTS[name])  # type: ignore[literal-required]
        return f"{type(self).__name__}({said})"

    @property
    def report(self) -> Report:
        """The report of the last run; ``AttributeError`` before the first run."""
        if self._report is None:
            raise AttributeError("the report exists only after the pass has run")
        return self._report

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Rewrite the model; raise TypeError if it is of another type."""
        if not isinstance(model, ir.Model):
            raise TypeError(
                f"a pass takes an onnx_ir.Model, and this is a {type(model).__name__}: "
                "ir.load(path) and ir.from_proto(model) make one, and optimize takes all of them"
            )
        follow_links(model)
        report, _ = optimize_ir(model, self.settings)
        self._report = settled(report, details=True)  # others change the model
        same = self._report.ops_before == self._report.ops_after
        return ir.passes.PassResult(model, modified=self._report.modified or not same)


class _OnePass(RemoveScatters):
    """Runs the pass of this name, and the passes that keep the result right."""

    def __init__(self, **options: Unpack[Options]) -> None:
        options["passes"] = [type(self).__name__]
        super().__init__(**options)


class FixSizes(RemoveScatters):
    """Writes sizes into the inputs of a model, and folds the values that depend only on these.

    ``fix`` gives numbers by the name of a dim, and shapes by the name of an input. Scatters are
    kept. If ``target`` is a device, functions that compute sizes are inlined. If
    ``distrust_dims``, a dim may have different sizes in the inputs that declare its name. Raises
    ScatterXError if the model lacks a name, if two sizes contradict each other, or if ONNX Runtime
    would compute other values at these sizes.

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
        steps = ["InlineKnownIfs", "FoldSizes"]
        super().__init__(target=target, distrust_dims=distrust_dims, fix=fix, passes=steps)


class InlineKnownIfs(_OnePass):
    """Replaces an If by the branch that is always taken."""


class InlineSequenceFunctions(_OnePass):
    """Inlines functions that take or return sequences, if one that takes one has a scatter."""


class InlineRowFunctions(_OnePass):
    """Inlines functions that compute with chosen rows, if the choice then goes."""


class ShareMasks(_OnePass):
    """Lets a mask that is computed twice be computed once."""


class DropOverwrittenUpdates(_OnePass):
    """With ``deterministic=True``: drops updates that a later update of the scatter overwrites."""


class WriteOnIntegers(_OnePass):
    """Does writes between quantizers of one scale on the integers."""


class LowerScatters(_OnePass):
    """Replaces each scatter by nodes that write the same, if a rule has a plan for it.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
    >>> ShareMasks()(model).modified, LowerScatters(target="standard")(model).modified
    (False, True)
    """


class SimplifyGathers(_OnePass):
    """With ``gathers=True``: replaces each gather by slices, if they cost no more nodes."""


class ShortenShapeComputations(_OnePass):
    """Removes computations of sizes that another tensor already holds."""


class CancelTransposes(_OnePass):
    """Removes pairs of transposes that undo each other, if ``LowerScatters`` wrote one of the two.

    >>> from onnx_scatterx import Target
    >>> model = ir.from_onnx_text('''<ir_version: 11, opset_import: ["" : 24]>
    ...     cache (float[2, 5, 3] x, int64 at, float[2, 2, 3] u) => (float[2, 5, 3] y)
    ...     <int64[2, 1] rows = {0, 1}> {
    ...         t = Transpose <perm = [1, 0, 2]> (x)  v = Transpose <perm = [1, 0, 2]> (u)
    ...         i = Add (rows, at)  s = ScatterND (t, i, v)
    ...         y = Transpose <perm = [1, 0, 2]> (s) }''')
    >>> target = Target("caches", extra=frozenset({"TensorScatter"}))
    >>> LowerScatters(target=target)(model).modified
    True
    >>> [node.op_type for node in model.graph if node.op_type.startswith("T")]
    ['Transpose', 'Transpose', 'TensorScatter', 'Transpose', 'Transpose']
    >>> CancelTransposes()(model).modified
    True
    >>> [node.op_type for node in model.graph if node.op_type.startswith("T")]
    ['TensorScatter']
    """


class FoldSizes(_OnePass):
    """With ``fix``, or for a device: replaces values that follow from fixed sizes by constants."""


class ComputeConstants(_OnePass):
    """For a target with limits: computes chains of constants that the target does not take."""


class ShortenAllShapes(_OnePass):
    """For a device: computes all shapes from sizes, where that takes fewer nodes."""


class AvoidFaults(_OnePass):
    """For a compiler with known faults: writes the forms that avoid them."""


class WriteOtherForms(_OnePass):
    """For a target with limits: writes nodes that the target does not take in another form."""


class DropDefaultReductions(_OnePass):
    """Removes ``reduction="none"`` from scatters."""
