"""Commands that give a smaller result, for a result that is much larger than the model.

the result has 16 nodes instead of 4:
smaller by: ... --target scatterx        4 nodes
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from onnx_scatterx.engine.budget import LimitError
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.options import Options
from onnx_scatterx.targets import BASES
from onnx_scatterx.tell.advice.candidates import fixed
from onnx_scatterx.tell.advice.change import Change, Command
from onnx_scatterx.tell.advice.whole import Whole
from onnx_scatterx.tell.inquiry import Inquiry, optimized
from onnx_scatterx.tell.kept_advice import Advice, Way
from onnx_scatterx.tell.report import Report
from onnx_scatterx.text import Reason


class Bulk(NamedTuple):
    """How much a result is: of two, the one with less is better."""

    is_larger: bool
    """Whether its file is much larger than that of the model."""
    nodes: int

    @classmethod
    def of(cls, report: Report) -> Bulk:
        return cls(report.about is not None and report.about.is_larger, report.nodes_after)


def smaller(asked: Inquiry, whole: Whole, report: Report, command: Command) -> tuple[Advice, ...]:
    """Return advice with commands that give a smaller result, if the result is much larger.

    ``report`` is that of ``optimize`` under the same settings. If its ``growth`` is empty, there is
    no advice. Fixed sizes are tried, and the other targets if the target is no device.
    """
    if not report.growth:
        return ()
    target, options = asked.settings.target, asked.settings.options
    others = BASES if target in BASES.values() else ()
    trials = [(Change(), name) for name in others if name != target.name]
    sizes = fixed(whole)
    trials += [] if sizes is None else [(sizes, target.name)]
    best = Bulk.of(report)
    ways: list[Way] = []
    for change, name in trials:
        changed: Options = {**options, "fix": {**(options["fix"] or {}), **change.fix}}
        changed["assume"] = [*map(str, whole.settings.assumed), *change.needs] or None
        if not change.fix:
            changed["target"] = name
        with suppress(ScatterXError, LimitError):
            whole.charge(whole.model)
            other = optimized(asked.unopened, **changed).report
            bulk = Bulk.of(other)
            is_whole = all(s.reason is not Reason.MODEL_LIMIT for s in other.scatters)
            if is_whole and bulk < best and not bulk.is_larger:
                text = change.command(command) if change.fix else command.text(name, [])
                at = f" at these sizes, {change.condition()}"
                what = at if change.fix else f", {BASES[name].description}"
                best, ways = bulk, [Way(text, f"{bulk.nodes} nodes{what}")]
    return (Advice((), report.growth, "", tuple(ways), verb="smaller"),)
