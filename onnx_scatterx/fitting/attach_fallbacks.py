"""Every new ScatterX gets a function of standard operators."""

from __future__ import annotations

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.step import Kind, Pass
from onnx_scatterx.engine.write.native.attached import add_fallbacks


def attach_fallbacks(job: Job) -> bool:
    """Add the functions that ScatterX nodes call in runtimes without the library."""
    return add_fallbacks(job.model)


AttachFallbacks = Pass(attach_fallbacks, Kind.GUARD, lambda s: s.target.has_scatterx)
