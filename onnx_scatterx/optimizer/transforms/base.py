"""A pass of the pipeline: a pass of onnx_ir that can share the analysis of a model."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import onnx_ir as ir

from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.transforms.job import Job


class Pass(ir.passes.InPlacePass):
    """One step of the pipeline. Called with a model it runs alone, and analyses the model."""

    is_guard: ClassVar[bool] = False
    """It runs whichever passes are chosen: without it the result may be wrong or refused."""
    reports: ClassVar[bool] = False
    """It runs even if it must not change the model, and says why nodes are kept."""
    of_the_rest: ClassVar[bool] = False
    """It is about nodes that are unrelated to scatters, so a trial of the pipeline omits it."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.of()

    @property
    def name(self) -> str:
        """The name for ``--passes`` and ``--print-after``."""
        return type(self).__name__

    def applies(self, settings: Settings) -> bool:
        """Return whether the pass has anything to do under some settings."""
        return True

    def is_wanted(self, settings: Settings) -> bool:
        """Return whether the pass applies, and is chosen or runs whatever is chosen."""
        chosen = settings.given["passes"] is None or self.name in settings.given["passes"]
        return self.applies(settings) and (chosen or self.is_guard or self.reports)

    @abstractmethod
    def run(self, job: Job) -> bool:
        """Change the model of a job in place; return whether anything changed."""

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Run alone."""
        return ir.passes.PassResult(model, self.run(Job(model, self.settings)))
