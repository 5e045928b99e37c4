"""`to_onnx` writes scatterings and gatherings as ONNX models.

Come here for a model of an equation of the paper. Not for models of others: these are optimized.
"""

from onnx_scatterx.export.standard import to_onnx

__all__ = ["to_onnx"]
