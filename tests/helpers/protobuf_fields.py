"""The fields of a protobuf message and of all in it: which are absent, and how one is set."""

from collections.abc import Iterator
from typing import Any

import onnx
import onnx.parser

_UNKNOWN = b"\xfa\x3f\x03abc"  # field 1023: three letters

Path_ = tuple[str | int, ...]


def messages(message: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the paths of a message and of all in it."""
    yield path
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        parts = enumerate(value) if hasattr(value, "extend") else [(None, value)]
        for i, part in parts:
            yield from messages(part, (*path, field.name, *([] if i is None else [i])))


def at(message: Any, path: Path_) -> Any:
    """Return the message at a path."""
    for step in path:
        message = message[step] if isinstance(step, int) else getattr(message, step)
    return message


def absent(kept: onnx.ModelProto) -> list[tuple[Path_, str]]:
    """Return the paths of all messages, each with the name of a field that it lacks."""
    found: list[tuple[Path_, str]] = []
    for path in messages(kept):
        if getattr(at(kept, path[:3]), "name", None) == "scatter":
            continue  # it is removed, and all that is in it
        there = {field.name for field, _ in at(kept, path).ListFields()}
        fields = at(kept, path).DESCRIPTOR.fields
        found += [(path, field.name) for field in fields if field.name not in there]
        found.append((path, "unknown"))
    return found


def set_field(message: Any, name: str) -> None:
    """Set a field to something else than its default."""
    if name == "unknown":
        message.MergeFromString(_UNKNOWN)
        return
    field = message.DESCRIPTOR.fields_by_name[name]
    value = getattr(message, name)
    is_list = hasattr(value, "extend")
    if field.message_type is not None:
        part = value.add() if is_list else value
        part.SetInParent()
        for inner in part.DESCRIPTOR.fields:
            is_plain = not hasattr(getattr(part, inner.name), "extend")
            if is_plain and inner.message_type is None and inner.containing_oneof is None:
                set_field(part, inner.name)
        return
    given: Any = {
        field.CPPTYPE_STRING: "text" if field.type == field.TYPE_STRING else b"text",
        field.CPPTYPE_FLOAT: 1.5,
        field.CPPTYPE_DOUBLE: 1.5,
        field.CPPTYPE_BOOL: True,
    }.get(field.cpp_type, 1)
    if is_list:
        value.append(given)
    else:
        setattr(message, name, given)
