"""Extract: the part of a model that one scatter needs, for somebody without the model."""

from onnx_scatterx.doors.extraction.cutting import Part, extract

__all__ = ["Part", "extract"]
