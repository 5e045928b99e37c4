"""The rules: one file each, in the order of one tuple.

A ``RegionRule`` writes a region of a tensor whose elements are known to come from other tensors.
The rules are asked in the order of the tuple, until a plan costs nothing; the cheapest plan is
taken, and of equal plans that of the first rule. A ``ScatterRule`` writes a scatter that fills no
boxes, and a ``GatherRule`` a gather that reads no boxes: the first one that has a plan is taken.
Rules that search (``Rule.searches``) are asked after all others, and those that accept an invalid
scatter last. ``engine/passes/settings.py`` chooses the rules of a target: if it has ScatterX,
``scatterx`` is added to the tuple.

With ``Reason`` and ``Refusal`` of the package, the names here are what a rule of yours for regions
or scatters imports from outside. ``engine/rules.py`` has all that a rule of the package may use.
"""

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    RegionRule,
    Rule,
    Scatter,
    ScatterRule,
)
from onnx_scatterx.rewrites.combine import CombineRule
from onnx_scatterx.rewrites.concat import ConcatRule
from onnx_scatterx.rewrites.constant import ConstantRule
from onnx_scatterx.rewrites.constant_indices import ConstantIndicesRule
from onnx_scatterx.rewrites.dense_fill import DenseFillRule
from onnx_scatterx.rewrites.dense_read import DenseReadRule
from onnx_scatterx.rewrites.dense_reduce import DenseReduceRule
from onnx_scatterx.rewrites.dense_write import DenseWriteRule
from onnx_scatterx.rewrites.dynamic_window import DynamicWindowRule
from onnx_scatterx.rewrites.gather import RowGatherRule
from onnx_scatterx.rewrites.interleave import InterleaveRule
from onnx_scatterx.rewrites.inverse_permutation import InversePermutationRule
from onnx_scatterx.rewrites.mask import MaskRule
from onnx_scatterx.rewrites.masked_scatter import MaskedScatterRule
from onnx_scatterx.rewrites.one_per_row import OnePerRowRule
from onnx_scatterx.rewrites.overlap_add import OverlapAddRule
from onnx_scatterx.rewrites.pad import PadRule
from onnx_scatterx.rewrites.row_read import RowReadRule
from onnx_scatterx.rewrites.sampled_write import SampledWriteRule
from onnx_scatterx.rewrites.sorted_write import SortedWriteRule
from onnx_scatterx.rewrites.start_value import StartValueRule
from onnx_scatterx.rewrites.tensorscatter import TensorScatterRule
from onnx_scatterx.rewrites.view import ViewRule

RULES: tuple[Rule, ...] = (
    ViewRule(),
    ConstantRule(),
    CombineRule(),
    PadRule(),
    ConcatRule(),
    InterleaveRule(),
    RowGatherRule(),
    TensorScatterRule(),
    StartValueRule(),
    ConstantIndicesRule(),
    MaskRule(),
    MaskedScatterRule(),
    OnePerRowRule(),
    DynamicWindowRule(),
    OverlapAddRule(),
    InversePermutationRule(),
    DenseFillRule(),
    DenseWriteRule(),
    DenseReduceRule(),
    SortedWriteRule(),
    SampledWriteRule(),
    RowReadRule(),
    DenseReadRule(),
)

__all__ = ["RULES", "Context", "Plan", "RegionRule", "Rule", "Scatter", "ScatterRule"]
