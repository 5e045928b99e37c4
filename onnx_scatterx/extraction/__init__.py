"""Extract: the part of a model that one scatter needs, for somebody without the model."""

from onnx_scatterx.extraction.cutting import Part, extract

__all__ = ["Part", "extract"]
