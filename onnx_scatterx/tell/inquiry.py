"""One question about a model: it is opened, the pipeline runs on it, and the report is made."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import onnx
import onnx_ir as ir

from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.engine.terms import fresh_symbols
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import (
    AnyModel,
    Files,
    ModelSource,
    Opened,
    Original,
    file_size,
    open_model,
    recorded,
)
from onnx_scatterx.graphs import cloned
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.pipeline import command_budget
from onnx_scatterx.processes import raised_gc_threshold
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
    original = opened.original()
    report, records = optimize_ir(
        loaded, settings, planned=True, details=details, observer=observer, original=original
    )
    return replace(report, about=About.of(loaded, opened, settings.options())), records


class Inquiry:
    """Questions about one model, which share its copy, what was found, and a budget of steps.

    ``settings`` get ``gathers`` if a question names a gather.
    """

    def __init__(self, model: ir.Model, settings: Settings, observer: Observer = NOBODY) -> None:
        self.model = model  # is not changed: each run takes a copy
        self.settings = settings
        self.observer = observer

    @classmethod
    @contextmanager
    def about(
        cls, model: AnyModel, settings: Settings, observer: Observer = NOBODY
    ) -> Iterator[Inquiry]:
        """Open a model, and take the steps of one command for all that is asked in this block."""
        _, loaded = opened_ir(model, observer)
        with raised_gc_threshold(), fresh_symbols(foreign=True), command_budget(loaded, settings):
            yield cls(loaded, settings, observer)

    @cached_property
    def inspected(self) -> tuple[Report, tuple[NodeRecord, ...]]:
        """The report of ``inspect`` without the details of a page, and its records."""
        return inspect_records(self.model, self.settings, self.observer, details=False)

    def named(self, node: str) -> tuple[NodeRecord, ...]:
        """Return the records of the scatters or gathers of a name; several graphs may use one name.

        Raises ScatterXError if no scatter and no gather has this name.
        """
        _, records = self.inspected
        named = tuple(record for record in records if record.entry.node == node)
        if named:
            return named
        if not self.settings.given["gathers"]:
            self.settings = self.settings.but(gathers=True)
            del self.inspected
            return self.named(node)
        names = list(dict.fromkeys(record.entry.node for record in records))
        if not names:
            raise ScatterXError(f"no scatter or gather is called {node!r}: the model has none")
        near = difflib.get_close_matches(node, names, _NAMES, 0.5) or names[:_NAMES]
        there = ", ".join([*near, "..."] if len(near) < len(names) else near)
        raise ScatterXError(f"no scatter or gather is called {node!r}; there is {there}")


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
        again = opened.original()
        report, records = optimize_ir(loaded, settings, observer=observer, original=again)
    about = About.of(loaded, opened, settings.options())
    made: Any = loaded
    if original is not None:
        made = original.merged(loaded)
        about = replace(about, size_after=file_size(made))
    return Optimized(made, replace(report, about=about), records, given.source, read)
