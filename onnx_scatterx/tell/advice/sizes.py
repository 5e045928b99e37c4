"""Finds numbers for the symbolic sizes of a model, at which the model runs.

Numbers are tried until the facts about the sizes hold, and no node is known to fail at these sizes.
Sizes differ from each other if possible, so that no scatter writes all of its data by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from types import MappingProxyType
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.assumptions import (
    FixedSizes,
    equalities,
    evaluate,
    fix_template,
    open_sizes,
    read_clauses,
)
from onnx_scatterx.engine.analysis import Knowledge, Scope, size_name, ties_in
from onnx_scatterx.engine.budget import LimitError
from onnx_scatterx.engine.lift import Scatter, is_scatter, lift_scatter
from onnx_scatterx.engine.passes import Job, Settings
from onnx_scatterx.engine.terms import Symbol, Term
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.fitting import (
    NodeFailure,
    WriteSizes,
    analysis_at,
    declare_fixed,
    failure_at_any_sizes,
    first_failure,
)
from onnx_scatterx.graphs import cloned, live_nodes
from onnx_scatterx.tell.advice.change import Change, Command
from onnx_scatterx.tell.advice.whole import READ, Whole
from onnx_scatterx.tell.kept_advice import Advice, Way
from onnx_scatterx.tell.shown_boxes import value_at

_STEPS = (32, 16, 8, 4, 2, 1)
_LARGE = (256, 1024, 4096)
_READINGS = 24  # the most analyses of the model, at sizes that the facts allow
_TRIED = 3  # of the numbers beside a constant
_NODES = 8_000  # the most nodes that all these analyses together visit


class Fitting(NamedTuple):
    """Numbers for the sizes of a model, or the node that fails at the first ones; neither: unknown.

    ``sample`` is one of the sizes, if the model runs only at a number that its constants have.
    """

    numbers: Mapping[str, int] = MappingProxyType({})
    failure: NodeFailure | None = None
    sample: str = ""


def fitting_sizes(whole: Whole) -> Fitting:
    """Return numbers for all symbolic sizes, at which the model runs, as far as is known.

    The numbers agree with the settings. There are none if all sizes are numbers.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[batch, N] x, float[batch, M] u) => (float[L, 20] z)
    ...     <int64[2] shape = {-1, 20}> { y = Concat <axis = 1> (x, u)  z = Reshape (y, shape) }''')
    >>> fitting_sizes(Whole(model, Settings.of(target="qnn"))).numbers
    {'batch': 1, 'N': 96, 'M': 64}
    """
    model, settings = whole.model, whole.settings
    fixed = settings.fixed_in(model)
    sizes = dict.fromkeys(name for _, names in open_sizes(model) for name in names)
    wanted = [name for name in sizes if name not in fixed.symbols]
    if not wanted:
        return Fitting()
    known = {**settings.size_hint, **equalities(settings.assumed), **fixed.symbols}
    failure: NodeFailure | None = None
    covering: dict[str, int] = {}
    readings = min(_READINGS, max(_NODES // max(len(model.graph), 1), 3))
    try:
        facts = _facts(whole)
        for numbers in _attempts(wanted, known):
            if readings and all(_holds(t, {**known, **numbers}) for t in facts):
                readings -= 1
                whole.charge(model, READ)
                doubt = _reading(model, settings, numbers)
                if doubt is None:
                    return Fitting(numbers)
                if isinstance(doubt, NodeFailure):
                    failure = failure or doubt
                elif not covering:
                    covering = numbers
        if failure is not None and not covering:
            return _at_constants(whole, wanted, known, failure)
    except LimitError:
        pass
    return Fitting(covering) if covering else Fitting(failure=failure)


def _at_constants(
    whole: Whole, wanted: list[str], known: Mapping[str, int], failure: NodeFailure
) -> Fitting:
    """Return numbers of which one is a constant of a node that fails at all others, or the node.

    An exporter that runs a model once stores sizes of the sample as constants.
    """
    facts = _facts(whole)
    pairs = [(name, n) for n in failure.numbers for name in wanted if n > 1]
    for name, number in pairs[:_READINGS]:
        at = {**known, name: number}
        fit = (n for n in _attempts(wanted, at) if all(_holds(t, {**at, **n}) for t in facts))
        for numbers in islice(fit, _TRIED):
            whole.charge(whole.model, READ)
            if not isinstance(_reading(whole.model, whole.settings, numbers), NodeFailure):
                return Fitting(numbers, sample=name)
    return Fitting(failure=failure)


def runs_at(whole: Whole, numbers: Mapping[str, int]) -> bool:
    """Return whether the model runs at these sizes, as far as is known. LimitError if steps end."""
    known = {**whole.settings.fixed_in(whole.model).symbols, **numbers}
    facts = _facts(whole)
    if not all(_holds(fact, known) for fact in facts):
        return False
    whole.charge(whole.model, READ)
    return not isinstance(_reading(whole.model, whole.settings, numbers), NodeFailure)


def needs_at(whole: Whole, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """Return what the model needs of its masks to run at these sizes, as promises say it.

    What is promised already is left out. Empty if no mask decides about sizes, or if the steps end.
    """
    if all(node.op_type != "NonZero" for node in whole.model.graph):
        return ()
    try:
        whole.charge(whole.model, READ)
        copy, knowledge = _read_at(whole.model, whole.settings, numbers)
        scope = knowledge.scopes[copy.graph]
        told = (tie.told(scope) for tie in ties_in(copy.graph, scope) if tie.mask is not None)
        found = [text for text in dict.fromkeys(told) if text and text.isprintable()]
        read = {text: read_clauses([text]) for text in found}
        return tuple(
            text
            for text, clauses in read.items()
            if [*map(str, clauses)] == [text] and clauses[0] not in whole.settings.assumed
        )
    except (LimitError, ScatterXError):
        return ()


def _facts(whole: Whole) -> list[Term]:
    """Return terms that are 0 or more if the model runs."""
    graph = whole.model.graph
    scope = whole.knowledge.scopes[graph]
    return [*scope.facts.known(), *(t for tie in ties_in(graph, scope) for t in tie.facts(scope))]


def _attempts(wanted: list[str], known: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield numbers for the wanted names: different before equal ones, large before small ones."""
    others = [n for n in wanted if not _is_batch(n) and n not in known]
    first = {n: known.get(n, 1) for n in wanted}
    for step in _STEPS:
        yield {**first, **{n: step * (len(others) + 1 - i) for i, n in enumerate(others)}}
        if len(others) > 1:
            yield {**first, **{n: step * (i + 2) for i, n in enumerate(others)}}
    for step in _STEPS if len(others) > 1 else ():
        yield {**first, **dict.fromkeys(others, 2 * step)}
    for large in _LARGE if len(others) > 1 else ():  # one of them counts elements of another
        for small, n in product((2, 1), others):
            yield {**first, **dict.fromkeys(others, small), n: large}
    yield first


def _is_batch(name: str) -> bool:
    return "batch" in name.lower() or name.lower() == "b"


def _holds(fact: Term, sizes: Mapping[str, int]) -> bool:
    """Return whether a fact is true at these sizes; true if it depends on more than sizes."""
    numbers: dict[Symbol, int] = {}
    for leaf in fact.leaves():
        name = size_name(leaf)
        number = None if name is None else evaluate(name, sizes)
        if number is None:
            return True
        numbers[leaf] = int(number)
    value = value_at(fact, numbers)
    return value is None or value >= 0


def _reading(model: ir.Model, settings: Settings, numbers: Mapping[str, int]) -> object:
    """Return the node that fails at these sizes, or scatters that fill an axis; None if neither."""
    try:
        copy, knowledge = _read_at(model, settings, numbers)
    except ScatterXError as error:  # a size is negative, or contradicts a promise
        return NodeFailure("?", "", str(error))
    failure = first_failure(copy.graph, knowledge)
    if failure is not None:
        return failure
    scope, live = knowledge.scopes[copy.graph], live_nodes(copy.graph)
    lines = [n for n in copy.graph if is_scatter(n) and n in live and _fills_a_line(n, scope)]
    return lines or None


def _read_at(
    model: ir.Model, settings: Settings, numbers: Mapping[str, int]
) -> tuple[ir.Model, Knowledge]:
    """Return a copy of the model with these sizes, and its analysis; or raise ScatterXError."""
    copy = cloned(model)
    fix = {**(settings.options["fix"] or {}), **numbers}
    fixed = FixedSizes.of(copy, fix, distrust_dims=settings.options["distrust_dims"])
    declare_fixed(copy, fixed)
    return copy, analysis_at(copy, settings, fixed).knowledge


def _fills_a_line(node: ir.Node, scope: Scope) -> bool:
    """Return whether the positions that a scatter writes in one line span all of a data axis."""
    scatter = lift_scatter(node, scope)
    if not isinstance(scatter, Scatter):
        return False
    for expr, size in zip(scatter.index_exprs, scatter.data_shape, strict=True):
        line = expr - expr.at(dict.fromkeys(expr.coords, 0))
        if expr.leaves() and not line.leaves() and size.constant is not None and size.constant > 1:
            low, high = scatter.facts.interval(line)
            if high - low >= size.constant - 1:
                return True
    return False


@dataclass(frozen=True)
class SizeAdvice:
    """Numbers for the sizes of a model, or the node that fails at all numbers that were tried.

    All fields are empty if the target takes symbols, or if the model declares only numbers. If the
    node fails at any sizes, ``options`` is empty.
    """

    target: str = ""
    options: str = ""  # options of the command line that give every size a number
    change: Change | None = None
    failure: NodeFailure | None = None

    @classmethod
    def of(cls, whole: Whole) -> SizeAdvice:
        """Return the numbers, or the node that fails, for a model under its settings."""
        settings = whole.settings
        if not settings.target.static_only:
            return cls()
        copy = cloned(whole.model)
        WriteSizes.run(Job(copy, settings))
        options = fix_template(copy)
        if not options:
            return cls()
        found = fitting_sizes(whole)
        sizes = found.numbers
        name = settings.target.name
        if found.failure is not None:
            failure = failure_at_any_sizes(copy, settings)
            if failure is not None:  # no numbers help
                return cls(name, "", None, failure)
            return cls(name, options, None, found.failure)
        printable = bool(sizes) and all(n.isprintable() for n in sizes)
        change = Change.at(sizes, copy, needs_at(whole, sizes), found.sample) if printable else None
        return cls(name, options, change)

    def advice(self, base: Command, also: str = "") -> tuple[Advice, ...]:
        """Return the command that gives the sizes numbers, or the missing options.

        ``also`` says of the command whether it was tried with other numbers.
        """
        if not self.options:
            failure = self.failure
            return () if failure is None else (Advice((), failure.at_any_sizes, "", is_fatal=True),)
        why = f"the target {self.target} wants all sizes as numbers"
        if self.change is not None:
            way = Way(self.change.command(base), self.change.condition(also))
            return (Advice((), why, "", (way,), verb="fixed"),)
        missing = f"{self.options}, with numbers at which the model runs"
        if self.failure is not None:
            missing += f"; it fails at all numbers that were tried: {self.failure}"
        return (Advice((), why, missing),)
