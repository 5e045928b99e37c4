"""The public functions: optimize and inspect a model."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import onnx
import onnx_ir as ir

from onnx_scatterx import model_io
from onnx_scatterx.clauses import (
    METADATA,
    Assume,
    Clause,
    as_metadata,
    check,
    clauses,
    from_metadata,
)
from onnx_scatterx.emit.target import Target
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.indexing.assumed import holds_integers, symbols_of
from onnx_scatterx.indexing.interpreter import interpret
from onnx_scatterx.model_data import data_files, to_proto
from onnx_scatterx.model_opset import raise_opset
from onnx_scatterx.mosaic.plan import Form
from onnx_scatterx.native import is_ours
from onnx_scatterx.native.functions import finish
from onnx_scatterx.necessity import Effect, needed
from onnx_scatterx.optimizer import rewrite_model
from onnx_scatterx.report import Report
from onnx_scatterx.report_entries import Action
from onnx_scatterx.reporting import Account, accounts_of, names_of, report_of
from onnx_scatterx.rewrites import RULES, ScatterRule
from onnx_scatterx.settle import settle
from onnx_scatterx.targets import AnyTarget, costs_of, rules_of, target_of
from onnx_scatterx.violations import violations

AnyModel: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | ir.Model"
Rules: TypeAlias = "Sequence[str | Form | ScatterRule]"


@dataclass(frozen=True)
class Result:
    """An optimized model, of the kind that came in (a path gives a ModelProto), and its report."""

    model: Any
    report: Report
    source_path: Path | None = None
    source_data: tuple[Path, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; external data stays with it.

        Raises ScatterXError where the file cannot be written or is one that was read.
        """
        model_io.save(self.model, path, source_path=self.source_path, source_data=self.source_data)


def chosen_rules(rules: Rules | None) -> tuple[Form | ScatterRule, ...]:
    """Return rules by name or by themselves, in order; None means all that there are.

    >>> [rule.name for rule in chosen_rules(["view", "concat"])]
    ['view', 'concat']
    """
    if rules is None:
        return RULES
    by_name = {rule.name: rule for rule in RULES}
    found: list[Form | ScatterRule] = []
    for rule in rules:
        if isinstance(rule, Form | ScatterRule):
            found.append(rule)
        elif rule in by_name:
            found.append(by_name[rule])
        else:
            raise ScatterXError(f"no rule is called {rule!r}; there are {', '.join(by_name)}")
    return tuple(found)


@dataclass(frozen=True)
class Settings:
    """How to optimize: for which target, with which rules, on which assumptions."""

    target: Target
    rules: tuple[Form | ScatterRule, ...]
    distrust_dims: bool
    assumed: tuple[Clause, ...] = ()
    deterministic: bool = False
    sizes: Mapping[str, int] | None = None
    reads: bool = False

    @classmethod
    def of(
        cls,
        target: AnyTarget,
        rules: Rules | None,
        distrust_dims: bool,
        assume: Assume,
        deterministic: bool = False,
        *,
        sizes: Mapping[str, int] | None = None,
        reads: bool = False,
    ) -> Settings:
        """Return what the arguments of the public functions say, or raise ScatterXError."""
        chosen = target_of(target)
        forms = rules_of(chosen, chosen_rules(rules), asked=rules is not None)
        return cls(chosen, forms, distrust_dims, clauses(assume), deterministic, sizes, reads)


def optimize_ir(
    model: ir.Model, settings: Settings, *, planned: bool = False
) -> tuple[Report, tuple[Account, ...]]:
    """Optimize a model in place; return the report, and what it was made of.

    ``planned`` makes the report say what would be done.
    """
    given = settings.assumed
    kept: tuple[Clause, ...] = ()
    rests: list[tuple[Clause, ...]] = []
    if given:
        check(given, symbols=symbols_of(model), inputs=holds_integers(model))
        kept, rests = needed(given, lambda some: _effect(model.clone(), settings, some))
    before = _operators(model)
    accounts = _rewritten(model, settings, kept)
    if kept:
        accounts = tuple(
            replace(a, entry=replace(a.entry, facts=(*a.entry.facts, *map(_assumed, rest))))
            for a, rest in zip(accounts, rests, strict=True)
        )
        used = [c for a, rest in zip(accounts, rests, strict=True) if _goes(a) for c in rest]
        earlier = from_metadata(model.metadata_props)
        if used:
            found = dict.fromkeys((*earlier, *(c for c in kept if c in used)))
            model.metadata_props[METADATA] = as_metadata(found)
    report = report_of(
        settings.target.name,
        accounts,
        before,
        _operators(model),
        planned=planned,
        reads=settings.reads,
    )
    idle = tuple(str(c) for c in given if c not in kept)
    left = violations(model, settings.target, distrust_dims=settings.distrust_dims)
    return replace(report, not_needed=idle, violations=left), accounts


def _assumed(clause: Clause) -> str:
    return f"assumed: {clause}"


def _goes(account: Account) -> bool:
    return account.entry.action is not Action.KEPT


def _effect(model: ir.Model, settings: Settings, assumed: tuple[Clause, ...]) -> Effect:
    """Rewrite a model, and return what can be seen of it."""
    return Effect.of(model, (a.entry for a in _rewritten(model, settings, assumed)))


def _rewritten(
    model: ir.Model, settings: Settings, assumed: tuple[Clause, ...]
) -> tuple[Account, ...]:
    """Rewrite a model on these assumptions alone."""
    if settings.deterministic:
        known = interpret(model, distrust_dims=settings.distrust_dims, assumed=assumed)
        settle(model, known, settings.target)
    names = names_of(model)
    outcomes, knowledge = rewrite_model(
        model,
        settings.rules,
        settings.target,
        distrust_dims=settings.distrust_dims,
        assumed=assumed,
        costs=costs_of(settings.target, settings.sizes),
        reads=settings.reads,
    )
    accounts = accounts_of(outcomes, knowledge, names)
    if settings.target.native:
        finish(model)
    return accounts


def _operators(model: ir.Model) -> Counter[str]:
    counts = Counter(n.op_type for n in model.graph.all_nodes())
    for function in model.functions.values():
        if not is_ours(function.domain):  # what a ScatterX falls back to
            counts.update(n.op_type for n in function.all_nodes())
    return counts


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
) -> Result:
    """Remove the scatter nodes of a model that can be proven to be slices.

    ``model`` is a path, a ModelProto or an ``onnx_ir.Model``, and is not changed. ``target`` is a
    name, a path of a profile (.toml) or a ``Target``. ``rules`` are names of rules or rules of your
    own (``rewrites.Form``); all by default. ``distrust_dims`` drops the assumption that inputs that
    declare a dim under one name agree in it. ``reads`` rewrites Gather, GatherElements and GatherND
    too, where what they read is a box and the Slice of it is no dearer. ``assume`` is what you know
    of the inputs, such as ``["seq <= 4096", "positions: contiguous, nonnegative"]`` or the same as
    a mapping; what is used of it stands in the report and in the metadata of the new model.
    ``deterministic`` makes the last update win where several are known to go to one element, which
    ONNX leaves open. ``sizes`` are hints on what symbolic sizes usually are, for targets that weigh
    time: any result is right at all sizes. ``opset`` raises an older model to this operator set,
    as TensorScatter needs 24. Raises ScatterXError where the model cannot be read or raised, the
    target cannot be had, or an assumption names nothing of the model.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
    >>> result = optimize(model)
    >>> result.report.removed, "ScatterND" in {node.op_type for node in result.model.graph.node}
    (1, False)
    """
    settings = Settings.of(
        target, rules, distrust_dims, assume, deterministic, sizes=sizes, reads=reads
    )
    loaded, proto, source_path = _loaded(model)
    data = data_files(loaded)
    raised = opset is not None and raise_opset(loaded, opset)
    report, _ = optimize_ir(loaded, settings)
    made: Any = loaded
    if proto is not None:
        made = to_proto(loaded) if report.entries or raised else proto
    return Result(made, report, source_path, data)


def inspect(
    model: AnyModel,
    *,
    target: AnyTarget = "scatterx",
    rules: Rules | None = None,
    distrust_dims: bool = False,
    reads: bool = False,
    assume: Assume = None,
    deterministic: bool = False,
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
    settings = Settings.of(target, rules, distrust_dims, assume, deterministic, reads=reads)
    return inspect_accounts(model, settings)[0]


def inspect_accounts(model: AnyModel, settings: Settings) -> tuple[Report, tuple[Account, ...]]:
    """Return the report of ``inspect``, and what it was made of."""
    loaded, _, _ = _loaded(model)
    return optimize_ir(loaded, settings, planned=True)


def _loaded(model: AnyModel) -> tuple[ir.Model, onnx.ModelProto | None, Path | None]:
    if isinstance(model, ir.Model):
        return model.clone(), None, None
    if isinstance(model, onnx.ModelProto):
        return model_io.load(model), model, None
    path = Path(model)
    proto = model_io.read(path)
    return model_io.converted(proto, path), proto, path
