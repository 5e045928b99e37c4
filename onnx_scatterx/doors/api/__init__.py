"""The public functions: optimize and inspect a model."""

from onnx_scatterx.doors.api.optimization import inspect, optimize
from onnx_scatterx.doors.api.result import Result

__all__ = ["Result", "inspect", "optimize"]
