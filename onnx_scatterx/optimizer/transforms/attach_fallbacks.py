"""Every new ScatterX gets a fallback function, after transposes were folded into it."""

from __future__ import annotations

from onnx_scatterx.optimizer.native.attach_fallbacks import attach_fallbacks
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.budget import own_budget
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.job import Job


class AttachFallbacks(Pass):
    """Adds the functions that ScatterX nodes call in runtimes without the library."""

    is_guard = True

    def applies(self, settings: Settings) -> bool:
        return settings.target.has_scatterx

    def run(self, job: Job) -> bool:
        with own_budget():  # a plan is written completely
            return attach_fallbacks(job.model)
