"""Transfer functions of scatters: small tensors of integers, written at known places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue

Index: TypeAlias = tuple[int, ...]


def scatter_elements(call: Call) -> Result:
    def places(indices: np.ndarray, rank: int) -> Iterator[tuple[Index, Index]]:
        axis = call.integer("axis", 0) % max(rank, 1)
        for index in np.ndindex(indices.shape):
            yield index, (*index[:axis], int(indices[index]), *index[axis + 1 :])

    return _written(call, places)


def scatter_nd(call: Call) -> Result:
    def places(indices: np.ndarray, rank: int) -> Iterator[tuple[Index, Index]]:
        for index in np.ndindex(indices.shape[:-1]):
            yield index, tuple(int(i) for i in indices[index])

    return _written(call, places)


def _written(
    call: Call, places: Callable[[np.ndarray, int], Iterator[tuple[Index, Index]]]
) -> Result:
    """Return data with updates written; ``places`` gives the source and the target of each."""
    data, indices, updates = call.inputs
    if data is None or indices is None or updates is None:
        return None
    unknown = [TensorValue(data.dtype, data.shape)]
    known, values, into = indices.constant, updates.element_exprs, data.element_exprs
    if into is None or values is None or known is None or data.dtype is None or data.shape is None:
        return unknown
    if call.string("reduction", "none") != "none":
        return unknown
    result = into.copy()
    for index, place in places(known, into.ndim):
        try:
            result[place] = values[index]
        except IndexError:
            return unknown
    return [TensorValue.explicit(result, data.dtype)]
