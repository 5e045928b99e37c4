"""The public functions: optimize and inspect a model."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import onnx
import onnx_ir as ir

from onnx_scatterx import model_io
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.lift import is_scatter
from onnx_scatterx.model_data import to_proto
from onnx_scatterx.mosaic.plan import Form
from onnx_scatterx.native import DOMAIN
from onnx_scatterx.native.functions import finish
from onnx_scatterx.optimizer import rewrite_model
from onnx_scatterx.report import Report
from onnx_scatterx.reporting import Account, accounts_of, names_of, report_of
from onnx_scatterx.rewrites import RULES, ScatterRule
from onnx_scatterx.targets import rules_of, target_of

AnyModel: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | ir.Model"
Rules: TypeAlias = "Sequence[str | Form | ScatterRule]"


@dataclass(frozen=True)
class Result:
    """An optimized model, of the kind that came in (a path gives a ModelProto), and its report."""

    model: Any
    report: Report
    source_path: Path | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; external data stays with it.

        Raises ScatterXError where the file cannot be written or is the one that was read.
        """
        model_io.save(self.model, path, source_path=self.source_path)


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


def check_target(target: str) -> str:
    """Return a target's name, or raise ScatterXError where it cannot be had."""
    return target_of(target).name


def optimize_ir(
    model: ir.Model,
    *,
    target: str,
    rules: Rules | None,
    distrust_dims: bool,
    planned: bool = False,
) -> tuple[Report, tuple[Account, ...]]:
    """Optimize a model in place; return the report, and what it was made of.

    ``planned`` makes the report say what would be done.
    """
    chosen = target_of(target)
    forms = rules_of(chosen, chosen_rules(rules), asked=rules is not None)
    before, names = _operators(model), names_of(model)
    outcomes, knowledge = rewrite_model(model, forms, chosen, distrust_dims=distrust_dims)
    accounts = accounts_of(outcomes, knowledge, names)
    if chosen.native:
        finish(model)
    return report_of(target, accounts, before, _operators(model), planned=planned), accounts


def _operators(model: ir.Model) -> Counter[str]:
    counts = Counter(n.op_type for n in model.graph.all_nodes())
    for function in model.functions.values():
        if function.domain != DOMAIN:  # what a ScatterX falls back to
            counts.update(n.op_type for n in function.all_nodes())
    return counts


def optimize(
    model: AnyModel,
    *,
    target: str = "scatterx",
    rules: Rules | None = None,
    distrust_dims: bool = False,
) -> Result:
    """Remove the scatter nodes of a model that can be proven to be slices.

    ``model`` is a path, a ModelProto or an ``onnx_ir.Model``, and is not changed. ``rules`` are
    names of rules or rules of your own (``rewrites.Form``); all by default. ``distrust_dims``
    drops the assumption that inputs that declare a dim under one name agree in it. Raises
    ScatterXError where the model cannot be read or the target cannot be had.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
    >>> result = optimize(model)
    >>> result.report.removed, "ScatterND" in {node.op_type for node in result.model.graph.node}
    (1, False)
    """
    loaded, proto, source_path = _loaded(model)
    if not _has_scatter(loaded):
        check_target(target)
        chosen_rules(rules)
        operators = _operators(loaded)
        total = operators.total()
        report = Report(target, (), total, total, (), operators, operators)
        return Result(loaded if proto is None else proto, report, source_path)
    report, _ = optimize_ir(loaded, target=target, rules=rules, distrust_dims=distrust_dims)
    if proto is None:
        return Result(loaded, report)
    return Result(to_proto(loaded), report, source_path)


def inspect(
    model: AnyModel,
    *,
    target: str = "scatterx",
    rules: Rules | None = None,
    distrust_dims: bool = False,
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
    return inspect_accounts(model, target=target, rules=rules, distrust_dims=distrust_dims)[0]


def inspect_accounts(
    model: AnyModel, *, target: str, rules: Rules | None, distrust_dims: bool
) -> tuple[Report, tuple[Account, ...]]:
    """Return the report of ``inspect``, and what it was made of."""
    loaded, _, _ = _loaded(model)
    return optimize_ir(
        loaded, target=target, rules=rules, distrust_dims=distrust_dims, planned=True
    )


def _has_scatter(model: ir.Model) -> bool:
    graphs = [*model.graphs(), *model.functions.values()]
    return any(is_scatter(n) for g in graphs for n in g)


def _loaded(model: AnyModel) -> tuple[ir.Model, onnx.ModelProto | None, Path | None]:
    if isinstance(model, ir.Model):
        return model.clone(), None, None
    if isinstance(model, onnx.ModelProto):
        return model_io.load(model), model, None
    path = Path(model)
    proto = model_io.read(path)
    return model_io.converted(proto, path), proto, path
