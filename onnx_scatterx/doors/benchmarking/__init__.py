"""`bench` times models against each other: interleaved, warm, with a confidence interval."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_scatterx.doors.benchmarking.models import bench
    from onnx_scatterx.doors.benchmarking.result import Benchmark, Timing

__all__ = ["Benchmark", "Timing", "bench"]


def __getattr__(name: str) -> object:
    # Late, because the worker processes import this package and need little of it.
    if name == "bench":
        from onnx_scatterx.doors.benchmarking.models import bench

        return bench
    if name in __all__:
        from onnx_scatterx.doors.benchmarking import result

        return getattr(result, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
