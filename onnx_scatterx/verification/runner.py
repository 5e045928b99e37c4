"""The parent's side of a worker process: start it, feed it, outlive its crashes."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import one_line
from onnx_scatterx.model.data import ir_graphs
from onnx_scatterx.verification.protocol import RawTensor, receive, send


@dataclass(frozen=True)
class Failure:
    """Why a model gave no outputs: it said no, its process died, or it did not answer in time."""

    kind: Literal["error", "crash", "timeout"]
    reason: str


@dataclass(frozen=True)
class ModelFile:
    """A binary model file, and where its external data lie if not beside it."""

    path: Path
    data_directory: Path | None = None


class Runner:
    """One model in a process of its own, which is started again after it died."""

    def __init__(self, model: ModelFile, library: str | None = None) -> None:
        """Start the process; the model loads while the caller does something else."""
        self._request = {
            "model": str(model.path.resolve()),
            "data_directory": model.data_directory and str(model.data_directory.resolve()),
            "library": library,
        }
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._process = self._start()
        self._loaded = False

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        self._log.close()

    @property
    def process_id(self) -> int:
        """The process that runs the model now."""
        return self._process.pid

    def load(self, timeout: float, *, fused: bool = False) -> Failure | None:
        """Wait until the model is loaded, the second time if `fused`; return why it cannot be."""
        if fused:
            answer = self._ask({"load": True, "fused": True}, [], timeout)
        else:
            answer = self._receive(timeout)
            self._loaded = not isinstance(answer, Failure)
        return answer if isinstance(answer, Failure) else None

    def run(
        self, feeds: Mapping[str, np.ndarray], timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray] | Failure:
        """Return the outputs by name, or why there are none.

        If `fused`, the model runs under ONNX Runtime's default options, else without optimizations.
        """
        tensors = [to_raw(name, array) for name, array in feeds.items()]
        answer = self._ask({"fused": fused}, tensors, timeout)
        if isinstance(answer, Failure):
            return answer
        return {tensor.name: from_raw(tensor) for tensor in answer}

    def fused_nodes(self, timeout: float) -> Counter[tuple[str, str]] | None:
        """Count the nodes that ONNX Runtime makes of the model beyond those that it has.

        It is None if the optimized model cannot be written, which may be too large for a file.
        """
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory) / "fused.onnx"
            answer = self._ask({"load": True, "fused": True, "save": str(place)}, [], timeout)
            if isinstance(answer, Failure):
                return None
            paths = (str(self._request["model"]), str(place))
            counts = [_operators(onnx.load(path, load_external_data=False)) for path in paths]
        return counts[1] - counts[0]

    def _ask(
        self, header: dict[str, Any], tensors: list[RawTensor], timeout: float
    ) -> list[RawTensor] | Failure:
        """Exchange messages with the process, which is started again if it died."""
        if not self._loaded:
            self._stop()
            self._process = self._start()
            failure = self.load(timeout)
            if failure is not None:
                return failure
        self._send(header, tensors)
        answer = self._receive(timeout)
        if isinstance(answer, Failure):
            self._loaded = answer.kind == "error"
        return answer

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            # -P: a file in the current directory is no module of ours
            [sys.executable, "-P", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)},
        )
        self._process = process
        self._loaded = False
        self._send(self._request, [])
        return process

    def _stop(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _send(self, header: dict[str, Any], tensors: list[RawTensor]) -> None:
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, header, tensors)
        except OSError:  # the process is gone: receiving will find out
            return

    def _receive(self, timeout: float) -> list[RawTensor] | Failure:
        late = threading.Event()
        process = self._process

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout, give_up)
        timer.daemon = True  # Ctrl-C may come while it starts, and must not wait for it
        try:
            timer.start()
            assert process.stdout is not None
            header, tensors = receive(process.stdout)
        except EOFError:
            if late.is_set():
                return Failure("timeout", f"no answer within {timeout:.0f} s")
            return Failure("crash", self._last_words(process.wait()))
        finally:
            timer.cancel()
        return Failure("error", one_line(header["error"])) if "error" in header else tensors

    def _last_words(self, status: int) -> str:
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 2000))
        lines = self._log.read().decode(errors="replace").split("\n")
        words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        how = f"exit status {status}"
        if status < 0:
            how = f"killed by {signal.Signals(-status).name}"
        return one_line(f"the process died ({how}){': ' if words else ''}{words}")


def _operators(model: onnx.ModelProto) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for graph in ir_graphs(ir.from_proto(model)):
        counts.update((node.domain, node.op_type) for node in graph)
    return counts


_PROGRAM = "from onnx_scatterx.verification.worker import main; main()"


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
