"""The passes that fit a model to fixed sizes, an operator set, a target, and ONNX Runtime.

Come here for sizes that are written and folded, for nodes in the spelling of another operator set,
for what a target does not take of the result, and for what ONNX Runtime rewrites or infers of a
model, which must be the same of the result; not for the removal of scatters (that is in
``engine.passes``), nor for the order of the passes (in ``pipeline``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.fitting.attach_fallbacks import AttachFallbacks as AttachFallbacks
    from onnx_scatterx.fitting.avoid_faults import AvoidFaults as AvoidFaults
    from onnx_scatterx.fitting.change_operator_set import ChangeOperatorSet as ChangeOperatorSet
    from onnx_scatterx.fitting.check_target import CheckTarget as CheckTarget
    from onnx_scatterx.fitting.compute_constants import ComputeConstants as ComputeConstants
    from onnx_scatterx.fitting.declared_dims import declare_body_dims as declare_body_dims
    from onnx_scatterx.fitting.declared_dims import forget_unchecked_dims as forget_unchecked_dims
    from onnx_scatterx.fitting.drop_default_reductions import (
        DropDefaultReductions as DropDefaultReductions,
    )
    from onnx_scatterx.fitting.failures import NodeFailure as NodeFailure
    from onnx_scatterx.fitting.failures import first_failure as first_failure
    from onnx_scatterx.fitting.fold_sizes import FoldSizes as FoldSizes
    from onnx_scatterx.fitting.inference import infer_shapes as infer_shapes
    from onnx_scatterx.fitting.inference import inferred as inferred
    from onnx_scatterx.fitting.inference import inlined as inlined
    from onnx_scatterx.fitting.keep_apart import KeepApart as KeepApart
    from onnx_scatterx.fitting.lower_operator_set import LowerOperatorSet as LowerOperatorSet
    from onnx_scatterx.fitting.lower_rewritten import LowerRewritten as LowerRewritten
    from onnx_scatterx.fitting.move_above_quantizers import (
        MoveAboveQuantizers as MoveAboveQuantizers,
    )
    from onnx_scatterx.fitting.original import note_original as note_original
    from onnx_scatterx.fitting.shorten_all_shapes import ShortenAllShapes as ShortenAllShapes
    from onnx_scatterx.fitting.write_other_forms import WriteOtherForms as WriteOtherForms
    from onnx_scatterx.fitting.write_sizes import WriteSizes as WriteSizes
    from onnx_scatterx.fitting.write_sizes import analysis_at as analysis_at
    from onnx_scatterx.fitting.write_sizes import declare_fixed as declare_fixed
    from onnx_scatterx.fitting.write_sizes import failure_at_any_sizes as failure_at_any_sizes
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "attach_fallbacks": "AttachFallbacks",
            "avoid_faults": "AvoidFaults",
            "change_operator_set": "ChangeOperatorSet",
            "check_target": "CheckTarget",
            "compute_constants": "ComputeConstants",
            "declared_dims": "declare_body_dims forget_unchecked_dims",
            "drop_default_reductions": "DropDefaultReductions",
            "failures": "NodeFailure first_failure",
            "fold_sizes": "FoldSizes",
            "inference": "infer_shapes inferred inlined",
            "keep_apart": "KeepApart",
            "lower_operator_set": "LowerOperatorSet",
            "lower_rewritten": "LowerRewritten",
            "move_above_quantizers": "MoveAboveQuantizers",
            "original": "note_original",
            "shorten_all_shapes": "ShortenAllShapes",
            "write_other_forms": "WriteOtherForms",
            "write_sizes": "WriteSizes analysis_at declare_fixed failure_at_any_sizes",
        },
    )
