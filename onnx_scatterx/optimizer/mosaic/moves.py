"""The effect on mosaics of each operator that only moves elements.

A move returns the mosaics of the node's outputs. If one is not known, None replaces it, or the
result is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.call import Call
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.analysis.operators.gathers import READS
from onnx_scatterx.optimizer.analysis.operators.reshaping import axis_groups
from onnx_scatterx.optimizer.analysis.operators.slicing import slice_arguments, slice_bounds
from onnx_scatterx.optimizer.mosaic.gathered import gathered
from onnx_scatterx.optimizer.mosaic.mosaic import Mosaic, joined
from onnx_scatterx.optimizer.mosaic.reassociate import reassociated
from onnx_scatterx.optimizer.symbolic.simplify import simplify
from onnx_scatterx.optimizer.symbolic.terms import term

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.mosaic.provenance import Provenance

Move = Callable[["Provenance", Call], "list[Mosaic | None]"]


def _first(provenance: Provenance, call: Call) -> Mosaic | None:
    value = call.node.inputs[0]
    return None if value is None else provenance.mosaic(value)


def _identity(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    return [_first(provenance, call)]


def _transpose(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x = _first(provenance, call)
    if x is None:
        return []
    return [x.transposed(call.integers("perm") or list(range(len(x.shape)))[::-1])]


def _unsqueeze(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x, axes = _first(provenance, call), call.numbers(1, "axes")
    if x is None or axes is None:
        return []
    rank = len(x.shape) + len(axes)
    places = {a % rank for a in axes}
    return [x.unsqueezed(places)] if len(places) == len(axes) else []  # else it cannot run


def _squeeze(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x = _first(provenance, call)
    if x is None:
        return []
    axes = call.numbers(1, "axes")
    if axes is None:
        axes = [d for d, n in enumerate(x.shape) if n.constant == 1]
        shape = provenance.abstract(call.node.outputs[0]).shape
        if shape is None or len(shape) != len(x.shape) - len(axes):
            return []
    return [x.squeezed(a % len(x.shape) for a in axes)]


def _reshape(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    shape = provenance.abstract(call.node.outputs[0]).shape
    return [] if shape is None else [reshaped(provenance, call.node, shape)]


def reshaped(provenance: Provenance, node: ir.Node, shape: Shape) -> Mosaic | None:
    """Return the mosaic of a Reshape's output, which has this shape.

    It adds and drops dims of extent 1, or splits and merges whole axes.
    """
    value = node.inputs[0]
    x = None if value is None else provenance.mosaic(value)
    if x is None:
        return None
    old = [d for d, n in enumerate(x.shape) if n.constant != 1]
    new = [d for d, n in enumerate(shape) if n.constant != 1]
    same = len(old) == len(new) and all(
        provenance.facts.equal(x.shape[a], shape[b]) for a, b in zip(old, new, strict=True)
    )
    if not same:
        # The others are kept, unless the value that they reshape is removed.
        groups = axis_groups(x.shape, shape) if value in provenance.absorbed else None
        return None if groups is None else reassociated(x, shape, groups)
    bare = x.squeezed(d for d in range(len(x.shape)) if d not in old)
    return None if bare is None else bare.unsqueezed(d for d in range(len(shape)) if d not in new)


def _expand(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x, shape = _first(provenance, call), provenance.abstract(call.node.outputs[0]).shape
    if x is None or shape is None or call.inputs[1] is None or call.inputs[1].vector() is None:
        return []
    return [x.expanded(shape)]


def _concat(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    parts = [provenance.mosaic(v) for v in call.node.inputs if v is not None]
    shape = provenance.abstract(call.node.outputs[0]).shape
    if (
        shape is None
        or any(p is None for p in parts)
        or not any(v in provenance.absorbed for v in call.node.inputs)
    ):
        return []
    axis = call.integer("axis", 1) % len(shape)
    return [joined([p for p in parts if p is not None], axis, shape)]


def _slice(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x, cuts = _first(provenance, call), slice_arguments(call)
    if x is None or cuts is None:
        return []
    for axis, start, end, step in cuts:
        bounds = slice_bounds(start, end, step, x.shape[axis])
        first, count = (simplify(t, provenance.facts) for t in bounds)
        found = x.sliced(axis, first, count, step, provenance.facts)
        if found is None:
            return []
        x = found
    return [x]


def _split(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x = _first(provenance, call)
    if x is None:
        return []
    axis = call.integer("axis", 0) % len(x.shape)
    results: list[Mosaic | None] = []
    start = term(0)
    for value in call.node.outputs:
        shape = provenance.abstract(value).shape
        if shape is None:
            return []
        results.append(x.sliced(axis, start, shape[axis], 1, provenance.facts))
        start = start + shape[axis]
    return results


def _read(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    """A read of boxes is a Slice of each, concatenated."""
    x = _first(provenance, call)
    gather = provenance.gather(call.node)
    return [] if x is None else [gathered(gather, x, provenance.facts)]


MOVES: dict[str, Move] = {
    "Concat": _concat,
    "Expand": _expand,
    **dict.fromkeys(sorted(READS), _read),
    "Identity": _identity,
    "Reshape": _reshape,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
