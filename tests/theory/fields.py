"""The fields of a transformer, which tests compare."""

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.transformer import XTransformer

Index = tuple[int, ...]
Integers = NDArray[np.int64]


def fields(t: XTransformer) -> tuple[object, ...]:
    return t.shape, t.data_shape, t.f.shape, t.f.tolist(), t.p1, t.p2, t.p
