"""One question about a model: it is opened, the pipeline runs on it, and the report is made."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import onnx
import onnx_ir as ir

from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files.check import free_names
from onnx_scatterx.files.io import Opened, open_model
from onnx_scatterx.files.merge import Original
from onnx_scatterx.files.model_source import AnyModel, ModelSource
from onnx_scatterx.files.reading import Files, recorded
from onnx_scatterx.files.size import file_size
from onnx_scatterx.graphs.cleanup import cloned
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.processes.collection import raised_gc_threshold
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import About
from onnx_scatterx.tell.report import Report
from onnx_scatterx.tell.reporting import optimize_ir

M = TypeVar("M", onnx.ModelProto, ir.Model)
"""The kind of a model: that which the user gave."""

_NAMES = 5  # that an error lists


def inspect_records(
    model: AnyModel, settings: Settings, observer: Observer = NOBODY, *, details: bool = True
) -> tuple[Report, tuple[NodeRecord, ...]]:
    """Return the report of ``inspect``, and the records from which it was made."""
    opened, loaded = opened_ir(model, observer)
    report, records = optimize_ir(
        loaded, settings, planned=True, details=details, observer=observer
    )
    return replace(report, about=About.of(loaded, opened, settings.options())), records


def inspect_named(
    model: AnyModel, node: str, settings: Settings, observer: Observer = NOBODY
) -> tuple[Settings, tuple[NodeRecord, ...]]:
    """Return the records of the scatters or gathers of a name; several graphs may use one name.

    The returned settings have ``gathers`` if a gather has this name. Raises ScatterXError if no
    scatter and no gather has this name.
    """
    _, records = inspect_records(model, settings, observer, details=False)
    named = tuple(record for record in records if record.entry.node == node)
    if named:
        return settings, named
    if not settings.given["gathers"]:
        return inspect_named(model, node, settings.but(gathers=True))
    names = list(dict.fromkeys(record.entry.node for record in records))
    if not names:
        raise ScatterXError(f"no scatter or gather is called {node!r}: the model has none")
    near = difflib.get_close_matches(node, names, _NAMES, 0.5) or names[:_NAMES]
    there = ", ".join([*near, "..."] if len(near) < len(names) else near)
    raise ScatterXError(f"no scatter or gather is called {node!r}; there is {there}")


def loaded_ir(model: AnyModel, observer: Observer = NOBODY) -> ir.Model:
    """Return a copy of a model as an ``onnx_ir.Model``."""
    return opened_ir(model, observer)[1]


def opened_ir(model: AnyModel, observer: Observer) -> tuple[Opened, ir.Model]:
    """Return the opened model, and an ``onnx_ir.Model`` of it that may be changed."""
    observer.stage("reading", what=ModelSource.of(model).source or "")
    opened = open_model(model)
    return opened, cloned(opened.model) if opened.message is None else opened.model


class Optimized(NamedTuple):
    """A new model of the kind that came in, its report and records, and what was read for it."""

    model: Any
    report: Report
    records: tuple[NodeRecord, ...]
    source_path: Path | None
    read: Files


@raised_gc_threshold()
def optimized(model: AnyModel, observer: Observer = NOBODY, **options: Any) -> Optimized:
    """Return a new model without the scatters that can be proven to be slices.

    The arguments and the errors are those of ``optimize``.
    """
    with recorded() as read:
        settings = Settings.of(**options)
        opened, loaded = opened_ir(model, observer)
        proto, given = opened.message, opened.given
        original = None if proto is None else Original(proto, loaded, ours=opened.ours)
        report, records = optimize_ir(loaded, settings, observer=observer)
    about = About.of(loaded, opened, settings.options())
    made: Any = loaded
    if original is not None:
        made = original.merged(loaded)
        _check_names(made)
        about = replace(about, size_after=file_size(made))
    return Optimized(made, replace(report, about=about), records, given.source, read)


def _check_names(made: onnx.ModelProto) -> None:
    """Raise an error if nothing defines a value that a result reads: no runtime loads it."""
    for graph in (made.graph, *made.functions):
        for name in sorted(free_names(graph, [])):
            raise ScatterXError(f"a bug, please report it: nothing in the result defines {name!r}")
