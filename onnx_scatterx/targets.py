"""The targets: what may be emitted for whom."""

from __future__ import annotations

from dataclasses import dataclass

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.mosaic.plan import Form
from onnx_scatterx.rewrites.rule import ScatterRule
from onnx_scatterx.rewrites.scatterx import scatterx


@dataclass(frozen=True)
class Target:
    """A target by its name; ``rules`` come after all others, for what those leave.

    ``native`` says that ScatterX may be emitted.
    """

    name: str
    rules: tuple[Form | ScatterRule, ...] = ()
    native: bool = False


TARGETS = {t.name: t for t in (Target("scatterx", (scatterx,), native=True), Target("standard"))}
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
