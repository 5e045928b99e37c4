"""The message in some bytes: in protobuf's binary format, or in a text format.

Protobuf nests at most a hundred messages. The text parsers are recursive, and that of onnx ends the
whole process if the recursion is too deep.
"""

from __future__ import annotations

import re
from pathlib import Path

import google.protobuf.json_format
import google.protobuf.message
import google.protobuf.text_format
import onnx

from onnx_scatterx.errors import ModelError, one_line

MOST_LEVELS = 100

_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
_OTHER_STRING = _STRING.replace('"', "'")
_COMMENT = r"#[^\n]*"
TEXTS = {
    "json": (_STRING,),
    "onnxtxt": (_STRING, _COMMENT),
    "textproto": (_STRING, _OTHER_STRING, _COMMENT),
}
"""The forms of text, as onnx calls them, and what in them may hold any bracket."""

_OPENING, _CLOSING = "([{<", ")]}>"
_MESSAGES = {"json": "{}", "onnxtxt": _OPENING + _CLOSING, "textproto": "{}<>"}


def is_too_deep(text: str, form: str) -> bool:
    r"""Return whether brackets are nested too deeply, strings and comments apart.

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


MOST_BYTES = (1 << 31) - 1
"""protobuf reads and writes no larger message."""

_UNREADABLE = (
    google.protobuf.message.DecodeError,
    google.protobuf.json_format.ParseError,
    google.protobuf.text_format.ParseError,
    onnx.parser.ParseError,
    UnicodeDecodeError,
)


def form_of(path: Path) -> str:
    """Return the format that a file's extension names, as onnx names it; binary by default.

    >>> form_of(Path("m.onnx")), form_of(Path("m.onnxtxt")), form_of(Path("m.json"))
    ('protobuf', 'onnxtxt', 'json')
    """
    found = onnx.serialization.registry.get_format_from_file_extension(path.suffix)
    return found or "protobuf"


def parsed(content: bytes, what: str, form: str | None = None) -> onnx.ModelProto:
    """Return the message in some bytes, unchecked.

    Without a ``form``, it is recognised by the first bytes. Raises `ModelError`, which names
    ``what``: the bytes are empty, too many, or not an ONNX model.

    >>> text = b'<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y) { y = Neg(x) }'
    >>> parsed(text, "stdin").graph.node[0].op_type
    'Neg'
    """
    if not content:
        raise ModelError(f"{what}: the file is empty")
    if len(content) > MOST_BYTES:
        raise ModelError(f"{what}: has more than {MOST_BYTES} bytes")
    if form is None:  # no message begins so
        form = {b"<": "onnxtxt", b"{": "json"}.get(content.lstrip()[:1], "protobuf")
    try:
        if form in TEXTS and is_too_deep(content.decode(), form):
            raise ModelError(
                f"{what}: is nested too deeply; at most {MOST_LEVELS} levels are allowed"
            )
        if form == "onnxtxt":
            # What `onnx.load` does, without its warning that this syntax is experimental: filters
            # of warnings belong to the process, and cannot be set in one of several threads.
            return onnx.parser.parse_model(content.decode())
        return onnx.load_model_from_string(content, form)
    except _UNREADABLE as error:
        raise ModelError(f"{what}: {_what_it_is(content, error)}") from error


_POINTER = b"version https://git-lfs.github.com/spec/"


def _what_it_is(content: bytes, error: Exception) -> str:
    """Return why a file could not be parsed; Git leaves a pointer if the content is missing."""
    if content.startswith(_POINTER):
        return "is a pointer of Git LFS and no model; 'git lfs pull' brings the model"
    if content.startswith(b"PK\x03\x04"):
        return "is a zip file, as checkpoints of PyTorch are; torch.onnx.export writes ONNX models"
    message = error.args[0] if isinstance(error, onnx.parser.ParseError) else error
    if isinstance(message, bytes):
        message = message.decode(errors="replace")
    return f"not an ONNX model, or a truncated one: {one_line(message)}"
