"""Sizes that are fixed in many models: a name must be that of a size or an input of some model.

A model that lacks a name is optimized without it. If all models lack it, it is a mistake.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_scatterx.assumptions import FixedSizes, open_sizes
from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.files import load

if TYPE_CHECKING:
    from onnx_scatterx.assumptions import Fix
    from onnx_scatterx.tell import Inquiry


def check_named(sources: Iterable[Path], fix: Fix) -> None:
    """Raise ScatterXError if all models that can be read lack a name of ``fix``.

    Models are read until each name was found. A pipe, which can be read only once, may have all.
    """
    wanted, there, was_read = dict.fromkeys(fix or ()), dict[str, None](), False
    for source in sources:
        if not wanted or (source.exists() and not source.is_file()):
            return
        with contextlib.suppress(ScatterXError, OSError):  # its own task reports the error
            model = load(source)
            was_read = True
            there |= dict.fromkeys(size for _, sizes in open_sizes(model) for size in sizes)
            for name in FixedSizes.named(model, fix):
                wanted.pop(name, None)
    if wanted and was_read:
        name = next(iter(wanted))
        near = did_you_mean(name, there)
        raise ScatterXError(f"fix: no model has a size or an input {name!r}{near}")


def leave_out(asked: Inquiry) -> tuple[str, ...]:
    """Ask about a model without the names of ``fix`` that it lacks; return these names."""
    fix = asked.settings.options["fix"]
    known = FixedSizes.named(asked.opened.model, fix)
    lacking = tuple(name for name in fix or () if name not in known)
    if lacking:
        asked.settings = asked.settings.but(
            fix={name: sizes for name, sizes in (fix or {}).items() if name in known}
        )
    return lacking
