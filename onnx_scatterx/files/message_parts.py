"""The bytes of a large message piece by piece: the numbers of each large tensor are one piece.

protobuf makes one object of all bytes. Here each field of a message with large tensors is written
by itself, in the order of the numbers of the fields, which is protobuf's own. So the pieces
together are the bytes of ``SerializeToString``, and they are never in memory together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import onnx
from google.protobuf.unknown_fields import UnknownFieldSet

from onnx_scatterx.files.data import tensor_bytes, tensors, tensors_of
from onnx_scatterx.files.mapped import LARGE, MOST_BYTES, varint

_BYTES = 2  # the wire type of a field with bytes
_OPENED = frozenset({"AttributeProto", "FunctionProto", "GraphProto", "NodeProto", "TensorProto"})


class _Numbers(NamedTuple):
    """The raw data of a tensor, and how many bytes these are."""

    tensor: onnx.TensorProto
    length: int


_Piece: TypeAlias = "bytes | _Numbers"


class _UnknownFieldsError(Exception):
    """A message has fields that onnx does not know; protobuf alone writes them."""


def message_parts(message: onnx.ModelProto) -> Iterator[bytes] | None:
    """Return the bytes of a message piece by piece; None if protobuf writes it as well at once.

    So it is without large tensors, with fields that onnx does not know or texts that are not UTF-8,
    and above protobuf's limit.

    >>> model = onnx.ModelProto(ir_version=8)
    >>> message_parts(model) is None
    True
    >>> _ = model.graph.initializer.add(name="w", raw_data=b"ab" * LARGE, dims=[2 * LARGE])
    >>> model.graph.initializer[0].data_type = onnx.TensorProto.UINT8
    >>> some = list(message_parts(model))
    >>> len(some) > 2, b"".join(some) == model.SerializeToString()
    (True, True)
    """
    if not any(map(_is_large, tensors(message))):
        return None
    try:
        parts = _opened(message)
    except (_UnknownFieldsError, UnicodeDecodeError):
        return None
    if sum(map(_length, parts)) > MOST_BYTES:
        return None
    return (part if isinstance(part, bytes) else part.tensor.raw_data for part in parts)


def _is_large(tensor: onnx.TensorProto) -> bool:
    return tensor.HasField("raw_data") and (tensor_bytes(tensor) or 0) >= LARGE


def _parts(message: Any) -> list[_Piece]:
    """Return the pieces of a message; a node or a tensor that is not large is one piece."""
    whole = (isinstance(message, onnx.TensorProto) and not _is_large(message)) or (
        isinstance(message, onnx.NodeProto) and not any(map(_is_large, tensors_of([message])))
    )
    return [message.SerializeToString()] if whole else _opened(message)


def _opened(message: Any) -> list[_Piece]:
    """Return the pieces of the fields of a message."""
    if len(UnknownFieldSet(message)):
        raise _UnknownFieldsError
    made: list[_Piece] = []
    for field, value in message.ListFields():
        tag, several = varint(field.number << 3 | _BYTES), hasattr(value, "extend")
        if field.message_type is not None and field.message_type.name in _OPENED:
            for part in value if several else [value]:
                below = _parts(part)
                made += [tag + varint(sum(map(_length, below))), *below]
        elif isinstance(message, onnx.TensorProto) and field.name == "raw_data":
            numbers = _Numbers(message, len(value))
            made += [tag + varint(numbers.length), numbers]
        else:
            alone = type(message)()
            if field.message_type is not None:
                there = getattr(alone, field.name)
                there.MergeFrom(value) if several else there.CopyFrom(value)
            elif several:
                getattr(alone, field.name).extend(value)
            else:
                setattr(alone, field.name, value)
            made.append(alone.SerializeToString())
    return made


def _length(piece: _Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else piece.length
