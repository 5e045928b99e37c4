"""The prover with the dims that ONNX Runtime infers, which is asked in this process."""

import functools
from pathlib import Path
from typing import Any

import onnxruntime as ort

from onnx_scatterx.processes.scratch_folders import scratch
from onnx_scatterx.proof import proof
from onnx_scatterx.runtime.ort_session import memory_plan
from tests.helpers.pair import rejections


@functools.lru_cache(8)
def planned(model: bytes) -> tuple[str, Any] | None:
    """Return who infers the dims of a model's values, and them; None if it does not load."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    with scratch() as directory:
        place = str(Path(directory) / "plan.ort")
        options.optimized_model_filepath = place
        try:
            ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except rejections():
            return None
        return f"ONNX Runtime {ort.__version__}", memory_plan(place)


prove = functools.partial(proof.prove, planner=planned)
