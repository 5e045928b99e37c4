"""Models read and written piece by piece, so that weights are not in memory twice.

A message is the concatenation of its fields, and parsing its parts one after another is parsing the
whole. So a graph is read in runs of whole fields, and written field by field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import google.protobuf.message
import onnx
from google.protobuf.unknown_fields import UnknownFieldSet

from onnx_scatterx.ir.size import file_size

PIECE = 1 << 23  # bytes that are read at once, unless a single field is larger
_GRAPH = onnx.ModelProto.GRAPH_FIELD_NUMBER
_HEAD = 20  # bytes: two numbers of variable length
_VARINT, _EIGHT, _SIZED, _FOUR = 0, 1, 2, 5  # kinds of fields
_MOST_BYTES = (1 << 31) - 1  # protobuf writes no larger message


class _OddError(ValueError):
    """The bytes are not a field, or a field of a kind that ONNX does not use."""


def read_in_pieces(stream: BinaryIO, size: int, piece: int = PIECE) -> onnx.ModelProto | None:
    """Return the model of a file of ``size`` bytes, or None if the parser must read the whole.

    The parser gives the best error messages.

    >>> import io
    >>> model = onnx.ModelProto(ir_version=8, graph=onnx.GraphProto(name="g"))
    >>> content = model.SerializeToString()
    >>> read_in_pieces(io.BytesIO(content), len(content), 1) == model
    True
    >>> read_in_pieces(io.BytesIO(content[:-1]), len(content) - 1, 1) is None
    True
    """
    model = onnx.ModelProto()
    try:
        for number, kind, start, content, end in _fields(stream, 0, size):
            if number == _GRAPH and kind == _SIZED:
                model.graph.SetInParent()
                for run in _runs(stream, content, end, piece):
                    model.graph.MergeFromString(run)
            else:
                model.MergeFromString(_part(stream, start, end))
    except (_OddError, google.protobuf.message.DecodeError):
        return None
    return model


def write_in_pieces(model: onnx.ModelProto, stream: BinaryIO) -> None:
    """Write the bytes that ``SerializeToString`` returns.

    Raises ``EncodeError``: these are more than 2 GB.

    >>> import io
    >>> model = onnx.ModelProto(ir_version=8, graph=onnx.GraphProto(name="g"))
    >>> stream = io.BytesIO()
    >>> write_in_pieces(model, stream)
    >>> stream.getvalue() == model.SerializeToString()
    True
    """
    unknown = len(UnknownFieldSet(model)) or len(UnknownFieldSet(model.graph))
    if unknown or file_size(model) > _MOST_BYTES:
        stream.write(model.SerializeToString())
        return
    for part in _parts(model):
        stream.write(part)


def _parts(message: Any) -> Iterator[bytes]:
    """Yield the fields of a model or of its graph, in the order of their numbers."""
    for field, value in message.ListFields():
        if field.message_type is None:
            alone = type(message)()
            setattr(alone, field.name, value)
            yield alone.SerializeToString()
            continue
        for part in value if hasattr(value, "__len__") else [value]:
            yield _varint(field.number << 3 | _SIZED)
            if isinstance(part, onnx.GraphProto):
                yield _varint(file_size(part))
                yield from _parts(part)
            else:
                content = part.SerializeToString()
                yield _varint(len(content))
                yield content


def _runs(stream: BinaryIO, start: int, end: int, piece: int) -> Iterator[bytes]:
    """Yield the bytes of a message, cut between fields if there are enough."""
    first = start
    for _, _, at, _, stop in _fields(stream, start, end):
        if stop - first > piece and at > first:
            yield _part(stream, first, at)
            first = at
    yield _part(stream, first, end)


def _fields(stream: BinaryIO, start: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield number, kind, begin, begin of the content, and end of each field of a message."""
    at = start
    while at < end:
        head = _part(stream, at, min(at + _HEAD, end))
        key, n = _number(head, 0)
        kind = key & 7
        if kind == _SIZED:
            length, n = _number(head, n)
            stop = at + n + length
        elif kind == _VARINT:
            stop = at + _number(head, n)[1]
        elif kind in (_EIGHT, _FOUR):
            stop = at + n + (8 if kind == _EIGHT else 4)
        else:
            raise _OddError(kind)
        if stop > end:
            raise _OddError(stop)
        yield key >> 3, kind, at, at + n, stop
        at = stop


def _part(stream: BinaryIO, start: int, end: int) -> bytes:
    stream.seek(start)
    found = stream.read(end - start)
    if len(found) != end - start:
        raise _OddError(end)
    return found


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and the position of its end."""
    number = shift = 0
    for i in range(at, len(content)):
        byte = content[i]
        number |= (byte & 127) << shift
        if byte < 128:
            return number, i + 1
        shift += 7
    raise _OddError(at)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes((*found, number))
