"""Large integer arrays, looked at in blocks that fit into a processor's cache.

An exporter or a simplifier may store the indices of a whole image: a table of a gigabyte that is a
grid. Each question here reads the array at most once, stops at the first block that decides, and
copies one block at a time, so views of a table may be given.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator

import numpy as np

_BLOCK = 1 << 17
"""Elements of a block: 1 MB of int64."""

Index = tuple[slice, ...]


def blocks(shape: tuple[int, ...]) -> Iterator[Index]:
    """Yield slices that cut an array of this shape into blocks, in the order of its elements.

    >>> [tuple((s.start, s.stop) for s in index) for index in blocks((2, 100_000))]
    [((0, 1), (0, 100000)), ((1, 2), (0, 100000))]
    """
    if math.prod(shape) <= _BLOCK:
        yield tuple([slice(0, n) for n in shape])
        return
    extents = list(shape)
    inner = 1
    for d in reversed(range(len(shape))):
        extents[d] = min(shape[d], max(_BLOCK // inner, 1))
        inner *= extents[d]
    starts = (range(0, n, extent) for n, extent in zip(shape, extents, strict=True))
    for start in itertools.product(*starts):
        yield tuple(
            slice(s, min(s + extent, n)) for s, extent, n in zip(start, extents, shape, strict=True)
        )


def line_of(array: np.ndarray) -> tuple[int, list[int]] | None:
    """Return the first element and the steps along each dim, if ``first + sum of steps * x``.

    The array has an element, and its elements fit into int64.

    >>> line_of(np.array([[0, 3], [1, 4], [2, 5]])), line_of(np.array([0, 1, 3]))
    ((0, [1, 3]), None)
    """
    origin = (0,) * array.ndim
    first = int(array[origin])
    steps = [
        int(array[(*origin[:d], 1, *origin[d + 1 :])]) - first if extent > 1 else 0
        for d, extent in enumerate(array.shape)
    ]
    reach = [s * (n - 1) for s, n in zip(steps, array.shape, strict=True)]
    if abs(first) + sum(map(abs, reach)) >= 1 << 63:
        return None  # the sums below would wrap
    if int(array[(-1,) * array.ndim]) != first + sum(reach):
        return None
    if array.size <= 2:
        return first, steps  # it has no others
    whole: np.ndarray | None = None  # the line over the first block, which is the largest
    for index in blocks(array.shape):
        block = array[index].astype(np.int64, copy=False)
        if whole is None:
            whole = np.zeros((1,) * array.ndim, np.int64)
            for d, stride in enumerate(steps):
                line = stride * np.arange(block.shape[d])
                whole = whole + line.reshape([-1 if e == d else 1 for e in range(array.ndim)])
        offset = first + sum(s * part.start for s, part in zip(steps, index, strict=True))
        line = whole[tuple([slice(n) for n in block.shape])]
        if not (block == line + offset).all():
            return None
    return first, steps


def varies(array: np.ndarray, d: int) -> bool:
    """Return whether an array with an element has two that differ along a dim.

    >>> array = np.array([[0, 3], [0, 3]])
    >>> varies(array, 0), varies(array, 1)
    (False, True)
    """
    if array.shape[d] == 1:
        return False
    origin = (0,) * array.ndim
    if array[origin] != array[(*origin[:d], 1, *origin[d + 1 :])]:
        return True
    for index in blocks(array.shape):
        if not (array[index] == array[(*index[:d], slice(1), *index[d + 1 :])]).all():
            return True
    return False


def digest(array: np.ndarray) -> bytes:
    """Return a digest of an array's shape and elements, as int64; it does not depend on strides.

    >>> a = np.arange(6).reshape(2, 3)
    >>> digest(a) == digest(a.T.copy().T.astype(np.int32)), digest(a) == digest(a.reshape(3, 2))
    (True, False)
    """
    hasher = hashlib.blake2b(f"{array.shape}".encode(), digest_size=16)
    for index in blocks(array.shape):
        hasher.update(np.ascontiguousarray(array[index], np.int64).data)
    return hasher.digest()
