"""Runs a model in onnx's reference evaluator, if ONNX Runtime is missing.

The evaluator is written in Python, and runs in this process. It may round otherwise than ONNX
Runtime, and takes some inputs that ONNX Runtime rejects.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx

from onnx_scatterx.errors import MissingRuntimeError, one_line
from onnx_scatterx.processes import NoReply
from onnx_scatterx.runtime.session import EVALUATOR
from onnx_scatterx.runtime.worker_client import ModelFile, Runner, from_raw, to_raw


def runner_of(model: ModelFile, library: str | None = None) -> Runner:
    """Return a model in ONNX Runtime; if ONNX Runtime is missing, in the evaluator.

    Raises MissingRuntimeError if the evaluator would have to run a library of custom operators.
    """
    try:
        return Runner(model, library)
    except MissingRuntimeError as error:
        if library is not None:
            raise
        return Evaluated(model, str(error))


class Evaluated(Runner):
    """One model in the evaluator, which has no optimizations; ``missing`` says why it is used."""

    judge = EVALUATOR

    def __init__(self, model: ModelFile, missing: str) -> None:
        self._model, self.missing = model, missing

    def close(self) -> None:
        """Do nothing: the evaluator has no process to end."""

    def load(self, timeout: float, *, fused: bool = False) -> NoReply | None:
        """Load the model; return the error, if any."""
        from onnx.reference import ReferenceEvaluator
        from onnx.reference.ops import load_op

        if fused:
            return NoReply("error", f"{self.judge} has no optimizations")
        try:
            with _within(timeout):
                path, data = self._model.path, self._model.data_directory
                model = onnx.load(path, load_external_data=False)
                onnx.load_external_data_for_model(model, os.fspath(data or path.parent))
                strict = [_strict(load_op("", name, None), fits) for name, fits in _FIT.items()]
                self._evaluator = ReferenceEvaluator(model, new_ops=strict)
        except Exception as error:
            return NoReply("error", one_line(error))
        return None

    reload = load

    def drop(self, *, fused: bool) -> None:
        """Do nothing: the evaluator has one form of a model."""

    def plan(self, model: bytes, timeout: float) -> None:
        """Return None: the evaluator does not reuse memory by inferred dims."""

    def run(
        self, feeds: Mapping[str, np.ndarray], timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray] | NoReply:
        """Return the outputs by name, or why the run failed."""
        try:
            with _within(timeout), np.errstate(all="ignore"):
                outputs = self._evaluator.run(None, dict(feeds))
            named = zip(self._evaluator.output_names, outputs, strict=True)
            return dict(array for name, value in named for array in _arrays(name, value))
        except Exception as error:
            return NoReply("error", one_line(error))


def _strict(op: type, fits: Callable[..., bool]) -> type:
    """Return an operator that rejects inputs for which the evaluator would give a wrong result."""

    def run(self: Any, *inputs: np.ndarray, **attributes: Any) -> Any:
        if not fits(*inputs, **attributes):
            shapes = ["missing" if array is None else np.shape(array) for array in inputs]
            raise ValueError(f"{op.__name__} of shapes {shapes}")
        return op._run(self, *inputs, **attributes)  # type: ignore[attr-defined]

    return type(op.__name__, (op,), {"_run": run})


_FIT: dict[str, Callable[..., bool]] = {
    # the evaluator takes a missing condition for false
    "Loop": lambda count, condition, *_, **__: condition is not None,
    "Gather": lambda x, i, axis: bool(((i >= -x.shape[axis]) & (i < x.shape[axis])).all()),
    "ScatterElements": lambda x, i, u, **_: u.shape == i.shape,
    "ScatterND": lambda x, i, u, **_: u.shape == i.shape[:-1] + x.shape[i.shape[-1] :],
}


def _arrays(name: str, value: object) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of an output: of a sequence all elements, of an absent optional none."""
    if isinstance(value, list):
        for i, part in enumerate(value):
            yield from _arrays(f"{name}[{i}]", part)
    elif value is not None:
        yield name, from_raw(to_raw(name, np.asarray(value)))


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in this block when a function is called after so many seconds."""
    end, before = time.monotonic() + seconds, sys.getprofile()

    def look(*_: object) -> None:
        if time.monotonic() > end:
            raise TimeoutError(f"no answer within {seconds:g} s")

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
