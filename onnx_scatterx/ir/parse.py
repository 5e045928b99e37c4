"""The message in some bytes: in protobuf's binary format, or in a text format."""

from __future__ import annotations

from pathlib import Path

import google.protobuf.json_format
import google.protobuf.message
import google.protobuf.text_format
import onnx

from onnx_scatterx.errors import ModelError, one_line
from onnx_scatterx.ir.nesting import MOST_LEVELS, TEXTS, is_too_deep

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
