"""Questions about one model: it is opened, the pipeline runs on it, and the report is made."""

from __future__ import annotations

import copy
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
    file_size,
    files_read,
    open_model,
    recorded,
)
from onnx_scatterx.graphs import cloned
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.pipeline import command_budget
from onnx_scatterx.processes import raised_gc_threshold
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import About
from onnx_scatterx.tell.report import Report, may_advise
from onnx_scatterx.tell.reporting import optimize_ir
from onnx_scatterx.tell.sections import settled

ModelT = TypeVar("ModelT", onnx.ModelProto, ir.Model)
"""The kind of a model: that which the user gave."""

_NAMES = 5  # that an error lists


class Inquiry:
    """Questions about one model, which was opened once; they share what is found, and a budget.

    ``settings`` get ``gathers`` if a question names a gather. ``unopened`` is the model as the
    user has it: a path, a message, or an object.
    """

    def __init__(
        self, unopened: AnyModel, opened: Opened, settings: Settings, observer: Observer = NOBODY
    ) -> None:
        self.unopened = unopened
        self.opened = opened
        self.settings = settings
        self.observer = observer
        self._original = opened.original()
        self._may_change_opened = opened.message is not None

    @classmethod
    @contextmanager
    def about(
        cls, model: AnyModel, settings: Settings, observer: Observer = NOBODY
    ) -> Iterator[Inquiry]:
        """Open a model, and take the steps of one command for all that is asked in this block."""
        observer.stage("reading", what=ModelSource.of(model).file or "")
        with raised_gc_threshold():
            opened = open_model(model)
            with fresh_symbols(foreign=True), command_budget(opened.model, settings):
                yield cls(model, opened, settings, observer)

    def under(self, settings: Settings) -> Inquiry:
        """Return an inquiry about the same model under other settings."""
        other = copy.copy(self)
        other.settings, self._may_change_opened = settings, False  # the other one may
        vars(other).pop("inspected", None)
        return other

    @cached_property
    def model(self) -> ir.Model:
        """The model as it was opened, which no question changes."""
        if self.opened.message is None or self._may_change_opened:
            self._may_change_opened = False
            return self.opened.model
        return self._original()

    def _to_change(self) -> ir.Model:
        """Return the model as it was opened, to be changed by a run."""
        if self._may_change_opened:
            self._may_change_opened = False
            return self.opened.model
        is_kept = self.opened.message is not None and "model" in vars(self)
        return cloned(self.model) if is_kept else self._original()

    @cached_property
    def inspected(self) -> tuple[Report, tuple[NodeRecord, ...]]:
        """The report of ``inspect``, and the records from which it was made."""
        model = self._to_change()
        report, records = optimize_ir(
            model, self.settings, planned=True, observer=self.observer, original=self._original
        )
        about = About.of(model, self.opened, self.settings.arguments())
        return replace(report, about=about), records

    def optimized(self, *, keeps: bool = False) -> Optimized:
        """Return what ``optimize`` gives.

        If the inquiry ``keeps`` the model, it need not be opened again to advise about the result.
        The files that were read are those of the blocks of ``recorded`` around the call.
        """
        model, opened = self._to_change(), self.opened
        merger = opened.merger(model)
        report, records = optimize_ir(
            model, self.settings, observer=self.observer, original=self._original
        )
        about = About.of(model, opened, self.settings.arguments())
        made: Any = model
        if merger is None:
            report = settled(report, details=True)  # others change the model
        else:
            if keeps and may_advise(report):
                _ = self.model
            made = merger.merged(model)
            about = replace(about, size_after=file_size(made))
            if opened.ours:  # the message is the result now
                self._original = lambda: open_model(self.unopened).model
        report = replace(report, about=about)
        one_file = self.settings.target.one_file
        return Optimized(made, report, records, opened.source.file, files_read(), one_file)

    def named(self, node: str) -> tuple[NodeRecord, ...]:
        """Return the records of the scatters or gathers of a name; several graphs may use one name.

        Raises ScatterXError if no scatter and no gather has this name.
        """
        _, records = self.inspected
        named = tuple(record for record in records if record.entry.node == node)
        if named:
            return named
        if not self.settings.options["gathers"]:
            self.settings = self.settings.but(gathers=True)
            del self.inspected
            return self.named(node)
        names = list(dict.fromkeys(record.entry.node for record in records))
        if not names:
            raise ScatterXError(f"no scatter or gather is called {node!r}: the model has none")
        near = difflib.get_close_matches(node, names, _NAMES, 0.5) or names[:_NAMES]
        there = ", ".join([*near, "..."] if len(near) < len(names) else near)
        raise ScatterXError(f"no scatter or gather is called {node!r}; there is {there}")


class Optimized(NamedTuple):
    """A new model of the kind that came in, its report and records, and what was read for it.

    ``one_file`` says that the target reads no external data.
    """

    model: Any
    report: Report
    records: tuple[NodeRecord, ...]
    source_path: Path | None
    read: Files
    one_file: bool


def optimized(model: AnyModel, observer: Observer = NOBODY, **options: Any) -> Optimized:
    """Return a new model without the scatters that other nodes are proven to replace.

    The arguments and the errors are those of ``optimize``.
    """
    with recorded(), Inquiry.about(model, Settings.of(**options), observer) as asked:
        return asked.optimized()
