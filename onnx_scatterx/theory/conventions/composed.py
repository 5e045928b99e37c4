"""Calls that are a scattering and one more step after it.

Questions about the transformer (verdict, collisions) are answered by the scattering inside.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.scattering import Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer


@dataclass(frozen=True, eq=False)
class Rounded:
    """A scattering computed in a wider type, whose output is rounded once at the end.

    >>> import ml_dtypes
    >>> T = XTransformer.from_provision(np.zeros((44, 1), int), (1,))
    >>> data, updates = np.full(1, 256, np.float32), np.ones(44, np.float32)
    >>> Rounded(Scattering(data, updates, T, "add"), np.dtype(ml_dtypes.bfloat16)).run()
    array([300], dtype=bfloat16)
    """

    scattering: Scattering
    dtype: np.dtype[Any]

    @property
    def transformer(self) -> XTransformer:
        return self.scattering.transformer

    def run(self) -> NDArray[Any]:
        """Compute the output, a new array."""
        with np.errstate(all="ignore"):
            return self.scattering.run().astype(self.dtype)


def rounded_once(
    data: NDArray[Any], updates: NDArray[Any], transformer: XTransformer, reduction: Reduction
) -> Scattering | Rounded:
    """Add and multiply the half types in float32; other cases are an ordinary scattering."""
    half = data.dtype.name in ("float16", "bfloat16")
    if not half or reduction not in (Reduction.ADD, Reduction.MUL):
        return Scattering(data, updates, transformer, reduction)
    wide = data.astype(np.float32), updates.astype(np.float32)
    return Rounded(Scattering(*wide, transformer, reduction), data.dtype)


@dataclass(frozen=True, eq=False)
class Mean:
    """A sum divided by a count; both have one transformer.

    Elements with the count 0 are divided by 1. Quotients of integers are rounded down.

    >>> T = XTransformer.from_provision(np.array([[1], [1]]), (3,))
    >>> total = Scattering(np.array([7, 0, 7]), np.array([2, 3]), T, "add")
    >>> count = Scattering(np.array([0, 0, 0]), np.array([1, 1]), T, "add")
    >>> Mean(total, count).run()
    array([7, 2, 7])
    """

    total: Scattering | Rounded
    count: Scattering | Rounded

    @property
    def transformer(self) -> XTransformer:
        return self.total.transformer

    def run(self) -> NDArray[Any]:
        """Compute the output, a new array."""
        total, count = self.total.run(), self.count.run()
        count[count == 0] = 1
        with np.errstate(all="ignore"):
            divide = np.floor_divide if total.dtype.kind in "iu" else np.divide
            return np.asarray(divide(total, count))


def without_self(data: NDArray[Any], transformer: XTransformer, start: Any) -> NDArray[Any]:
    """Return data in which each element with an update holds a start value instead.

    >>> T = XTransformer.from_provision(np.array([[1], [1]]), (3,))
    >>> without_self(np.array([7, 8, 9]), T, 0)
    array([7, 0, 9])
    """
    updates = np.full(transformer.shape, start, data.dtype)
    return Scattering(data, updates, transformer).run()
