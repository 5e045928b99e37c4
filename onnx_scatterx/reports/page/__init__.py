"""The report as a page of HTML: one file, which needs no other file and no network."""

from onnx_scatterx.reports.page.directory import OneModel, directory_page
from onnx_scatterx.reports.page.document import page
from onnx_scatterx.reports.page.fragments import fragment

__all__ = ["OneModel", "directory_page", "fragment", "page"]
