"""`to_onnx` writes scatterings and gatherings as ONNX models."""

from onnx_scatterx.export.standard import to_onnx

__all__ = ["to_onnx"]
