"""The worker process of `verify`: one model, loaded in ONNX Runtime and run as often as asked.

The judge is the CPU provider with one thread and no graph optimizations. Nothing but NumPy and
ONNX Runtime is imported here, and nothing but messages is written to standard output.
"""

import os
import sys
from typing import Any

import onnxruntime as ort

from onnx_scatterx.verification.ort_session import open_file, run_raw
from onnx_scatterx.verification.protocol import RawTensor, receive, send


def main() -> None:
    """Answer requests on standard input until it ends."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the replies
    session: ort.InferenceSession | None = None
    while True:
        try:
            header, tensors = receive(requests)
        except EOFError:
            return
        results: list[RawTensor] = []
        reply: dict[str, Any] = {}
        # Whatever goes wrong here is an answer about the model.
        try:
            if session is None:
                session = _load(**header)
            else:
                results = run_raw(session, tensors)
        except Exception as error:
            reply["error"] = f"{error}" or type(error).__name__
        send(replies, reply, results)


def _load(model: str, data_directory: str | None, library: str | None) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if library is not None:
        options.register_custom_ops_library(library)
    return open_file(model, data_directory, options)


if __name__ == "__main__":
    main()
