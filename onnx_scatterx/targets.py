"""The targets: what may be emitted for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.mosaic.plan import Form
from onnx_scatterx.rewrites.overlay import overlay
from onnx_scatterx.rewrites.rule import ScatterRule
from onnx_scatterx.rewrites.scatterx import scatterx
from onnx_scatterx.weighing.costs import Costs, NodeCosts, TimeCosts
from onnx_scatterx.weighing.machine import here
from onnx_scatterx.weighing.sizes import Sizes

Rules: TypeAlias = tuple[Form | ScatterRule, ...]


@dataclass(frozen=True)
class Target:
    """A target by its name; ``rules`` come after all others, for what those leave.

    ``native`` says that ScatterX may be emitted; ``spared`` names the rules that are only chosen
    where somebody asks for them. ``dense_limit`` is how many elements the largest tensor of a dense
    form (whose work is data times indices) may have; None allows no dense forms. ``is_timed`` says
    that plans are weighed by the time that they take.
    """

    name: str
    rules: tuple[Form | ScatterRule, ...] = ()
    native: bool = False
    spared: frozenset[str] = frozenset()
    dense_limit: int | None = None
    is_timed: bool = False

    def chosen(self, forms: Sequence[Form | ScatterRule], *, asked: bool) -> Rules:
        """Return the rules to apply, given those that there are or that were asked for."""
        kept = [f for f in forms if asked or f.name not in self.spared]
        return (*kept, *self.rules)


# A Where for one row passes over all the data; ScatterX moves the row, in place if it can.
_SCATTERX = Target("scatterx", (scatterx,), native=True, spared=frozenset({"row"}))
_ORT_CPU = Target(
    "ort-cpu", (overlay, scatterx), native=True, spared=frozenset({"row"}), is_timed=True
)
TARGETS = {t.name: t for t in (_SCATTERX, Target("standard"), _ORT_CPU)}


def target_of(name: str) -> Target:
    """Return a target by its name, or raise ScatterXError where it cannot be had.

    >>> target_of("standard").native
    False
    """
    if name in TARGETS:
        return TARGETS[name]
    raise ScatterXError(f"no target is called {name!r}; there is {', '.join(TARGETS)}")


def costs_of(target: Target, sizes: Mapping[str, int] | None = None) -> Costs:
    """Return how plans are weighed for a target; ``sizes`` are hints on symbolic sizes."""
    return TimeCosts(here(), Sizes(sizes)) if target.is_timed else NodeCosts()
