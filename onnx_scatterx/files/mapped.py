"""Reads a large message from a map of its file, so that its bytes are not in memory twice.

Come here for a message in a file, or for whether a file has a message that is in memory: then the
numbers of large tensors are compared with those in the map. Not for other formats (``parse``).

protobuf parses bytes in memory, and copies them. So the file is mapped, and the numbers of large
tensors are cut out. The rest is parsed, and then each tensor gets its numbers from the map:

    file     [ir version] [graph [nodes] [initializer [name] [raw data: 64 MB]] ...]
    parsed   [ir version] [graph [nodes] [initializer [name]] ...]

The lengths of the messages around a cut are written anew. A field of another kind, or bytes that
are not a message, are left to protobuf: then the whole is parsed (``whole``).
"""

from __future__ import annotations

import contextlib
import mmap
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import onnx
from google.protobuf.descriptor import Descriptor

from onnx_scatterx.files.raw_lengths import RawLengths
from onnx_scatterx.files.texts import is_repeated

MOST_BYTES = (1 << 31) - 1
"""The most bytes of a message that protobuf reads and writes."""

LARGE = 1 << 20  # bytes of raw data that are cut out
_OPENED = frozenset(
    {
        *("AttributeProto", "FunctionProto", "GraphProto"),
        *("ModelProto", "NodeProto", "TensorProto"),
    }
)
"""The messages in which large tensors are looked for."""

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # wire types of a fixed length
_DEPTH = 100  # levels of messages: protobuf reads no more

Path: TypeAlias = "tuple[tuple[str, int | None], ...]"
"""The fields that lead to a tensor, each with its index in a list; None for a field without one."""


class _UnclearError(ValueError):
    """The bytes are not a message in which a large tensor can be cut out."""


class Read(NamedTuple):
    """A message that was read, and the lengths of its raw data."""

    message: onnx.ModelProto
    lengths: RawLengths


class InFile:
    """A message in a file, whose large tensors may have their numbers in the file alone.

    ``rest`` is the message without these numbers, and ``large`` are the paths of the tensors.
    """

    def __init__(
        self,
        rest: onnx.ModelProto,
        content: mmap.mmap | bytes = b"",
        cuts: dict[Path, tuple[int, int]] | None = None,
    ) -> None:
        self.rest = rest
        self.large = frozenset(map(_named, cuts or {}))
        self._content = content
        self._cuts = cuts or {}

    def read(self) -> Read:
        """Return the whole message.

        The largest tensor is read first: while one is set, its numbers are in memory twice.
        """
        known = []
        for path, (start, end) in sorted(self._cuts.items(), key=lambda cut: cut[1][0] - cut[1][1]):
            tensor = _at(self.rest, path)
            tensor.raw_data = self._content[start:end]
            known.append((tensor, end - start))
        return Read(self.rest, RawLengths(known))

    def other_numbers(self, meant: onnx.ModelProto) -> str | None:
        """Return the path of a large tensor that has other numbers in a message; None without."""
        for path, (start, end) in self._cuts.items():
            try:
                numbers = _at(meant, path).raw_data
            except IndexError:  # there are fewer messages in a list
                return _named(path)
            if end - start != len(numbers) or any(
                self._content[at : min(at + LARGE, end)] != numbers[at - start : at - start + LARGE]
                for at in range(start, end, LARGE)
            ):
                return _named(path)
        return None


def _at(message: Any, path: Path) -> Any:
    """Return the message at a path."""
    for name, index in path:
        part = getattr(message, name)
        message = part if index is None else part[index]
    return message


def _named(path: Path) -> str:
    """Return a path as people write it.

    >>> _named((("graph", None), ("initializer", 3)))
    'graph.initializer[3]'
    """
    return ".".join(name if index is None else f"{name}[{index}]" for name, index in path)


@contextlib.contextmanager
def mapped(stream: BinaryIO, whole: Callable[[bytes], onnx.ModelProto]) -> Iterator[InFile]:
    """Yield the binary message in a file that is not empty; ``whole`` parses all of some bytes.

    >>> import tempfile
    >>> model = onnx.ModelProto(ir_version=8)
    >>> _ = model.graph.initializer.add(name="w", raw_data=b"ab" * LARGE)
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(model.SerializeToString())
    ...     file.flush()
    ...     with mapped(file, onnx.load_model_from_string) as found:
    ...         found.read().message == model
    True
    """
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            scan = _Scan(content)
        except _UnclearError:
            found = InFile(whole(content[:]))
        else:
            found = InFile(whole(scan.rest), content, scan.cuts)
            scan.rest = b""
        yield found


class _Scan:
    """The bytes of a message without the raw data of large tensors, and where these are."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._seen: Counter[tuple[Path, str]] = Counter()
        self.cuts: dict[Path, tuple[int, int]] = {}
        self.rest = b"".join(self._without(0, len(content), onnx.ModelProto.DESCRIPTOR, ()))

    def _without(self, start: int, end: int, kind: Descriptor, path: Path) -> list[bytes]:
        """Return the bytes of a message without the numbers that are cut out."""
        if len(path) > _DEPTH:
            raise _UnclearError
        parts, kept = [], start  # what is before ``kept`` is in the parts
        for number, begun, low, high in self._fields(start, end):
            field = kind.fields_by_number.get(number)
            if field is None or low is None:
                continue
            here = (path, field.name)
            index, self._seen[here] = self._seen[here], self._seen[here] + 1
            if field.name == "raw_data" and kind.name == "TensorProto":
                if index:
                    raise _UnclearError  # the last numbers count
                if high - low >= LARGE:
                    parts.append(self._content[kept:begun])
                    kept, self.cuts[path] = high, (low, high)
                continue
            inner = field.message_type
            if inner is None or inner.name not in _OPENED or high - low < LARGE:
                continue
            # Two occurrences of a field that is no list are one message.
            step = field.name, index if is_repeated(field) else None
            below = self._without(low, high, inner, (*path, step))
            tag = varint(number << 3 | _BYTES)
            parts += [self._content[kept:begun], tag, varint(sum(map(len, below))), *below]
            kept = high
        return [*parts, self._content[kept:end]]

    def _fields(self, start: int, end: int) -> Iterator[tuple[int, int, int | None, int]]:
        """Yield number, begin, begin of the bytes and end of each field; None if it has no bytes.

        ``end`` is the end of the message.
        """
        at = start
        while at < end:
            begun = at
            tag, at = self._number(at, end)
            number, wire = tag >> 3, tag & 7
            low = None
            if wire == _VARINT:
                _, at = self._number(at, end)
            elif wire == _BYTES:
                length, low = self._number(at, end)
                at = low + length
            elif wire in _FIXED:
                at += _FIXED[wire]
            else:
                raise _UnclearError
            if at > end or not number:
                raise _UnclearError
            yield number, begun, low, at

    def _number(self, at: int, end: int) -> tuple[int, int]:
        """Return a number of up to 64 bits, seven in each byte, and the end of its bytes."""
        number = 0
        for shift in range(0, 70, 7):
            if at >= end:
                raise _UnclearError
            byte = self._content[at]
            at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number, at
        raise _UnclearError


def varint(number: int) -> bytes:
    r"""Return a number as protobuf writes it.

    >>> varint(300)
    b'\xac\x02'
    """
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])
