"""Mistakes in files: bytes that are changed, cut or moved, and fields of a model set to others."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import Message

ODD_NUMBERS = (
    0, 1, -1, 2, 3, -2, 7, 16, 64, 255, 1000, 1 << 16, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 32,
    1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63),
)  # fmt: skip
ODD_TEXTS = (
    "", "x", "\x1b[2J\n\u202e", "[bold]", "N*N*N*N*N*N*N*N*N*N*N", "N+" * 3000 + "N", "((((N",
    "N//0", "N % 0", "9" * 5000, "a" * 10_000, "N-1", "-N", "None", "..", "/", "ai.onnx", "add",
    "ScatterND", "Loop", "If", "NOTSET",
)  # fmt: skip
_SHARES = {
    "AttributeProto": 5,
    "NodeProto": 5,
    "TensorProto": 5,
    "Dimension": 3,
    "TensorShapeProto": 2,
}
_VARINT = b"\xff" * 9 + b"\x01"
_VALUES = {"input", "output"}  # the fields of names of values
_FIELDS_CHANGED = (1, 1, 1, 1, 2, 4)
_BYTES_CHANGED = (1, 1, 2, 4, 8)


def change_bytes(content: bytes, other: bytes, rng: Random) -> bytes:
    """Return a file with a few mistakes in its bytes; some come from another file."""
    found = bytearray(content)
    for _ in range(rng.choice(_BYTES_CHANGED)):
        rng.choice(_ON_BYTES)(found, other, rng)
    return bytes(found)


def change_text(content: bytes, other: bytes, rng: Random) -> bytes:
    """Return a text with a few mistakes in it, most often one that still is ASCII."""
    changed = change_bytes(content, other, rng)
    return changed if rng.random() < 0.2 else bytes(byte & 0x7F for byte in changed)


def _flip(found: bytearray, _: bytes, rng: Random) -> None:
    if found:
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)


def _set(found: bytearray, _: bytes, rng: Random) -> None:
    if found:
        found[rng.randrange(len(found))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _cut(found: bytearray, _: bytes, rng: Random) -> None:
    del found[rng.randrange(len(found) + 1) :]


def _remove(found: bytearray, _: bytes, rng: Random) -> None:
    start, size = _block(found, rng)
    del found[start : start + size]


def _repeat(found: bytearray, _: bytes, rng: Random) -> None:
    start, size = _block(found, rng)
    found[start:start] = bytes(found[start : start + size]) * rng.choice((1, 2, 30))


def _splice(found: bytearray, other: bytes, rng: Random) -> None:
    start, size = _block(other, rng)
    here, gone = _block(found, rng)
    found[here : here + rng.choice((0, gone))] = other[start : start + size]


def _join(found: bytearray, other: bytes, rng: Random) -> None:
    found[rng.randrange(len(found) + 1) :] = other[rng.randrange(len(other) + 1) :]


def _number(found: bytearray, _: bytes, rng: Random) -> None:
    """Write a number as protobuf does, or NumPy: perhaps in the place of a length."""
    here = rng.randrange(len(found) + 1)
    number = rng.choice(ODD_NUMBERS)
    written = rng.choice((_VARINT, b"\xff\xff\xff\xff\x0f", struct.pack("<q", number)))
    found[here : here + rng.choice((0, 1, len(written)))] = written


_ON_BYTES: tuple[Callable[[bytearray, bytes, Random], None], ...] = (
    _flip, _flip, _set, _cut, _remove, _repeat, _splice, _join, _number,
)  # fmt: skip


def _block(content: bytes | bytearray, rng: Random) -> tuple[int, int]:
    return rng.randrange(len(content) + 1), rng.choice((1, 2, 4, 16, 64, 512))


def change_fields(model: Message, other: Message, rng: Random) -> None:
    """Make a few mistakes in the fields of a model, which stays a message; some are another's."""
    for _ in range(rng.choice(_FIELDS_CHANGED)):
        messages = list(_messages(model))
        kinds = sorted({m.DESCRIPTOR.name for m in messages})
        (kind,) = rng.choices(kinds, [_SHARES.get(kind, 1) for kind in kinds])
        chosen = rng.choice([m for m in messages if m.DESCRIPTOR.name == kind])
        fields = [field for field, _ in chosen.ListFields() if field.name != "doc_string"]
        if not fields or rng.random() < 0.15:
            fields = list(chosen.DESCRIPTOR.fields)
        field = rng.choice(fields)
        pool = _Pool(messages, list(_messages(other)), rng)
        if field.is_repeated:
            _change_repeated(getattr(chosen, field.name), field, pool)
        elif field.message_type is None:
            _assign(chosen, field, pool)
        elif rng.random() < 0.4:
            chosen.ClearField(field.name)
        else:
            pool.copy_into(getattr(chosen, field.name))


class _Pool:
    """Values to take: numbers and texts that are odd, and others of the two models."""

    def __init__(self, mine: Sequence[Message], others: Sequence[Message], rng: Random) -> None:
        self.rng = rng
        self._messages = (mine, others)

    def copy_into(self, place: Message) -> None:
        mine, others = self._messages
        alike = [
            m
            for m in (*mine, *(others if self.rng.random() < 0.3 else ()))
            if m.DESCRIPTOR is place.DESCRIPTOR
        ]
        if alike:
            copy = type(place)()
            copy.CopyFrom(self.rng.choice(alike))
            place.CopyFrom(copy)

    def _bytes(self, length: int) -> bytes:
        """Return numbers that are odd, as many as before, or else anything."""
        rng = self.rng
        if rng.random() < 0.2:
            return rng.randbytes(rng.choice((0, 1, 3, 8, 64)))
        form = rng.choice(("<q", "<i"))
        few = [n for n in ODD_NUMBERS if form == "<q" or -(1 << 31) <= n < 1 << 31]
        content = b"".join(struct.pack(form, rng.choice(few)) for _ in range(min(length, 800) // 4))
        return (content + bytes(length))[:length]

    def value(self, field: Field, now: Any = b"") -> Any:
        rng = self.rng
        kind = field.cpp_type
        if kind == Field.CPPTYPE_STRING:
            if field.type == Field.TYPE_BYTES:
                return self._bytes(len(now))
            return rng.choice(ODD_TEXTS) if rng.random() < 0.15 else self._text(field)
        if kind in (Field.CPPTYPE_FLOAT, Field.CPPTYPE_DOUBLE):
            return rng.choice((0.0, -0.0, 1.0, -1.5, float("nan"), float("inf"), 1e30))
        if kind == Field.CPPTYPE_ENUM:
            return rng.choice([v.number for v in field.enum_type.values])
        bits = 31 if kind == Field.CPPTYPE_INT32 else 63
        numbers = [n for n in ODD_NUMBERS if -(1 << bits) <= n < 1 << bits]
        if kind in (Field.CPPTYPE_UINT32, Field.CPPTYPE_UINT64):
            numbers = [abs(n) % (1 << 32) for n in numbers]
        return rng.choice(numbers) if rng.random() < 0.6 else rng.randrange(30)

    def _text(self, field: Field) -> str:
        """Return a text that stands somewhere in the models, mostly in the same field."""
        mine, others = self._messages
        is_exchanged = self.rng.random() < 0.1
        names = _VALUES if field.name in _VALUES else {field.name}
        texts = [
            text
            for message in (*mine, *(others if field.name not in _VALUES else ()))
            for found, value in message.ListFields()
            if found.type == Field.TYPE_STRING and (is_exchanged or found.name in names)
            for text in ([value] if isinstance(value, str) else value)
        ]
        return self.rng.choice(texts or ODD_TEXTS)


def _assign(message: Message, field: Field, pool: _Pool) -> None:
    if pool.rng.random() < 0.15:
        message.ClearField(field.name)
    else:
        now = getattr(message, field.name)
        setattr(message, field.name, pool.value(field, now))


def _change_repeated(values: Any, field: Field, pool: _Pool) -> None:
    rng, count = pool.rng, len(values)
    what = rng.randrange(6)
    if what == 0 and count:
        del values[rng.randrange(count)]
    elif what == 1:
        del values[:]
    elif what == 2 and count > 1:
        del values[rng.randrange(1, count) :]
    elif field.message_type is not None:
        if what == 3 and count:
            pool.copy_into(values[rng.randrange(count)])
        else:
            pool.copy_into(values.add())
    elif what < 5 and count:
        values[rng.randrange(count)] = pool.value(field)
    else:
        values.extend([pool.value(field)] * rng.choice((1, 1, 2, 50)))


def _messages(message: Message) -> Iterator[Message]:
    """Yield a message and all that are in it."""
    stack = [message]
    while stack:
        here = stack.pop()
        yield here
        for field, value in here.ListFields():
            if field.message_type is not None:
                stack.extend(value if field.is_repeated else [value])
