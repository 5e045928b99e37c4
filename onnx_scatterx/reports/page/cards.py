"""The card of one scatter or gather: a line for the search, and all details."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnx_scatterx.reports.entries import Action, Detail, Entry, ScatterReport
from onnx_scatterx.reports.page.comparison import ComparedNote
from onnx_scatterx.reports.page.figures import LEFT_OUT, Figure, Figures
from onnx_scatterx.reports.page.graph_figure import graph_figure
from onnx_scatterx.reports.page.map_figure import map_figure
from onnx_scatterx.reports.page.words import WORDS, link
from onnx_scatterx.reports.report import Report
from onnx_scatterx.text.visible import as_html

KINDS = {
    Action.KEPT: ("kept", "kept"),
    Action.NATIVE: ("native", "ScatterX"),
    Action.REMOVED: ("removed", "removed"),
    Action.DEAD: ("removed", "removed"),
}
"""Of each action: the name for style and filter, and the word on the card."""

_NO_MAP = '<p class="note">The elements are known only when the model runs: there is no map.</p>'
FORMULAS = ("equation", "where", "known")


@dataclass(frozen=True)
class Cards:
    """Writes the cards of one report.

    ``prefix`` begins the ids, ``words`` those of the explanations; ``level`` is that of headings.
    """

    report: Report
    figures: Figures
    prefix: str
    comparison: ComparedNote | None = None
    words: str = ""
    level: int = 3

    def ordered(self) -> list[tuple[str, Entry]]:
        """Return the entries with their ids: the kept ones, then ScatterX, then the others."""
        found = [(f"{self.prefix}s{i}", e) for i, e in enumerate(self.report.entries)]
        rank = {"kept": 0, "native": 1, "removed": 2}
        return sorted(found, key=lambda pair: rank[KINDS[pair[1].action][0]])

    def all(self, *, opened: int) -> str:
        """Return all cards; the first few are open."""
        return "\n".join(
            self.card(name, entry, place < opened)
            for place, (name, entry) in enumerate(self.ordered())
        )

    def card(self, name: str, entry: Entry, is_open: bool) -> str:
        """Return one card."""
        kind, word = KINDS[entry.action]
        node, op, footprint, *_ = entry.row()
        verb = "reads" if _is_gather(entry) else "writes"
        where = "where the indices say" if footprint == "unknown" else footprint
        how = entry.done.removeprefix(entry.action.value).lstrip(":, ")
        state = ' open="open"' if is_open else ""
        return (
            f'<details class="card {kind}" id="{name}"{state}>'
            f'<summary><span class="node">{as_html(node)}</span> '
            f'<span class="op">{as_html(op)}</span> '
            f'<span class="foot">{verb} {as_html(where)}</span> '
            f'<span class="done"><b class="badge">{word}</b> {as_html(how)}</span></summary>\n'
            f'<div class="body">\n{"".join(self._body(entry))}</div></details>'
        )

    def _body(self, entry: Entry) -> Iterator[str]:
        yield f'<p class="outcome">{self._outcome(entry)}</p>\n'
        detail = entry.detail or Detail()
        yield self._drawings(entry, detail)
        if entry.refusal is not None:
            yield self._further(entry)
        meaning = WORDS.get(entry.verdict, "")
        yield (
            f"<p><b>Verdict:</b> {link(entry.verdict, self.words)}. {as_html(meaning)}</p>\n"
            if meaning
            else f"<p><b>Verdict:</b> {as_html(entry.verdict)}.</p>\n"
        )
        yield self._collisions(entry)
        yield self._facts(entry, detail)

    def _outcome(self, entry: Entry) -> str:
        done = as_html(entry.done)
        sentence = f"{done[:1].upper()}{done[1:]}."
        if entry.action is Action.KEPT:
            return f"{sentence} The node is not changed."
        would = "would compute" if self.report.planned else "compute"
        proof = f"That the new nodes {would} the same is {link('proven', self.words)}"
        if entry.action is Action.DEAD:
            proof = f"That nothing reads it is {link('proven', self.words)}"
        facts = " on the assumptions below" if entry.facts else ""
        return f"{sentence} {proof}{facts}{self._compared()}."

    def _compared(self) -> str:
        """Say how the models were compared, which is about all nodes together."""
        word = link("compared", self.words)
        if self.comparison is None:
            return f"; the models were not {word}"
        return f"; the models were {word} {as_html(self.comparison.outcome)}"

    def _drawings(self, entry: Entry, detail: Detail) -> str:
        found: list[tuple[Figure, str]] = []
        if detail.index_map is not None:
            notes = "".join(f"; {as_html(note)}" for note in detail.index_map.notes)
            touched = "read" if detail.index_map.is_read else "written"
            found.append((map_figure(detail.index_map), f"What is {touched}{notes}"))
        if detail.before is not None:
            others = detail.together
            word = "Before" if detail.after is not None else "The node, and what makes its indices"
            count = f"{detail.before.nodes} node{'s' * (detail.before.nodes != 1)}"
            more = f", with {others} other scatter{'s' * (others > 1)}" if others else ""
            found.append(
                (
                    graph_figure(detail.before, "before"),
                    f"{word}: {count}{more}, constants not counted",
                )
            )
        if detail.after is not None:
            after = "After, if this is done" if self.report.planned else "After"
            count = f"{detail.after.nodes} node{'s' * (detail.after.nodes != 1)}"
            found.append((graph_figure(detail.after, "after"), f"{after}: {count}"))
        shown = [(self.figures.svg(figure), caption) for figure, caption in found]
        parts = [
            f'<figure><div class="drawing" tabindex="0">{svg}</div>'
            f"<figcaption>{caption}</figcaption></figure>"
            for svg, caption in shown
            if svg is not None
        ]
        if entry.detail is not None and detail.index_map is None:
            parts.insert(0, _NO_MAP)
        left_out = LEFT_OUT if any(svg is None for svg, _ in shown) else ""
        return f'<div class="drawings">{"".join(parts)}</div>\n{left_out}' if parts else left_out

    def _further(self, entry: Entry) -> str:
        advice = [a for a in self.report.advice if entry.node in a.nodes]
        title = f"<h{self.level}>What would remove it</h{self.level}>\n"
        missing = advice[0].missing if advice else entry.refusal and entry.refusal.reason.missing
        items = [f"<li>missing: {as_html(missing)}</li>"]
        for way in (way for a in advice for way in a.ways):
            rules = f"written as {', '.join(way.rules)}" if way.rules else ""
            note = "; ".join(filter(None, (way.condition, rules)))
            items.append(f"<li><code>{as_html(way.command)}</code><br>{as_html(note)}</li>")
        if not advice:
            items.append("<li>other options were not tried: <code>advise</code> tries them</li>")
        elif not any(a.ways for a in advice):
            items.append("<li>no other option that was tried removes it</li>")
        return f"{title}<ul>{''.join(items)}</ul>\n"

    def _collisions(self, entry: Entry) -> str:
        if not isinstance(entry, ScatterReport) or entry.duplicates is None:
            return ""
        return f"<p><b>Updates that collide:</b> {as_html(entry.duplicates)}.</p>\n"

    def _facts(self, entry: Entry, detail: Detail) -> str:
        parts = []
        shown_above = {"answer"}  # above
        if isinstance(entry, ScatterReport) and entry.duplicates is not None:
            shown_above.add("unique")
        sections = [
            (label, sentences)
            for label, sentences in detail.sections
            if label not in shown_above and sentences != (entry.footprint,)
        ]
        if entry.facts:
            sections.append(("assumed", entry.facts))
        sections.append(("graph", (entry.graph,)))
        for label, sentences in sections:
            shown = (
                link("I, J, p1, p2, p and f", self.words, label) if label == "equation" else label
            )
            tag = "code" if label in FORMULAS else "span"
            lines = "<br>".join(f"<{tag}>{as_html(s)}</{tag}>" for s in sentences)
            parts.append(f"<div><dt>{shown}</dt><dd>{lines}</dd></div>")
        rows = "\n".join(parts)
        return f"<details><summary>Facts and proofs</summary>\n<dl>\n{rows}\n</dl></details>\n"


def _is_gather(entry: Entry) -> bool:
    return not isinstance(entry, ScatterReport)
