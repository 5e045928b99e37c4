"""Running models in ONNX Runtime with the native ScatterX operator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files.scratch import scratch
from onnx_scatterx.indexing.walk import all_graphs
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
    check_runtime(library=True)
    import onnxruntime as ort

    options = ort.SessionOptions() if session_options is None else session_options
    options.register_custom_ops_library(str(library_path()))
    return _opened(
        model, options, ["CPUExecutionProvider"] if providers is None else providers, more
    )


def check_runtime(library: bool) -> None:
    """Raise ScatterXError if the library is to be used and ONNX Runtime is too old for it."""
    import onnxruntime as ort

    version = tuple(int(n) for n in ort.__version__.split(".")[:2])
    if library and version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ScatterXError(
            f"the ScatterX library needs ONNX Runtime {oldest} or newer, and this is "
            f"{ort.__version__}; upgrade it, or run the model without the library"
        )


def _opened(
    model: AnyModel, options: ort.SessionOptions, providers: Sequence[Any], more: Mapping[str, Any]
) -> ort.InferenceSession:
    import onnxruntime as ort

    from onnx_scatterx.model import io as model_io

    if isinstance(model, ir.Model):
        tensors = [v.const_value for g in all_graphs(model) for v in g.initializers.values()]
        size = sum(t.nbytes for t in tensors if t is not None)
        if size > _MESSAGE_LIMIT or any(isinstance(t, ir.ExternalTensor) for t in tensors):
            with scratch() as directory:
                path = directory / "model.onnx"
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
