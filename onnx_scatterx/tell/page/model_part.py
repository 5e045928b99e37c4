"""The values that a page shows of one model: its cards, their drawings, and groups of cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from onnx_scatterx.grouping import grouped
from onnx_scatterx.operators import SCATTERS
from onnx_scatterx.tell.entries import Action, Entry, EntryDetail, ScatterReport
from onnx_scatterx.tell.kept_advice import Advice, Way
from onnx_scatterx.tell.outcome import outcome
from onnx_scatterx.tell.page.environment import Figure, Figures
from onnx_scatterx.tell.page.map_figure import graph_figure, map_figures
from onnx_scatterx.tell.refused import left_lines
from onnx_scatterx.tell.report import Report
from onnx_scatterx.tell.sketch import Excerpt
from onnx_scatterx.tell.to_do import Task, to_do

if TYPE_CHECKING:
    from onnx_scatterx.compare import Verification

KINDS = {
    Action.KEPT: ("kept", "kept"),
    Action.NATIVE: ("native", "ScatterX"),
    Action.REMOVED: ("removed", "removed"),
    Action.DEAD: ("removed", "removed"),
}
"""Of each action: the name for style and filter, and the word on the card."""


@dataclass(frozen=True)
class ComparedNote:
    """On how many inputs two models were compared, whether they are the same, and all the lines.

    ``solved`` says that a solver has proven it, too.
    """

    inputs: int
    same: bool
    solved: bool = False
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, verification: Verification | None) -> ComparedNote | None:
        """Return the text of a page about an answer of ``verify``, or None without an answer."""
        if verification is None:
            return None
        proof = verification.proof
        solved = proof is not None and proof.kind == "proven"
        lines = tuple(str(verification).split("\n"))
        return cls(verification.accepted, verification.agrees, solved, lines)

    @property
    def outcome(self) -> str:
        """The result, to follow the word "compared".

        >>> ComparedNote(1, True).outcome, ComparedNote(40, False).outcome
        ('on 1 input and are the same', 'on 40 inputs and DIFFER')
        """
        if not self.inputs:
            return "by what they declare and DIFFER" if not self.same else "and are the same"
        count = f"on {self.inputs} input{'s' * (self.inputs != 1)}"
        proof = ", which a solver has proven for all" if self.solved and self.same else ""
        return f"{count} and {'are the same' if self.same else 'DIFFER'}{proof}"


@dataclass(frozen=True)
class Card:
    """One scatter or gather: its id on the page, its drawings with captions, and advice.

    A drawing is of one or of two parts, from left to right.

    ``are_left_out`` says that drawings are missing, since the page has too many.
    """

    id: str
    entry: Entry
    drawings: tuple[tuple[Sequence[Markup], str], ...]
    are_left_out: bool
    advice: tuple[Advice, ...]

    @property
    def kind(self) -> str:
        """The name of its action, for style and filter."""
        return KINDS[self.entry.action][0]

    @property
    def badge(self) -> str:
        """The word for its action."""
        return KINDS[self.entry.action][1]

    @property
    def is_gather(self) -> bool:
        """Whether it reads."""
        return not isinstance(self.entry, ScatterReport)

    @property
    def how(self) -> str:
        """What is done with it, without the word for its action."""
        return self.entry.done.removeprefix(self.entry.action.value).lstrip(":, ")

    @property
    def lacks_map(self) -> bool:
        """Whether its elements are known only when the model runs."""
        return self.entry.detail is not None and self.entry.detail.index_map is None

    @property
    def duplicates(self) -> str:
        """Its updates that collide, if there are some."""
        duplicates = self.entry.duplicates if isinstance(self.entry, ScatterReport) else None
        return "" if duplicates is None else str(duplicates)

    @property
    def missing(self) -> str:
        """The missing fact, without which it cannot be removed."""
        if self.advice:
            return self.advice[0].missing
        return "" if self.entry.reason is None else self.entry.reason.missing

    @property
    def ways(self) -> list[Way]:
        """The commands that remove it."""
        return [way for advice in self.advice for way in advice.ways]

    @property
    def sections(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The facts and proofs that are not in other places of the card, with their labels."""
        above = {"answer", "unique"} if self.duplicates else {"answer"}
        for label, sentences in (self.entry.detail or EntryDetail()).sections:
            if label not in above and sentences != (self.entry.footprint,):
                yield label, sentences
        if self.entry.facts:
            yield "assumed", self.entry.facts
        yield "graph", (self.entry.graph,)


@dataclass(frozen=True)
class ModelPart:
    """The part of a page about one model.

    ``prefix`` begins the ids, ``words`` those of the explanations; ``level`` is that of headings.
    """

    report: Report
    comparison: ComparedNote | None
    figures: Figures
    prefix: str = ""
    words: str = ""
    level: int = 2

    @cached_property
    def picture(self) -> Card | None:
        """The first removed node that has drawings, or another one: it stands on top."""
        kinds = [KINDS[entry.action][0] for entry in self.report.entries]
        indices = sorted(range(len(kinds)), key=lambda index: kinds[index] != "removed")
        return next((card for card in map(self._card, indices) if card.drawings), None)

    @cached_property
    def cards(self) -> list[Card]:
        """The cards: the kept ones, then ScatterX, then the others."""
        rank = list(KINDS.values())
        cards = map(self._card, range(len(self.report.entries)))
        return sorted(cards, key=lambda card: rank.index((card.kind, card.badge)))

    def _card(self, index: int) -> Card:
        entry = self.report.entries[index]
        shown = [
            ([self.figures.svg(figure) for figure in figures], caption)
            for figures, caption in _drawings(entry.detail or EntryDetail(), self.report.planned)
        ]
        drawings = tuple(([s for s in svgs if s], text) for svgs, text in shown if all(svgs))
        about = (a for a in self.report.advice if not (a.is_violation or a.is_together))
        advice = tuple(a for a in about if entry.node in a.nodes)
        name = f"{self.prefix}s{index}"
        return Card(name, entry, drawings, len(drawings) < len(shown), advice)

    def by_reason(self, cards: Iterable[Card]) -> dict[str, list[Card]]:
        """Return cards by the reason why their nodes are kept."""
        reasons = ((card.entry.reason, card) for card in cards)
        return grouped((r.value if r else "by the choice of rules", card) for r, card in reasons)

    @property
    def tasks(self) -> list[Task]:
        """What is left to do."""
        compared = self.comparison
        return to_do(self.report, differs=compared is not None and not compared.same)

    @property
    def outcome(self) -> str:
        """Whether the target takes all of the result, or what is left, in one sentence."""
        return outcome(self.report)

    @property
    def left(self) -> str:
        """How many violations the commands leave, in one sentence; empty if no command helps."""
        report = self.report
        is_less = report.left is not None and report.left != report.violations
        return left_lines(report)[0].rstrip(":") if is_less and report.advice else ""

    @property
    def colliding(self) -> dict[str, list[Card]]:
        """The cards with updates that collide, by which updates win."""
        return grouped((card.duplicates, card) for card in self.cards if card.duplicates)

    @property
    def operator_rows(self) -> list[tuple[str, int, int]]:
        """The rows of the table of operators."""
        return operator_rows(self.report.ops_before, self.report.ops_after)

    @staticmethod
    def counted(cards: Sequence[Card]) -> str:
        """Return how many scatters, gathers or nodes there are."""
        kinds = {card.is_gather for card in cards}
        word = "node" if len(kinds) > 1 else "gather" if True in kinds else "scatter"
        return f"{len(cards)} {word}{'s' * (len(cards) != 1)}"


def _drawings(detail: EntryDetail, planned: bool) -> Iterator[tuple[Sequence[Figure], str]]:
    """Yield the drawings of a node with their captions."""
    if detail.index_map is not None:
        touched = "read" if detail.index_map.is_read else "written"
        caption = "; ".join((f"What is {touched}", *detail.index_map.notes))
        yield map_figures(detail.index_map), caption
    if detail.before is not None:
        others = detail.together
        word = "Before" if detail.after is not None else "The node, and what makes its indices"
        more = f", with {others} other scatter{'s' * (others > 1)}" if others else ""
        caption = f"{word}: {_drawn(detail.before)}{more}, constants not counted"
        yield [graph_figure(detail.before, "before")], caption
    if detail.after is not None:
        word = "After, if this is done" if planned else "After"
        yield [graph_figure(detail.after, "after")], f"{word}: {_drawn(detail.after)}"


def _drawn(excerpt: Excerpt) -> str:
    """Return how many nodes a piece has, and how many of them are drawn if these are some."""
    count = excerpt.nodes
    told = f"{count} node{'s' * (count != 1)}"
    some = 0 < excerpt.drawn < count
    return f"{told}, of which the nearest {excerpt.drawn} are drawn" if some else told


def operator_rows(before: Counter[str], after: Counter[str]) -> list[tuple[str, int, int]]:
    """Return the counts of each operator, scatters first, then what changed most, and the total."""
    change = {op: (op not in SCATTERS, -abs(after[op] - before[op]), op) for op in before | after}
    names = sorted(change, key=change.__getitem__)
    rows = [(op, before[op], after[op]) for op in names]
    return [*rows, ("total", before.total(), after.total())]


def kinds_of(reports: Iterable[Report]) -> list[tuple[str, str, int]]:
    """Return the kinds of cards there are: the name, the word on the card, and how many."""
    counts = Counter(KINDS[entry.action] for report in reports for entry in report.entries)
    return [(*kind, counts[kind]) for kind in dict.fromkeys(KINDS.values()) if counts[kind]]
