"""One function of numbers and of terms, on tensors that are broadcast against each other."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.broadcast_shapes import (
    broadcast_coords,
    broadcast_shapes,
)
from onnx_scatterx.optimizer.analysis.domain.call import Result
from onnx_scatterx.optimizer.analysis.domain.overflow import fits
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.prices import PRICES
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term


def combine(
    inputs: list[TensorValue],
    dtype: ir.DataType | None,
    numeric: Callable[..., object],
    symbolic: Callable[..., object] | None,
    facts: Facts,
    *,
    selects: bool = False,
) -> Result:
    """Return the elementwise result of tensors that are broadcast against each other.

    If ``selects``, the result is one of the inputs' elements, so it has their type's range.
    """
    if any(i.shape is None for i in inputs):
        return None
    shape = broadcast_shapes([i.shape for i in inputs if i.shape is not None])
    if dtype is None:
        return [TensorValue(None, shape)]
    arrays = [i.constant for i in inputs]
    # Some runtimes compute half types in wider types: the rounding is not known.
    if all(a is not None and (a.dtype.kind in "iub" or a.dtype.char in "fd") for a in arrays):
        total = math.prod(np.broadcast_shapes(*(a.shape for a in arrays if a is not None)))
        if total <= LIMITS.folded:
            budget().work(PRICES.of_array(total))
            with np.errstate(all="ignore"):
                try:
                    result = np.asarray(numeric(*arrays))
                except ZeroDivisionError:
                    return [TensorValue(dtype, shape)]
            return [TensorValue(dtype, shape, result.astype(dtype.numpy(), copy=False))]
    if symbolic is None or not all(i.is_integer for i in inputs):
        return [TensorValue(dtype, shape)]
    content: np.ndarray | Term | None = _of_elements(inputs, shape, symbolic)
    if content is None:
        content = _of_formulas(inputs, shape, symbolic, facts)
    if content is None:
        return [TensorValue(dtype, shape)]
    elements = content.ravel() if isinstance(content, np.ndarray) else [content]
    if any(t is None or not (selects or fits(t, dtype, facts)) for t in elements):
        return [TensorValue(dtype, shape)]
    if isinstance(content, np.ndarray):
        return [TensorValue.explicit(content, dtype)]
    return [TensorValue(dtype, shape, content)]


def _of_elements(
    inputs: list[TensorValue], shape: Shape, symbolic: Callable[..., object]
) -> np.ndarray | None:
    arrays = [i.element_exprs for i in inputs]
    if len(shape) > 1 or any(a is None for a in arrays):
        return None
    dims = [d.constant for d in shape if d.constant is not None]
    if len(dims) < len(shape):
        return None
    result = np.empty(dims, dtype=object)
    spread = [
        (a if a.size == result.size else np.broadcast_to(a, dims)).ravel()
        for a in arrays
        if a is not None
    ]
    result.ravel()[:] = list(map(symbolic, *spread))
    return result


def _of_formulas(
    inputs: list[TensorValue], shape: Shape, symbolic: Callable[..., object], facts: Facts
) -> Term | None:
    formulas: list[Term] = []
    for i in inputs:
        if i.index_map is None or i.shape is None:
            return None
        formulas.append(i.index_map.at(broadcast_coords(i.shape, shape, facts)))
    result = symbolic(*formulas)
    assert result is None or isinstance(result, Term)
    return result
