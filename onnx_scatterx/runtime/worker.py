"""The program of a worker process: models that are loaded in ONNX Runtime, run and timed.

A request says what to do:

    open      load a model; the answer describes its inputs and outputs. Models are numbered from 0.
    save      write a model, as ONNX Runtime has optimized it, to a file
    run       run a model on tensors; the answer has the outputs
    bind      hold tensors as the inputs of a model, for the next two, and run it; as run
    time      time all models that are bound, in turns
    trace     run a model that is bound some times; the answer names the trace

Only NumPy and ONNX Runtime are imported at first, and only messages are written to standard output.
When standard input ends, the parent has ended, and the process ends at once: ONNX Runtime lets
other threads work while it runs.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import onnxruntime as ort

from onnx_scatterx.runtime.ort_session import open_file, run_raw
from onnx_scatterx.runtime.worker_protocol import RawTensor, receive, send

if TYPE_CHECKING:
    from onnx_scatterx.runtime.io_binding import Bound

Message = tuple[dict[str, Any], list[RawTensor]]


def main() -> None:
    """Answer requests on standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the parent, which ends this process
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of libraries must not mix with the replies
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    worker = Worker(lambda done, wanted: send(replies, {"progress": [done, wanted]}))
    while True:
        # Any error here is an answer about the model.
        try:
            reply, results = worker.answer(*requests.get())
        except Exception as error:
            reply, results = {"error": f"{error}" or type(error).__name__}, []
        send(replies, reply, results)


def _listen(stream: IO[bytes], requests: queue.SimpleQueue[Message]) -> None:
    try:
        while True:
            requests.put(receive(stream))
    finally:
        os._exit(0)


class Worker:
    """The models of a process."""

    def __init__(self, progress: Callable[[int, int], None]) -> None:
        self._progress = progress
        self._sessions: list[ort.InferenceSession] = []
        self._bound: dict[int, Bound] = {}

    def answer(self, request: dict[str, Any], tensors: list[RawTensor]) -> Message:
        """Handle a request, and return the answer."""
        match request.pop("do"):
            case "open":
                session = _open(**request)
                self._sessions.append(session)
                return _described(session), []
            case "save":
                _open(**request, optimize=True)
                return {}, []
            case "run":
                return {}, run_raw(
                    self._sessions[request["session"]], tensors, request.get("outputs")
                )
            case "bind":
                from onnx_scatterx.runtime.io_binding import Bound

                number = request["session"]
                self._bound[number] = bound = Bound(self._sessions[number], tensors)
                return {}, bound.outputs()
            case "time":
                from onnx_scatterx.runtime.timing import interleaved

                calls = [bound.call for _, bound in sorted(self._bound.items())]
                times = interleaved(calls, progress=self._progress, **request)
                return {"times": times.tolist()}, []
            case "trace":
                return {"file": self._bound[request["session"]].trace(request["runs"])}, []
            case unknown:
                raise ValueError(unknown)


def _open(
    *,
    model: str,
    data_directory: str | None,
    library: str | None,
    threads: int,
    optimize: bool,
    trace: str | None = None,
    place: str | None = None,
) -> ort.InferenceSession:
    """Load a model; ``trace`` is how the path of its trace begins, if there is to be one.

    What the optimizations make of it is written to a ``place``, if there is one.
    """
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if not optimize:
        options.inter_op_num_threads = threads
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if place is not None:
        options.optimized_model_filepath = place
    if trace is not None:
        options.enable_profiling = True
        options.profile_file_prefix = trace
    if library is not None:
        try:
            options.register_custom_ops_library(library)
        except Exception as error:
            raise RuntimeError(f"{library} cannot be registered: {error}") from error
    return open_file(model, data_directory, options)


def _described(session: ort.InferenceSession) -> dict[str, Any]:
    required, overridable = session.get_inputs(), session.get_overridable_initializers()
    return {
        "inputs": [(value.name, value.type, value.shape) for value in required],
        "overridable": [(value.name, value.type, value.shape) for value in overridable],
        "outputs": [value.name for value in session.get_outputs()],
    }


if __name__ == "__main__":
    main()
