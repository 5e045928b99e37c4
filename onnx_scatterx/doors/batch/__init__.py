"""Many models at once: `optimize_many` and `inspect_many`.

The outcome of one model is told without processes, which some platforms lack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.doors.batch.many import inspect_many as inspect_many
    from onnx_scatterx.doors.batch.many import optimize_for as optimize_for
    from onnx_scatterx.doors.batch.many import optimize_many as optimize_many
else:
    __getattr__, __dir__, __all__ = face(
        __name__, {"many": "inspect_many optimize_for optimize_many"}
    )
