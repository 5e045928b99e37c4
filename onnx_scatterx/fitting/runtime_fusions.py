"""Rewrites of ONNX Runtime that change results under its default options, and where they match.

All rewrites of level 1 and 2 were read, and tried with the element types that they match. These
change integers or bools, or whether a model of them loads:

    rewrite               level  matches, if the first node has one reader       its fault
    DivMulFusion          1      Mul(Div(1, b), c), a constant 1 of one element  Div(c, b) rounds
                                                                                  otherwise
    FuseReluClip          1      Clip(Relu(x), min), a constant min              the model does not
                                 not of float or float16                          load
    ExpandElimination     1      Expand(x, s), a constant s of numbers up to 1   a 0 is taken as 1
                                 or of x's own dims
    GatherToSliceFusion   2      Gather(x, Range(a, b, c))                       Slice(x, a, b, c)
                                                                                  counts a negative
                                                                                  bound from the end

DivMulFusion matches floats, too, and then changes the last bits. NoopElimination (level 1) drops
sums with 0, and products with 1: for integers this changes nothing, but ``-0.0 + 0.0`` is 0.0. It
drops Identity, Cast to the same type and a Slice of all, too, so these separate no nodes. These
keep integers and bools as they are: CastElimination, CommonSubexpressionElimination,
ConstantFolding, ConstantSharing, EliminateDropout, EliminateIdentity, EliminateSlice,
GatherSliceToSplitFusion, LabelEncoderFusion, NotWhereFusion, Pad_Fusion, ReshapeFusion,
SliceConcatToSpaceToDepthFusion, TransposeOptimizer and UnsqueezeElimination.
PreShapeNodeElimination drops a Cast before a Shape (``wider.sized``). The rewrites of
QuantizeLinear are in runtime_patterns.py, and those of float products match no integers: MatMul
with Add, Mul or Transpose, Gemm, Conv, normalizations and activations.

The model as it was given may match, too. Then ONNX Runtime computes both models in the same way. So
only what matches since then is separated (``keep_apart``): a scatter that read a Range is removed,
a size becomes the constant 1, an If is inlined, or a rule wrote the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.passes import NUMBER
from onnx_scatterx.fitting.runtime_graph import RuntimeGraph
from onnx_scatterx.graphs import Inventory, all_graphs, constant, is_operator, overridable

_T = ir.DataType


class Rewrite(Enum):
    """The rewrites that change what a model gives, by their names in ONNX Runtime."""

    DIV_MUL = "DivMulFusion"
    RELU_CLIP = "FuseReluClip"
    EXPAND = "ExpandElimination"
    NOOP = "NoopElimination"
    GATHER_TO_SLICE = "GatherToSliceFusion"


class Fusion(NamedTuple):
    """Nodes that ONNX Runtime may rewrite: ``second`` reads ``first``, or is the same node.

    ``place`` is the number of the input at which ``second`` reads the output of ``first``.
    """

    rewrite: Rewrite
    first: ir.Node
    second: ir.Node
    place: int

    @property
    def numbered(self) -> object:
        """The rewrite with the numbers of the nodes, as in each copy; None for a new node."""
        numbers = (self.first.meta.get(NUMBER), self.second.meta.get(NUMBER))
        return None if None in numbers else (self.rewrite, *numbers)


_DIVIDED = frozenset({_T.FLOAT, _T.FLOAT16, _T.DOUBLE, _T.INT32, _T.INT64})
"""The element types for which ``Mul(Div(1, b), c)`` is rewritten."""
_CLIPPED = {_T.FLOAT, _T.FLOAT16}
_PAIRS = {
    "Div": ("Mul", Rewrite.DIV_MUL),
    "Relu": ("Clip", Rewrite.RELU_CLIP),
    "Range": ("Gather", Rewrite.GATHER_TO_SLICE),
}
FIRST = (*_PAIRS, "Add", "Expand", "Sub")
"""The operators at which a rewrite begins."""


def _is_one(array: np.ndarray) -> bool:
    """Return whether a dividend is the constant that ONNX Runtime looks for.

    >>> _is_one(np.array([1])), _is_one(np.array([1, 1])), _is_one(np.array([-1]))
    (True, False, False)
    """
    return array.size <= 1 and bool((array == 1).all())


def fusions(held: Inventory) -> list[Fusion]:
    """Return the nodes of a model that ONNX Runtime may rewrite, in all graphs.

    What a caller gives to a function may be a constant: ONNX Runtime inlines functions first. The
    time is linear in the nodes and their inputs.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (int64[1] b, int64[1] c) => (int64[1] y) <int64[1] one = {1}> {
    ...         d = Div (one, b)
    ...         y = Mul (c, d) }''')
    >>> [(found.rewrite.value, found.second.op_type) for found in fusions(Inventory(model))]
    [('DivMulFusion', 'Mul')]
    """
    model, overridden = held.model, overridable(held.model)
    first = {node for node in held.of(*FIRST) if node.domain == ""}
    found: list[Fusion] = []
    parts: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for part in parts if first else ():
        inputs = frozenset(part.inputs if isinstance(part, ir.Function) else ())
        own = all_graphs(part) if model.functions else held.graphs
        graphs = {graph: held.graphs[graph] for graph in own}
        nodes = [node for each in graphs.values() for node in each if node in first]
        found += _Matcher(RuntimeGraph([*graphs], overridden, inputs)).found(nodes)
    return found


class _Matcher:
    """Finds the nodes of a graph that match a rewrite."""

    def __init__(self, known: RuntimeGraph) -> None:
        self.known = known

    def found(self, nodes: Iterable[ir.Node]) -> Iterator[Fusion]:
        """Yield the nodes that may be rewritten; ``nodes`` are those of FIRST."""
        for node in nodes:
            if node.op_type in _PAIRS:
                assert isinstance(node.graph, ir.Graph)
                yield from self._pair(node, node.graph)
            elif node.op_type == "Expand":
                if self._drops_zero(node):
                    yield Fusion(Rewrite.EXPAND, node, node, 0)
            elif self._adds_zero(node):
                yield Fusion(Rewrite.NOOP, node, node, 0)

    def _pair(self, node: ir.Node, graph: ir.Graph) -> Iterator[Fusion]:
        """Yield a node with the one that alone reads it, if they are rewritten."""
        if not node.outputs:
            return
        (op, rewrite), value = _PAIRS[node.op_type], node.outputs[0]
        if not all(self._leads(use.node, value, op) for use in value.uses()):
            return
        second, place = self.known.reader_of(value, self.known.alike(node, graph)) or (None, 0)
        if second is not None and is_operator(second, (op,)) and self.known.joins(second, graph):
            found = Fusion(rewrite, node, second, place)
            if self._matches(found):
                yield found

    def _leads(self, node: ir.Node, value: ir.Value, op: str) -> bool:
        return is_operator(node, (op,)) or self.known.does_nothing(node, value)

    def _matches(self, found: Fusion) -> bool:
        if found.rewrite is Rewrite.DIV_MUL:
            return self._may_be_one(found.first.inputs[0])
        if found.rewrite is Rewrite.RELU_CLIP:
            least = found.second.inputs[1] if len(found.second.inputs) > 1 else None
            if found.place != 0 or least is None or not self.known.is_constant(least):
                return False
            return found.first.outputs[0].dtype not in _CLIPPED and least.dtype not in _CLIPPED
        # A Range of constants is folded into a constant.
        return found.place == 1 and (
            bool(self.known.parameters) or not self.known.is_constant(found.first.outputs[0])
        )

    def _may_be_one(self, value: ir.Value | None) -> bool:
        if value is None:
            return False
        tensor = constant(value, self.known.overridable)
        if tensor is not None:
            if tensor.dtype not in _DIVIDED or tensor.size > 1:
                return False
            return _is_one(np.asarray(tensor.numpy()))
        dims = [] if value.shape is None else [dim for dim in value.shape if isinstance(dim, int)]
        return (
            value.dtype in {*_DIVIDED, None}
            and self.known.is_constant(value)
            and max(dims, default=1) <= 1
        )

    def _drops_zero(self, node: ir.Node) -> bool:
        """Return whether an Expand is dropped although it makes an axis empty."""
        dims = self.known.array(node.inputs[1]) if len(node.inputs) > 1 else None
        data = node.inputs[0]
        if dims is None or 0 not in dims or data is None or data.producer() is None:
            return False
        if data.shape is None:
            return bool((dims <= 1).all())
        own = list(data.shape)[::-1][: dims.size]
        pairs = list(zip(dims[::-1].tolist(), own, strict=False))
        kept = all(n <= 1 or n == dim for n, dim in pairs)
        return len(own) == dims.size and kept and any(n == 0 and dim != 0 for n, dim in pairs)

    def _adds_zero(self, node: ir.Node) -> bool:
        """Return whether a constant is added, or subtracted, that makes a -0.0 positive."""
        addends = node.inputs[1:] if node.op_type == "Sub" else node.inputs
        zeros = [array for array in map(self.known.array, addends) if array is not None]
        if len(zeros) != 1 or zeros[0].size != 1 or zeros[0].dtype.kind != "f" or zeros[0].any():
            return False
        return bool(np.signbit(zeros[0]).all()) == (node.op_type == "Sub")
