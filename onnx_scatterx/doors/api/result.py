"""What `optimize` returns, and the error that it raises if a target does not take the result."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.options import Strict
from onnx_scatterx.tell import ModelT, Report

if TYPE_CHECKING:
    from onnx_scatterx.compare import Verification
    from onnx_scatterx.files import Files


@dataclass(frozen=True)
class Result(Generic[ModelT]):
    """An optimized model, and what was done with each of its scatters.

    Attributes:
        model: of the kind that came in: a ModelProto (also from a path) or an ``onnx_ir.Model``.
        report: what was done with each scatter.
        source_path: the file that the model came from, if it came from one.
        read: the files that were read, by their paths, each with its role.
        verification: the answer of ``verify``, if ``optimize`` was called with ``verify``.
        one_file: whether ``save`` writes weights that are beside the model into it, because the
            compiler of the target reads none beside it.

    """

    model: ModelT
    report: Report
    source_path: Path | None = None
    read: Files = field(default_factory=dict)
    verification: Verification | None = None
    one_file: bool = False

    def __repr__(self) -> str:  # short, because a notebook asks for it beside the HTML
        source = "" if self.source_path is None else f", from {str(self.source_path)!r}"
        target = ", ".join(filter(None, (self.report.target, self.report.target_keys)))
        return f"<Result: {self.report.summary()}, target {target!r}{source}>"

    def __str__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        """Return the report in a notebook's format."""
        return self.report._repr_html_()

    def save(self, path: str | os.PathLike[str], *, external_data: bool = False) -> None:
        """Write the model to a file; on an error the file stays as it was.

        External data of the model stay external, unless the target wants one file.

        Args:
            path: the output. Its extension selects the format: .onnx is binary, .onnxtxt text.
            external_data: write the weights to ``<path>.data``, too, if they are in memory.

        Raises:
            ScatterXError: the file cannot be written, or the model was read from it.

        Example:
            >>> optimize("model.onnx").save("out.onnx")  # doctest: +SKIP

        """
        from onnx_scatterx.files import MESSAGE_LIMIT, save

        limit = 0 if external_data else MESSAGE_LIMIT
        save(
            self.model,
            path,
            source_path=self.source_path,
            read=self.read,
            message_limit=limit,
            one_file=self.one_file,
        )


class TargetError(ScatterXError):
    """The target does not take all of an optimized model.

    ``optimize`` raises this error if ``strict`` is not met. ``result`` is the ``Result`` that it
    would return otherwise. ``report`` is the report of the result, with all ``violations``.
    """

    def __init__(self, message: str, result: Result[Any]) -> None:
        super().__init__(message)
        self.result = result

    @property
    def report(self) -> Report:
        """The report of the result."""
        return self.result.report

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.result)


def raise_unmet(result: Result[Any], strict: Strict) -> None:
    """Raise TargetError if a result does not meet ``strict``."""
    if lines := result.report.unmet(strict):
        told = ""
        for line in map(str.strip, lines):  # a line that ends with a colon begins a list
            told += line if not told else f" {line}" if told.endswith(":") else f"; {line}"
        raise TargetError(told, result)
