"""The passes that remove scatters, each in a file of its name, and the job that all passes share.

Come here for a pass that removes scatters, or that makes it possible, for the job (one model, its
settings and what is known of it), and for what passes note at nodes; not for the order of the
passes (that is in ``pipeline``), nor for passes that fit a model to sizes, an operator set, a
target or ONNX Runtime (in ``fitting``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.passes.cancel_transposes import CancelTransposes as CancelTransposes
    from onnx_scatterx.engine.passes.drop_overwritten_updates import (
        DropOverwrittenUpdates as DropOverwrittenUpdates,
    )
    from onnx_scatterx.engine.passes.function_calls import inline_functions as inline_functions
    from onnx_scatterx.engine.passes.inline_beside_quantizers import (
        InlineBesideQuantizers as InlineBesideQuantizers,
    )
    from onnx_scatterx.engine.passes.inline_known_ifs import InlineKnownIfs as InlineKnownIfs
    from onnx_scatterx.engine.passes.inline_row_functions import (
        InlineRowFunctions as InlineRowFunctions,
    )
    from onnx_scatterx.engine.passes.inline_sequence_functions import (
        InlineSequenceFunctions as InlineSequenceFunctions,
    )
    from onnx_scatterx.engine.passes.integer_nodes import IntegerNodes as IntegerNodes
    from onnx_scatterx.engine.passes.job import Job as Job
    from onnx_scatterx.engine.passes.known_branches import (
        take_known_branches as take_known_branches,
    )
    from onnx_scatterx.engine.passes.lower_scatters import LowerScatters as LowerScatters
    from onnx_scatterx.engine.passes.marks import KEPT as KEPT
    from onnx_scatterx.engine.passes.marks import LAST_WINS as LAST_WINS
    from onnx_scatterx.engine.passes.marks import NUMBER as NUMBER
    from onnx_scatterx.engine.passes.settings import Settings as Settings
    from onnx_scatterx.engine.passes.settings import as_it_is as as_it_is
    from onnx_scatterx.engine.passes.share_masks import ShareMasks as ShareMasks
    from onnx_scatterx.engine.passes.shorten_shape_computations import (
        ShortenShapeComputations as ShortenShapeComputations,
    )
    from onnx_scatterx.engine.passes.shortened_shapes import shorten_shapes as shorten_shapes
    from onnx_scatterx.engine.passes.simplify_gathers import SimplifyGathers as SimplifyGathers
    from onnx_scatterx.engine.passes.step import Kind as Kind
    from onnx_scatterx.engine.passes.step import Pass as Pass
    from onnx_scatterx.engine.passes.wiring import Wired as Wired
    from onnx_scatterx.engine.passes.wiring import Wiring as Wiring
    from onnx_scatterx.engine.passes.write_on_integers import WriteOnIntegers as WriteOnIntegers
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "cancel_transposes": "CancelTransposes",
            "drop_overwritten_updates": "DropOverwrittenUpdates",
            "function_calls": "inline_functions",
            "inline_beside_quantizers": "InlineBesideQuantizers",
            "inline_known_ifs": "InlineKnownIfs",
            "inline_row_functions": "InlineRowFunctions",
            "inline_sequence_functions": "InlineSequenceFunctions",
            "integer_nodes": "IntegerNodes",
            "job": "Job",
            "known_branches": "take_known_branches",
            "lower_scatters": "LowerScatters",
            "marks": "KEPT LAST_WINS NUMBER",
            "settings": "Settings as_it_is",
            "share_masks": "ShareMasks",
            "shorten_shape_computations": "ShortenShapeComputations",
            "shortened_shapes": "shorten_shapes",
            "simplify_gathers": "SimplifyGathers",
            "step": "Kind Pass",
            "wiring": "Wired Wiring",
            "write_on_integers": "WriteOnIntegers",
        },
    )
