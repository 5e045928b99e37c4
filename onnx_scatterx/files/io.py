"""Opens models in any form in which a caller gives them. Each error is one clear line.

`save` in `onnx_scatterx.files.saving` is the inverse.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, about_file, no_such_file, one_line
from onnx_scatterx.files.check import check_bodies, check_valid, check_versions, free_names
from onnx_scatterx.files.data import (
    check_tensors,
    data_files,
    from_proto,
    graphs_in,
    locations,
    tensors_held,
    to_proto,
)
from onnx_scatterx.files.held_nodes import held_nodes
from onnx_scatterx.files.mapped import Read
from onnx_scatterx.files.merge import Original
from onnx_scatterx.files.model_source import AnyModel, ModelSource
from onnx_scatterx.files.outside import follow_links
from onnx_scatterx.files.parse import form_of, parsed_file
from onnx_scatterx.files.raw_lengths import RawLengths
from onnx_scatterx.files.reading import note_read, open_regular
from onnx_scatterx.files.texts import check_strings, check_texts
from onnx_scatterx.graphs import cloned


@dataclass(frozen=True)
class Opened:
    """An open model: as an `onnx_ir.Model`, and as the message from which this was made, if any.

    If the message is ``ours``, it was read from a file, and no other code uses it. Without
    ``outside``, the model has no external data.
    """

    model: ir.Model
    message: onnx.ModelProto | None
    source: ModelSource
    ours: bool = False
    directory: Path | None = None  # of its external data
    outside: bool = True

    def original(self) -> Callable[[], ir.Model]:
        """Return what makes the model once more, unchecked, each time another one.

        It is asked for before the model is changed, and used before the message is.

        >>> text = '<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y) {y = Neg(x)}'
        >>> opened = open_model(onnx.parser.parse_model(text))
        >>> original = opened.original()
        >>> opened.model.graph.node(0).op_type = "Abs"
        >>> original().graph.node(0).op_type
        'Neg'
        """
        message = self.message
        if message is None:
            return partial(_copied, self.model)
        stored = [t for graph in graphs_in(message) for t in getattr(graph, "initializer", ())]
        names = [tensor.name for tensor in stored]

        def read_again() -> ir.Model:
            for tensor, name in zip(stored, names, strict=True):
                if tensor.name != name:  # onnx_ir renames a weight's message with its value
                    tensor.name = name
            model = _sorted(message)
            if self.outside and self.directory is not None:
                follow_links(model, self.directory)
            return model

        return read_again

    def merger(self, model: ir.Model) -> Original | None:
        """Return what merges a model into the message that it was read from; None without one.

        The model is to be changed later.
        """
        return None if self.message is None else Original(self.message, model, ours=self.ours)


def open_model(model: AnyModel, beside: Path | None = None) -> Opened:
    """Open and check a model of any kind; external data are mapped when they are first read.

    All functions that take a model open it here: a path (binary, or text if its extension is
    .onnxtxt, .textproto or .json), a `ModelProto`, an `onnx_ir.Model`, which is not changed, or an
    object with one of these as its attribute `model`. External data of a message without a file are
    in `beside`. Nodes are sorted, if they are not in topological order.

    Raises `ModelError`: no such file, no ONNX model, a truncated one, an invalid graph, missing
    external data, an opset that is older than 9 or newer than onnx knows. Raises `TypeError` for
    other types.

    >>> text = '<ir_version: 8, opset_import: ["": 17]> g (float[N] x) => (float[N] y) {y = Neg(x)}'
    >>> open_model(onnx.parser.parse_model(text)).model.graph.node(0).op_type
    'Neg'
    """
    source = ModelSource.of(model)
    content = source.model
    if isinstance(content, ir.Model):
        note_data_files(content)
        return Opened(content, None, source)
    if isinstance(content, onnx.ModelProto):
        check_strings(content, "the model")
        proto, directory = content, source.directory
        loaded, outside = _to_ir(Read(content, RawLengths()), "the model", None)
    else:
        found, directory = _read(content), content.parent
        proto = found.message
        loaded, outside = _to_ir(found, str(content), directory)
    data_directory = directory or beside
    if outside:
        if data_directory is not None:
            follow_links(loaded, data_directory)
        note_data_files(loaded)
    return Opened(loaded, proto, source, proto is not content, data_directory, outside)


def load(model: AnyModel, beside: Path | None = None) -> ir.Model:
    """Return a model of any kind as `open_model` opens it."""
    return open_model(model, beside).model


def note_data_files(model: ir.Model) -> None:
    """Record that the external data of a model are read (`note_read`)."""
    for file in data_files(model):
        note_read(file, "a data file of the input")


def note_model(path: Path) -> tuple[Path, ...]:
    """Record that other code reads a model, and return the files of its external data.

    If the file is not a model, the result is empty.
    """
    note_read(path, "the input")
    files: tuple[Path, ...] = ()
    if path.is_file():  # not a pipe, which can be read only once
        with contextlib.suppress(ModelError):
            files = tuple(path.parent / location for location in locations(read(path)))
    for file in files:
        note_read(file, "a data file of the input")
    return files


def check_file(path: Path) -> None:
    """Raise `ModelError` if a path does not lead to a regular file."""
    if path.is_dir():
        raise ModelError(f"{path}: is a directory, not an ONNX model")
    try:
        open_regular(path).close()
    except FileNotFoundError as error:
        raise ModelError(no_such_file(path)) from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error


def read(path: Path) -> onnx.ModelProto:
    """Return the message in a file, unchecked, without its external data.

    Raises `ModelError`: the file does not exist, cannot be read, is empty, or is not an ONNX model.
    """
    return _read(path).message


def _read(path: Path) -> Read:
    note_read(path, "the input")
    check_file(path)
    with about_file(path, "cannot be read", ModelError):
        found = parsed_file(path, str(path), form_of(path))
    check_strings(found.message, str(path))
    return found


def _copied(model: ir.Model) -> ir.Model:
    """Return a copy of a model, which may read external data behind links."""
    copy = cloned(model)
    follow_links(copy)
    return copy


def _to_ir(found: Read, what: str, directory: Path | None) -> tuple[ir.Model, bool]:
    """Return a checked message as a model, and whether it has external data."""
    proto, lengths = found
    check_versions(proto, what)
    unsorted: list[str] = []
    for graph in (proto.graph, *proto.functions):
        for name in sorted(free_names(graph, unsorted)):
            raise ModelError(f"{what}: the graph is invalid: nothing defines the value {name!r}")
    nodes = held_nodes(proto)
    held = (*proto.graph.initializer, *tensors_held(nodes))
    outside = check_tensors(held, what, directory, lengths=lengths)
    check_texts(proto, nodes, what)
    check_bodies(nodes, what)
    if not unsorted:
        check_valid(proto, what)
    try:
        model = _sorted(proto) if unsorted else from_proto(proto)
    except (ir.serde.SerdeError, ValueError) as error:
        reason = f"{error.__cause__ or error}"
        if unsorted and isinstance(error, ValueError):
            reason = f"a cycle through the value {unsorted[0]!r}"
        raise ModelError(f"{what}: the graph is invalid: {one_line(reason)}") from error
    if unsorted:
        check_valid(to_proto(model), what)
    return model, outside


def _sorted(proto: onnx.ModelProto) -> ir.Model:
    """Return a message as a model whose nodes are in topological order; they stay if they are."""
    model = from_proto(proto)
    for graph in (model.graph, *(function.graph for function in model.functions.values())):
        graph.sort()
    return model
