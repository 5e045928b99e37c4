"""Gatherings: the reads that are dual to scatterings.

    output[I] = data[T(I)]      for every index I of output

The transformer's ``shape`` is that of the output. No two elements of the output collide, so the
order does not matter, and any transformer is valid.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.transformer import XTransformer


@dataclass(frozen=True, eq=False)
class Gathering:
    """A read of elements of data, by a transformer.

    ``data`` has the transformer's ``data_shape``. If an element outside of it is read, this is a
    ``ValueError``.

    >>> T = XTransformer.from_provision(np.array([[3], [1], [3]]), (4,))
    >>> Gathering(np.array([0.0, 10.0, 20.0, 30.0]), T).run()
    array([30., 10., 30.])
    """

    data: NDArray[Any]
    transformer: XTransformer

    def __post_init__(self) -> None:
        data, expected = np.asarray(self.data), self.transformer.data_shape
        if data.shape != expected:
            raise ValueError(f"data has shape {data.shape}, the transformer asks {expected}")
        object.__setattr__(self, "data", data)
        self.transformer.check_bounds()

    def run(self) -> NDArray[Any]:
        """Compute the output, a new array of the transformer's ``shape``."""
        offsets = self.transformer.offsets()
        # By a vector: a single element would leave its array, and its type if it is an object.
        return self.data.reshape(-1)[offsets.reshape(-1)].reshape(offsets.shape)
