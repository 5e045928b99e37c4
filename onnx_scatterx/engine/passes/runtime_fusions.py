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
PreShapeNodeElimination drops a Cast before a Shape (``kernels.sized``). The rewrites of
QuantizeLinear are in runtime_patterns.py, and those of float products match no integers: MatMul
with Add, Mul or Transpose, Gemm, Conv, normalizations and activations.

Before level 2, equal nodes become one, which has the readers of all. A node in a body does not
match one outside, unless the body is that of an If with a constant condition.

The model as it was given may match, too. Then ONNX Runtime computes both models in the same way. So
only what matches since then is separated (``keep_apart``): a scatter that read a Range is removed,
a size becomes the constant 1, an If is inlined, or a rule wrote the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.passes.marks import NUMBER
from onnx_scatterx.graphs.constants import constant, overridable
from onnx_scatterx.graphs.traversal import (
    RANDOM,
    all_graphs,
    graphs_of,
    is_operator,
)

MEASURED = "1.32"
"""The version of ONNX Runtime whose rewrites were tried."""

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
_NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}
_NUMBERS = {
    *(ir.AttributeType.INT, ir.AttributeType.INTS, ir.AttributeType.FLOAT),
    *(ir.AttributeType.FLOATS, ir.AttributeType.STRING),
}
"""The types of attributes of nodes that are compared."""
_SMALL = 1 << 6  # elements: constants up to this size are compared
_END = 2**63 - 1
_PAIRS = {
    "Div": ("Mul", Rewrite.DIV_MUL),
    "Relu": ("Clip", Rewrite.RELU_CLIP),
    "Range": ("Gather", Rewrite.GATHER_TO_SLICE),
}


_FIRST = {*_PAIRS, "Add", "Expand", "Sub"}


def _is_one(array: np.ndarray) -> bool:
    """Return whether a dividend is the constant that ONNX Runtime looks for.

    >>> _is_one(np.array([1])), _is_one(np.array([1, 1])), _is_one(np.array([-1]))
    (True, False, False)
    """
    return array.size <= 1 and bool((array == 1).all())


def fusions(model: ir.Model) -> list[Fusion]:
    """Return the nodes of a model that ONNX Runtime may rewrite, in all graphs.

    What a caller gives to a function may be a constant: ONNX Runtime inlines functions first. The
    time is linear in the nodes and their inputs.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (int64[1] b, int64[1] c) => (int64[1] y) <int64[1] one = {1}> {
    ...         d = Div (one, b)
    ...         y = Mul (c, d) }''')
    >>> [(found.rewrite.value, found.second.op_type) for found in fusions(model)]
    [('DivMulFusion', 'Mul')]
    """
    held = overridable(model)
    found = list(_Reader(all_graphs(model.graph), held).found())
    for function in model.functions.values():
        graph = function.graph
        found += _Reader(all_graphs(graph), held, frozenset(graph.inputs)).found()
    return found


def _has_declared_sizes(node: ir.Node) -> bool:
    """Return whether a node is a Shape or a Size of a tensor whose dims are declared."""
    value = node.inputs[0] if is_operator(node, ("Shape", "Size")) else None
    shape = None if value is None else value.shape
    return shape is not None and all(isinstance(dim, int) for dim in shape)


@dataclass
class _Reader:
    """Reads a graph with its subgraphs as ONNX Runtime's optimizer does, outer graphs first.

    ``given`` are inputs that a caller may give constants to. ``folded`` says of values whether they
    follow from constants, also from these. Equal nodes have one number in ``numbers``. Both have
    what was asked for.
    """

    graphs: list[ir.Graph]
    overridable: frozenset[ir.Value]
    given: frozenset[ir.Value] = frozenset()
    folded: dict[ir.Value, bool] = field(default_factory=dict)
    numbers: dict[ir.Node, int] = field(default_factory=dict)
    keys: dict[object, int] = field(default_factory=dict)

    @cached_property
    def _holders(self) -> dict[ir.Graph, ir.Node]:
        """The node that has each subgraph."""
        nodes = (node for graph in self.graphs for node in graph)
        return {body: node for node in nodes for body in graphs_of(node)}

    def found(self) -> Iterator[Fusion]:
        """Yield the nodes that may be rewritten."""
        for graph in self.graphs:
            for node in graph:
                if node.op_type not in _FIRST or node.domain != "":
                    continue
                if node.op_type in _PAIRS:
                    yield from self._pair(node, graph)
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
        second, place = self._reader_of(value, self._alike(node, graph)) or (None, 0)
        if second is not None and is_operator(second, (op,)) and self._joins(second, graph):
            found = Fusion(rewrite, node, second, place)
            if self._matches(found):
                yield found

    def _leads(self, node: ir.Node, value: ir.Value, op: str) -> bool:
        return is_operator(node, (op,)) or self._does_nothing(node, value)

    def _alike(self, node: ir.Node, graph: ir.Graph) -> list[ir.Value]:
        """Return the output of a node, and the outputs of the Ranges that are equal to it."""
        if node.op_type != "Range":
            return [node.outputs[0]]
        ranges = [other for other in graph if is_operator(other, ("Range",))]
        return [other.outputs[0] for other in ranges if self._is_same(other, node)]

    def _joins(self, node: ir.Node, graph: ir.Graph) -> bool:
        """Return whether a node is in a graph after each If that is decided has been inlined."""
        here = node.graph
        while here is not graph:
            holder = self._holders.get(here) if isinstance(here, ir.Graph) else None
            if holder is None or not is_operator(holder, ("If",)):
                return False
            if holder.inputs[0] is None or not self._is_constant(holder.inputs[0]):
                return False
            here = holder.graph
        return True

    def array(self, value: ir.Value | None) -> np.ndarray | None:
        """Return the elements of a small constant."""
        tensor = constant(value, self.overridable)
        if tensor is None or tensor.size > _SMALL or tensor.dtype == _T.STRING:
            return None
        return np.asarray(tensor.numpy())

    def _is_constant(self, value: ir.Value) -> bool:
        """Return whether a value follows from constants; without recursion."""
        waiting = [value]
        while waiting:
            here = waiting[-1]
            node = here.producer()
            new: list[ir.Value] = []
            if here in self.given or constant(here, self.overridable) is not None:
                self.folded[here] = True
            elif node is None or node.op_type in RANDOM or graphs_of(node):
                self.folded[here] = False
            elif _has_declared_sizes(node):
                self.folded[here] = True
            else:
                read = [v for v in node.inputs if v is not None]
                new = [v for v in read if v not in self.folded]
                if not new:
                    self.folded[here] = all(self.folded[v] for v in read)
            if new:
                waiting += new
            else:
                waiting.pop()
        return self.folded[value]

    def _is_same(self, one: ir.Node, other: ir.Node) -> bool:
        """Return whether two nodes are one node for ONNX Runtime."""
        if one is other or one.op_type != other.op_type:
            return one is other
        return self._number(one) == self._number(other)

    def _number(self, node: ir.Node) -> int:
        """Return the number of a node, which is that of each equal node."""
        waiting = [node]
        while waiting:
            makers = (None if v is None else v.producer() for v in waiting[-1].inputs)
            new = [maker for maker in makers if maker is not None and maker not in self.numbers]
            if new:
                waiting += new
            else:
                made = waiting.pop()
                self.numbers[made] = self.keys.setdefault(self._key(made), len(self.keys))
        return self.numbers[node]

    def _key(self, node: ir.Node) -> object:
        """Return what equal nodes have in common; the producers of its inputs have numbers."""
        settings = [(name, a.type, a.value) for name, a in sorted(node.attributes.items())]
        if node.op_type in RANDOM or not all(kind in _NUMBERS for _, kind, _ in settings):
            return node
        given = tuple(None if v is None else self._key_of(v) for v in node.inputs)
        return node.domain, node.op_type, given, repr(settings)

    def _key_of(self, value: ir.Value) -> object:
        array = self.array(value)
        if array is not None:
            return array.dtype.name, array.shape, array.tobytes()
        maker = value.producer()
        return value if maker is None else (self.numbers[maker], value.index())

    def _reader_of(self, value: ir.Value, alike: Sequence[ir.Value]) -> tuple[ir.Node, int] | None:
        """Return the node that alone reads a value and those ``alike``, and at which input.

        Equal nodes count as one. Nodes that ONNX Runtime removes are skipped.
        """
        while True:
            uses = [use for v in alike for use in v.uses()]
            if not uses or any(v.is_graph_output() for v in alike):
                return None
            one = uses[0]
            if not all(u.idx == one.idx and self._is_same(u.node, one.node) for u in uses):
                return None
            node, place = next(iter(value.uses()), (None, 0))
            if node is None or not self._does_nothing(node, value):
                return None if node is None else (node, place)
            value = node.outputs[0]
            alike = [value]

    def _does_nothing(self, node: ir.Node, value: ir.Value) -> bool:
        if is_operator(node, ("Identity",)):
            return True
        if is_operator(node, ("Cast",)):
            to = node.attributes.get("to")
            return to is not None and not to.is_ref() and value.dtype in (None, _T(to.as_int()))
        if is_operator(node, ("Slice",)) and len(node.inputs) > 2:
            starts, ends = self.array(node.inputs[1]), self.array(node.inputs[2])
            if starts is None or ends is None:
                return False
            return bool((starts == 0).all() and (ends == _END).all())
        if is_operator(node, _NEUTRAL):
            others = [self.array(v) for v in node.inputs if v is not value]
            neutral = _NEUTRAL[node.op_type]
            return any(a is not None and a.size <= 1 and (a == neutral).all() for a in others)
        return False

    def _matches(self, found: Fusion) -> bool:
        if found.rewrite is Rewrite.DIV_MUL:
            return self._may_be_one(found.first.inputs[0])
        if found.rewrite is Rewrite.RELU_CLIP:
            least = found.second.inputs[1] if len(found.second.inputs) > 1 else None
            if found.place != 0 or least is None or not self._is_constant(least):
                return False
            return found.first.outputs[0].dtype not in _CLIPPED and least.dtype not in _CLIPPED
        # A Range of constants is folded into a constant.
        return found.place == 1 and (
            bool(self.given) or not self._is_constant(found.first.outputs[0])
        )

    def _may_be_one(self, value: ir.Value | None) -> bool:
        if value is None:
            return False
        tensor = constant(value, self.overridable)
        if tensor is not None:
            if tensor.dtype not in _DIVIDED or tensor.size > 1:
                return False
            return _is_one(np.asarray(tensor.numpy()))
        dims = [] if value.shape is None else [dim for dim in value.shape if isinstance(dim, int)]
        return (
            value.dtype in {*_DIVIDED, None}
            and self._is_constant(value)
            and max(dims, default=1) <= 1
        )

    def _drops_zero(self, node: ir.Node) -> bool:
        """Return whether an Expand is dropped although it makes an axis empty."""
        dims = self.array(node.inputs[1]) if len(node.inputs) > 1 else None
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
        """Return whether a constant 0.0 is added that makes a -0.0 positive."""
        zeros = [array for array in map(self.array, node.inputs) if array is not None]
        if len(zeros) != 1 or zeros[0].size != 1 or zeros[0].dtype.kind != "f" or zeros[0].any():
            return False
        return bool(np.signbit(zeros[0]).all()) == (node.op_type == "Sub")
