"""The targets: what may be emitted for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from onnx_scatterx.emit.target import SCATTERX, STANDARD, Target
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.mosaic.plan import Form
from onnx_scatterx.rewrites.rule import ScatterRule
from onnx_scatterx.rewrites.scatterx import scatterx

Rules: TypeAlias = tuple[Form | ScatterRule, ...]

# A Where for one row passes over all the data; ScatterX moves the row, in place if it can.
_SCATTERX = Target("scatterx", extra=frozenset({SCATTERX}), spared=frozenset({"row"}))
TARGETS = {t.name: t for t in (_SCATTERX, STANDARD)}
_PLANNED = ("ort-cpu",)


def target_of(name: str) -> Target:
    """Return a target by its name, or raise ScatterXError where it cannot be had.

    >>> target_of("standard").native
    False
    """
    if name in TARGETS:
        return TARGETS[name]
    if name in _PLANNED:
        raise ScatterXError(f"target {name!r} is not built yet; use 'standard'")
    raise ScatterXError(f"no target is called {name!r}; there is {', '.join(TARGETS)}")


def rules_of(target: Target, forms: Sequence[Form | ScatterRule], *, asked: bool) -> Rules:
    """Return the rules to apply, given those that there are or that were asked for."""
    kept = [f for f in forms if asked or f.name not in target.spared]
    return (*kept, scatterx) if target.native else tuple(kept)


__all__ = ["TARGETS", "Target", "rules_of", "target_of"]
