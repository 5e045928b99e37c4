"""The ranges of integers, from the operators that use them as indices, sizes or numbers.

What an operator demands of indices, starts and counts is in the engine's list of preconditions. To
this come ranges that are preferred, such as small sizes. They need not be exact: they only guide
the draws of `verify`, and the original model is run on every draw.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import evaluate
from onnx_scatterx.compare.interface import Dim
from onnx_scatterx.engine.analysis import index_ranges
from onnx_scatterx.graphs import constant
from onnx_scatterx.operators import READS, SCATTERS


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
_WRITES = SCATTERS - {"TensorScatter"}


def _all(*bounds: Bound) -> IndexConstraints:
    return {None: frozenset(bounds)}


def shifted(constraints: IndexConstraints, shift: int) -> IndexConstraints:
    """Return what the constraints on numbers x + shift say of the numbers x."""
    return {
        position: frozenset(replace(bound, offset=bound.offset + shift) for bound in bounds)
        for position, bounds in constraints.items()
    }


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


def _unreduced(node: ir.Node) -> bool:
    return node.attributes.get_string("reduction", "none") == "none"


def _demanded(node: ir.Node) -> dict[int, IndexConstraints]:
    """Return the ranges that a node demands, and, if nothing else decides, distinct rows."""
    data = node.inputs[0]
    width = extent_of(node.inputs[1], -1) if len(node.inputs) > 1 else None
    known = width if isinstance(width, int) else 1  # the first column stands for all
    rank = rank_of(data)
    ranges = index_ranges(node, rank, known if rank is not None else min(known, _MOST_COLUMNS))
    distinct = node.op_type in _WRITES and len(ranges) == 1 and _unreduced(node)
    demanded: dict[int, IndexConstraints] = {}
    for found in ranges:
        size = extent_of(data, found.axis)
        less = None if found.less is None else extent_of(node.inputs[found.less], found.axis)
        slack = int(found.inclusive and (found.less is None or less is not None))
        bound = Bound(size, less or 0, slack, signed=found.signed, distinct=distinct)
        column = found.column if isinstance(width, int) else None
        demanded.setdefault(found.input, {})[column] = frozenset([bound])
    return demanded


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
    **dict.fromkeys((*READS, *SCATTERS, "TopK"), _demanded),
    "OneHot": lambda node: {
        0: _all(*(Bound(int(c.ravel()[0])) for c in _constants(node.inputs[1:2]))),
        1: {None: SMALL},
    },
    "Slice": _slice,
    "Range": lambda _: {0: {None: SMALL}, 1: {None: SMALL}, 2: {None: _STEP}},
    **dict.fromkeys(("Div", "Mod"), lambda _: {1: _all(Bound(5, nonzero=True))}),
    **dict.fromkeys(("CenterCropPad", "Expand", "Pad", "Reshape", "Split", "Tile"), _extents_at(1)),
    "ConstantOfShape": _extents_at(0),
    "Resize": _extents_at(3),
}


def _constants(values: Iterable[ir.Value | None]) -> list[np.ndarray]:
    return [c for value in values if (c := constant_of(value)) is not None and c.size]
