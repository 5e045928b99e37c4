"""The texts of a message: UTF-8 everywhere, and equations that onnx can read."""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import onnx
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from onnx_scatterx.errors import ModelError
from onnx_scatterx.files.held_nodes import HeldNode

_TEXTS = (onnx.AttributeProto.UNDEFINED, onnx.AttributeProto.STRING)
_OPERAND = re.compile(r"[^.]*(\.\.\.[^.]*)?")
"""What an Einsum's equation says of an operand: at most one ellipsis, and no other dots."""
_SHOWN = 40  # characters of an equation in an error


def check_strings(proto: onnx.ModelProto, what: str) -> None:
    """Raise `ModelError` if a text in a message is not UTF-8: protobuf gives such a text as bytes.

    All fields of the message and its inner messages are checked.
    """
    waiting: dict[Descriptor, list[Message]] = {proto.DESCRIPTOR: [proto]}
    while waiting:
        kind, messages = waiting.popitem()
        for name, held, several in _texts_of(kind):
            texts = _values(map(held, messages), several)
            if bytes in {*map(type, texts)}:
                text = next(text for text in texts if isinstance(text, bytes))
                why = f"a text is not UTF-8: {kind.name}.{name} is {text!r}"
                raise ModelError(f"{what}: {why}")
        for name, held, several, inner in _messages_of(kind):
            below = messages if several else [m for m in messages if m.HasField(name)]
            if parts := _values(map(held, below), several):
                waiting.setdefault(inner, []).extend(parts)


def _values(held: Iterator[Any], several: bool) -> list[Any]:
    """Return the values of a field, or of all its lists.

    Lists that are empty or at their end raise an error in protobuf, which takes longer than a copy.
    """
    if not several:
        return [*held]
    return [*itertools.chain.from_iterable(values[:] for values in held if values)]


_Get: TypeAlias = Callable[[Message], Any]


@functools.cache
def _texts_of(kind: Descriptor) -> list[tuple[str, _Get, bool]]:
    """Return the texts of a kind of messages: the name, what gets it, and whether it is a list."""
    texts = [field for field in kind.fields if field.type == field.TYPE_STRING]
    return [(field.name, attrgetter(field.name), is_repeated(field)) for field in texts]


@functools.cache
def _messages_of(kind: Descriptor) -> list[tuple[str, _Get, bool, Descriptor]]:
    """Return the inner messages of a kind of messages in the same way, each with its kind."""
    return [
        (field.name, attrgetter(field.name), is_repeated(field), field.message_type)
        for field in kind.fields
        if field.message_type is not None
    ]


@functools.cache
def is_repeated(field: FieldDescriptor) -> bool:
    """Return whether a field of a message is a list."""
    return hasattr(getattr(field.containing_type._concrete_class(), field.name), "extend")


def check_texts(proto: onnx.ModelProto, nodes: Sequence[HeldNode], what: str) -> None:
    """Raise `ModelError` if a text attribute of a standard operator is not text, or no equation.

    Text attributes of other operators, and of a Constant, may hold any bytes. On an equation whose
    dots are no ellipsis, the shape inference of onnx does not end.
    """
    called = _called_equations(nodes)
    for attribute, holder, node in _texts(proto, nodes):
        is_call = node is not None and (
            node.domain not in ("", "ai.onnx") or node.op_type == "Constant"
        )
        try:
            text = attribute.s.decode()
        except UnicodeDecodeError as error:
            if is_call:
                continue
            raise ModelError(
                f"{what}: the attribute {attribute.name!r} of {holder} is not UTF-8 text"
            ) from error
        if is_call or node is None:
            is_equation = attribute.name in called
        else:
            is_equation = node.op_type == "Einsum" and attribute.name == "equation"
        if is_equation and not all(map(_OPERAND.fullmatch, re.split(",|->", text))):
            why = f"{holder} has the equation {text[:_SHOWN]!r}"
            raise ModelError(
                f"{what}: {why}, in which an operand has more than one ellipsis, or other dots"
            )


def _called_equations(nodes: Iterable[HeldNode]) -> set[str]:
    """Return the names of the attributes of functions to which equations of Einsums refer."""
    einsums = (held for held in nodes if held.node.op_type == "Einsum")
    return {a.ref_attr_name for held in einsums for a in held.attributes if a.ref_attr_name}


def _texts(
    proto: onnx.ModelProto, nodes: Iterable[HeldNode]
) -> Iterator[tuple[onnx.AttributeProto, str, onnx.NodeProto | None]]:
    """Yield the text attributes, who has each, and its node; None if it is of a function."""
    for function in proto.functions:
        for attribute in function.attribute_proto:
            if attribute.type in _TEXTS:
                yield attribute, function.name, None
    for held in nodes:
        for attribute in held.attributes:
            if attribute.type in _TEXTS:
                yield attribute, held.node.name or held.node.op_type, held.node
