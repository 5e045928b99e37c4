"""The rules: one file each, tried in the order of one tuple.

Most are a ``RegionRule``: they write a region of a tensor whose elements are known to come from
other tensors. Every rule that can write a region makes a plan, and the cheapest plan is taken. Of
equal plans, that of the first rule in the tuple is taken. The others are a ``ScatterRule``, for a
scatter that fills no boxes: the first one that has a plan is taken.

With ``Reason`` and ``Refusal`` of the package, the names here are what a rule of your own imports.
"""

from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, RegionRule, Rule, ScatterRule
from onnx_scatterx.rewrites.combine import combine
from onnx_scatterx.rewrites.concat import concat
from onnx_scatterx.rewrites.constant import constant
from onnx_scatterx.rewrites.constant_indices import constant_indices
from onnx_scatterx.rewrites.dense_fill import dense_fill
from onnx_scatterx.rewrites.dense_read import dense_read
from onnx_scatterx.rewrites.dense_reduce import dense_reduce
from onnx_scatterx.rewrites.dense_write import dense_write
from onnx_scatterx.rewrites.diagonal import diagonal
from onnx_scatterx.rewrites.dynamic_window import dynamic_window
from onnx_scatterx.rewrites.gather import gather
from onnx_scatterx.rewrites.interleave import interleave
from onnx_scatterx.rewrites.inverse_permutation import inverse_permutation
from onnx_scatterx.rewrites.mask import mask
from onnx_scatterx.rewrites.masked_scatter import masked_scatter
from onnx_scatterx.rewrites.one_per_row import one_per_row
from onnx_scatterx.rewrites.overlap_add import overlap_add
from onnx_scatterx.rewrites.pad import pad
from onnx_scatterx.rewrites.row_read import row_read
from onnx_scatterx.rewrites.segment_write import segment_write
from onnx_scatterx.rewrites.sorted_write import sorted_write
from onnx_scatterx.rewrites.start_value import start_value
from onnx_scatterx.rewrites.tensorscatter import tensorscatter
from onnx_scatterx.rewrites.view import view

RULES: tuple[Rule, ...] = (
    view,
    constant,
    combine,
    pad,
    concat,
    interleave,
    gather,
    tensorscatter,
    start_value,
    constant_indices,
    mask,
    masked_scatter,
    one_per_row,
    diagonal,
    dynamic_window,
    overlap_add,
    inverse_permutation,
    segment_write,
    dense_fill,
    dense_write,
    dense_reduce,
    sorted_write,
    row_read,
    dense_read,
)

__all__ = ["RULES", "Context", "Plan", "RegionRule", "Rule", "Scatter", "ScatterRule"]
