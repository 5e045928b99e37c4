"""Scatterings and gatherings as ONNX models: `to_onnx`."""

from onnx_scatterx.export.standard import to_onnx

__all__ = ["to_onnx"]
