"""TVM's scatters by an index for every element and by index tuples, and its writes of slices.

    call                                p1             f(p1(I))                      p2
    scatter_elements, axis a            all dims       indices[I], one number        all but a
    scatter_nd, indices [k, q1..qm]     first m dims   indices[:, I1..Im], k numbers the rest

The tuples of ``scatter_nd`` are on the first axis of ``indices``, not on the last one.

Two more calls define for every coordinate i of an axis whether it is written, and from which
coordinate of the updates. So the updates are first gathered at these coordinates, and the written
positions are a lookup.

    slice_scatter   start <= i < end, (i - start) mod step = 0
                    from clip((i - start + step - 1) div step, 0, size - 1)
    strided_set     begin <= i < end, (i - begin) mod stride = 0, from (i - begin) div stride,
                    and for strides below 0 the mirror image
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axes,
    by_axis,
    by_own_index,
    by_tuples,
    check,
    check_choice,
    check_columns,
    check_dims,
    check_integers,
    check_names,
    check_same_dtype,
    check_same_rank,
    check_same_shape,
    check_shape,
    wrap,
)
from onnx_scatterx.theory.scattering import Reduction, Scattering

_REDUCTIONS = {
    "update": Reduction.NONE,
    "add": Reduction.ADD,
    "mul": Reduction.MUL,
    "min": Reduction.MIN,
    "max": Reduction.MAX,
}


def scatter_elements(
    data: NDArray[Any],
    indices: Integers,
    updates: NDArray[Any],
    axis: int = 0,
    reduction: str = "update",
) -> Scattering:
    """``topi.scatter_elements``; ``reduction`` is "update", "add", "mul", "min" or "max".

    ``indices`` and ``updates`` have the same shape: that of ``data``, except on ``axis``. Negative
    indices count from the end. The reduction "mean" is refused: TVM halves the sum at every update,
    for which no scattering exists.

    >>> data, indices = np.zeros((1, 4)), np.array([[1, -1]])
    >>> scatter_elements(data, indices, np.array([[5.0, 6.0]]), 1).run()
    array([[0., 5., 0., 6.]])
    """
    reduction = _checked("reduction", reduction, data)
    check_integers("indices", indices)
    axis = wrap("axis", axis, data.ndim)
    check_same_rank("indices", indices, "data", data)
    check_same_shape("updates", updates, "indices", indices)
    check_same_dtype("updates", updates, "data", data)
    for d, (extent, size) in enumerate(zip(indices.shape, data.shape, strict=True)):
        fault = f"dim {d} of indices is {extent}, and must be {size} as in data"
        check(d == axis or extent == size, fault)
    behind = indices.shape[axis + 1 :]
    check(0 not in behind, f"indices has an extent of 0 behind the axis {axis}")
    transformer = by_own_index(("data", data), ("indices", indices), axis)
    return Scattering(data, updates, transformer, reduction)


def scatter(data: NDArray[Any], indices: Integers, updates: NDArray[Any], axis: int) -> Scattering:
    """``relay.scatter``: today ``scatter_elements``.

    >>> scatter(np.zeros(3), np.array([2]), np.array([5.0]), 0).run()
    array([0., 0., 5.])
    """
    return scatter_elements(data, indices, updates, axis)


def scatter_add(
    data: NDArray[Any], indices: Integers, updates: NDArray[Any], axis: int
) -> Scattering:
    """``relay.scatter_add``: today ``scatter_elements`` with the reduction "add".

    >>> scatter_add(np.zeros(3), np.array([2, 2]), np.array([5.0, 1.0]), 0).run()
    array([0., 0., 6.])
    """
    return scatter_elements(data, indices, updates, axis, "add")


def scatter_nd(
    data: NDArray[Any], indices: Integers, updates: NDArray[Any], mode: str = "update"
) -> Scattering:
    """``topi.scatter_nd``; ``mode`` is "update", "add", "mul", "min" or "max".

    ``indices`` has shape k, q1, ..., qm, and ``updates`` must have the shape
    ``(q1, ..., qm) + data.shape[k:]`` and at least one element. Indices are not negative.

    >>> scatter_nd(np.zeros((2, 3)), np.array([[1, 0], [2, 0]]), np.array([5.0, 6.0])).run()
    array([[6., 0., 0.],
           [0., 0., 5.]])
    """
    reduction = _checked("mode", mode, data)
    check_integers("indices", indices)
    check_dims(("data", data), ("indices", indices))
    k, lead = indices.shape[0], indices.shape[1:]
    check_names(k, "data", data.ndim)
    check_shape("updates", updates, lead + data.shape[k:])
    check(updates.size, f"updates of shape {updates.shape} has no elements")
    check_same_dtype("updates", updates, "data", data)
    check_columns(indices, data.shape, "indices[{}]")
    transformer = by_tuples(data.shape, list(indices), lead)
    return Scattering(data, updates, transformer, reduction)


def _checked(name: str, reduction: str, data: NDArray[Any]) -> Reduction:
    check_choice(name, reduction, _REDUCTIONS)
    may = reduction == "update" or data.dtype != np.bool_
    check(may, f"data holds bool, which TVM does not reduce, and {name} is {reduction!r}")
    return _REDUCTIONS[reduction]


Numbers = NDArray[np.int64]


def slice_scatter(
    input_tensor: NDArray[Any], src: NDArray[Any], start: int, end: int, step: int, axis: int
) -> Scattering:
    """``topi.slice_scatter``: ``input_tensor[..., start:end:step, ...] = src`` on an axis.

    ``start`` and ``end`` do not count from the end of the axis, and may be outside of the axis. On
    the other axes, ``src`` has the extents of ``input_tensor``, or 1.

    >>> slice_scatter(np.zeros((1, 5)), np.array([[1.0, 2.0]]), 1, 5, 2, 1).run()
    array([[0., 1., 0., 2., 0.]])
    """
    axis = wrap("axis", axis, input_tensor.ndim)
    check(step, "step must not be 0")
    check_same_rank("src", src, "input_tensor", input_tensor)
    check_same_dtype("src", src, "input_tensor", input_tensor)
    size = input_tensor.shape[axis]
    i = np.arange(size)
    written = i[(i >= start) & (i < end) & ((i - start) % step == 0)]
    read = np.clip((written - start + step - 1) // step, 0, max(size - 1, 0))
    _check_read("src", src.shape, axis, read)
    transformer = by_axis(input_tensor.shape, written, axis)
    try:
        updates = np.broadcast_to(src.take(read, axis), transformer.shape)
    except ValueError:
        raise ValueError(f"src of shape {src.shape} does not fit {transformer.shape}") from None
    return Scattering(input_tensor, updates, transformer)


def strided_set(
    a: NDArray[Any],
    v: NDArray[Any],
    begin: NDArray[np.int32],
    end: NDArray[np.int32],
    strides: NDArray[np.int32] | None = None,
) -> Scattering:
    """``topi.strided_set``: ``a[begin:end:strides] = v``, axis by axis.

    ``begin``, ``end`` and ``strides`` are vectors of int32, with a number for each of the first
    axes. On the other axes, all coordinates are written. Numbers below 0 count from the end, once.
    ``v`` may be larger than the written region. As in TVM, strides below -1 are counted from
    ``end`` and not from ``begin``: 6:0:-2 writes 5, 3 and 1.

    >>> begin, end = np.array([1], np.int32), np.array([5], np.int32)
    >>> strided_set(np.zeros(6), np.array([1.0, 2.0]), begin, end, np.array([2], np.int32)).run()
    array([0., 1., 0., 2., 0., 0.])
    """
    check_dims(("a", a))
    for name, numbers in (("begin", begin), ("end", end), ("strides", strides)):
        if numbers is not None:
            check(numbers.ndim == 1, f"{name} must be a vector, not of rank {numbers.ndim}")
            check(numbers.dtype == np.int32, f"{name} must hold int32, not {numbers.dtype}")
    check(strides is None or strides.all(), "strides must not be 0")
    check_same_rank("v", v, "a", a)
    check_same_dtype("v", v, "a", a)
    chosen = []
    for axis, size in enumerate(a.shape):
        stride = 1 if strides is None or axis >= strides.size else int(strides[axis])
        first, last = (0, size + 1) if stride > 0 else (size, -size - 1)
        first = int(begin[axis]) if axis < begin.size else first
        last = int(end[axis]) if axis < end.size else last
        chosen.append(_strided(size, _from_end(first, size), _from_end(last, size), stride))
    shape = tuple(written.size for written, _ in chosen)
    if 0 in shape:
        chosen = [(written, read[:0]) for written, read in chosen]
    for axis, (_, read) in enumerate(chosen):
        _check_read("v", v.shape, axis, read)
    updates = np.empty(shape, v.dtype) if 0 in shape else v[np.ix_(*(r for _, r in chosen))]
    axes = np.ix_(*(written for written, _ in chosen))
    return Scattering(a, updates, by_axes(shape, a.shape, axes))


def _strided(size: int, begin: int, end: int, stride: int) -> tuple[Numbers, Numbers]:
    """Return the written coordinates of an axis, and the coordinates of v that are read."""
    i, step = np.arange(size), abs(stride)
    start = min(begin, size - 1) if begin > size else begin
    if stride > 0:
        inside, late, read = (i >= begin) & (i < end), (i - begin) % step, (i - start) // step
    else:
        inside, late = (i > end) & (i <= begin), (i - end + end % step + 1) % step
        read = (start - i) // step
    written = inside & (late == 0)
    return i[written], read[written]


def _from_end(number: int, size: int) -> int:
    return number + size if number < 0 else number


def _check_read(name: str, shape: tuple[int, ...], axis: int, read: Numbers) -> None:
    if read.size:
        at = int(read.max()) if read.max() >= shape[axis] else int(read.min())
        fault = f"{name} is read at {at} on axis {axis}, where its size is {shape[axis]}"
        check(0 <= at < shape[axis], fault)
