"""Constants: their type, shape and bytes; elements only if they are few."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_scatterx.judges.equivalence.core.terms import UnsupportedError

_LOADED = 1 << 20  # bytes of external data; of more, only the digest is known


@dataclass(frozen=True)
class Contents:
    """A constant: its type, its shape, the digest of its bytes; its elements if they are read."""

    dtype: str
    shape: tuple[int, ...]
    digest: bytes
    array: np.ndarray | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, array: np.ndarray, dtype: str) -> Contents:
        """Return the contents of an array."""
        return cls(dtype, array.shape, hashlib.sha256(bytes_of(array)).digest(), array)


def bytes_of(array: np.ndarray) -> bytes:
    """Return what two arrays of one type have in common if they are the same."""
    if array.dtype == object:
        return repr(array.ravel().tolist()).encode()
    return np.ascontiguousarray(array).tobytes()


def dtype_name(element: int) -> str:
    """Return the name of an element type."""
    if element == onnx.TensorProto.STRING:
        return "string"
    try:
        return str(onnx.helper.tensor_dtype_to_np_dtype(element).name)
    except KeyError as error:
        raise UnsupportedError(f"the element type {element}") from error


def contents(proto: onnx.TensorProto, beside: Path | None = None) -> Contents:
    """Return a constant. Of external data that are large, only the digest is read."""
    dtype, shape = dtype_name(proto.data_type), tuple(proto.dims)
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        digest, raw = _external(proto, beside)
        if raw is None:
            return Contents(dtype, shape, digest)
        proto = onnx.TensorProto(
            name=proto.name, data_type=proto.data_type, dims=shape, raw_data=raw
        )
    try:
        return Contents.of(np.asarray(numpy_helper.to_array(proto)), dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise UnsupportedError(f"the tensor {proto.name!r} cannot be read") from error


def _external(proto: onnx.TensorProto, beside: Path | None) -> tuple[bytes, bytes | None]:
    """Return the digest of bytes in a file beside the model, and the bytes if they are few."""
    said = {e.key: e.value for e in proto.external_data}
    location = Path(said.get("location", ""))
    what = f"the external data of {proto.name!r}"
    if beside is None or location.is_absolute() or ".." in location.parts:
        raise UnsupportedError(f"{what}, which are not beside the model")
    path = beside / location
    if not path.is_file():
        raise UnsupportedError(f"{what}: the file {location} is missing")
    try:
        offset = int(said.get("offset", 0))
        length = int(said.get("length", path.stat().st_size - offset))
    except ValueError as error:
        raise UnsupportedError(f"{what}: where they lie is not a number") from error
    if offset < 0 or length < 0 or offset + length > path.stat().st_size:
        raise UnsupportedError(f"{what}: the file is too short")
    with path.open("rb") as file:
        file.seek(offset)
        if length <= _LOADED:
            return b"", file.read(length)
        made = hashlib.sha256()
        while length and (part := file.read(min(length, _LOADED))):
            made.update(part)
            length -= len(part)
    return made.digest(), None
