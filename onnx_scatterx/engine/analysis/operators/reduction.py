"""The transfer functions of the Reduce operators, of ArgMax and ArgMin, and of CumSum."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Call, Result, Versions, required
from onnx_scatterx.engine.analysis.domain.overflow import fits
from onnx_scatterx.engine.analysis.domain.tensor import ElementOf, Shape, TensorValue
from onnx_scatterx.engine.analysis.operators.shapes_alone import position_of
from onnx_scatterx.engine.budget import LIMITS, PRICES, budget
from onnx_scatterx.engine.terms import (
    Facts,
    Term,
    coord,
    element,
    maximum,
    minimum,
    step,
    term,
    where,
)
from onnx_scatterx.operators import those

_FOLDS: dict[str, Callable[[Any, Any], Term]] = {
    "ReduceSum": lambda a, b: a + b,
    "ReduceProd": lambda a, b: a * b,
    "ReduceMin": minimum,
    "ReduceMax": maximum,
}
_STARTS = {"ReduceSum": term(0), "ReduceProd": term(1)}  # the others have none


REDUCTIONS = those(lambda row: row.reduces)


def reduction(call: Call) -> list[TensorValue] | None:
    """Transfer a Reduce operator: its shape, and its elements if they are a few integers.

    ArgMax and ArgMin reduce one axis, to positions on it.
    """
    x = call.known(0)
    finds = call.node.op_type.startswith("Arg")
    axes = [call.integer("axis", 0)] if finds else call.numbers(1, "axes")
    if not axes:
        if call.integer("noop_with_empty_axes", 0):
            return [x if call.node.op_type in _FOLDS else TensorValue(x.dtype, x.dims)]
        axes = list(range(len(x.dims)))
    keep = bool(call.integer("keepdims", 1))
    gone = {a % len(x.dims) for a in axes} if x.dims else set()
    dtype = ir.DataType.INT64 if finds else x.dtype
    unreduced = {a % len(x.dims) for a in axes if a < 0} if x.dims else set()
    if unreduced and _may_be_left(call, x.dims):
        surely = unreduced == gone and any(call.facts.interval(d)[1] <= 0 for d in x.dims)
        if surely and call.versions is Versions.OLDER:
            return [TensorValue(dtype, x.dims)]
        return [TensorValue(dtype, _if_left(call, x.dims, gone, unreduced) if keep else None)]
    shape = tuple(
        term(1) if d in gone else n for d, n in enumerate(x.dims) if keep or d not in gone
    )
    if finds and gone:
        at = position_of(call, 0, len(shape), x.dims[gone.copy().pop()].constant)
        return [TensorValue(dtype, shape, at)]
    total = _promised_sum(call, x, gone) or _sum_of_equals(call, x, gone)
    if total is not None:
        return [TensorValue(dtype, shape, total)]
    elements = _reduced(x, gone, call.node.op_type, call.facts)
    if elements is None or x.dtype is None:
        return [TensorValue(dtype, shape)]
    dims = [d.constant for d in shape]
    return [TensorValue.explicit(elements.reshape([d or 0 for d in dims]), x.dtype)]


def _promised_sum(call: Call, x: TensorValue, gone: set[int]) -> Term | None:
    """Return the sum of all elements, if so many are promised to be 1 and the others to be 0."""
    said, is_whole = x.chosen, all(n.constant == 1 or d in gone for d, n in enumerate(x.dims))
    if call.node.op_type != "ReduceSum" or not (is_whole and x.is_integer):
        return None
    if said is None or said.number is None or not said.are_ones or x.dtype is None:
        return None
    return said.number if fits(said.number, x.dtype, call.facts) else None


def _sum_of_equals(call: Call, x: TensorValue, gone: set[int]) -> Term | None:
    """Return the sums of one number that all elements are, if no partial sum is rounded."""
    each = x.index_map
    if each is None or each.coords or not x.is_integer or x.dtype is None:
        return None
    if call.node.op_type != "ReduceSum" or x.dtype == ir.DataType.BOOL:
        return None
    total = each * math.prod((x.dims[d] for d in gone), start=term(1))
    is_exact = call.facts.magnitude(total) <= 1 << 53  # ONNX Runtime adds int64 as doubles
    return total if is_exact and fits(total, x.dtype, call.facts) else None


def _may_be_left(call: Call, shape: Shape) -> bool:
    """Return whether negative axes may be kept, since there may be no elements."""
    if call.versions is Versions.NEWER:
        return False
    facts = call.older_facts
    return not all(facts.is_nonnegative(d - 1) for d in shape)


def _if_left(call: Call, shape: Shape, gone: set[int], unreduced: set[int]) -> Shape:
    """Return the dims of a result that keeps the reduced dims."""
    filled = step(math.prod(shape, start=term(1)) - 1)
    dims = [term(1) if d in gone else n for d, n in enumerate(shape)]
    for d in unreduced:
        left = shape[d] if call.versions is Versions.OLDER else call.unknown_size(d)
        dims[d] = where(filled, 1, left)
    return tuple(dims)


def _reduced(x: TensorValue, gone: set[int], op: str, facts: Facts) -> np.ndarray | None:
    """Return the elements with the reduced dims kept, or None if they are not known."""
    if x.element_exprs is None or x.dtype is None or op not in _FOLDS:
        return None
    if x.dtype == ir.DataType.BOOL and op in _STARTS:
        return None
    kept = [1 if d in gone else n for d, n in enumerate(x.element_exprs.shape)]
    result = np.full(kept, _STARTS.get(op), dtype=object)
    for index in np.ndindex(x.element_exprs.shape):
        at = tuple(0 if d in gone else i for d, i in enumerate(index))
        value = x.element_exprs[index]
        result[at] = value if result[at] is None else _FOLDS[op](result[at], value)
    whole = all(t is not None and fits(t, x.dtype, facts) for t in result.ravel().tolist())
    if whole and x.dtype.bitwidth == 64 and op in _STARTS:
        whole = _is_exact(x.element_exprs.ravel(), result.ravel(), op, facts)
    return result if whole else None


def _is_exact(elements: Iterable[Term], results: Iterable[Term], op: str, facts: Facts) -> bool:
    """Return whether doubles represent every partial sum or product exactly, in any order.

    ONNX Runtime computes int64 that way.
    """
    sizes = [facts.magnitude(t) for t in elements]
    whole = sum(sizes) if op == "ReduceSum" else math.prod(max(s, 1) for s in sizes)
    return max([whole, *(facts.magnitude(t) for t in results)]) <= 1 << 53


_LONGEST = 1 << 48  # elements of a tensor: no processor addresses more bytes


def cum_sum(call: Call) -> Result:
    x, axis = call.known(0), required(call.present(1).constant)
    if not x.is_integer or x.dtype is None:
        return [TensorValue(x.dtype, x.shape)]
    d = int(axis.item()) % len(x.dims)
    exclusive, reverse = call.integer("exclusive", 0), call.integer("reverse", 0)
    if x.constant is not None and x.constant.size <= LIMITS.elements:
        budget().charge_part(PRICES.of_array(x.constant.size))
        a = np.flip(x.constant, d) if reverse else x.constant
        total = np.cumsum(a, axis=d, dtype=a.dtype)
        total = total - a if exclusive else total
        return [TensorValue(x.dtype, x.shape, np.flip(total, d) if reverse else total)]
    if x.index_map is not None and d not in x.index_map.coords:
        position = x.dims[d] - 1 - coord(d) if reverse else coord(d)
        so_far = x.index_map * (position + (0 if exclusive else 1))
        return [
            TensorValue(x.dtype, x.shape, so_far if fits(so_far, x.dtype, call.facts) else None)
        ]
    return [TensorValue(x.dtype, x.shape, _sums(call, x, d))]


def _sums(call: Call, x: TensorValue, d: int) -> Term | None:
    """Return sums of nonnegative numbers, if they are known not to wrap."""
    if x.index_map is None or x.shape is None or x.dtype is None:
        return None
    low, high = x.index_map.interval()
    length = min(x.shape[d].interval()[1], _LONGEST)
    if low < 0 or not high * length < 1 << (x.dtype.bitwidth - 1):
        return None
    (value,) = call.node.outputs
    coords = [coord(c) for c in range(len(x.shape))]
    source = ElementOf(call.scope, value)
    return element(source, coords, name=value.name or "?", low=0, high=high * length)
