"""What is so, below what there is to do: fixed sizes, and what ONNX Runtime computes."""

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


def runtime_lines(report: Report) -> list[str]:
    """Return in lines why ONNX Runtime may compute other values, and of which nodes."""
    return by_text((e.node, why) for e in report.entries for why in e.in_onnxruntime)
