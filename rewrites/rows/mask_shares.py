"""How often a mask is true: one that compares an index with one number, or of which it is promised.

Equal(TopK(scores)[1], e)        true once in E elements, and at most at one choice of a token
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    ElementOf,
    Refusal,
    Symbol,
    Term,
    attribute_of,
    granted,
    made_by,
    term,
)
from onnx_scatterx.rewrites.rows.masks import Mask

_BOOL = ir.DataType.BOOL
_VALUES = 1 << 12  # of an index, that are looked at


def is_one_of(mask: Mask, dims: Iterable[int], context: Context) -> bool:
    """Return whether a mask is true at one place of some of its dims, at most, wherever it is.

    It compares the places of the largest elements with one number: TopK names each of them once.
    """
    index_map, (dim, *more) = mask.abstract.index_map, list(dims)
    reads = _elements_of(index_map)
    if index_map is None or more or len(reads) != 1:
        return False
    (read,) = reads
    value = granted(ElementOf.read_by(read))
    best = made_by(value, "TopK")
    rank = context.known(value).rank
    if best is None or rank is None or value is not best.outputs[1]:
        return False
    axis = attribute_of(best, "axis", -1)
    if axis is None or read.parts[axis % rank].dim != dim:
        return False
    if any(dim in part.coords for i, part in enumerate(read.parts) if i != axis % rank):
        return False
    return sum(value != 0 for value in _values_at(index_map, read, context)) == 1


def _elements_of(index_map: Term | None) -> list[Symbol]:
    """Return the elements of other tensors that a term reads."""
    atoms = set[object]() if index_map is None else {*index_map.all_atoms()}
    return [a for a in atoms if isinstance(a, Symbol) and ElementOf.read_by(a) is not None]


def _values_at(index_map: Term, read: Symbol, context: Context) -> list[int | None]:
    """Return a term at each value that the element may have; nothing if there are many."""
    low, high = context.facts.interval(term(read))
    if not 0 <= high - low < _VALUES:
        return []
    return [index_map.replace({read: n}).constant for n in range(int(low), int(high) + 1)]


def share_of(mask: Mask, context: Context) -> float:
    """Return how many elements of a mask are true, on the average of what its index may be.

    A mask that compares an index below E with one number, as a router's choice with an expert, is
    true for one element in E. A promise says how many are true. If nothing is known, all may be
    true, and the share is 1.
    """
    promised, total = mask.abstract.chosen, math.prod(mask.shape, start=term(1)).constant
    number = None if promised is None or promised.number is None else promised.number.constant
    if number and total:
        # If the target finds no positions, the rows cannot be read alone.
        write = partial(context.numbers.chosen_positions, mask.value)
        refused = context.writer.fragment_of(write)
        return 1.0 if isinstance(refused, Refusal) else min(1.0, number / total)
    index_map = mask.abstract.index_map
    reads = _elements_of(index_map)
    if index_map is None or len(reads) != 1:
        return 1.0
    read = granted(ElementOf.read_by(reads[0]))
    if context.known(read).dtype == _BOOL:
        return 1.0
    values = _values_at(index_map, reads[0], context)
    true = sum(value != 0 for value in values)
    return true / len(values) if true and None not in values else 1.0
