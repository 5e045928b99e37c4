"""Whether arrays suit a model's inputs: checked before it runs, so that the input can be named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError

_NAMES = {"float": "FLOAT", "double": "DOUBLE"}  # if ONNX Runtime and ONNX differ


@dataclass(frozen=True)
class Declared:
    """An input of a model as ONNX Runtime declares it."""

    name: str
    type: str
    shape: Sequence[int | str | None]


def validated_inputs(
    arrays: Mapping[str, np.ndarray],
    required: Sequence[Declared],
    overridable: Sequence[Declared] = (),
) -> dict[str, np.ndarray]:
    """Return arrays as inputs of a model, in native byte order.

    An array of plain bytes is taken for the model's type of that width, such as bfloat16, which a
    .npy file cannot name. Nothing is converted. Raises ScatterXError about an input that is missing
    or not the model's, and about a type or shape that is not the declared one.
    """
    declared = {d.name: d for d in (*required, *overridable)}
    for name in arrays:
        if name not in declared:
            there = ", ".join(d.name for d in required) or "none"
            raise ScatterXError(f"the model has no input {name!r}; it has {there}")
    missing = [f"{d.name} ({d.type} {d.shape})" for d in required if d.name not in arrays]
    if missing:
        raise ScatterXError(f"the model needs more inputs: {', '.join(missing)}")
    return {name: _validated(array, declared[name]) for name, array in arrays.items()}


def _validated(array: np.ndarray, declared: Declared) -> np.ndarray:
    array = np.asarray(array, order="C")
    kind = declared.type.removeprefix("tensor(").removesuffix(")")
    if f"tensor({kind})" != declared.type:
        raise ScatterXError(f"input {declared.name!r} is a {declared.type}, which no array is")
    wanted = ir.DataType[_NAMES.get(kind, kind.upper())]
    if wanted == ir.DataType.STRING:
        fits = array.dtype.kind in "OUT"
    else:
        dtype: np.dtype[Any] = np.dtype(wanted.numpy())
        if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
            array = array.view(dtype)
        elif not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        fits = array.dtype == dtype
    if not fits:
        raise ScatterXError(
            f"input {declared.name!r} is {array.dtype}, and the model takes {wanted.name.lower()}; "
            "convert it first"
        )
    # No dims mean a scalar or an undeclared rank: ONNX Runtime does not distinguish them.
    if declared.shape and not _is_of(array.shape, declared.shape):
        dims = ", ".join("?" if d is None else str(d) for d in declared.shape)
        raise ScatterXError(
            f"input {declared.name!r} has shape {list(array.shape)}, and the model takes [{dims}]"
        )
    return array


def _is_of(shape: Sequence[int], declared: Sequence[int | str | None]) -> bool:
    if len(shape) != len(declared):
        return False
    pairs = zip(shape, declared, strict=True)
    return all(not isinstance(d, int) or d < 0 or n == d for n, d in pairs)
