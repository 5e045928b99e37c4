"""The report as a page of HTML: one file, which needs no other file and no network."""

from onnx_scatterx.tell.page.document import OneModel, directory_page, fragment, page
from onnx_scatterx.tell.page.model_part import ComparedNote

__all__ = ["ComparedNote", "OneModel", "directory_page", "fragment", "page"]
