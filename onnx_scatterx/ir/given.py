"""A model as a caller gives it: a path, a model in memory, or an object that holds one.

Such an object is recognised by its attribute ``model``, so that no exporter is imported: the
``ONNXProgram`` that ``torch.onnx.export`` returns, a ``PassResult`` of onnx_ir, a ``Result``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import onnx
import onnx_ir as ir

M_co = TypeVar("M_co", bound="onnx.ModelProto | ir.Model", covariant=True)

ACCEPTED = (
    "a path, an onnx.ModelProto, an onnx_ir.Model, or what has one of these as its attribute "
    "`model`, such as the ONNXProgram of torch.onnx.export or the Result of onnx_scatterx.optimize"
)


class HasModel(Protocol[M_co]):
    """An object that holds a model: an ONNXProgram, a PassResult, a Result."""

    @property
    def model(self) -> M_co:
        """The model."""


MessageLike: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | HasModel[onnx.ModelProto]"
"""From this ``optimize`` makes a ModelProto."""

IrLike: TypeAlias = "ir.Model | HasModel[ir.Model]"
"""From this ``optimize`` makes an ``onnx_ir.Model``."""

AnyModel: TypeAlias = "MessageLike | IrLike"
"""What every function that takes a model accepts."""


@dataclass(frozen=True)
class ModelSource:
    """A model that a caller gave: its path, or the model itself, and the file it came from.

    The external data of a message lie in ``directory``; None if it is not known.
    """

    model: Path | onnx.ModelProto | ir.Model
    source: Path | None = None

    @classmethod
    def of(cls, model: AnyModel) -> ModelSource:
        """Return the given model; if it is not a model, raise a TypeError with the accepted types.

        >>> str(ModelSource.of("model.onnx").model)
        'model.onnx'
        >>> ModelSource.of(b"model")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        TypeError: a model is a path, an onnx.ModelProto, ...; this is a bytes
        """
        if isinstance(model, str | os.PathLike):
            return cls(Path(model), Path(model))
        if isinstance(model, onnx.ModelProto | ir.Model):
            return cls(model)
        for name in ("model", "model_proto"):
            inner = getattr(model, name, None)
            if isinstance(inner, onnx.ModelProto | ir.Model):
                source = getattr(model, "source_path", None)
                return cls(inner, source if isinstance(source, Path) else None)
        raise TypeError(f"a model is {ACCEPTED}; this is a {type(model).__name__}")

    @property
    def directory(self) -> Path | None:
        """Where its external data lie, if it is a file or came from one."""
        return None if self.source is None else self.source.parent

    @property
    def path(self) -> Path | None:
        """Its path, if it was given as one."""
        return self.model if isinstance(self.model, Path) else None
