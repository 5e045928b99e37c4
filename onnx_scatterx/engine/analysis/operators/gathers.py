"""The elements that gathers read, ``output[I] = data[T(I)]``, and small tensors written.

    Gather, axis a, indices of rank q     T(I) = I_0 .. I_(a-1), indices[I_a .. I_(a+q-1)], the rest
    GatherElements, axis a                T(I) = I with indices[I] in the place of I_a
    GatherND, b batch dims, k numbers     T(I) = I_0 .. I_(b-1), indices[I_0 .. I_(m-1)], the rest
                                          (indices of rank m + 1)

The interpreter follows contents through this form, and ``lift_gather`` passes it to the rewriting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from onnx_scatterx.engine.analysis.domain.call import Call, NotKnownError, Result
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.analysis.operators.movement import wrapped
from onnx_scatterx.engine.budget import LIMITS, PRICES, budget
from onnx_scatterx.engine.terms import Number, Term, coord, term
from onnx_scatterx.errors import check


@dataclass(frozen=True)
class Reading:
    """The shape of an output, and the coordinates in the data of its element at ``x0, x1, ...``.

    ``named`` are the axes of the data whose coordinate the indices give; it may be negative, and
    then counts from the end. ``index_dims`` are the dims of the output that the index tensor runs
    over. ONNX Runtime reads no index if one of ``checked_dims`` is empty.
    """

    shape: Shape
    targets: tuple[Term, ...]
    named: range
    index_dims: range
    checked_dims: range

    @staticmethod
    def of(call: Call, data: Shape, indices: Shape, formula: Term) -> Reading:
        """Return which elements a node reads, given its indices as a term over their coordinates.

        ValueError if the node is invalid, NotKnownError if a shape is not known well enough.
        """
        read = {"Gather": _gather, "GatherElements": _gather_elements, "GatherND": _gather_nd}
        return read[call.node.op_type](call, data, indices, formula)


def _axis(call: Call, rank: int) -> int:
    axis = call.integer("axis", 0)
    check(-rank <= axis < rank, f"axis {axis} for data of rank {rank}")
    return axis % rank


def _gather(call: Call, data: Shape, indices: Shape, formula: Term) -> Reading:
    axis, rank = _axis(call, len(data)), len(indices)
    shape = (*data[:axis], *indices, *data[axis + 1 :])
    before = [coord(d) for d in range(axis)]
    index = formula.at({d: coord(axis + d) for d in range(rank)})
    after = [coord(d + rank - 1) for d in range(axis + 1, len(data))]
    targets, dims = (*before, index, *after), range(axis, axis + rank)
    return Reading(shape, targets, range(axis, axis + 1), dims, dims)


def _gather_elements(call: Call, data: Shape, indices: Shape, formula: Term) -> Reading:
    axis, rank = _axis(call, len(data)), len(data)
    check(len(indices) == rank, f"indices of rank {len(indices)}, data of {rank}")
    targets = tuple(formula if d == axis else coord(d) for d in range(rank))
    return Reading(indices, targets, range(axis, axis + 1), range(rank), range(rank))


def _gather_nd(call: Call, data: Shape, indices: Shape, formula: Term) -> Reading:
    batch = call.integer("batch_dims", 0)
    depth = indices[-1].constant if indices else None
    if depth is None:
        raise NotKnownError("how many axes the indices name")
    last = len(indices) - 1
    fits = 0 <= batch <= last and 1 <= depth <= len(data) - batch
    check(fits, f"indices name {depth} axes of rank {len(data)}, {batch} batch dims")
    if not all(call.facts.equal(data[d], indices[d]) for d in range(batch)):
        # Not every runtime checks that they agree.
        raise NotKnownError("whether the batch dims of data and indices agree")
    shape = (*indices[:-1], *data[batch + depth :])
    columns = [formula.at({last: c}) for c in range(depth)]
    after = [coord(last + c) for c in range(len(data) - batch - depth)]
    targets = (*(coord(d) for d in range(batch)), *columns, *after)
    named = range(batch, batch + depth)
    # ONNX Runtime reads no index if there is nothing to copy.
    return Reading(shape, targets, named, range(last), range(len(shape)))


def gather(call: Call) -> Result:
    """Follow the content of data through any of the three."""
    x, indices = call.known(0), call.known(1)
    if (
        isinstance(x.content, np.ndarray)
        and indices.constant is not None
        and _is_small(call, x.content, indices.constant)
    ):
        taken = _taken(call, x.content, indices.constant)
        if taken is not None:
            return _of_array(x, taken)
        if call.node.op_type == "Gather":
            return None
    formula = indices.index_map
    read = Reading.of(call, x.dims, indices.dims, term(0) if formula is None else formula)
    if x.index_map is None or formula is None:
        return [TensorValue(x.dtype, read.shape)]
    coords: dict[int, Number] = dict(enumerate(read.targets))
    for axis in read.named:
        coords[axis] = wrapped(read.targets[axis], x.dims[axis])
    return [TensorValue(x.dtype, read.shape, x.index_map.at(coords))]


def _is_small(call: Call, array: np.ndarray, indices: np.ndarray) -> bool:
    """Return whether a node's read from an array is small enough to be computed."""
    size = indices.size
    if call.node.op_type == "Gather" and array.ndim:
        axis = call.integer("axis", 0) % array.ndim
        size *= math.prod((*array.shape[:axis], *array.shape[axis + 1 :]))
    elif call.node.op_type == "GatherND" and indices.ndim and indices.shape[-1]:
        size = size // indices.shape[-1] * math.prod(array.shape[indices.shape[-1] :])
    if size > LIMITS.elements:
        return False
    budget().charge_part(PRICES.of_array(size))
    return True


def _taken(call: Call, array: np.ndarray, indices: np.ndarray) -> np.ndarray | None:
    """Return what NumPy reads from an array; None if it fails, or lacks the operation."""
    try:
        if call.node.op_type == "Gather":
            return np.asarray(array.take(indices, axis=call.integer("axis", 0)))
        is_tuple = call.node.op_type == "GatherND" and not call.integer("batch_dims", 0)
        if is_tuple and indices.ndim and indices.shape[-1]:
            return np.asarray(array[tuple(np.moveaxis(indices, -1, 0))])
    except IndexError:
        return None
    return None


def _of_array(x: TensorValue, taken: np.ndarray) -> list[TensorValue]:
    assert isinstance(x.content, np.ndarray)
    taken = np.asarray(taken, dtype=x.content.dtype)
    if taken.dtype == object and x.dtype is not None:
        return [TensorValue.explicit(taken, x.dtype)]
    return [TensorValue(x.dtype, tuple(map(term, taken.shape)), taken)]


def named_axes(call: Call, data: Shape, indices: Shape) -> Shape | None:
    """Return the axes on which GatherND or ScatterND checks each row of indices, if it does.

    GatherND checks nothing if it copies nothing. (Its versions up to 1.22 check nothing if the data
    are empty, either, and read whatever is there in memory.)
    """
    first, depth = call.integer("batch_dims", 0), indices[-1].constant
    if depth is None or first < 0:
        return None
    beside = (*data[:first], *data[first + depth :])
    copies = call.node.op_type == "ScatterND" or all(
        call.facts.is_nonnegative(n - 1) for n in beside
    )
    return data[first : first + depth] if copies else None


Index: TypeAlias = tuple[int, ...]


def scatter_elements(call: Call) -> Result:
    def writes(indices: np.ndarray, rank: int) -> Iterator[tuple[Index, Index]]:
        axis = call.integer("axis", 0) % max(rank, 1)
        for index in np.ndindex(indices.shape):
            yield index, (*index[:axis], int(indices[index]), *index[axis + 1 :])

    return _written(call, writes)


def scatter_nd(call: Call) -> Result:
    def writes(indices: np.ndarray, rank: int) -> Iterator[tuple[Index, Index]]:
        for index in np.ndindex(indices.shape[:-1]):
            yield index, tuple(int(i) for i in indices[index])

    return _written(call, writes)


def _written(
    call: Call, writes: Callable[[np.ndarray, int], Iterator[tuple[Index, Index]]]
) -> Result:
    """Return data with updates written; ``writes`` gives the source and the target of each."""
    data, indices, updates = map(call.present, range(3))
    unknown = [TensorValue(data.dtype, data.shape)]
    known, values, into = indices.constant, updates.element_exprs, data.element_exprs
    if into is None or values is None or known is None or data.dtype is None or data.shape is None:
        return unknown
    if call.string("reduction", "none") != "none":
        return unknown
    result = into.copy()
    for index, target in writes(known, into.ndim):
        try:
            result[target] = values[index]
        except IndexError:
            return unknown
    return [TensorValue.explicit(result, data.dtype)]
