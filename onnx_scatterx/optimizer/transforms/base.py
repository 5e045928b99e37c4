"""A pass of the pipeline: a pass of onnx_ir that can share the analysis of a model."""

from __future__ import annotations

from abc import abstractmethod

import onnx_ir as ir

from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.transforms.job import Job


class Pass(ir.passes.InPlacePass):
    """One step of the pipeline. Called with a model it runs alone, and analyses the model."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.of()

    @property
    def name(self) -> str:
        """The name for ``--print-after``."""
        return type(self).__name__

    def applies(self, settings: Settings) -> bool:
        """Return whether the pass has anything to do under some settings."""
        return True

    @abstractmethod
    def run(self, job: Job) -> bool:
        """Change the model of a job in place; return whether anything changed."""

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Run alone."""
        return ir.passes.PassResult(model, self.run(Job(model, self.settings)))
