"""Whether it is proven that no two updates of a scatter collide."""

from __future__ import annotations

import math

import numpy as np

from onnx_scatterx.engine.analysis import ElementOf
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.lift import InTheory, Scatter
from onnx_scatterx.engine.mosaic.provenance import Provenance
from onnx_scatterx.engine.terms import Symbol, as_numbers, coord, tabulated, term
from onnx_scatterx.graphs import attribute_of, made_by


def is_unique(scatter: Scatter, provenance: Provenance) -> bool:
    """Return whether it is proven that all updates have different targets."""
    return (
        _counts_on(scatter)
        or _is_rows_of_a_mask(scatter, provenance)
        or _has_different_rows(scatter)
        or InTheory(scatter).unique is True
    )


def _counts_on(scatter: Scatter) -> bool:
    """A TensorScatter writes consecutive positions of one axis, each batch its own."""
    linear = attribute_of(scatter.node, "mode", "linear") == "linear"
    return scatter.node.op_type == "TensorScatter" and linear


def _is_rows_of_a_mask(scatter: Scatter, provenance: Provenance) -> bool:
    """The coordinates of all of a mask's true elements are different."""
    origins, depth = set[object](), 0
    for target in scatter.index_exprs:
        atoms = target.atoms
        (atom,) = atoms if len(atoms) == 1 else (None,)
        if not isinstance(atom, Symbol) or atom.parts != (term(depth), coord(0)):
            break
        if target.symbol is None:
            return False
        origins.add(atom.origin)
        depth += 1
    origin = origins.pop() if len(origins) == 1 else None
    if not isinstance(origin, ElementOf) or made_by(origin.value, "NonZero") is None:
        return False
    # All rows of the NonZero must be used: else positions repeat.
    indices = scatter.indices
    if scatter.node.op_type != "ScatterND" or indices is None or len(scatter.index_dims) != 1:
        return False
    # A NonZero that was removed has lost its inputs, so its output tells the rank.
    rank = (provenance.abstract(origin.value).shape or (term(0),))[0].constant
    return depth == len(scatter.data_shape) - len(scatter.shape) + 1 and rank == depth


def _has_different_rows(scatter: Scatter) -> bool:
    """Compare the targets as numbers, for updates that agree in the dims that are targets."""
    facts = scatter.facts
    moved = {target.dim for target in scatter.index_exprs}
    wide = [
        d for d, n in enumerate(scatter.shape) if d not in moved and not facts.is_nonnegative(1 - n)
    ]
    if not wide:
        return True
    columns = [
        (axis, target)
        for axis, target in enumerate(scatter.index_exprs)
        if target.dim is None and not target.leaves()
        if target.coords.issubset(wide) and scatter.is_narrow(target)
    ]
    extents = as_numbers(scatter.shape[d] for d in wide)
    if extents is None or math.prod(extents) * max(len(columns), 1) > LIMITS.unique_targets:
        return False
    targets = []
    for axis, target in columns:
        values = tabulated(target, dict(zip(wide, extents, strict=True))).ravel()
        size = scatter.data_shape[axis].constant
        if not scatter.nonnegative[axis] and bool((values < 0).any()):
            if size is None:
                continue
            values = np.where(values < 0, values + size, values)
        targets.append(values)
    if not targets:
        return False
    rows = np.stack(targets, axis=1)
    return len(np.unique(rows, axis=0)) == len(rows)
