"""What is so, below what there is to do: the sizes of a result, and what ONNX Runtime computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.tell.entry_lines import by_text

if TYPE_CHECKING:
    from onnx_scatterx.tell.report import Report


def fixed_lines(report: Report) -> list[str]:
    """Return in a line which sizes were fixed."""
    sizes = ", ".join(f"{name} = {number}" for name, number in report.fixed)
    verb = "would be fixed" if report.planned else "fixed"
    return [f"sizes {verb}: {sizes}"] if sizes else []


def size_lines(report: Report) -> list[str]:
    """Return in a line how sizes get numbers, if the target wants some that the model lacks."""
    if not report.to_fix:
        return []
    letter = ", with a number for each N" if "=N" in report.to_fix or ":N" in report.to_fix else ""
    where = f" ({report.places})" if report.places else ""
    told = f"the target {report.target} wants all sizes as numbers: add {report.to_fix}"
    return [f"{told}{letter}{where}"]


def runtime_lines(report: Report) -> list[str]:
    """Return in lines why ONNX Runtime may compute other values, and of which nodes."""
    return by_text((e.node, why) for e in report.entries for why in e.in_onnxruntime)
