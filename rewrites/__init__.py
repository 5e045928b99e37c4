"""The rules: one file each, tried in the order of one tuple.

Every rule is a form in which a region of a tensor can be written out. All that can write a region
say what it costs, and the cheapest is taken; among equals, the first of the tuple.
"""

from onnx_scatterx.mosaic.plan import Form
from onnx_scatterx.rewrites.combine import combine
from onnx_scatterx.rewrites.concat import concat
from onnx_scatterx.rewrites.constant import constant
from onnx_scatterx.rewrites.gather import gather
from onnx_scatterx.rewrites.interleave import interleave
from onnx_scatterx.rewrites.pad import pad
from onnx_scatterx.rewrites.view import view

RULES: tuple[Form, ...] = (view, constant, combine, pad, concat, interleave, gather)

__all__ = ["RULES", "combine", "concat", "constant", "gather", "interleave", "pad", "view"]
