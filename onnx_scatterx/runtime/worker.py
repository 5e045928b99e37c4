"""The program of a worker process: loads models in ONNX Runtime, runs them and times them.

A request says what to do:

    open      load a model; the answer describes its inputs and outputs. Models are numbered from 0.
    drop      free a model; the numbers of the others stay; the answer has the memory left
    save      write a model to a file, after ONNX Runtime's optimizations
    plan      infer the dims of a model's values; the answer has the dims
    run       run a model on tensors; the answer has the outputs
    bind      bind tensors to a model for `time` and `trace`, and run it; the answer has the outputs
    time      time all bound models, in turns
    trace     run a bound model several times; the answer has the file of the trace

Only NumPy and ONNX Runtime are imported at first. If the parent ends, the process ends at once,
because ONNX Runtime lets other threads work while it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnxruntime as ort

from onnx_scatterx.processes import (
    Message,
    RawTensor,
    Tell,
    give_back,
    held,
    map_large_blocks,
    serve,
)
from onnx_scatterx.runtime.ort_session import memory_plan, open_file, run_raw

if TYPE_CHECKING:
    from onnx_scatterx.runtime.ort_session import BoundModel


def main() -> None:
    """Answer requests on standard input."""
    map_large_blocks()
    serve(lambda tell: Worker(tell).answer)


class Worker:
    """The models of a process."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._sessions: list[ort.InferenceSession | None] = []
        self._bound: dict[int, BoundModel] = {}

    def answer(self, request: dict[str, Any], tensors: list[RawTensor]) -> Message:
        """Handle a request, and return the answer."""
        match request.pop("do"):
            case "open":
                session = _open(**request)
                self._sessions.append(session)
                return _described(session), []
            case "drop":
                self._sessions[request["session"]] = None
                give_back()
                return {"held": held()}, []
            case "save":
                _open(**request, optimize=True)
                return {}, []
            case "plan":
                _open(**request, optimize=False)
                return {"by": ort.__version__, "plan": memory_plan(request["target"])}, []
            case "run":
                session = self._session(request["session"])
                return {}, run_raw(session, tensors, request.get("outputs"))
            case "bind":
                from onnx_scatterx.runtime.ort_session import BoundModel

                number = request["session"]
                self._bound[number] = bound = BoundModel(self._session(number), tensors)
                return {}, bound.outputs()
            case "time":
                from onnx_scatterx.runtime.timing import interleaved

                calls = [bound.call for _, bound in sorted(self._bound.items())]
                tell = self._tell
                times = interleaved(calls, progress=lambda *n: tell({"progress": n}), **request)
                return {"times": times.tolist()}, []
            case "trace":
                return {"file": self._bound[request["session"]].trace(request["runs"])}, []
            case unknown:
                raise ValueError(unknown)

    def _session(self, number: int) -> ort.InferenceSession:
        session = self._sessions[number]
        if session is None:
            raise ValueError(f"model {number} was dropped")
        return session


def _open(
    *,
    model: str,
    data_directory: str | None,
    library: str | None,
    threads: int,
    optimize: bool,
    trace: str | None = None,
    target: str | None = None,
) -> ort.InferenceSession:
    """Load a model. With ``trace``, a trace is written whose path begins with this text.

    With ``target``, the model is written to this file after the optimizations.
    """
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if not optimize:
        options.inter_op_num_threads = threads
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if target is not None:
        options.optimized_model_filepath = target
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
