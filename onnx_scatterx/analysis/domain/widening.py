"""What a tensor holds, in terms that stay short: else its elements get a name of their own."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.analysis.domain.origins import DimOf, ElementOf
from onnx_scatterx.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.symbolic.prove import Facts
from onnx_scatterx.symbolic.simplify import simplify
from onnx_scatterx.symbolic.terms import Term, coord, element, size

_LONG_SIZE = 12  # monomials of a size
_LONG_CONTENT = 64  # monomials of an element


def has_negative_size(shape: Shape | None) -> bool:
    """Return whether a shape is one that no tensor has."""
    return any(d.constant is not None and d.constant < 0 for d in shape or ())


def widened(value: ir.Value, found: TensorValue, token: object, facts: Facts) -> TensorValue:
    """Give what is not followed, or has grown too long to follow, a name of its own."""
    shape = found.shape
    if shape is None:
        return found
    shape = tuple(simplify(d, facts) if d.piecewise else d for d in shape)
    if has_negative_size(shape):
        return TensorValue(found.dtype, None)  # no tensor has it: the node does not run
    shape = tuple(
        d if len(d.items) <= _LONG_SIZE else size(f"{value.name}.{i}", DimOf(token, value, i))
        for i, d in enumerate(shape)
    )
    content = found.content
    terms = [content] if isinstance(content, Term) else []
    if isinstance(content, np.ndarray) and content.dtype == object and found.is_integer:
        assert found.dtype is not None
        terms = [simplify(t, facts) for t in content.ravel()]
        simpler = np.empty(content.shape, dtype=object)
        simpler.ravel()[:] = terms
        content = TensorValue.explicit(simpler, found.dtype).content
    if any(len(t.items) > _LONG_CONTENT for t in terms):
        content = None
    if content is None and found.is_integer:
        assert found.dtype is not None
        low, high = _range(found.dtype)
        coords = [coord(d) for d in range(len(shape))]
        content = element(
            ElementOf(token, value), coords, name=value.name or "?", low=low, high=high
        )
    return TensorValue(found.dtype, shape, content)


def _range(dtype: ir.DataType) -> tuple[float, float]:
    if dtype == ir.DataType.BOOL:
        return 0, 1
    if dtype == ir.DataType.INT64 or dtype.bitwidth < 8:
        return float("-inf"), float("inf")
    return int(dtype.min), int(dtype.max)
