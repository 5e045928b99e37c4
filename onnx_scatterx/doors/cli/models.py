"""The models that a command names: files, directories, and ``-`` for one that comes by stdin."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from onnx_scatterx.errors import ScatterXError

if TYPE_CHECKING:
    import onnx

STREAM = "-"
"""Stands for stdin if a model is read, and for stdout if one is written."""


def add_models(command: argparse.ArgumentParser, text: str) -> None:
    """Add IN, once or more often."""
    command.add_argument("models", metavar="IN", nargs="+", help=text)


def is_one(models: list[str]) -> bool:
    """Return whether a command is about one model: a file, or stdin.

    Raises ScatterXError if a file is not there, or stdin is named beside others.
    """
    for model in models:
        if model != STREAM and not os.path.exists(model):
            raise ScatterXError(f"{model}: no such file")
    if len(models) > 1 and STREAM in models:
        raise ScatterXError("-: a model from stdin must be the only model of the command")
    return len(models) == 1 and (models[0] == STREAM or not os.path.isdir(models[0]))


def paths_of(models: list[str]) -> str | list[Path]:
    """Return the models that were named, and those in directories, or the one directory."""
    from onnx_scatterx.doors.batch.sources import models_in

    if len(models) == 1:
        return models[0]
    return [p for m in map(Path, models) for p in (models_in(m) if m.is_dir() else [m])]


def given_model(model: str) -> str | onnx.ModelProto:
    """Return a path, or for ``-`` the model that is read from stdin."""
    if model != STREAM:
        return model
    if sys.stdin is None or sys.stdin.isatty():
        raise ScatterXError("-: no model comes from stdin: it is closed or a terminal")
    from onnx_scatterx.ir.io import parsed

    return parsed(sys.stdin.buffer.read(), "stdin")


def given_models(*models: str) -> list[str | onnx.ModelProto]:
    """Return several models; one of them may come from stdin."""
    if models.count(STREAM) > 1:
        raise ScatterXError("-: only one model can come from stdin")
    return [given_model(model) for model in models]


def named_models(models: list[str]) -> dict[str, str | onnx.ModelProto]:
    """Return several models by names that differ."""
    found: dict[str, str | onnx.ModelProto] = {}
    for name, model in zip(models, given_models(*models), strict=True):
        found[name if name not in found else f"{name} ({len(found) + 1})"] = model
    return found


def write_model(content: bytes, stream: TextIO) -> None:
    """Write a model to what stdout was."""
    stream.buffer.write(content)
    stream.buffer.flush()


def require_stream() -> None:
    """Raise ScatterXError if a model cannot be written to stdout."""
    if sys.stdout is None or sys.stdout.isatty():
        raise ScatterXError("-o -: a model is written to stdout; send it to a file or a pipe")
