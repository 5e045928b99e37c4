"""Doors: the functions and the commands that users call.

Come here for what is typed: options of a command, exit statuses, files that are claimed and
written, many models at once. Not for what is computed: that is in the rooms below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.doors.api import optimize as optimize
    from onnx_scatterx.doors.cli.supervised import run as run
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "api": "optimize",
            "cli.supervised": "run",
        },
    )
