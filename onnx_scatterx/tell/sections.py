"""The details of one scatter or gather: text by part, for `explain`, and pictures, for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import onnx_ir as ir

from onnx_scatterx.engine.budget import budget, own_budget, within_limits
from onnx_scatterx.engine.lift import Access, InTheory
from onnx_scatterx.engine.passes import Wiring
from onnx_scatterx.engine.terms import fresh_symbols
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.copies import Moved, copies_of, moved
from onnx_scatterx.tell.entries import Action, Entry, EntryDetail, ScatterReport
from onnx_scatterx.tell.excerpts import Excerpts
from onnx_scatterx.tell.index_map import IndexMap, index_map
from onnx_scatterx.tell.report import Report
from onnx_scatterx.tell.term_text import (
    TermFormatter,
    box_text,
    component_text,
    footprint_text,
    shape_text,
)
from onnx_scatterx.text import Refusal
from onnx_scatterx.theory.components import normal_picks
from onnx_scatterx.theory.picks import Pick

_SENTENCES, _LETTERS = 24, 400  # of each section of a page, and of each sentence
_BOXES = 8  # that are listed
_FACTS = 6


def parts(
    account: NodeRecord, *, theory: bool, copies: bool = False
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the text about a scatter or gather: labels, each with its sentences.

    The answer comes first; with ``theory`` the equation and the verdict come last, and with
    ``copies`` the strided copies.
    """
    entry, in_theory = account.entry, account.in_theory
    yield "answer", list(_answer(account))
    if in_theory is None:
        yield from _inputs(account)
    else:
        access, wording = in_theory.access, TermFormatter(in_theory.access)
        dtype = access.dtype.name.lower()
        names = dict(zip(_roles(account.node), account.called.inputs, strict=False))
        names["output"] = account.called.output
        yield "data", [f"{names['data']}, {dtype}{shape_text(access.data_shape)}"]
        yield (
            access.tensor_role,
            [f"{names[access.tensor_role]}, {dtype}{shape_text(access.shape)}"],
        )
        equation = list(_equation(in_theory, wording))  # it names the sizes in the facts
        is_scatter = isinstance(entry, ScatterReport)
        yield "writes" if is_scatter else "reads", list(_footprint(in_theory, entry))
        if isinstance(entry, ScatterReport):
            yield "unique", list(_unique(entry))
        yield "known", list(_known(access, wording))
        if theory:
            yield "equation", [*equation, *wording.tables()]
            yield "where", wording.legend()
            yield "verdict", [_in_words_of(access, line) for line in _verdict(in_theory)]
        if copies:
            yield "moves", list(_moves(in_theory, wording, names, unique=_is_unique(entry)))
    if isinstance(entry, ScatterReport) and entry.quantized:
        yield "quantized", [f"written {entry.quantized}"]
    yield "assumed", entry.facts


def _is_unique(entry: Entry) -> bool:
    return isinstance(entry, ScatterReport) and entry.unique == "proven"


def _in_words_of(access: Access, text: str) -> str:
    """Return a sentence of the theory, which speaks of updates, about a gather's output."""
    if access.tensor_role == "updates":
        return text
    return text.replace("of updates", f"of the {access.tensor_role}").replace("updates", "elements")


def _roles(node: ir.Node) -> tuple[str, ...]:
    """Return the roles of the inputs of a scatter or gather."""
    if node.op_type == "TensorScatter":
        return "data", "updates", "indices"
    return "data", "indices", "updates"


def _inputs(account: NodeRecord) -> Iterator[tuple[str, Sequence[str]]]:
    """Describe the inputs of a node that could not be lifted."""
    inputs = zip(_roles(account.node), account.called.inputs, account.node.inputs, strict=False)
    for role, called, value in inputs:
        if value is None:
            continue
        tensor = account.scope.values.get(value)
        dtype = (tensor and tensor.dtype) or value.dtype
        name = "unknown type" if dtype is None else dtype.name.lower()
        shape = ", unknown rank"
        if tensor is not None and tensor.shape is not None:
            shape = shape_text(tensor.shape)
        yield role, [f"{called}, {name}{shape}"]


def _equation(in_theory: InTheory, wording: TermFormatter) -> Iterator[str]:
    p1, p2, p = normal_picks(in_theory.components)
    picks = f"p1 = {_pick(p1)}, p2 = {_pick(p2)}, p = {_pick(p)}"
    yield f"J = p(f(p1(I)) ++ p2(I)), {picks}"
    columns = len(p) - len(p2)
    for axis, t in enumerate(in_theory.components):
        origin = "f" if p[axis] < columns else "p2"
        sign = ", counted from the end where negative" if in_theory.may_wrap(axis) else ""
        yield f"J_{axis} = {component_text(t, wording)}, from {origin}{sign}"


def _pick(pick: Pick) -> str:
    return f"({', '.join(map(str, pick))})"


def _verdict(in_theory: InTheory) -> Iterator[str]:
    verdict = in_theory.verdict
    yield f"{verdict.sliceability.value}: {verdict.sliceability.text}"
    for obstacle in verdict.witness:
        yield f"- {obstacle}"


def _moves(
    in_theory: InTheory, wording: TermFormatter, names: Mapping[str, str], *, unique: bool
) -> Iterator[str]:
    """Yield the strided copies that do the work of a scatter or a gather, or why there are none."""
    try:
        copies = copies_of(in_theory, unique=unique)
    except ValueError as error:
        yield from (_in_words_of(in_theory.access, line) for line in str(error).splitlines())
        return
    role = in_theory.access.tensor_role
    source, target = ("data", role) if role == "output" else (role, "data")
    total = wording.text(sum(move.bytes for move in copies))
    many = f"{len(copies)} strided {'copy' if len(copies) == 1 else 'copies'}"
    yield f"{many} from {names[source]} to {names[target]}, {total} bytes"
    for move in copies[:_BOXES]:
        lists = move.extents, move.source_strides, move.target_strides
        extents, from_, to = (f"({', '.join(map(wording.text, numbers))})" for numbers in lists)
        ends = f"{wording.text(move.source)} to {wording.text(move.target)}"
        yield f"- offset {ends}, extents {extents}, strides {from_} to {to}"
    if len(copies) > _BOXES:
        yield f"- and {len(copies) - _BOXES} more"


def _footprint(in_theory: InTheory, entry: Entry) -> Iterator[str]:
    if isinstance(in_theory.boxes, Refusal):
        yield "unknown" if in_theory.boxes == entry.refusal else f"unknown: {in_theory.boxes}"
        return
    is_box = entry.axes is not None and len(in_theory.boxes) == 1 and "[" in entry.footprint
    axes = ", in the axes before the Transpose" if is_box else ""
    yield footprint_text(in_theory, entry.axes, whole=True) + axes
    if len(in_theory.boxes) > 1:
        for piece in in_theory.boxes[:_BOXES]:
            yield f"- [{', '.join(box_text(piece, in_theory.access))}]"
        if len(in_theory.boxes) > _BOXES:
            yield f"- and {len(in_theory.boxes) - _BOXES} more"


def _unique(entry: ScatterReport) -> Iterator[str]:
    if entry.unique == "proven":
        yield "proven: no two updates go to one element"
    elif entry.duplicates is None:
        how = "no: two updates" if entry.unique == "collides" else "unknown: two updates may"
        one = "one of them wins, and ONNX does not say which"
        taken = one if entry.reduction == "none" else "both are taken"
        yield f"{how} go to one element, and {taken}"
    if entry.duplicates is not None:
        word = {"proven": "made so: ", "collides": "no: ", "unknown": "unknown: "}[entry.unique]
        yield word + str(entry.duplicates)


def _known(access: Access, wording: TermFormatter) -> Iterator[str]:
    """Yield the facts about this node that other nodes of the model have checked before."""
    known = [f for f in access.facts.known() if f.leaves() and f.leaves() <= wording.leaves]
    facts = [f for f in known if not access.facts.is_assumed(f)]
    for fact in facts[:_FACTS]:
        yield f"{wording.text(fact)} >= 0, which the model checks when it runs"


def _answer(account: NodeRecord) -> Iterator[str]:
    entry = account.entry
    if entry.action is Action.DEAD:
        yield "removed: nothing reads it"
    elif entry.refusal is None:
        if not entry.rules:
            yield "removed, with all its readers"
        else:
            by = f"written by {', '.join(entry.written)}" if entry.written else "without a node"
            yield f"removed, {by} (rules: {', '.join(entry.rules)})"
    else:
        word = "becomes ScatterX" if entry.action is Action.NATIVE else "kept"
        yield f"{word}: {entry.refusal}"
        yield f"missing: {entry.refusal.reason.missing}"


class Details(Sequence[EntryDetail]):
    """The details of scatters and gathers, which are found when the first one is asked for.

    Until then the analysis of the model is held. Pickled details are found before.

    ``wiring`` is how the model was before. The model must not change until they are found.
    """

    def __init__(self, records: Sequence[NodeRecord], wiring: Wiring) -> None:
        self._number = len(records)
        self._steps = budget().steps  # those that are left of the command
        self._find: Callable[[], list[EntryDetail]] | None = partial(_found, records, wiring)
        self._details: list[EntryDetail] = []

    def __len__(self) -> int:
        return self._number

    def __getitem__(self, index: Any) -> Any:
        if self._find is not None:
            with own_budget(self._steps), fresh_symbols(foreign=True):
                self._details = self._find()
            self._find = None
        return self._details[index]

    def __reduce__(self) -> tuple[object, ...]:
        return tuple, (self[:],)


def with_details(records: Sequence[NodeRecord], wiring: Wiring) -> tuple[NodeRecord, ...]:
    """Return records whose entries have their details; ``wiring`` is how the model was before."""
    details = Details(records, wiring)
    return tuple(
        replace(record, entry=replace(record.entry, details=details, number=number))
        for number, record in enumerate(records)
    )


def settled(report: Report, *, details: bool) -> Report:
    """Return a report that does not hold the analysis: all details are found now, or dropped."""
    if details:
        for entry in report.entries[:1]:
            _ = entry.detail
        return report
    return replace(
        report,
        scatters=tuple(replace(entry, details=None) for entry in report.scatters),
        gathers=tuple(replace(entry, details=None) for entry in report.gathers),
    )


def _found(records: Sequence[NodeRecord], wiring: Wiring) -> list[EntryDetail]:
    excerpts = Excerpts(wiring)
    maps: dict[object, IndexMap | None] = {}
    detailed = []
    for record in records:
        shown = _sections(record), _map(record, maps), *excerpts.of(record.node)
        detailed.append(EntryDetail(*shown, _moved(record)))
    return detailed


def _sections(record: NodeRecord) -> tuple[tuple[str, tuple[str, ...]], ...]:
    sections = within_limits(lambda: list(parts(record, theory=True, copies=True))) or ()
    return tuple(
        (label, tuple(map(_short, sentences[:_SENTENCES])))
        for label, sentences in sections
        if sentences and label != "assumed"  # which are the facts of the entry
    )


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= _LETTERS else f"{sentence[:_LETTERS]} ..."


def _map(record: NodeRecord, known: dict[object, IndexMap | None]) -> IndexMap | None:
    in_theory = record.in_theory
    if in_theory is None:
        return None
    access = in_theory.access
    order = record.entry.axes
    if order is not None and len(order) != len(access.data_shape):
        order = None
    key = (access.index_exprs, access.shape, access.data_shape, access.nonnegative, order)
    if key not in known:
        known[key] = within_limits(lambda: index_map(in_theory, order))
    return known[key]


def _moved(record: NodeRecord) -> Moved | None:
    known, unique = record.in_theory, _is_unique(record.entry)
    return within_limits(lambda: None if known is None else moved(known, unique=unique))
