"""Parses models in any format, and checks that a written file is read as it was meant.

Protobuf nests at most a hundred messages. The text parsers are recursive. If the recursion is too
deep, onnx's parser ends the whole process, so the depth is checked first.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import google.protobuf.json_format
import google.protobuf.message
import google.protobuf.text_format
import numpy as np
import onnx
import onnx_ir as ir
from google.protobuf.unknown_fields import UnknownFieldSet

from onnx_scatterx.errors import ModelError, about_file, one_line
from onnx_scatterx.files.data import DATA_FIELDS, check_tensors, tensors
from onnx_scatterx.files.mapped import MOST_BYTES, InFile, Read, mapped
from onnx_scatterx.files.reading import open_sized, read_sized

MOST_LEVELS = 100

_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
_OTHER_STRING = _STRING.replace('"', "'")
_COMMENT = r"#[^\n]*"
TEXTS = {
    "json": (_STRING,),
    "onnxtxt": (_STRING, _COMMENT),
    "textproto": (_STRING, _OTHER_STRING, _COMMENT),
}
"""The text formats, by onnx's names, each with a pattern of strings and comments."""

_OPENING, _CLOSING = "([{<", ")]}>"
_MESSAGES = {"json": "{}", "onnxtxt": _OPENING + _CLOSING, "textproto": "{}<>"}


def is_too_deep(text: str, form: str) -> bool:
    r"""Return whether brackets outside of strings and comments are nested too deeply.

    >>> is_too_deep("{" * 101, "json"), is_too_deep('"' + "{" * 101, "json")
    (True, False)
    >>> is_too_deep("# '\n" + "<" * 101, "onnxtxt")
    True
    """
    level = 0
    brackets = f"[{re.escape(_MESSAGES[form])}]"
    for match in re.finditer("|".join((*TEXTS[form], brackets)), text, re.DOTALL):
        level += (match[0] in _OPENING) - (match[0] in _CLOSING)
        if level > MOST_LEVELS:
            return True
        level = max(level, 0)
    return False


_UNREADABLE = (
    google.protobuf.message.DecodeError,
    google.protobuf.json_format.ParseError,
    google.protobuf.text_format.ParseError,
    onnx.parser.ParseError,
    UnicodeDecodeError,
)


def form_of(path: Path) -> str:
    """Return the format of a file by its extension, as onnx names it; by default binary.

    >>> form_of(Path("m.onnx")), form_of(Path("m.onnxtxt")), form_of(Path("m.json"))
    ('protobuf', 'onnxtxt', 'json')
    """
    form = onnx.serialization.registry.get_format_from_file_extension(path.suffix)
    return form or "protobuf"


def parsed(content: bytes, what: str, form: str | None = None) -> onnx.ModelProto:
    """Return the message in some bytes, unchecked.

    Without a ``form``, the format is recognised by the first bytes. Raises `ModelError`, which
    names ``what``, if the bytes are empty, too many, or not an ONNX model.

    >>> text = b'<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y) { y = Neg(x) }'
    >>> parsed(text, "stdin").graph.node[0].op_type
    'Neg'
    """
    if not content:
        raise ModelError(f"{what}: the file is empty")
    if len(content) > MOST_BYTES:
        raise ModelError(f"{what}: has more than {MOST_BYTES} bytes")
    if form is None:  # no binary message begins like a text
        form = {b"<": "onnxtxt", b"{": "json"}.get(content.lstrip()[:1], "protobuf")
    try:
        if form in TEXTS and is_too_deep(content.decode(), form):
            raise ModelError(
                f"{what}: is nested too deeply; at most {MOST_LEVELS} levels are allowed"
            )
        if form == "onnxtxt":
            # As `onnx.load`, but without its warning that this syntax is experimental: filters of
            # warnings belong to the process, and cannot be set for one thread.
            return onnx.parser.parse_model(content.decode())
        return onnx.load_model_from_string(content, form)
    except _UNREADABLE as error:
        raise ModelError(f"{what}: {_what_it_is(content, error)}") from error


_POINTER = b"version https://git-lfs.github.com/spec/"


def _what_it_is(content: bytes, error: Exception) -> str:
    """Return why a file could not be parsed. If it is a file of another kind, say which."""
    if content.startswith(_POINTER):
        return "is a pointer of Git LFS and no model; 'git lfs pull' brings the model"
    if content.startswith(b"PK\x03\x04"):
        return "is a zip file, as checkpoints of PyTorch are; torch.onnx.export writes ONNX models"
    message = error.args[0] if isinstance(error, onnx.parser.ParseError) else error
    if isinstance(message, bytes):
        message = message.decode(errors="replace")
    return f"not an ONNX model, or a truncated one: {one_line(message)}"


_MAPPED = 1 << 24  # bytes: a larger file is read from a map


def parsed_file(path: Path, what: str, form: str) -> Read:
    """Return the message in a file of a format, unchecked; of a large one, one copy is in memory.

    Raises OSError if the file cannot be read, and `ModelError` as ``parsed`` does.
    """
    with _in_file(path, what, form) as found:
        return found.read()


@contextlib.contextmanager
def _in_file(path: Path, what: str, form: str) -> Iterator[InFile]:
    whole = partial(parsed, what=what, form=form)
    with open_sized(path, MOST_BYTES) as (stream, size):
        if form == "protobuf" and size > _MAPPED:
            with mapped(stream, whole) as found:
                yield found
        else:
            yield InFile(whole(read_sized(stream, size, MOST_BYTES)))


_CONTENT = "the numbers"


def read_back(
    file: Path, target: Path, meant: onnx.ModelProto, data: Mapping[str, Path]
) -> onnx.ModelProto:
    """Return the message in a file that is to be renamed to ``target``.

    ``data`` are the present files of its external data, by their locations. Raises ModelError if
    the message differs from ``meant``, or if a data file is too short. Of a large file, ``meant``
    is returned: no second copy is in memory.
    """
    with (
        about_file(target, "cannot be read back", ModelError),
        _in_file(file, str(target), form_of(target)) as found,
    ):
        other = found.other_numbers(meant)
        if other is not None:
            raise _not_written(f"{other}: {_CONTENT}", target)
        _judge(found.rest, target, meant, found.large)
        written = meant if found.large else found.rest
    check_tensors(tensors(written), str(target), target.parent, data)
    return written


def judged(content: bytes, target: Path, meant: onnx.ModelProto) -> onnx.ModelProto:
    """Return the message in the bytes for a file; ModelError if it differs from ``meant``."""
    message = parsed(content, str(target), form_of(target))
    _judge(message, target, meant)
    return message


def _judge(
    message: onnx.ModelProto,
    target: Path,
    meant: onnx.ModelProto,
    equal: frozenset[str] = frozenset(),
) -> None:
    """Raise ModelError if a message differs, but for the numbers of tensors that are ``equal``."""
    lost = None if message == meant else difference(meant, message, equal=equal)
    if lost is not None:
        raise _not_written(lost, target)


def _not_written(lost: str, target: Path) -> ModelError:
    form = form_of(target)
    return ModelError(
        f"{target}: not written: the format {form} cannot hold {lost}; write .onnx"
        if form != "protobuf"
        else f"{target}: not written: {lost} would not be read as it was meant"
    )


def check_data(tensors: Iterable[tuple[onnx.TensorProto, ir.ExternalTensor]], file: Path) -> None:
    """Raise ModelError if the data file of a tensor does not have the numbers of the tensor."""
    written = np.memmap(file, np.uint8, "r") if file.stat().st_size else np.zeros(0, np.uint8)
    for tensor, outside in tensors:
        start = outside.offset or 0
        meant = np.frombuffer(ir.serde.TensorProtoTensor(tensor).tobytes(), np.uint8)
        if not np.array_equal(written[start : start + (outside.length or 0)], meant):
            raise ModelError(f"{file.name}: not written: {tensor.name} would not be read as meant")


def difference(
    one: Any, other: Any, path: str = "", equal: frozenset[str] = frozenset()
) -> str | None:
    """Return the path of the first field in which two messages differ; None if they are equal.

    An absent field equals its default. Any NaN equals any NaN. The numbers of a tensor may be in
    different fields. The tensors at the paths ``equal`` have equal numbers.

    >>> one = onnx.GraphProto(node=[onnx.NodeProto(doc_string="text")])
    >>> difference(one, onnx.GraphProto(node=[onnx.NodeProto(doc_string="")]))
    'node[0].doc_string'
    """
    if len(UnknownFieldSet(one)) != len(UnknownFieldSet(other)):
        return f"unknown fields of {path or 'the model'}"
    skipped: frozenset[str] = frozenset()
    if isinstance(one, onnx.TensorProto) and one.data_location != onnx.TensorProto.EXTERNAL:
        skipped = DATA_FIELDS
        if path not in equal and not _same_numbers(one, other):
            return f"{path}: {_CONTENT}"
    for field in one.DESCRIPTOR.fields:
        if field.name in skipped:
            continue
        here = f"{path}.{field.name}" if path else field.name
        values = [getattr(message, field.name) for message in (one, other)]
        if not hasattr(values[0], "extend"):
            pairs = [(here, *values)]
        elif len(values[0]) != len(values[1]):
            return here
        else:
            numbered = enumerate(zip(*values, strict=True))
            pairs = [(f"{here}[{i}]", a, b) for i, (a, b) in numbered]
        for name, a, b in pairs:
            if a == b or (field.message_type is None and a != a and b != b):
                continue
            if field.message_type is None:
                return str(name)
            differing: str | None = difference(a, b, name, equal)
            if differing is not None:
                return differing
    return None


def _same_numbers(one: onnx.TensorProto, other: onnx.TensorProto) -> bool:
    if one.data_type == onnx.TensorProto.STRING or one.data_type != other.data_type:
        return list(one.string_data) == list(other.string_data)
    try:
        first, second = (ir.serde.TensorProtoTensor(t).tobytes() for t in (one, other))
    except (TypeError, ValueError):  # a type that onnx_ir does not know
        return bool(one == other)
    return first == second
