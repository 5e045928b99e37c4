"""Opens sessions of ONNX Runtime with the native ScatterX operator, and finds its library."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import MissingRuntimeError, ScatterXError, one_line
from onnx_scatterx.ir.data import from_proto, ir_tensors, locations, to_proto
from onnx_scatterx.ir.io import AnyModel, ModelSource
from onnx_scatterx.ir.outside import follow_links
from onnx_scatterx.system.interrupts import postponed
from onnx_scatterx.system.reading import is_utf8, note_read
from onnx_scatterx.system.scratch import scratch

if TYPE_CHECKING:
    import onnxruntime as ort


EVALUATOR = "onnx's reference evaluator"  # in which `verify` runs models without ONNX Runtime


def require_runtime() -> None:
    """Raise MissingRuntimeError if ONNX Runtime cannot be imported."""
    try:
        with postponed():  # a signal would look like a failed import
            import onnxruntime  # noqa: F401 - is it there?
    except ImportError as error:
        told = f"ONNX Runtime is missing ({one_line(error)}): pip install onnxruntime"
        raise MissingRuntimeError(told) from error


_ENDINGS = {"darwin": ".dylib", "win32": ".dll"}  # by sys.platform; .so elsewhere


def library_path() -> Path:
    """Return the file of the ScatterX library, for ``register_custom_ops_library``.

    If you have built the library yourself, the variable ONNX_SCATTERX_LIBRARY names its file.

    Raises:
        ScatterXError: this installation lacks the library, because it was built without a compiler.

    Example:
        >>> options = onnxruntime.SessionOptions()  # doctest: +SKIP
        >>> options.register_custom_ops_library(str(library_path()))  # doctest: +SKIP

    """
    path = _library_path()
    note_read(path, "the ScatterX library")
    return path


def _library_path() -> Path:
    chosen = os.environ.get("ONNX_SCATTERX_LIBRARY")
    if chosen:
        path = Path(chosen)
        if not path.is_file():
            raise ScatterXError(f"ONNX_SCATTERX_LIBRARY names {path}, which is not a file")
        if not is_utf8(chosen):
            raise ScatterXError(f"ONNX Runtime loads no library whose path is not UTF-8: {path}")
        return path
    name = f"scatterx_ops{_ENDINGS.get(sys.platform, '.so')}"
    beside = Path(str(importlib.resources.files("onnx_scatterx"))) / name
    if beside.is_file():
        return beside
    # Python may have found a source tree first: then the library is in the installed package.
    try:
        files = importlib.metadata.distribution("onnx-scatterx").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == name and Path(str(file.locate())).is_file():
            return Path(str(file.locate()))
    raise ScatterXError(
        f"this installation has no ScatterX library ({name}): install a wheel for this platform, "
        "or again from source where there is a C++ compiler, or run without it (--no-library)"
    )


OLDEST = (1, 18)
"""The first version of ONNX Runtime in which a custom operator may update a tensor in place."""

_CPU = "CPUExecutionProvider"
_MESSAGE_LIMIT = 1 << 30  # the most bytes of a model that is passed in memory


def session(
    model: AnyModel,
    *,
    session_options: ort.SessionOptions | None = None,
    providers: Sequence[Any] | None = None,
    library: bool | None = None,
    **more: Any,
) -> ort.InferenceSession:
    """Open a model in ONNX Runtime, with the ScatterX library registered if it runs on the CPU.

    Args:
        model: a path, a ModelProto, an ``onnx_ir.Model``, or an object with one, as a ``Result``.
        session_options: the SessionOptions. The library is registered with them, so they must not
            be used for another session.
        providers: by default those in ``session_options``, or else the CPU provider.
        library: whether to register the library; by default, if the first provider is the CPU
            provider. The library runs only on the CPU: under another provider, each ScatterX node
            would fetch its tensors from the device, so its fallback may be faster.
        more: further arguments of ``onnxruntime.InferenceSession``, which may raise its own errors.

    Raises:
        ScatterXError: ONNX Runtime is missing, the library cannot be found, or ONNX Runtime is too
            old for the library.
        TypeError: ``model`` is not a model.

    Example:
        >>> session("model.onnx").run(None, {"x": x})  # doctest: +SKIP

    """
    if not providers:
        providers = None if _has_providers(session_options) else [_CPU]
    if library is None:
        library = providers is not None and _name(providers[0]) == _CPU
    check_runtime(library)
    import onnxruntime as ort

    options = ort.SessionOptions() if session_options is None else session_options
    if library:
        options.register_custom_ops_library(str(library_path()))
    return _opened(model, options, providers, more)


def _name(provider: Any) -> str:
    """Return the name of a provider, which is a name, or a pair of the name and options."""
    return str(provider if isinstance(provider, str) else provider[0])


def _has_providers(options: Any) -> bool:
    """Return whether session options name providers, as is possible from ONNX Runtime 1.22 on."""
    return hasattr(options, "has_providers") and bool(options.has_providers())


def check_runtime(library: bool) -> None:
    """Raise ScatterXError if ONNX Runtime is missing; with ``library``, also if it is too old."""
    require_runtime()
    import onnxruntime as ort

    version = tuple(int(n) for n in ort.__version__.split(".")[:2])
    if library and version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ScatterXError(
            f"the ScatterX library needs ONNX Runtime {oldest} or newer, and this is "
            f"{ort.__version__}; upgrade it, or run the model without the library"
        )


def _opened(
    model: AnyModel,
    options: ort.SessionOptions,
    providers: Sequence[Any] | None,
    more: Mapping[str, Any],
) -> ort.InferenceSession:
    import onnxruntime as ort

    from onnx_scatterx.ir import io as model_io

    given = ModelSource.of(model)
    content = given.model
    if isinstance(content, onnx.ModelProto) and given.directory and locations(content):
        content = from_proto(content)
        follow_links(content, given.directory)
    if isinstance(content, ir.Model):
        tensors = list(ir_tensors(content))
        size = sum(t.nbytes for t in tensors)
        if size > _MESSAGE_LIMIT or any(isinstance(t, ir.ExternalTensor) for t in tensors):
            with scratch() as directory:
                path = directory / "model.onnx"
                model_io.save(content, path)
                return ort.InferenceSession(path, options, providers, **more)
        content = to_proto(content)
    if isinstance(content, onnx.ModelProto):
        return ort.InferenceSession(content.SerializeToString(), options, providers, **more)
    from onnx_scatterx.runtime.ort_session import source

    path = content
    model_io.check_file(path)
    with source(os.fspath(path), None, options) as argument:
        return ort.InferenceSession(argument, options, providers, **more)
