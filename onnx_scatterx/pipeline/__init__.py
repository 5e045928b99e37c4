"""One model from its settings to what was done with each node: the order of the passes.

Come here for which passes run on a job, and for what runs them more than once; not for a pass (it
is in ``engine.passes`` or ``fitting``, in a file of its name), nor for what a user reads of the
result (in ``tell``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.pipeline.order import check_passes as check_passes
    from onnx_scatterx.pipeline.running import command_budget as command_budget
    from onnx_scatterx.pipeline.running import run as run
    from onnx_scatterx.pipeline.running import tried as tried
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "order": "check_passes",
            "running": "command_budget run tried",
        },
    )
