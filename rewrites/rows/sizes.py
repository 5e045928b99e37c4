"""Sizes that are other ones if no row is chosen.

    ReduceMax<keepdims=1>(r, [-1])      [K, 1], but ONNX Runtime returns [0, 4] for r of [0, 4]

If no row is chosen, nothing is written, and so a size is what it is if one is chosen. But a node of
all rows runs in any case. It must not end the run of a model that only runs if no row is chosen:
its operands must fit each other if one is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx_scatterx.engine.rules import Facts, Rows, Shape, described, granted, refuse_unless
from onnx_scatterx.rewrites.rows.part import Part


def check_sizes(part: Part) -> None:
    """Refuse a node with sizes of both kinds, unless it surely runs if a row is chosen."""
    present = [v for v in part.node.inputs if v is not None]
    shapes = [part.context.known(v).shape for v in present]
    sized = [v for v, shape in zip(present, shapes, strict=True) if shape]
    if any(map(part.choice.is_other, sized)):
        kind = described(part.node).rows
        refuse_unless(kind in _AT_ANY or granted(_FIT.get(kind))(part))


_AT_ANY = (
    Rows.APART,
    Rows.CUT,
    Rows.IN_ORDER,
    Rows.PADDED,
    Rows.REDUCED,
    Rows.RUNNING,
    Rows.TRANSPOSED,
)
"""Operators of one tensor, which run at any of its sizes."""


def _broadcast(part: Part) -> bool:
    return _are_broadcast([part.choice.shape(v) for v in part.operands(0)], part.facts)


def _product(part: Part) -> bool:
    a, b = (part.choice.shape(v) for v in part.operands(0))
    if min(len(a), len(b)) < 2:
        return False
    return part.facts.equal(a[-1], b[-2]) and _are_broadcast([a[:-2], b[:-2]], part.facts)


def _expanded(part: Part) -> bool:
    return _are_broadcast([part.choice.shape(part.input(0)), part.shape], part.facts)


def _joined(part: Part) -> bool:
    axis = part.integer("axis", 0, part.rank)
    first, *others = (part.choice.shape(v) for v in part.operands(0))
    rest = [d for d in range(part.rank) if d != axis]
    return all(part.facts.equal(first[d], own[d]) for own in others for d in rest)


_FIT: dict[Rows, Callable[[Part], bool]] = {
    Rows.BROADCAST: _broadcast,
    Rows.EXPANDED: _expanded,
    Rows.JOINED: _joined,
    Rows.PRODUCT: _product,
}


def _are_broadcast(shapes: Sequence[Shape], facts: Facts) -> bool:
    """Return whether tensors are surely broadcast against each other."""
    for d in range(1, max(map(len, shapes), default=0) + 1):
        sizes = [s[-d] for s in shapes if len(s) >= d and s[-d].constant != 1]
        if not all(facts.equal(sizes[0], n) for n in sizes):
            return False
    return True
