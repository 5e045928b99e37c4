"""The worker process of `verify`: one model, loaded in ONNX Runtime and run as often as asked.

The judge is the CPU provider with one thread: without graph optimizations, or, if a request says
``fused``, with those of the default options. Nothing but NumPy and ONNX Runtime is imported here,
and nothing but messages is written to standard output.
"""

import os
import sys
from typing import Any

import onnxruntime as ort

from onnx_scatterx.verification.ort_session import open_file, run_raw
from onnx_scatterx.verification.protocol import RawTensor, receive, send


class _Model:
    """A model and its sessions, which are opened when they are asked for."""

    def __init__(self, model: str, data_directory: str | None, library: str | None) -> None:
        self._model, self._data_directory, self._library = model, data_directory, library
        self._sessions: dict[bool, ort.InferenceSession] = {}

    def session(self, fused: bool) -> ort.InferenceSession:
        if fused not in self._sessions:
            self._sessions[fused] = self._open(fused)
        return self._sessions[fused]

    def save(self, place: str) -> None:
        """Write what ONNX Runtime's optimizations make of the model."""
        self._open(True, place)

    def _open(self, fused: bool, place: str | None = None) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        if not fused:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        if place is not None:
            options.optimized_model_filepath = place
        if self._library is not None:
            options.register_custom_ops_library(self._library)
        return open_file(self._model, self._data_directory, options)


def main() -> None:
    """Answer requests on standard input until it ends: the first names the model."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the replies
    model: _Model | None = None
    while True:
        try:
            header, tensors = receive(requests)
        except EOFError:
            return
        results: list[RawTensor] = []
        reply: dict[str, Any] = {}
        # Whatever goes wrong here is an answer about the model.
        try:
            if model is None:
                model = _Model(**header)
                model.session(False)
            elif "save" in header:
                model.save(header["save"])
            else:
                session = model.session(header["fused"])
                results = [] if header.get("load") else run_raw(session, tensors)
        except Exception as error:
            reply["error"] = f"{error}" or type(error).__name__
        send(replies, reply, results)


if __name__ == "__main__":
    main()
