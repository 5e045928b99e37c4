"""The report of ``inspect`` with advice, as the commands give it."""

from dataclasses import replace
from typing import Any

from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.files.model_source import AnyModel
from onnx_scatterx.tell.advice.change import Command
from onnx_scatterx.tell.explanation import advised
from onnx_scatterx.tell.inquiry import Inquiry
from onnx_scatterx.tell.report import Report


def inspected_with_advice(
    model: AnyModel, command: Command, *, said: dict[str, Any] | None = None, **options: Any
) -> Report:
    """Return the report under the options, in which other fields are ``said`` before the advice."""
    with Inquiry.about(model, Settings.of(**options)) as asked:
        report, records = asked.inspected
        return advised(asked, replace(report, **(said or {})), records, command)
