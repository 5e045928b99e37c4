"""The public functions: optimize and inspect a model."""

from onnx_scatterx.doors.api.inspection import inspect
from onnx_scatterx.doors.api.optimization import Result, optimize

__all__ = ["Result", "inspect", "optimize"]
