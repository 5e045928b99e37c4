"""The public functions: optimize and inspect a model."""

from onnx_scatterx.doors.api.optimization import Result, inspect, optimize

__all__ = ["Result", "inspect", "optimize"]
