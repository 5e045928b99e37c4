"""Extraction: cuts the part out of a model that one scatter needs, without weights."""

from onnx_scatterx.tell.extraction.cutting import Part, extract

__all__ = ["Part", "extract"]
