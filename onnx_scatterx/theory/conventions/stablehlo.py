"""StableHLO's gather, scatter and dynamic_update_slice, with all dimension numbers.

    axis c of the operand    is named by                 J_c
    batching                 *_batching_dims             I_d, where d is that dim of the indices
    indexed                  start_index_map, or scatter_dims_to_operand_dims
                                                         start[batch of I, k], and I_w if kept
    other                                                I_w, or 0 if collapsed or inserted

I is an index of the result or of the updates. Its dims are the dims of the indices without
``index_vector_dim``, and the window dims w. No number counts from the end. If a window leaves the
operand, ``gather`` and ``dynamic_update_slice`` move it inside, and ``scatter`` does not write it,
as in XLA.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axes,
    check,
    check_choice,
    check_integers,
    check_same_dtype,
)
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer

_COMPUTATIONS = {
    "replace": Reduction.NONE,
    "add": Reduction.ADD,
    "multiply": Reduction.MUL,
    "minimum": Reduction.MINIMUM,
    "maximum": Reduction.MAXIMUM,
}


class _Dims(NamedTuple):
    """The dimension numbers, with their names, and ``index_vector_dim``."""

    names: Sequence[str]
    window: Sequence[int]
    dropped: Sequence[int]
    batching: Sequence[int]
    indices_batching: Sequence[int]
    index_map: Sequence[int]
    vector: int

    def check(self, data: NDArray[Any], name: str, starts: Integers, rank: int) -> None:
        """Raise ``ValueError`` if a dimension number does not fit windows of this rank."""
        check_integers(name, starts)
        fault = f"index_vector_dim is {self.vector}, where {name} has {starts.shape}"
        check(0 <= self.vector <= starts.ndim, fault)
        length = (*starts.shape, 1)[self.vector]
        fault = f"{self.names[4]} must have {length} numbers, as the vectors do"
        check(len(self.index_map) == length, fault)
        counted = len(self.window) + len(self.dropped) + len(self.batching)
        check(data.ndim == counted, f"{self.names[0]} does not complete the {data.ndim} axes")
        limits = rank, data.ndim, data.ndim, starts.ndim, data.ndim
        for called, dims, limit in zip(self.names, self[1:6], limits, strict=True):
            ordered = called not in self.names[3:]
            apart = len(set(dims)) == len(dims) and (not ordered or list(dims) == sorted(dims))
            check(apart, f"{called} must be different{', ascending' * ordered}: {dims}")
            exist = all(0 <= d < limit for d in dims)
            check(exist, f"{called} must be in [0, {limit - 1}], not {dims}")
        apart = not {*self.dropped, *self.index_map} & set(self.batching)
        check(apart, f"{self.names[2]} shares an axis with other dimension numbers")
        apart = self.vector not in self.indices_batching
        check(apart, f"{self.names[3]} has index_vector_dim, {self.vector}")
        sizes, stated = (
            [array.shape[d] for d in dims]
            for array, dims in ((data, self.batching), (starts, self.indices_batching))
        )
        check(sizes == stated, f"{self.names[3]} must have the sizes {sizes} in {name}")

    def axes(
        self, shape: Sequence[int], data_shape: Sequence[int], starts: Integers, *, clamp: bool
    ) -> tuple[list[int | Integers], NDArray[np.bool_]]:
        """Return the source of each axis, and for each window whether it lies in the operand."""
        outer = [d for d in range(len(shape)) if d not in self.window]
        vectors = starts[..., None] if self.vector == starts.ndim else starts
        vectors = np.moveaxis(vectors, self.vector, -1)
        if vectors.dtype == np.uint64:
            vectors = np.minimum(vectors, np.uint64(1 << 62))
        vectors = vectors.astype(np.int64)
        spread = tuple(slice(None) if d in outer else None for d in range(len(shape)))
        kept, inside = iter(self.window), np.ones(vectors.shape[:-1], np.bool_)
        axes: list[int | Integers] = []
        for c, size in enumerate(data_shape):
            if c in self.batching:
                d = self.indices_batching[list(self.batching).index(c)]
                axes.append(outer[d - (d > self.vector)])
                continue
            window = None if c in self.dropped else next(kept)
            if window is not None and c not in self.index_map:
                axes.append(window)
                continue
            last = size - (1 if window is None else shape[window])
            numbers: Integers = np.zeros(vectors.shape[:-1], np.int64)
            if c in self.index_map:
                numbers = vectors[..., list(self.index_map).index(c)]
            inside &= (numbers >= 0) & (numbers <= last)
            numbers = (np.clip(numbers, 0, max(last, 0)) if clamp else numbers)[spread]
            if window is not None:
                along = [-1 if d == window else 1 for d in range(len(shape))]
                numbers = numbers + np.arange(shape[window]).reshape(along)
            axes.append(numbers)
        return axes, inside


def gather(
    operand: NDArray[Any],
    start_indices: Integers,
    offset_dims: Sequence[int],
    collapsed_slice_dims: Sequence[int],
    operand_batching_dims: Sequence[int],
    start_indices_batching_dims: Sequence[int],
    start_index_map: Sequence[int],
    index_vector_dim: int,
    slice_sizes: Sequence[int],
) -> Gathering:
    """stablehlo.gather: a window of ``slice_sizes`` of the operand for each vector of indices.

    >>> operand = np.array([[1, 2, 3], [4, 5, 6]])
    >>> gather(operand, np.array([[7], [0]]), [1], [0], [], [], [0], 1, [1, 3]).run()
    array([[4, 5, 6],
           [1, 2, 3]])
    """
    batching = operand_batching_dims, start_indices_batching_dims
    names = list(signature(gather).parameters)[2:7]
    windows = offset_dims, collapsed_slice_dims
    dims = _Dims(names, *windows, *batching, start_index_map, index_vector_dim)
    lead = [n for d, n in enumerate(start_indices.shape) if d != index_vector_dim]
    rank = len(lead) + len(offset_dims)
    dims.check(operand, "start_indices", start_indices, rank)
    gone = {*collapsed_slice_dims, *operand_batching_dims}
    fits = len(slice_sizes) == operand.ndim and all(
        0 <= size <= min(n, 1 if c in gone else n)
        for c, (size, n) in enumerate(zip(slice_sizes, operand.shape, strict=True))
    )
    check(fits, f"slice_sizes is {slice_sizes}, where operand has {operand.shape}")
    inner, outer = iter([n for c, n in enumerate(slice_sizes) if c not in gone]), iter(lead)
    shape = tuple(next(inner if d in offset_dims else outer) for d in range(rank))
    axes, _ = dims.axes(shape, operand.shape, start_indices, clamp=True)
    return Gathering(operand, by_axes(shape, operand.shape, axes))


def scatter(
    input: NDArray[Any],
    scatter_indices: Integers,
    updates: NDArray[Any],
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    input_batching_dims: Sequence[int],
    scatter_indices_batching_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    index_vector_dim: int,
    update_computation: str = "replace",
) -> Scattering:
    """stablehlo.scatter: a window of updates for each vector of indices.

    ``update_computation`` names the operation of the scatter's region: "replace" (the region
    returns the update), "add", "multiply", "minimum" or "maximum". StableHLO does not define the
    order of updates. Here the order is row-major, as on XLA's CPU.

    >>> rows, updates = np.array([[2], [9]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> scatter(np.zeros((3, 2)), rows, updates, [1], [0], [], [], [0], 1).run()
    array([[0., 0.],
           [0., 0.],
           [1., 2.]])
    """
    windows = update_window_dims, inserted_window_dims
    batching = input_batching_dims, scatter_indices_batching_dims
    names = list(signature(scatter).parameters)[3:8]
    dims = _Dims(names, *windows, *batching, scatter_dims_to_operand_dims, index_vector_dim)
    dims.check(input, "scatter_indices", scatter_indices, updates.ndim)
    check_same_dtype("updates", updates, "input", input)
    check_choice("update_computation", update_computation, _COMPUTATIONS)
    lead = [n for d, n in enumerate(scatter_indices.shape) if d != index_vector_dim]
    outer = [d for d in range(updates.ndim) if d not in update_window_dims]
    gone = {*inserted_window_dims, *input_batching_dims}
    most = [n for c, n in enumerate(input.shape) if c not in gone]
    sizes = [updates.shape[d] for d in update_window_dims]
    fits = [updates.shape[d] for d in outer] == lead and all(map(int.__le__, sizes, most))
    check(fits, f"updates has shape {updates.shape}, for {lead} windows in {most}")
    axes, inside = dims.axes(updates.shape, input.shape, scatter_indices, clamp=False)
    transformer = by_axes(updates.shape, input.shape, axes)
    if not inside.all():
        provision, first = transformer.provision(), range(len(outer))
        kept = np.moveaxis(provision, outer, first)[inside]
        updates = np.moveaxis(updates, outer, first)[inside]
        transformer = XTransformer.from_provision(kept, input.shape)
    return Scattering(input, updates, transformer, _COMPUTATIONS[update_computation])


def dynamic_update_slice(
    operand: NDArray[Any], update: NDArray[Any], start_indices: Sequence[int]
) -> Scattering:
    """stablehlo.dynamic_update_slice: writes a box, which is moved inside if it leaves the operand.

    >>> dynamic_update_slice(np.zeros(4), np.array([1.0, 2.0]), [3]).run()
    array([0., 0., 1., 2.])
    """
    check_same_dtype("update", update, "operand", operand)
    fits = update.ndim == operand.ndim and all(map(int.__le__, update.shape, operand.shape))
    check(fits, f"update has shape {update.shape}, where operand has {operand.shape}")
    count = len(start_indices)
    check(count == operand.ndim, f"start_indices must have {operand.ndim} numbers")
    sizes = zip(start_indices, update.shape, operand.shape, strict=True)
    lines = (min(max(int(start), 0), size - n) + np.arange(n) for start, n, size in sizes)
    return Scattering(operand, update, by_axes(update.shape, operand.shape, np.ix_(*lines)))
