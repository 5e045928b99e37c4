"""`bench` times models against each other: interleaved, warm, with a confidence interval."""

from onnx_scatterx.benchmarking.models import bench
from onnx_scatterx.benchmarking.result import Benchmark, Timing

__all__ = ["Benchmark", "Timing", "bench"]
