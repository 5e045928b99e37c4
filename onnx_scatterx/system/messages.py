"""The messages to a child process and back: a JSON header, then raw tensors.

    message = length of header (4 bytes) + header + the bytes of each tensor in the header's order

A tensor's bytes are those of ONNX's raw data: little endian, 4-bit and 2-bit types packed. Strings
travel in the header.
"""

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Any


@dataclass(frozen=True)
class RawTensor:
    """A tensor as bytes: its name, its `onnx.TensorProto` type number, its shape, its raw data."""

    name: str
    type: int
    shape: tuple[int, ...]
    data: bytes | memoryview = b""
    strings: tuple[str, ...] = ()


def send(stream: IO[bytes], header: dict[str, Any], tensors: Iterable[RawTensor] = ()) -> None:
    """Write one message."""
    tensors = list(tensors)
    header = header | {
        "tensors": [(t.name, t.type, t.shape, len(t.data), t.strings) for t in tensors]
    }
    text = json.dumps(header).encode()
    stream.write(struct.pack("<I", len(text)))
    stream.write(text)
    for tensor in tensors:
        stream.write(tensor.data)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], list[RawTensor]]:
    """Read one message; raise `EOFError` if the other side has ended."""
    (length,) = struct.unpack("<I", _read(stream, 4))
    header: dict[str, Any] = json.loads(_read(stream, length))
    tensors = [
        RawTensor(name, kind, tuple(shape), _read(stream, size), tuple(strings))
        for name, kind, shape, size, strings in header.pop("tensors")
    ]
    return header, tensors


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
