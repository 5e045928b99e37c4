"""Sizes that are fixed in many models: a model that lacks a name is optimized without it.

If all models lack a name, a note says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_scatterx.assumptions import FixedSizes, open_sizes
from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.files import load
from onnx_scatterx.observer import LOG

if TYPE_CHECKING:
    from onnx_scatterx.assumptions import Fix
    from onnx_scatterx.tell import Inquiry


def note_lacking(sources: Iterable[Path], fix: Fix) -> None:
    """Log each name of ``fix`` that all models lack, as far as these can be read.

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
    for name in wanted if was_read else ():
        if isinstance((fix or {})[name], Sequence):
            LOG.warning("--fix: no model has an input %r", name)
        else:
            near = did_you_mean(name, there)
            LOG.warning("--fix: no model has a size or an input %r%s", name, near)


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


def leave_out_at_numbers(asked: Inquiry) -> tuple[str, ...]:
    """Do this for one model if all sizes of its inputs are numbers, and log the names.

    Otherwise a name that the model lacks may be mistyped, and stays an error.
    """
    if any(value.shape is None or sizes for value, sizes in open_sizes(asked.opened.model)):
        return ()
    lacking = leave_out(asked)
    for name in lacking:
        LOG.warning("--fix: the model has no %r, since all its sizes are numbers", name)
    return lacking
