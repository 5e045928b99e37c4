"""Texts for people: the reasons, and names with every character visible.

Come here for all reasons for which a scatter may be kept, for a refusal, and for text that is
safe to print, to raise, or to put on a page. Not for what a report says (that is in ``tell``),
and not for the exceptions (they are in ``errors``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.text.reasons import Detail as Detail
    from onnx_scatterx.text.reasons import FloatReason as FloatReason
    from onnx_scatterx.text.reasons import LastBit as LastBit
    from onnx_scatterx.text.reasons import Missing as Missing
    from onnx_scatterx.text.reasons import Reason as Reason
    from onnx_scatterx.text.reasons import Refusal as Refusal
    from onnx_scatterx.text.reasons import RefusedError as RefusedError
    from onnx_scatterx.text.reasons import attempt as attempt
    from onnx_scatterx.text.reasons import granted as granted
    from onnx_scatterx.text.reasons import note_reasons as note_reasons
    from onnx_scatterx.text.reasons import noted_places as noted_places
    from onnx_scatterx.text.reasons import noted_reasons as noted_reasons
    from onnx_scatterx.text.reasons import only as only
    from onnx_scatterx.text.reasons import refuse_unless as refuse_unless
    from onnx_scatterx.text.recipes import RECIPES as RECIPES
    from onnx_scatterx.text.recipes import Recipe as Recipe
    from onnx_scatterx.text.recipes import recipe as recipe
    from onnx_scatterx.text.visible_text import as_html as as_html
    from onnx_scatterx.text.visible_text import as_json as as_json
    from onnx_scatterx.text.visible_text import in_lines as in_lines
    from onnx_scatterx.text.visible_text import middle as middle
    from onnx_scatterx.text.visible_text import plain as plain
    from onnx_scatterx.text.visible_text import plain_fields as plain_fields
    from onnx_scatterx.text.visible_text import shortened as shortened
    from onnx_scatterx.text.visible_text import visible as visible
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "reasons": "Detail FloatReason LastBit Missing Reason Refusal RefusedError "
            "attempt granted note_reasons noted_places noted_reasons only "
            "refuse_unless",
            "recipes": "RECIPES Recipe recipe",
            "visible_text": "as_html as_json in_lines middle plain plain_fields shortened visible",
        },
    )
