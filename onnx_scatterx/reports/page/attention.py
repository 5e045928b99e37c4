"""What a reader must know before using the result: kept nodes, assumptions, differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from onnx_scatterx.reports.entries import Action, Entry, ScatterReport
from onnx_scatterx.reports.page.comparison import ComparedNote
from onnx_scatterx.reports.page.words import link
from onnx_scatterx.reports.report import NEEDS, Report
from onnx_scatterx.text.visible import as_html

_LINKS = 8  # to cards, of each reason
_VIOLATIONS = 50


def attention(
    report: Report,
    entries: Sequence[tuple[str, Entry]],
    comparison: ComparedNote | None,
    words: str,
    level: int,
) -> str:
    """Return everything that needs attention; ``entries`` have the ids of their cards."""
    blocks = list(_blocks(report, entries, comparison, words, level))
    if not blocks:
        done = "would be removed" if report.planned else "is removed"
        sentence = f"Every scatter {done}, nothing was assumed, and the target takes all of it."
        return (
            f'<p class="fine">{sentence if report.entries else "There is nothing to remove."}</p>\n'
        )
    return "".join(blocks)


def _blocks(
    report: Report,
    entries: Sequence[tuple[str, Entry]],
    comparison: ComparedNote | None,
    words: str,
    level: int,
) -> Iterator[str]:
    h = f"h{level}"
    if comparison is not None and not comparison.same:
        text = "\n".join(map(as_html, comparison.lines))
        yield f'<div class="alarm"><{h}>The models differ</{h}><pre>{text}</pre></div>\n'
    kept = [(name, e) for name, e in entries if e.action is Action.KEPT]
    if kept:
        would = "would be" if report.planned else "is" if len(kept) == 1 else "are"
        count = f"{len(kept)} {_nouns(e for _, e in kept)} {would} kept"
        yield f"<{h}>{count}</{h}>\n{_by_reason(kept)}"
    native = [(name, e) for name, e in entries if e.action is Action.NATIVE]
    if native:
        became = "would become" if report.planned else "became"
        name = link("ScatterX", words)
        yield (
            f"<{h}>{len(native)} {became} {name}</{h}>\n"
            f"<p>ScatterX {as_html(NEEDS.removeprefix('which '))}.</p>\n"
            f"{_by_reason(native)}"
        )
    if report.violations:
        yield f"<{h}>Not taken by the target {as_html(report.target)}</{h}>\n"
        rows = "".join(
            f'<tr><th scope="row">{as_html(v.node)}</th><td>{as_html(v.op)}</td>'
            f"<td>{as_html(v.why)}</td></tr>\n"
            for v in report.violations[:_VIOLATIONS]
        )
        rest = len(report.violations) - _VIOLATIONS
        more = f"<p>and {rest} more</p>\n" if rest > 0 else ""
        yield (
            '<table class="plain"><thead><tr><th scope="col">node</th><th scope="col">operator</th>'
            f'<th scope="col">why</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n{more}'
        )
    for heading, texts in (
        (link("assumption", words, "Assumed"), report.assumptions),
        ("Assumed and not needed", report.not_needed),
        ("Operator set", report.opset_lines()),
        ("Sizes", (*report.fixed_lines(), *report.size_lines())),
    ):
        if texts:
            items = "".join(f"<li>{as_html(text)}</li>" for text in texts)
            yield f"<{h}>{heading}</{h}><ul>{items}</ul>\n"
    collide: dict[str, list[tuple[str, Entry]]] = {}
    for name, entry in entries:
        if isinstance(entry, ScatterReport) and entry.duplicates is not None:
            collide.setdefault(str(entry.duplicates), []).append((name, entry))
    if collide:
        yield f"<{h}>Updates that collide</{h}>\n{_listed(collide)}"
    zeros = [(name, e) for name, e in entries if e.selects_floats]
    if zeros:
        verb = "would become" if report.planned else "became"
        text = f"{verb} a Where, in which the sign of a zero may change"
        yield f"<{h}>The sign of a zero</{h}>\n{_listed({text: zeros})}"


def _nouns(entries: Iterable[Entry]) -> str:
    found = list(entries)
    kinds = {e.op.startswith("Gather") for e in found}
    word = "node" if len(kinds) > 1 else "gather" if True in kinds else "scatter"
    return f"{word}{'s' * (len(found) != 1)}"


def _by_reason(entries: Sequence[tuple[str, Entry]]) -> str:
    groups: dict[str, list[tuple[str, Entry]]] = {}
    for name, entry in entries:
        reason = "" if entry.reason is None else entry.reason.value
        groups.setdefault(reason or "by the choice of rules", []).append((name, entry))
    return _listed(groups)


def _listed(groups: Mapping[str, Sequence[tuple[str, Entry]]]) -> str:
    """Return a list of texts, each with links to the cards that it is about."""
    items = []
    for text, found in groups.items():
        links = ", ".join(
            f'<a href="#{name}">{as_html(entry.node)}</a>' for name, entry in found[:_LINKS]
        )
        rest = len(found) - _LINKS
        more = f", and {rest} more below" if rest > 0 else ""
        items.append(f"<li>{as_html(text)}: {links}{more}</li>")
    return f"<ul>{''.join(items)}</ul>\n"
