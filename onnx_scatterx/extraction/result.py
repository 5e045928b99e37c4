"""The answer of extract: a part of a model, and what the report says of its scatter."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from onnx_scatterx.api.result import M
from onnx_scatterx.ir.save import save
from onnx_scatterx.reports.entries import Entry


@dataclass(frozen=True)
class Part(Generic[M]):
    """A part of a model, on which the report on one scatter is that on the whole model.

    Attributes:
        model: the part, of the kind that came in: a ModelProto (also from a path) or an
            ``onnx_ir.Model``.
        entry: the entry of the report on the scatter.
        nodes: how many nodes the part has.
        whole: how many nodes the model has.
        weights: the names of large constants, and of attributes with tensors or texts, that are in
            the part, because the report depends on one of them; usually empty.
        source_path: the file that the model came from, if it came from one.
        removed: the attributes with tensors or texts that nodes of the part have in the model.

    """

    model: M
    entry: Entry
    nodes: int
    whole: int
    weights: tuple[str, ...] = ()
    source_path: Path | None = None
    removed: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all but the model as plain data."""
        return {
            "node": self.entry.node,
            "nodes": {"part": self.nodes, "whole": self.whole},
            "weights": list(self.weights),
            "removed": list(self.removed),
            "scatter": self.entry.to_dict(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the part to a file, whole or not at all.

        Raises:
            ScatterXError: the file cannot be written.

        """
        save(self.model, path, source_path=self.source_path)

    def __str__(self) -> str:
        """Say how large it is, and whether it has weights."""
        count = f"{self.nodes} of {self.whole} nodes, and the same report on {self.entry.node}"
        if not self.weights:
            gone = f"; removed attributes: {', '.join(self.removed)}" if self.removed else ""
            return f"{count}; no weights are in it{gone}"
        return f"{count}; it depends on weights that are in it: {', '.join(self.weights)}"
