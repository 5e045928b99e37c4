"""What to do about sizes that are symbols, if the target wants numbers."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.advice.change import Change, Command
from onnx_scatterx.advice.sizes import fitting_sizes
from onnx_scatterx.assumptions.size_template import template
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.lift.first_failure import Failure
from onnx_scatterx.reports.advice import Advice, Way
from onnx_scatterx.settings import Settings
from onnx_scatterx.transforms.write_sizes import WriteSizes


@dataclass(frozen=True)
class SizeAdvice:
    """Numbers for the sizes of a model, or the node that fails at all that were tried.

    All is empty if the target takes symbols, or if the model has none.
    """

    target: str = ""
    options: str = ""  # that give every size a number
    change: Change | None = None
    failure: Failure | None = None

    @classmethod
    def of(cls, model: ir.Model, settings: Settings) -> SizeAdvice:
        """Return what can be said of the sizes of a model under settings."""
        if not settings.target.static_only:
            return cls()
        copy = cloned(model)
        WriteSizes(settings)(copy)
        options = template(copy)
        if not options:
            return cls()
        found = fitting_sizes(model, settings)
        name = settings.target.name
        if isinstance(found, Failure):
            return cls(name, options, None, found)
        printable = bool(found) and all(n.isprintable() for n in found)
        return cls(name, options, Change(fix=found) if printable else None)

    def advice(self, given: Command) -> tuple[Advice, ...]:
        """Return the command that gives the sizes numbers, or the missing options."""
        if not self.options:
            return ()
        why = f"the target {self.target} wants all sizes as numbers"
        if self.change is not None:
            way = Way(self.change.command(given), self.change.condition())
            return (Advice((), why, "", (way,)),)
        missing = f"{self.options}, with numbers at which the model runs"
        if self.failure is not None:
            missing += f"; at the numbers that were tried, {self.failure}"
        return (Advice((), why, missing),)
