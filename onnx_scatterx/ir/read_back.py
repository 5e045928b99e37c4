"""What was written is read again, and compared with what was meant, before anything is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from google.protobuf.unknown_fields import UnknownFieldSet

from onnx_scatterx.errors import ModelError
from onnx_scatterx.ir.data import DATA_FIELDS, check_tensors
from onnx_scatterx.ir.parse import MOST_BYTES, form_of, parsed
from onnx_scatterx.system.reading import read_regular

_CONTENT = "the numbers"


def read_back(
    file: Path, place: Path, meant: onnx.ModelProto, data: Mapping[str, Path]
) -> onnx.ModelProto:
    """Return the message in a file that is to be renamed to ``place``.

    ``data`` are the files of its external data, by their locations, as they are now. Raises
    ModelError if the file is not the message that was meant, or if data do not reach so far.
    """
    try:
        content = read_regular(file, MOST_BYTES)
    except OSError as error:
        raise ModelError(f"{place}: cannot be read back: {error.strerror or error}") from error
    found = judged(content, place, meant)
    check_tensors(found, str(place), place.parent, data)
    return found


def judged(content: bytes, place: Path, meant: onnx.ModelProto) -> onnx.ModelProto:
    """Return the message in the bytes for a file; raise ModelError if it is not what was meant."""
    form = form_of(place)
    found = parsed(content, str(place), form)
    if found != meant:
        lost = difference(meant, found)
        if lost is not None:
            raise ModelError(
                f"{place}: not written: the format {form} cannot hold {lost}; write .onnx"
                if form != "protobuf"
                else f"{place}: not written: {lost} would not be read as it was meant"
            )
    return found


def check_data(tensors: Iterable[tuple[onnx.TensorProto, ir.ExternalTensor]], file: Path) -> None:
    """Raise ModelError if a data file does not hold the numbers of each of these tensors."""
    written = np.memmap(file, np.uint8, "r") if file.stat().st_size else np.zeros(0, np.uint8)
    for tensor, outside in tensors:
        start = outside.offset or 0
        meant = np.frombuffer(ir.serde.TensorProtoTensor(tensor).tobytes(), np.uint8)
        if not np.array_equal(written[start : start + (outside.length or 0)], meant):
            raise ModelError(f"{file.name}: not written: {tensor.name} would not be read as meant")


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """Return the path of the first field in which two messages differ, or None.

    An absent field is its default, a NaN is any NaN, and numbers of tensors may be stored in
    another field.

    >>> one = onnx.GraphProto(node=[onnx.NodeProto(doc_string="text")])
    >>> difference(one, onnx.GraphProto(node=[onnx.NodeProto(doc_string="")]))
    'node[0].doc_string'
    """
    if len(UnknownFieldSet(one)) != len(UnknownFieldSet(other)):
        return f"unknown fields of {path or 'the model'}"
    skipped: frozenset[str] = frozenset()
    if isinstance(one, onnx.TensorProto) and one.data_location != onnx.TensorProto.EXTERNAL:
        skipped = DATA_FIELDS
        if not _same_numbers(one, other):
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
            found: str | None = difference(a, b, name)
            if found is not None:
                return found
    return None


def _same_numbers(one: onnx.TensorProto, other: onnx.TensorProto) -> bool:
    if one.data_type == onnx.TensorProto.STRING or one.data_type != other.data_type:
        return list(one.string_data) == list(other.string_data)
    try:
        first, second = (ir.serde.TensorProtoTensor(t).tobytes() for t in (one, other))
    except (TypeError, ValueError):  # a type that onnx_ir does not know
        return bool(one == other)
    return first == second
