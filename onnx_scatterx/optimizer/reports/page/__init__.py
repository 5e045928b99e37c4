"""The report as a page of HTML: one file, which needs no other file and no network."""

from onnx_scatterx.optimizer.reports.page.document import OneModel, directory_page, fragment, page
from onnx_scatterx.optimizer.reports.page.model_part import ComparedNote

__all__ = ["ComparedNote", "OneModel", "directory_page", "fragment", "page"]
