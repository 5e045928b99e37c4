"""The parts of a report: its model, the outcome of each scatter and gather, and their words."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx_ir as ir

from onnx_scatterx.files import Opened, file_size, ir_tensors
from onnx_scatterx.tell.copies import Moved
from onnx_scatterx.tell.duplicates import Duplicates
from onnx_scatterx.tell.index_map import IndexMap
from onnx_scatterx.tell.sketch import Excerpt
from onnx_scatterx.text import Reason, Refusal, plain_fields

_BYTES = 10_000
_UNITS = ("kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class About:
    """A model: its name or that of its file, its sizes in bytes, and the options that were chosen.

    ``size_before`` and ``size_after`` are those of the file, ``size_outside`` is that of external
    data; None without a file. ``opset`` is the operator set afterwards.
    """

    model: str
    size_before: int | None = None
    size_after: int | None = None
    size_outside: int = 0
    opset: int | None = None
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: ir.Model, opened: Opened, options: tuple[str, ...]) -> About:
        """Return what a report says of an open model: ``model`` is what was made of it."""
        proto, source = opened.message, opened.source
        if source.path is not None:
            size: int | None = source.path.stat().st_size
        else:
            size = None if proto is None else file_size(proto)
        return cls(
            str(source.file) if source.file is not None else model.graph.name or "model",
            size_before=size,
            size_outside=external_size(model) if opened.outside else 0,
            opset=model.opset_imports.get(""),
            options=options,
        )

    @property
    def is_larger(self) -> bool:
        """Whether the file is more than twice as large afterwards, and by more than 10 kB."""
        before, after = self.size_before, self.size_after
        return bool(before and after and after > max(2 * before, before + _BYTES))

    @property
    def sizes(self) -> str:
        """How large the file is before and after; empty without a file.

        >>> About("m.onnx", size_before=2000, size_after=1500).sizes
        '2.00 kB before, 1.50 kB after (25 % less)'
        """
        if self.size_before is None:
            return ""
        text = bytes_text(self.size_before)
        if self.size_after is not None:
            text = f"{text} before, {bytes_text(self.size_after)} after"
            share = (self.size_after - self.size_before) / max(self.size_before, 1) * 100
            if abs(share) >= 0.5:
                text += f" ({abs(share):.0f} % {'more' if share > 0 else 'less'})"
        if self.size_outside:
            text += f", and {bytes_text(self.size_outside)} in other files"
        return text


def bytes_text(count: int) -> str:
    """Return a number of bytes as a person reads it.

    >>> bytes_text(1), bytes_text(999), bytes_text(12_345), bytes_text(3_210_000_000)
    ('1 byte', '999 bytes', '12.3 kB', '3.21 GB')
    """
    if count < 1000:
        return f"{count} byte{'s' * (count != 1)}"
    amount, power = count / 1000, 0
    while amount >= 999.5 and power < len(_UNITS) - 1:
        amount, power = amount / 1000, power + 1
    digits = 2 if amount < 9.995 else 1 if amount < 99.95 else 0
    return f"{amount:.{digits}f} {_UNITS[power]}"


class Action(enum.Enum):
    """What is done with a scatter or a gather."""

    REMOVED = "removed"
    NATIVE = "becomes ScatterX"
    KEPT = "kept"
    DEAD = "removed: nothing reads it"


STYLES = {
    Action.REMOVED: "green",
    Action.DEAD: "green",
    Action.NATIVE: "bold yellow",
    Action.KEPT: "bold red",
}
"""The color of each action, in the words of rich."""

_TOUCHES = {
    "by the indices": "the elements are known only at run time",
    "?": "the node is not understood",
}


@dataclass(frozen=True)
class EntryDetail:
    """The details that a page shows of a scatter or gather, in addition to its row.

    ``sections`` are the text of ``explain``: labels, each with its sentences. ``index_map`` has the
    elements that it writes or reads, if they are known. ``before`` and ``after`` are the piece of
    graph around it; if it is kept, ``after`` is None. ``together`` is how many other
    scatters were removed with it. ``moved`` is what it moves as it is, and at least.
    """

    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    index_map: IndexMap | None = None
    before: Excerpt | None = None
    after: Excerpt | None = None
    together: int = 0
    moved: Moved | None = None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One scatter or gather: what it writes or reads, what is done with it, and why it is kept.

    ``graph`` names the graph or function that contains it. ``footprint`` is the region of its data
    that it writes or reads; if transposes around the node are undone, it is in the ``axes`` of the
    original statement. ``rules`` are the rules that write its region, and ``written`` the operators
    that replace it. ``facts`` are the assumptions of the proof. If a node has no name, it is named
    by its output. ``selects_floats`` says that a Where of floats was written, which may change a
    zero's sign. ``in_onnxruntime`` are the reasons why ONNX Runtime may compute other values of the
    nodes that replace it. ``is_abbreviated`` says that the footprint has letters for terms, or is
    cut. ``details`` are those of several entries, this one at ``number``: they are found when one
    is first asked for. Equality of entries ignores these three.
    """

    node: str
    op: str
    graph: str
    footprint: str
    verdict: str
    action: Action
    rules: tuple[str, ...] = ()
    refusal: Refusal | None = None
    facts: tuple[str, ...] = ()
    selects_floats: bool = False
    in_onnxruntime: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    axes: tuple[int, ...] | None = None
    is_abbreviated: bool = field(default=False, compare=False, repr=False)
    details: Sequence[EntryDetail] | None = field(default=None, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)

    @property
    def detail(self) -> EntryDetail | None:
        """What a page shows besides its row."""
        return None if self.details is None else self.details[self.number]

    @property
    def is_gone(self) -> bool:
        """Whether it is removed, and no ScatterX stands for it."""
        return self.action in (Action.REMOVED, Action.DEAD)

    @property
    def reason(self) -> Reason | None:
        """Why it is kept, or None if it is removed."""
        return None if self.refusal is None else self.refusal.reason

    @property
    def done(self) -> str:
        """What is done with it: the operators that replace it, or why it is kept."""
        if self.refusal is not None:
            return f"{self.action.value}: {self.refusal}"
        if self.action is Action.REMOVED and not self.rules:
            return f"{self.action.value}, with all its readers"
        if self.action is not Action.REMOVED:
            return str(self.action.value)
        by = f"by {', '.join(self.written)}" if self.written else "without a node"
        return f"{self.action.value} {by}"

    @property
    def touches(self) -> str:
        """What it writes or reads, for people; ``Report.legend`` explains it."""
        if self.footprint != "unknown":
            return self.footprint
        return "?" if self.verdict == "unknown" else "by the indices"

    def row(self) -> tuple[str, ...]:
        """Return its row in the table, under ``Report.columns``."""
        return self.node, self.op, self.touches, self.done

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        names = "node op graph footprint verdict action rules written axes reason"
        why = None if self.refusal is None else str(self.refusal)
        behind = plain_fields(self, "facts selects_floats in_onnxruntime")
        return {**plain_fields(self, names), "why": why, **behind}


@dataclass(frozen=True, kw_only=True)
class ScatterReport(Entry):
    """One scatter node.

    If updates collide, ``duplicates`` names them; ONNX does not define which one wins. ``work`` is
    how many elements the largest tensor of a dense form has. ``multiply_adds`` are those of a
    function of chosen rows that is computed for all rows. ``quantized`` says, of a write between
    DequantizeLinear and QuantizeLinear, whether it is done on the integers, or why not.
    """

    reduction: str = "unknown"
    unique: str = "unknown"
    duplicates: Duplicates | None = None
    work: str = ""
    multiply_adds: str = ""
    quantized: str = ""

    @property
    def done(self) -> str:
        """What is done with it, by which operators and how much work, or why not."""
        work = f" (dense, {self.work} elements)" if self.work and self.refusal is None else ""
        if self.multiply_adds and self.refusal is None:
            work += f" (multiply-adds: {self.multiply_adds})"
        return super().done + work + (f", {self.quantized}" if self.quantized else "")

    def row(self) -> tuple[str, ...]:
        """Return its row in the table, under ``Report.columns``."""
        node, op, *rest = super().row()
        return node, op if self.reduction == "none" else f"{op} ({self.reduction})", *rest

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        own = plain_fields(self, "reduction unique duplicates work multiply_adds quantized")
        return (
            super().to_dict()
            | own
            | {k: own[k] or None for k in ("work", "multiply_adds", "quantized")}
        )


@dataclass(frozen=True, kw_only=True)
class GatherReport(Entry):
    """One node that reads by indices: Gather, GatherElements or GatherND."""


def legend(entries: Iterable[Entry]) -> list[str]:
    """Return the meanings of the words of a table, in one line; empty if no word needs one.

    >>> entry = GatherReport(node="n", op="Gather", graph="g", footprint="unknown",
    ...     verdict="not sliceable", action=Action.KEPT)
    >>> print(*legend([entry]))
    by the indices: the elements are known only at run time
    """
    shown = list(entries)
    used = {entry.touches for entry in shown}
    words = [f"{word}: {text}" for word, text in _TOUCHES.items() if word in used]
    if any(entry.axes is not None and "[" in entry.footprint for entry in shown):
        words.append("[ ]: the axes are those before the Transpose in front of the node")
    if any(entry.is_abbreviated for entry in shown):
        words.append("letters in [ ]: long terms, which explain prints")
    return ["; ".join(words)] if words else []


def external_size(model: ir.Model) -> int:
    """Return the bytes of a model's external data; a shared part of a file counts once."""
    outside = (t for t in ir_tensors(model) if isinstance(t, ir.ExternalTensor))
    lengths = {(str(t.path), t.offset or 0): t.length or t.nbytes for t in outside}
    return sum(lengths.values())
