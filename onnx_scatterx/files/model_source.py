"""The models that a caller may give, and where a given model came from.

An object with an attribute ``model`` counts as a model, so no exporter must be imported. Examples
are an ``ONNXProgram`` of ``torch.onnx.export``, a ``PassResult`` of onnx_ir, and a ``Result``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import onnx
import onnx_ir as ir

M_co = TypeVar("M_co", bound="onnx.ModelProto | ir.Model", covariant=True)

_ACCEPTED = (
    "a path, an onnx.ModelProto, an onnx_ir.Model, or what has one of these as its attribute "
    "`model`, such as the ONNXProgram of torch.onnx.export or the Result of onnx_scatterx.optimize"
)


class HasModel(Protocol[M_co]):
    """An object that holds a model: an ONNXProgram, a PassResult, a Result."""

    @property
    def model(self) -> M_co:
        """The model."""


MessageLike: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | HasModel[onnx.ModelProto]"
"""The models for which ``optimize`` returns a ModelProto."""

IrLike: TypeAlias = "ir.Model | HasModel[ir.Model]"
"""The models for which ``optimize`` returns an ``onnx_ir.Model``."""

AnyModel: TypeAlias = "MessageLike | IrLike"
"""The models that every public function accepts."""


@dataclass(frozen=True)
class ModelSource:
    """A model that a caller gave: its path or the model itself, and the file that it came from."""

    model: Path | onnx.ModelProto | ir.Model
    file: Path | None = None

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
        is_module = callable(getattr(model, "forward", None))
        remedy = (
            "; export it by torch.onnx.export(module, inputs, dynamo=True)" if is_module else ""
        )
        raise TypeError(f"a model is {_ACCEPTED}; this is a {type(model).__name__}{remedy}")

    @property
    def directory(self) -> Path | None:
        """The directory of the external data; None if the model did not come from a file."""
        return None if self.file is None else self.file.parent

    @property
    def path(self) -> Path | None:
        """The path, if the model was given as a path."""
        return self.model if isinstance(self.model, Path) else None
