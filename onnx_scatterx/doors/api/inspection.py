"""inspect: what optimize would do with each scatter of a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import onnx_ir as ir

from onnx_scatterx.ir import io as model_io
from onnx_scatterx.ir.cleanup import cloned
from onnx_scatterx.ir.io import AnyModel, ModelSource
from onnx_scatterx.ir.size import external_size, file_size
from onnx_scatterx.optimizer.reports.builder import NodeRecord
from onnx_scatterx.optimizer.reports.entries import About
from onnx_scatterx.optimizer.reports.report import Report
from onnx_scatterx.optimizer.run import optimize_ir
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.options import Options
from onnx_scatterx.system.observer import NOBODY, Observer, Progress


def inspect(
    model: AnyModel,
    *,
    on_progress: Progress | None = None,
    **options: Unpack[Options],
) -> Report:
    """Return what ``optimize`` would do with each scatter of a model; the model is not changed.

    The arguments and the errors are those of ``optimize``.

    Returns:
        The report. Its ``scatters`` has an entry for each scatter.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
        ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
        >>> print(inspect(model).scatters[0].footprint)
        box [1, :]

    """
    return inspect_records(model, Settings.of(**options), Observer(on_progress))[0]


def inspect_records(
    model: AnyModel, settings: Settings, observer: Observer = NOBODY, *, details: bool = True
) -> tuple[Report, tuple[NodeRecord, ...]]:
    """Return the report of ``inspect``, and the records from which it was made."""
    opened, loaded = opened_ir(model, observer)
    report, records = optimize_ir(
        loaded, settings, planned=True, details=details, observer=observer
    )
    about = about_model(loaded, opened, settings)
    return replace(report, about=about), records


def about_model(model: ir.Model, opened: model_io.Opened, settings: Settings) -> About:
    """Return what a report says of its model: its name, its sizes, and what was asked."""
    proto, path = opened.message, opened.given.source
    size = None if proto is None else file_size(proto)
    if opened.given.path is not None:
        size = opened.given.path.stat().st_size
    return About(
        str(path) if path is not None else model.graph.name or "model",
        size_before=size,
        size_outside=external_size(model),
        opset=model.opset_imports.get(""),
        options=settings.options(),
    )


def loaded_ir(model: AnyModel, observer: Observer = NOBODY) -> ir.Model:
    """Return a copy of a model as an ``onnx_ir.Model``."""
    return opened_ir(model, observer)[1]


def opened_ir(model: AnyModel, observer: Observer) -> tuple[model_io.Opened, ir.Model]:
    """Return the opened model, and an ``onnx_ir.Model`` of it that may be changed."""
    observer.stage("reading", what=ModelSource.of(model).source or "")
    opened = model_io.open_model(model)
    return opened, cloned(opened.model) if opened.message is None else opened.model
