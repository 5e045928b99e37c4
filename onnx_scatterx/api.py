"""The public functions: optimize and inspect a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import onnx
import onnx_ir as ir

from onnx_scatterx.assumptions.clauses import Assume
from onnx_scatterx.assumptions.fixed_sizes import Fix
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.ir import io as model_io
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.collection import fewer_collections
from onnx_scatterx.ir.data import to_proto
from onnx_scatterx.ir.opset import change_opset
from onnx_scatterx.ir.size import external_size, file_size
from onnx_scatterx.pipeline import Watch, optimize_ir
from onnx_scatterx.reports.about import About
from onnx_scatterx.reports.builder import NodeRecord
from onnx_scatterx.reports.report import Report
from onnx_scatterx.settings import Rules, Settings
from onnx_scatterx.system.record import Files, recorded
from onnx_scatterx.targets.catalogue import AnyTarget
from onnx_scatterx.targets.cost_model.sizes import check_sizes

AnyModel: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | ir.Model"


@dataclass(frozen=True)
class Result:
    """An optimized model, of the kind that came in (a path gives a ModelProto), and its report."""

    model: Any = field(repr=False)  # a notebook asks for the text of all that it shows
    report: Report
    source_path: Path | None = None
    read: Files = field(default_factory=dict, repr=False)
    """The files that were read, by their paths, and what each is."""

    def _repr_html_(self) -> str:
        """Return the report as a notebook shows it."""
        return self.report._repr_html_()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; external data stays with it.

        Raises ScatterXError where the file cannot be written or is one that was read.
        """
        model_io.save(self.model, path, source_path=self.source_path, read=self.read)


@fewer_collections()
def optimize(
    model: AnyModel,
    *,
    target: AnyTarget = "scatterx",
    rules: Rules | None = None,
    distrust_dims: bool = False,
    reads: bool = False,
    assume: Assume = None,
    deterministic: bool = False,
    sizes: Mapping[str, int] | None = None,
    opset: int | None = None,
    fix: Fix = None,
    watch: Watch | None = None,
) -> Result:
    """Remove the scatter nodes of a model that can be proven to be slices.

    ``model`` is a path, a ModelProto or an ``onnx_ir.Model``, and is not changed. ``target`` is a
    name, a path of a profile (.toml) or a ``Target``. ``rules`` are names of rules or rules of your
    own (``rewrites.Rule``); all by default. ``distrust_dims`` drops the assumption that inputs that
    declare a dim under one name agree in it. ``reads`` rewrites Gather, GatherElements and GatherND
    too, if what they read is a box and the Slice of it takes no more nodes. ``assume`` is what you
    know of the inputs, such as ``["seq <= 4096", "positions: contiguous, nonnegative"]`` or the
    same as a mapping; what is used of it stands in the report and in the metadata of the new model.
    ``deterministic`` makes the last update win where several are known to go to one element, which
    ONNX leaves open. ``sizes`` are hints on what symbolic sizes usually are, for targets that weigh
    time: any result is right at all sizes. ``fix`` gives inputs other shapes, by the name of a dim
    or of an input, such as ``{"batch": 4, "x": [4, 3, 224, 224]}``: what follows from them is
    folded, and the result is right at these sizes. ``opset`` raises an older model to this operator
    set, as TensorScatter needs 24, or lowers a newer one if each of its nodes means the same there.
    ``watch`` is called after each pass of the pipeline, with the name of the pass and the model as
    it is then. Raises ScatterXError where the model cannot be read, raised or lowered, the target
    cannot be had, or an assumption or a size names nothing of the model.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
    >>> result = optimize(model)
    >>> result.report.removed, "ScatterND" in {node.op_type for node in result.model.graph.node}
    (1, False)
    """
    with recorded() as read:
        settings = Settings.of(
            target, rules, distrust_dims, assume, deterministic, sizes=sizes, reads=reads, fix=fix
        )
        loaded, proto, source_path = _loaded(model)
        settings = replace(settings, sizes=check_sizes(loaded, sizes))
        for name in sizes or {}:
            if name in (fix or {}):
                raise ScatterXError(f"the size {name!r} is fixed: a hint on it has no effect")
        newest = settings.target.max_opset
        if opset is not None and newest is not None and opset > newest:
            name = settings.target.name
            raise ScatterXError(f"operator set {opset}: the target {name} reads up to {newest}")
        changed = opset is not None and change_opset(loaded, opset)
        report, _ = optimize_ir(loaded, settings, watch=watch)
    made: Any = loaded
    if proto is not None:
        changed = changed or bool(fix) or report.opset_lowered is not None
        made = to_proto(loaded) if report.entries or changed else proto
    about = _about(loaded, proto, source_path, settings)
    if isinstance(made, onnx.ModelProto):
        about = replace(about, size_after=file_size(made))
    if opset is not None:
        about = replace(about, options=(*about.options, f"--opset {opset}"))
    report = replace(report, about=about)
    return Result(made, report, source_path, read)


def inspect(
    model: AnyModel,
    *,
    target: AnyTarget = "scatterx",
    rules: Rules | None = None,
    distrust_dims: bool = False,
    reads: bool = False,
    assume: Assume = None,
    deterministic: bool = False,
    fix: Fix = None,
) -> Report:
    """Return what ``optimize`` would do with each scatter of a model; the model is not changed.

    The arguments and errors are those of ``optimize``.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
    >>> print(inspect(model).scatters[0].footprint)
    box [1, :]
    """
    settings = Settings.of(
        target, rules, distrust_dims, assume, deterministic, reads=reads, fix=fix
    )
    return inspect_accounts(model, settings)[0]


def inspect_accounts(
    model: AnyModel, settings: Settings, *, details: bool = True
) -> tuple[Report, tuple[NodeRecord, ...]]:
    """Return the report of ``inspect``, and what it was made of."""
    loaded, proto, path = _loaded(model)
    report, accounts = optimize_ir(loaded, settings, planned=True, details=details)
    return replace(report, about=_about(loaded, proto, path, settings)), accounts


def _about(
    model: ir.Model, proto: onnx.ModelProto | None, path: Path | None, settings: Settings
) -> About:
    return About(
        str(path) if path is not None else model.graph.name or "model",
        size_before=None if proto is None else file_size(proto),
        size_outside=external_size(model),
        opset=model.opset_imports.get(""),
        options=settings.options(),
    )


def loaded_ir(model: AnyModel) -> ir.Model:
    """Return a copy of a model as onnx_ir has it."""
    return _loaded(model)[0]


def _loaded(model: AnyModel) -> tuple[ir.Model, onnx.ModelProto | None, Path | None]:
    if isinstance(model, ir.Model):
        copy = cloned(model)
        model_io.note_data_files(copy)
        return copy, None, None
    if isinstance(model, onnx.ModelProto):
        loaded = model_io.load(model)
        model_io.note_data_files(loaded)
        return loaded, model, None
    path = Path(model)
    proto = model_io.read(path)
    return model_io.converted(proto, path), proto, path
