"""Opens sessions of ONNX Runtime, with the native ScatterX operator if a model needs it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import MissingRuntimeError, ModelError, ScatterXError, one_line
from onnx_scatterx.files import (
    AnyModel,
    ModelSource,
    check_file,
    follow_links,
    from_proto,
    ir_tensors,
    load,
    locations,
    save,
    to_proto,
)
from onnx_scatterx.graphs import all_nodes, called_function, is_scatterx_domain
from onnx_scatterx.observer import LOG
from onnx_scatterx.processes import postponed, scratch
from onnx_scatterx.runtime.library import REMEDY, library_path, missing_library

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
            provider, and if this installation has the library or the model cannot run without it.
            The library runs only on the CPU: under another provider, each ScatterX node would fetch
            its tensors from the device, so its fallback may be faster.
        more: further arguments of ``onnxruntime.InferenceSession``, which may raise its own errors.

    Raises:
        ScatterXError: ONNX Runtime is missing, the library is needed and cannot be found, or ONNX
            Runtime is too old for it.
        TypeError: ``model`` is not a model.

    Example:
        >>> session("model.onnx").run(None, {"x": x})  # doctest: +SKIP

    """
    if not providers:
        providers = None if _has_providers(session_options) else [_CPU]
    if library is None and (providers is None or _name(providers[0]) != _CPU):
        library = False
    registered = library_for(model, library)
    import onnxruntime as ort

    options = ort.SessionOptions() if session_options is None else session_options
    if registered is not None:
        options.register_custom_ops_library(registered)
    return _opened(model, options, providers, more)


def _name(provider: Any) -> str:
    """Return the name of a provider, which is a name, or a pair of the name and options."""
    return str(provider if isinstance(provider, str) else provider[0])


def _has_providers(options: Any) -> bool:
    """Return whether session options name providers, as is possible from ONNX Runtime 1.22 on."""
    return hasattr(options, "has_providers") and bool(options.has_providers())


def library_for(model: AnyModel, library: bool | None = None) -> str | None:
    """Return the path of the library to register for a model; None if none is registered.

    Args:
        model: as ``optimize`` takes it; it is read only if ``library`` is None and the library is
            missing.
        library: whether to register it; None: if this installation has it, or the model needs it.
            A model needs it for a ScatterX node without a fallback. If fallbacks run because the
            library is missing, the log has a warning, once in a process.

    Raises:
        ScatterXError: ONNX Runtime is missing or too old, or the library is missing.

    """
    require_runtime()
    missing = missing_library() if library is None else None
    registers = library is not False and missing is None
    check_runtime(registers)
    if registers:
        return str(library_path())
    if missing is not None:
        try:
            loaded = load(model)
        except ModelError:  # ONNX Runtime may still take it
            return None
        nodes = [node for node in all_nodes(loaded) if is_scatterx_domain(node.domain)]
        if any(called_function(loaded, node) is None for node in nodes):
            told = f"{missing}: the model has a ScatterX node without a fallback; {REMEDY}"
            raise ScatterXError(told)
        if nodes:
            warn_once(f"{missing}: ScatterX nodes run by their fallbacks")
    return None


@cache
def warn_once(message: str) -> None:
    """Write a warning to the log, once in a process."""
    LOG.warning("%s", message)


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

    model_source = ModelSource.of(model)
    content = model_source.model
    if isinstance(content, onnx.ModelProto) and model_source.directory and locations(content):
        content = from_proto(content)
        follow_links(content, model_source.directory)
    if isinstance(content, ir.Model):
        tensors = list(ir_tensors(content))
        size = sum(t.nbytes for t in tensors)
        if size > _MESSAGE_LIMIT or any(isinstance(t, ir.ExternalTensor) for t in tensors):
            with scratch() as directory:
                path = directory / "model.onnx"
                save(content, path)
                return ort.InferenceSession(path, options, providers, **more)
        content = to_proto(content)
    if isinstance(content, onnx.ModelProto):
        return ort.InferenceSession(content.SerializeToString(), options, providers, **more)
    from onnx_scatterx.runtime.ort_session import source

    path = content
    check_file(path)
    with source(os.fspath(path), None, options) as argument:
        return ort.InferenceSession(argument, options, providers, **more)
