"""Runs one model again and again in a worker process, which is started again after a crash."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import MissingRuntimeError, one_line
from onnx_scatterx.graphs import all_nodes
from onnx_scatterx.operators import Rounding, described, those
from onnx_scatterx.processes import Closing, NoReply, PythonChild, RawTensor, Reply, scratch
from onnx_scatterx.runtime.session import require_runtime

__all__ = ["ModelFile", "NoReply", "OrtProcess", "Runner", "from_raw", "to_raw"]

_PATIENCE = 120.0  # seconds to free a model
_MUCH = 1 << 28  # bytes that a process without a model may keep

PROGRAM = "from onnx_scatterx.runtime.worker import main; main()"
"""The program of a worker process."""


@dataclass(frozen=True)
class ModelFile:
    """A binary model file, and the directory of its external data if they are not beside it."""

    path: Path
    data_directory: Path | None = None

    def to_request(self) -> dict[str, str | None]:
        """Return the paths for a request to a worker process; links are not resolved."""
        directory = self.data_directory
        return {
            "model": str(self.path.absolute()),
            "data_directory": None if directory is None else str(directory.absolute()),
        }


class OrtProcess(PythonChild):
    """A process that runs models in ONNX Runtime; ``worker.py`` lists its requests."""

    def __init__(self) -> None:
        """Start the process; raise MissingRuntimeError if it cannot run ONNX Runtime."""
        require_runtime()
        try:
            super().__init__(PROGRAM)
        except (OSError, RuntimeError) as error:
            told = f"ONNX Runtime needs a process, and none can be started: {one_line(error)}"
            raise MissingRuntimeError(told) from error


class Runner(Closing):
    """One model in a process. If the process dies, another one is started.

    The model runs on the CPU provider with one thread, without graph optimizations or, if
    ``fused``, with the default ones. ``judge`` names the program that runs the model; ``missing``
    says why this is not ONNX Runtime.
    """

    judge = "ONNX Runtime"
    missing = ""

    def __init__(self, model: ModelFile, library: str | None = None) -> None:
        """Start the process, which loads the model in the background."""
        self._model = model
        self._request = {"do": "open", **model.to_request(), "library": library, "threads": 1}
        self._process = self._start()

    def close(self) -> None:
        """End the process to free its memory; `reload` and `run` start another process."""
        self._process.close()
        self._is_alive = self._is_loading = False

    def load(self, timeout: float, *, fused: bool = False) -> NoReply | None:
        """Wait until the model is loaded; if `fused`, load it for fused runs. Return the error."""
        if not fused and self._is_loading:
            answer = self._first(timeout)
        elif not self._is_alive and not self._is_loading:
            return self.reload(timeout, fused=fused)
        else:
            answer = self._ask({**self._request, "optimize": fused}, [], timeout)
        return self._noted(answer, fused)

    def reload(self, timeout: float, *, fused: bool = False) -> NoReply | None:
        """Load the model in a new process; return the error, if any."""
        self._process.close()
        self._process = self._start(fused)
        return self._noted(self._first(timeout), fused)

    def drop(self, *, fused: bool) -> None:
        """Free the model that is loaded for such runs; the next one loads it again.

        The process ends if it keeps much memory.
        """
        if not fused and self._is_loading:
            self.load(_PATIENCE)
        number = self._sessions.pop(fused, None)
        if number is None or not self._is_alive:
            return
        answer = self._ask({"do": "drop", "session": number}, [], _PATIENCE)
        much = isinstance(answer, NoReply) or answer.content["held"] > _MUCH
        if much and not self._sessions:
            self.close()

    def run(
        self, feeds: Mapping[str, np.ndarray], timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray] | NoReply:
        """Return the outputs by name, or why the run failed."""
        if not self._is_alive and not self._is_loading:
            self.reload(timeout, fused=fused)
        elif fused not in self._sessions and (self._is_loading or fused not in self._failures):
            self.load(timeout, fused=fused)
        if fused not in self._sessions:
            return self._failures[fused if fused in self._failures else not fused]
        tensors = [to_raw(name, array) for name, array in feeds.items()]
        answer = self._ask({"do": "run", "session": self._sessions[fused]}, tensors, timeout)
        if isinstance(answer, NoReply):
            return answer
        return {tensor.name: from_raw(tensor) for tensor in answer.tensors}

    def fused_nodes(self, timeout: float) -> Counter[tuple[str, str]] | None:
        """Count the nodes that may round, and the packed inputs, that optimizations add.

        If they remove some, the count is negative: a Mul may become a part of a Conv's weights. The
        result is None if the optimized model cannot be written, such as one that is too large.
        """
        with scratch() as directory:
            file = directory / "fused.onnx"
            request = {**self._request, "do": "save", "target": str(file)}
            answer = self._ask(request, [], timeout)
            if isinstance(answer, NoReply):
                return None
            paths = (self._model.path, file)
            counts = [_operators(onnx.load(path, load_external_data=False)) for path in paths]
        counts[1].subtract(counts[0])
        return counts[1]

    def plan(self, model: bytes, timeout: float) -> tuple[str, dict[str, Any]] | None:
        """Return the name of the runtime, and its `memory_plan` of another model.

        ``model`` is this other model as bytes. The result is None if it does not load.
        """
        with scratch() as directory:
            file = ModelFile(directory / "asked.onnx")
            file.path.write_bytes(model)
            request = {**self._request, **file.to_request(), "do": "plan"}
            answer = self._ask({**request, "target": str(directory / "plan.ort")}, [], timeout)
        if isinstance(answer, NoReply):
            return None
        return f"{self.judge} {answer.content['by']}", answer.content["plan"]

    def _ask(
        self, request: dict[str, Any], tensors: list[RawTensor], timeout: float
    ) -> Reply | NoReply:
        """Send a request and return the answer; if the process has died, start it again first."""
        if self._is_loading:
            self.load(timeout)
        if not self._is_alive:
            failure = self.reload(timeout)
            if failure is not None and not self._is_alive:
                return failure
        answer = self._process.ask(request, tensors, timeout=timeout)
        if isinstance(answer, NoReply):
            self._is_alive = answer.kind == "error"
        return answer

    def _first(self, timeout: float) -> Reply | NoReply:
        """Wait for the model that the process loads since its start."""
        self._is_loading = False
        answer = self._process.receive(timeout)
        self._is_alive = isinstance(answer, Reply) or answer.kind == "error"
        return answer

    def _noted(self, answer: Reply | NoReply, fused: bool) -> NoReply | None:
        if isinstance(answer, NoReply):
            self._failures[fused] = answer
            return answer
        self._sessions[fused] = self._opened
        self._opened += 1
        return None

    def _start(self, fused: bool = False) -> OrtProcess:
        process = OrtProcess()
        process.send({**self._request, "optimize": fused})
        self._is_alive, self._is_loading = False, True
        self._opened = 0  # how many models the process has opened
        self._sessions: dict[bool, int] = {}  # those that are loaded, by whether they are fused
        self._failures: dict[bool, NoReply] = {}
        return process


_EXACT = those(lambda row: row.rounding <= Rounding.EXACT) - {"Pad"} | {"Range"}
"""Where ONNX Runtime folds one of these, no float changes. A Pad may become a part of a Conv."""


def _operators(model: onnx.ModelProto) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for node in all_nodes(ir.from_proto(model)):
        if node.domain or node.op_type not in _EXACT:
            counts[node.domain, node.op_type] += 1
        read = [node.inputs[at] for at in described(node).packs if at < len(node.inputs)]
        stored = sum(value is not None and value.is_initializer() for value in read)
        counts["packed", node.op_type] += stored
    return counts


def to_raw(name: str, array: np.ndarray) -> RawTensor:
    """Return a NumPy or ml_dtypes array as raw bytes."""
    if array.dtype.kind in "OUT":
        strings = tuple(str(text) for text in array.ravel())
        return RawTensor(name, ir.DataType.STRING.value, array.shape, strings=strings)
    dtype = ir.DataType.from_numpy(array.dtype)
    return RawTensor(name, dtype.value, array.shape, ir.Tensor(array, dtype=dtype).tobytes())


def from_raw(tensor: RawTensor) -> np.ndarray:
    """Return raw bytes as a NumPy or ml_dtypes array."""
    dtype = ir.DataType(tensor.type)
    if dtype == ir.DataType.STRING:
        return np.array(tensor.strings, dtype=object).reshape(tensor.shape)
    proto = onnx.TensorProto(data_type=tensor.type, dims=tensor.shape, raw_data=bytes(tensor.data))
    return ir.serde.TensorProtoTensor(proto).numpy()
