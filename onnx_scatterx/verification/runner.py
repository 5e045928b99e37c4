"""One model that is run again and again in a worker process, and outlives its crashes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.verification.process import Answer, Failure, OrtProcess
from onnx_scatterx.verification.protocol import RawTensor

__all__ = ["Failure", "ModelFile", "Runner", "from_raw", "to_raw"]


@dataclass(frozen=True)
class ModelFile:
    """A binary model file, and where its external data lie if not beside it."""

    path: Path
    data_directory: Path | None = None

    def to_request(self) -> dict[str, str | None]:
        """Return what a worker process is told; links are left for ONNX Runtime to follow."""
        directory = self.data_directory
        return {
            "model": str(self.path.absolute()),
            "data_directory": None if directory is None else str(directory.absolute()),
        }


class Runner:
    """One model in a process of its own, which is started again after it died.

    The judge is the CPU provider with one thread and no graph optimizations.
    """

    def __init__(self, model: ModelFile, library: str | None = None) -> None:
        """Start the process; the model loads while the caller does something else."""
        self._request = {
            "do": "open",
            **model.to_request(),
            "library": library,
            "threads": 1,
            "optimize": False,
        }
        self._process = self._start()

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.close()

    @property
    def process_id(self) -> int:
        """The process that runs the model now."""
        return self._process.id

    def load(self, timeout: float) -> Failure | None:
        """Wait until the model is loaded; return why it cannot be."""
        answer = self._process.receive(timeout)
        self._loaded = isinstance(answer, Answer)
        return answer if isinstance(answer, Failure) else None

    def run(
        self, feeds: Mapping[str, np.ndarray], timeout: float
    ) -> dict[str, np.ndarray] | Failure:
        """Return the outputs by name, or why there are none."""
        if not self._loaded:
            self._process.close()
            self._process = self._start()
            failure = self.load(timeout)
            if failure is not None:
                return failure
        tensors = [to_raw(name, array) for name, array in feeds.items()]
        answer = self._process.ask({"do": "run", "session": 0}, tensors, timeout=timeout)
        if isinstance(answer, Failure):
            self._loaded = answer.kind == "error"
            return answer
        return {tensor.name: from_raw(tensor) for tensor in answer.tensors}

    def _start(self) -> OrtProcess:
        process = OrtProcess()
        process.send(self._request)
        self._loaded = False
        return process


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
