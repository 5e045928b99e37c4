"""An open model in this process, with its inputs bound: only the run itself is timed."""

from __future__ import annotations

from collections.abc import Sequence

import onnxruntime as ort

from onnx_scatterx.runtime.ort_session import STRING, run_raw, value_of
from onnx_scatterx.runtime.timing import Call
from onnx_scatterx.system.messages import RawTensor


class Bound:
    """A model, and a call that runs it on its inputs."""

    def __init__(self, session: ort.InferenceSession, tensors: Sequence[RawTensor]) -> None:
        self._session = session
        self._tensors = tensors
        self.call = self._bound()

    def _bound(self) -> Call:
        others = any(not o.type.startswith("tensor(") for o in self._session.get_outputs())
        if others or any(tensor.type == STRING for tensor in self._tensors):
            return lambda: run_raw(self._session, self._tensors)  # tensors that cannot be bound
        binding = self._session.io_binding()
        for tensor in self._tensors:
            binding.bind_ortvalue_input(tensor.name, value_of(tensor))
        for output in self._session.get_outputs():
            binding.bind_output(output.name)
        return lambda: self._session.run_with_iobinding(binding)

    def outputs(self) -> list[RawTensor]:
        """Run for the outputs, and once in the way that is timed."""
        found = run_raw(self._session, self._tensors)
        self.call()
        return found

    def trace(self, runs: int) -> str:
        """Run some times, and return the file of the trace that the session wrote."""
        for _ in range(runs):
            self.call()
        return str(self._session.end_profiling())
