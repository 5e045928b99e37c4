"""Running models in ONNX Runtime with the native ScatterX operator."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, ScatterXError, one_line
from onnx_scatterx.indexing.walk import all_graphs
from onnx_scatterx.running.feeds import fitted
from onnx_scatterx.running.library import library_path

if TYPE_CHECKING:
    import onnxruntime as ort

AnyModel: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | ir.Model"

OLDEST = (1, 18)
"""The first ONNX Runtime that has custom operators which may update a tensor in place."""

_MESSAGE_LIMIT = 1 << 30  # bytes of a model that are handed over in memory


def session(
    model: AnyModel,
    *,
    session_options: ort.SessionOptions | None = None,
    providers: Sequence[Any] | None = None,
    **more: Any,
) -> ort.InferenceSession:
    """Open a model in ONNX Runtime with the ScatterX library registered.

    ``model`` is a path, a ModelProto or an ``onnx_ir.Model``. The library is registered with
    ``session_options``, so these are good for one session. ``providers`` are the CPU provider where
    not given; ``more`` goes to ``onnxruntime.InferenceSession``, whose errors come through. Raises
    ScatterXError where the library is not there or ONNX Runtime is too old.

    >>> session("model.onnx").run(None, {"x": x})  # doctest: +SKIP
    """
    ort = _onnxruntime()
    options = ort.SessionOptions() if session_options is None else session_options
    options.register_custom_ops_library(str(library_path()))
    return _opened(
        model, options, ["CPUExecutionProvider"] if providers is None else providers, more
    )


def run_model(
    model: AnyModel,
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str] | None = None,
    *,
    threads: int = 0,
    library: bool = True,
) -> dict[str, np.ndarray]:
    """Run a model once and return its outputs by name, those of a sequence as ``name[i]``.

    ``outputs`` chooses some. ``threads`` is how many ONNX Runtime uses for one node, as many as
    there are cores where 0. Without the ``library`` the fallbacks of ScatterX run. Raises
    ScatterXError, in one line, whatever is wrong: inputs that are missing, that the model does not
    have or that are of another type or shape, and what ONNX Runtime says of the model.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] z) { z = Neg(x) }''')
    >>> run_model(model, {"x": np.float32([1, -2])}, library=False)
    {'z': array([-1.,  2.], dtype=float32)}
    """
    return run_opened(open_model(model, threads=threads, library=library), inputs, outputs)


def open_model(model: AnyModel, *, threads: int = 0, library: bool = True) -> ort.InferenceSession:
    """Open a model as ``run_model`` does."""
    options = session_options(threads=threads, library=library)
    try:
        return _opened(model, options, ["CPUExecutionProvider"], {})
    except ort_errors() as error:
        raise ModelError(f"ONNX Runtime cannot load the model: {one_line(error)}") from error


def session_options(*, threads: int, library: bool) -> ort.SessionOptions:
    """Return options for one session, which says nothing but by raising errors."""
    ort = _onnxruntime(library)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    if library:
        file = str(library_path())
        try:
            options.register_custom_ops_library(file)
        except ort_errors() as error:
            raise ScatterXError(f"{file} cannot be registered: {one_line(error)}") from error
    return options


def run_opened(
    opened: ort.InferenceSession,
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str] | None = None,
) -> dict[str, np.ndarray]:
    """Run a model that is open, as ``run_model`` does."""
    from onnx_scatterx.verification.ort_session import run_raw
    from onnx_scatterx.verification.runner import from_raw, to_raw

    feeds = fitted(inputs, opened.get_inputs(), opened.get_overridable_initializers())
    names = [o.name for o in opened.get_outputs()]
    for name in outputs or ():
        if name not in names:
            raise ScatterXError(f"the model has no output {name!r}; it has {', '.join(names)}")
    tensors = [to_raw(name, array) for name, array in feeds.items()]
    try:
        found = run_raw(opened, tensors, outputs)
    except ort_errors() as error:
        raise ScatterXError(f"ONNX Runtime cannot run the model: {one_line(error)}") from error
    return {tensor.name: from_raw(tensor) for tensor in found}


def _onnxruntime(library: bool = True) -> Any:
    import onnxruntime as ort

    if not library:
        return ort
    version = tuple(int(n) for n in ort.__version__.split(".")[:2])
    if version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ScatterXError(
            f"the ScatterX library needs ONNX Runtime {oldest} or newer, and this is "
            f"{ort.__version__}; upgrade it, or run the model without the library"
        )
    return ort


def ort_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that ONNX Runtime raises: one class for each of its status codes."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found = (getattr(state, name) for name in dir(state))
    errors = (t for t in found if isinstance(t, type) and issubclass(t, Exception))
    return (*errors, ValueError, RuntimeError)


def _opened(
    model: AnyModel, options: ort.SessionOptions, providers: Sequence[Any], more: Mapping[str, Any]
) -> ort.InferenceSession:
    import onnxruntime as ort

    from onnx_scatterx.model import io as model_io

    if isinstance(model, ir.Model):
        tensors = [v.const_value for g in all_graphs(model) for v in g.initializers.values()]
        size = sum(t.nbytes for t in tensors if t is not None)
        if size > _MESSAGE_LIMIT or any(isinstance(t, ir.ExternalTensor) for t in tensors):
            with tempfile.TemporaryDirectory() as directory:
                path = Path(directory) / "model.onnx"
                model_io.save(model, path)
                return ort.InferenceSession(path, options, providers, **more)
        model = ir.to_proto(model)
    if isinstance(model, onnx.ModelProto):
        return ort.InferenceSession(model.SerializeToString(), options, providers, **more)
    from onnx_scatterx.verification.ort_session import source

    path = Path(model)
    model_io.check_file(path)
    with source(os.fspath(path), None, options) as found:
        return ort.InferenceSession(found, options, providers, **more)
