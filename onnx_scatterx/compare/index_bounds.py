"""The ranges of integers, from the operators that use them as indices, sizes or numbers.

The ranges need not be exact: they only guide the draws of `verify`, and the original model is run
on every draw.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import evaluate
from onnx_scatterx.compare.interface import Dim
from onnx_scatterx.graphs import constant


@dataclass(frozen=True)
class Bound:
    """`value + offset` lies in [-size, end), or in [0, end) if not `signed`.

    The end is `size - less + slack`. If `whole`, the value is a number that no operator rejects,
    and may be any number of its type. Without a size, nothing is known.
    """

    size: Dim
    less: Dim = 0
    slack: int = 0
    offset: int = 0
    signed: bool = True
    distinct: bool = False
    nonzero: bool = False
    whole: bool = False

    def interval(self, sizes: Mapping[str, int]) -> tuple[int, int] | None:
        """Return the least and the greatest value at some sizes; None if they are not known.

        >>> Bound("N", less="L", slack=1, offset=2, signed=False).interval({"N": 9, "L": 3})
        (-2, 4)
        """
        size, less = evaluate(self.size, sizes), evaluate(self.less, sizes)
        if size is None:
            return None
        low = -size if self.signed else 0
        return low - self.offset, size - (less or 0) + self.slack - 1 - self.offset


Bounds = frozenset[Bound]
IndexConstraints = dict[int | None, Bounds]
"""The constraints on a tensor's elements: by position in its last axis, or (None) for all."""

SMALL = frozenset([Bound(6, signed=False)])  # for elements that are used as extents
WHOLE = frozenset([Bound(None, whole=True)])  # for elements that are used as numbers
UNKNOWN = frozenset([Bound(None)])  # for elements whose use is not known
_MOST_COLUMNS = 64  # the most columns of indices, if the rank of the data is not known
_STEP = frozenset([Bound(3, nonzero=True)])


def _all(*bounds: Bound) -> IndexConstraints:
    return {None: frozenset(bounds)}


def each(constraints: IndexConstraints, change: Callable[[Bound], Bound]) -> IndexConstraints:
    """Return the constraints with every bound changed."""
    return {position: frozenset(map(change, bounds)) for position, bounds in constraints.items()}


def rank_of(value: ir.Value | None) -> int | None:
    return None if value is None or value.shape is None else len(value.shape)


def extent_of(value: ir.Value | None, axis: int) -> Dim:
    if value is None or value.shape is None or not -len(value.shape) <= axis < len(value.shape):
        return None
    dim = value.shape[axis]
    return dim if isinstance(dim, int) else dim.value


def constant_of(value: ir.Value | None) -> np.ndarray | None:
    tensor = constant(value, ())
    if tensor is None or tensor.dtype == ir.DataType.STRING or tensor.size > 64:
        return None
    return tensor.numpy()


def _axis(node: ir.Node) -> Dim:
    return extent_of(node.inputs[0], node.attributes.get_int("axis", 0))


def _unreduced(node: ir.Node) -> bool:
    return node.attributes.get_string("reduction", "none") == "none"


def _columns(data: ir.Value | None, indices: ir.Value | None, first: int) -> IndexConstraints:
    """Return the constraints of GatherND and ScatterND: column j indexes axis `first + j`."""
    width = extent_of(indices, -1)
    if not isinstance(width, int):
        return _all(Bound(extent_of(data, first)))
    rank = rank_of(data)
    most = _MOST_COLUMNS if rank is None else rank
    columns = range(min(width, most))  # with more columns the node is invalid
    return {column: frozenset([Bound(extent_of(data, first + column))]) for column in columns}


def _scatter_nd(node: ir.Node) -> dict[int, IndexConstraints]:
    constraints = _columns(node.inputs[0], node.inputs[1], 0)
    if len(constraints) == 1 and _unreduced(node):
        constraints = each(constraints, lambda bound: replace(bound, distinct=True))
    return {1: constraints}


def _tensor_scatter(node: ir.Node) -> dict[int, IndexConstraints]:
    axis = node.attributes.get_int("axis", -2)
    size, count = extent_of(node.inputs[0], axis), extent_of(node.inputs[1], axis)
    if count is None or node.attributes.get_string("mode", "linear") == "circular":
        return {2: _all(Bound(size, signed=False))}
    return {2: _all(Bound(size, less=count, slack=1, signed=False))}


def _top_k(node: ir.Node) -> dict[int, IndexConstraints]:
    size = extent_of(node.inputs[0], node.attributes.get_int("axis", -1))
    return {1: _all(Bound(size, slack=1, signed=False))}


def _slice(node: ir.Node) -> dict[int, IndexConstraints]:
    axes = constant_of(node.inputs[3]) if len(node.inputs) > 3 else np.zeros(1, np.int64)
    size: Dim = 8
    if axes is not None and axes.size == 1:
        size = extent_of(node.inputs[0], int(axes.ravel()[0]))
    edge = _all(Bound(size, slack=1))
    return {1: edge, 2: edge, 4: {None: _STEP}}


def _extents_at(position: int) -> Callable[[ir.Node], dict[int, IndexConstraints]]:
    return lambda _: {position: {None: SMALL}}


USES: dict[str, Callable[[ir.Node], dict[int, IndexConstraints]]] = {
    **dict.fromkeys(("Gather", "GatherElements"), lambda node: {1: _all(Bound(_axis(node)))}),
    "ScatterElements": lambda node: {1: _all(Bound(_axis(node), distinct=_unreduced(node)))},
    "Scatter": lambda node: {1: _all(Bound(_axis(node), distinct=True))},
    "GatherND": lambda node: {
        1: _columns(node.inputs[0], node.inputs[1], node.attributes.get_int("batch_dims", 0))
    },
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "OneHot": lambda node: {
        0: _all(*(Bound(int(c.ravel()[0])) for c in _constants(node.inputs[1:2]))),
        1: {None: SMALL},
    },
    "Slice": _slice,
    "Range": lambda _: {0: {None: SMALL}, 1: {None: SMALL}, 2: {None: _STEP}},
    **dict.fromkeys(("Div", "Mod"), lambda _: {1: _all(Bound(5, nonzero=True))}),
    "TopK": _top_k,
    **dict.fromkeys(("CenterCropPad", "Expand", "Pad", "Reshape", "Split", "Tile"), _extents_at(1)),
    "ConstantOfShape": _extents_at(0),
    "Resize": _extents_at(3),
}


def _constants(values: Iterable[ir.Value | None]) -> list[np.ndarray]:
    return [c for value in values if (c := constant_of(value)) is not None and c.size]
