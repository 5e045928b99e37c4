"""What optimize returns: a model, and what was done with each of its scatters."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import onnx
import onnx_ir as ir

from onnx_scatterx.ir import io as model_io
from onnx_scatterx.optimizer.reports.report import Report
from onnx_scatterx.system.reading import Files

if TYPE_CHECKING:
    from onnx_scatterx.judges.verification.result import Verification


M = TypeVar("M", onnx.ModelProto, ir.Model)


@dataclass(frozen=True)
class Result(Generic[M]):
    """An optimized model, and what was done with each of its scatters.

    Attributes:
        model: of the kind that came in: a ModelProto (also from a path) or an ``onnx_ir.Model``.
        report: what was done with each scatter.
        source_path: the file that the model came from, if it came from one.
        read: the files that were read, by their paths, each with its role.
        verification: the answer of ``verify``, if ``optimize`` was called with ``verify``.

    """

    model: M = field(repr=False)  # a notebook asks for the text of all that it shows
    report: Report
    source_path: Path | None = None
    read: Files = field(default_factory=dict, repr=False)
    verification: Verification | None = None

    def __str__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        """Return the report in a notebook's format."""
        return self.report._repr_html_()

    def save(self, path: str | os.PathLike[str], *, external_data: bool = False) -> None:
        """Write the model to a file, whole or not at all; external data stay external.

        Args:
            path: the output. Its extension selects the format: .onnx is binary, .onnxtxt text.
            external_data: write the weights to ``<path>.data``, too, if they are in memory.

        Raises:
            ScatterXError: the file cannot be written, or is one that was read.

        Example:
            >>> optimize("model.onnx").save("out.onnx")  # doctest: +SKIP

        """
        limit = 0 if external_data else model_io.MESSAGE_LIMIT
        model_io.save(
            self.model, path, source_path=self.source_path, read=self.read, message_limit=limit
        )
