"""What a transformer takes: shapes, permutations and provision tensors, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.components import without_repeats
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.verdict import Index


def index_of(index: Any) -> Index:
    """Return an index as a tuple of Python's integers."""
    return tuple(int(i) for i in index)


def checked_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape, or raise ``ValueError`` if an extent is negative."""
    if any(extent < 0 for extent in shape):
        raise ValueError(f"the shape {tuple(shape)} has a negative extent")
    return index_of(shape)


def permutation(perm: Sequence[int], rank: int) -> Pick:
    """Return a permutation of axes as a pick, or raise ``ValueError``."""
    pick = Pick(perm)
    if len(pick) != rank or not pick.is_shuffle:
        raise ValueError(f"a permutation of {rank} axes is needed, not {tuple(perm)}")
    return pick


def own_provision(f: Any) -> NDArray[np.int64]:
    """Return a read-only copy of a provision tensor, or raise ``ValueError``."""
    array = np.asarray(f)
    if array.size == 0:
        array = array.astype(np.int64)
    if not np.can_cast(array.dtype, np.int64) or array.dtype == np.bool_:
        raise ValueError(f"f must hold integers that int64 can hold, not {array.dtype}")
    return np.broadcast_to(np.array(without_repeats(array), np.int64), array.shape)  # read-only
