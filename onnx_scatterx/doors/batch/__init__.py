"""Many models at once: `optimize_many` and `inspect_many`."""

from onnx_scatterx.doors.batch.many import inspect_many, optimize_many

__all__ = ["inspect_many", "optimize_many"]
