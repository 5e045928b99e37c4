"""Extract: the part of a model that one scatter needs, for somebody without the model."""

from onnx_scatterx.extraction.cutting import extract
from onnx_scatterx.extraction.result import Part

__all__ = ["Part", "extract"]
