"""Writes the results of ``benchmarks/gallery.py`` as the tables of ``docs/measured/gallery.md``."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from typing import Any

from gallery_cells import (
    EVERY,
    ORIGINAL,
    SOME,
    TAKEN,
    TOO_LARGE,
    Cell,
    Cells,
    forms_of,
    planned,
    too_large,
)
from gallery_rows import GALLERY, LEFT_OUT

TARGETS = ("standard", "ort-cpu")
STEPS = ("export", "size", *TARGETS, "judge", "times")
COMPILERS = (*EVERY, *SOME)
ENDS = (ORIGINAL, "own")
Rows = dict[str, dict[str, Any]]
Told = dict[str, Cell]
"""The cells of a row and a compiler, by the form of the file."""


def judged_as(found: dict[str, Any]) -> str:
    """Return the cell of a proof, or of a comparison."""
    judge, timed = found.get("judge", {}), found.get("times", {})
    if judge.get("proof") == "proven" and judge["same"]:
        return "proven"
    if judge.get("same"):
        return "compared: equal"
    apart = timed.get(TARGETS[0], {}).get("difference")
    if apart is None:
        return "-" if judge else "?"
    return f"compared: {apart:.0g}"


def timed_as(found: dict[str, Any]) -> list[str]:
    """Return the cells of the times: before, and after for both targets, with the ratio."""
    timed = found.get("times", {})
    if "ms" not in timed:
        return ["-" if timed else "?"] * (1 + len(TARGETS))
    base = timed["ms"]
    shares = (timed[target]["ratio"] for target in TARGETS)
    return [number(base), *(f"{number(base / share)} ({share:.2f})" for share in shares)]


def number(ms: float) -> str:
    """Return milliseconds with three digits."""
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"


def told_of(found: dict[str, Any], compiler: str, cells: Cells) -> Told:
    """Return what a compiler says of the files of a row; nobody asks about a large one."""
    if too_large(found):
        return {form: {"verdict": TOO_LARGE, "message": ""} for form in ENDS}
    said = {form: cells.of(compiler, sha) for form, sha in forms_of(found, compiler).items()}
    return {form: cell for form, cell in said.items() if cell is not None}


def word(cell: Cell | None) -> str:
    """Return the word of a cell."""
    if cell is None:
        return "?"
    if cell["verdict"] == TOO_LARGE:
        return "too large"
    return str(cell.get("out_of") or cell["verdict"])


def answer(told: Told) -> str:
    """Return the words of a compiler: before, after its profile, and in brackets for `standard`."""
    text = " → ".join(word(told.get(form)) for form in ENDS)
    return f"{text} ({word(told['standard'])})" if "standard" in told else text


def linked(text: str, thread: str) -> str:
    """Return a title, with a link to a thread."""
    repository, _, issue = thread.partition("#")
    where = f"https://github.com/{repository}/issues/{issue}"
    return f"{text} ([{thread}]({where}))" if thread else text


def page(results: Rows, cells: Cells) -> str:
    """Return the table of all results, and what is in no cell."""
    good = {n: f for n, f in results.items() if f.get("standard", {}).get("before")}
    told = {c: {n: told_of(good[n], c, cells) for n in asked(c, good)} for c in COMPILERS}
    compilers = [c for c in COMPILERS if any(told[c].values())]
    timed = [f["times"] for f in good.values() if "ms" in f.get("times", {})]
    rows, failed, words = [], [], []
    for name, found in results.items():
        shown = GALLERY.get(name)
        title = linked(shown.title, shown.thread) if shown else f"{name}, a file"
        failed += [f"- {title}, {k}: {why(f)}" for k, f in found.items() if "failed" in f]
        if name not in good:
            continue
        before, after = (found["standard"][w] for w in ("before", "after"))
        counts = [f"{before[part]} → {after[part]}" for part in ("scatters", "nodes")]
        how = shown.how.replace("_", ", ") if shown else "-"
        size = f"{found.get('size', {}).get('MB', '-')}"
        answers = [answer(told[c][name]) if name in told[c] else " " for c in compilers]
        options = [*(f"`{option}`" for option in shown.options), *shown.for_one] if shown else []
        shown_as = ", ".join([title, *options])
        row = [shown_as, how, *counts, size, *answers, *timed_as(found), judged_as(found)]
        rows.append(f"| {' | '.join(row)} |")
        words += said(title, {c: told[c][name] for c in compilers if name in told[c]})
    totals = [sum(f["standard"][w]["scatters"] for f in good.values()) for w in ("before", "after")]
    lines = [
        f"- {len(good)} models; {totals[0]} scatters before, {totals[1]} after `standard`",
        f"- {sum(judged_as(f) == 'proven' for f in good.values())} are proven equal, "
        f"{sum(judged_as(f) == 'compared: equal' for f in good.values())} more are compared, and "
        "their bits are equal",
        *(f"- {takes(good, c, told[c])}" for c in compilers),
        missing(told),
        *(f"- {t}: {speed(timed, t)}" for t in TARGETS if timed),
        *clocks(good),
        f"- package {', '.join(frequent(f['standard']['version'] for f in good.values()))}",
    ]
    heads = ["model", "export", "scatters", "nodes", "MB", *compilers]
    heads += ["ms", *(f"ms, `{target}`" for target in TARGETS), "result"]
    lines += [f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", *rows]
    lines += ["\n## What the compilers say\n", *words, "\n## Not measured\n", *failed]
    lines += [f"- {linked(*left)}: {reason}" for left, reason in LEFT_OUT.items()]
    todo = (linked(s.title, s.thread) for name, s in GALLERY.items() if name not in results)
    lines += [f"- {title}: not yet" for title in todo]
    return "\n".join(lines) + "\n"


def clocks(good: Rows) -> list[str]:
    """Return on what the rows are timed, and by which clock; most rows first."""
    titles: dict[str, list[str]] = {}
    for name, found in good.items():
        if "ms" in (timed := found.get("times", {})):
            clock = ", in processor time" if timed.get("clock") == "processor" else ""
            title = GALLERY[name].title.partition(",")[0] if name in GALLERY else name
            place = f"{timed['machine']}, {timed['runtime']}{clock}"
            titles.setdefault(place, []).append(title)
    first, *others = sorted(titles.items(), key=lambda group: -len(group[1])) or [("", [])]
    lines = [f"- timed on {first[0]}"] if first[0] else []
    return lines + [f"- timed on {place}: {', '.join(names)}" for place, names in others]


def frequent(texts: Iterable[str]) -> list[str]:
    """Return texts, the frequent ones first."""
    return [text for text, _ in Counter(texts).most_common()]


def why(found: dict[str, Any]) -> str:
    """Return the reason of a step that failed."""
    text = shortened(str(found["failed"]))
    if text == "MemoryError:" or "bad_alloc" in text:
        return "it needs more than 9 GiB of memory"
    return text or "no reason"


def asked(compiler: str, good: Rows) -> list[str]:
    """Return the rows that a compiler is to be given: all whose truth may be known."""
    rows = [*planned(compiler), *(name for name in good if name not in GALLERY)]
    return [n for n in rows if n in good and "failed" not in good[n].get("truth", {})]


def missing(told: dict[str, dict[str, Told]]) -> str:
    """Return how many cells are still to be filled."""
    wanted = [(c, n, form) for c in COMPILERS for n in told[c] for form in ENDS]
    lacking = sum(form not in told[c][n] for c, n, form in wanted)
    never = [c for c in COMPILERS if not any(told[c].values())]
    none = f"; not asked yet: {', '.join(never)}" if never else ""
    return f"- {lacking} of {len(wanted)} cells before and after the own profile are missing{none}"


def takes(good: Rows, compiler: str, told: dict[str, Told]) -> str:
    """Return what a compiler takes before and after, what it loses, and why it takes no more."""
    both = {n: t for n, t in told.items() if all(form in t for form in ENDS)}
    versions = {version for t in both.values() if (version := t["own"].get("version"))}
    head = f"{compiler} {', '.join(sorted(versions))}".strip()
    parts = [f"{head}: of {len(both)} models"]
    for form, when in zip(ENDS, ("before", "after its profile"), strict=True):
        counts = Counter(t[form]["verdict"] for t in both.values())
        parts.append(", ".join(f"{counts[verdict]} {verdict}" for verdict in TAKEN) + f" {when}")
    lost = [n for n, t in both.items() if taken(t[ORIGINAL]) and not taken(t["own"])]
    parts.append(f"lost: {', '.join(lost) or 'none'}")
    left = Counter(left_by(t["own"]) for t in both.values() if not taken(t["own"]))
    parts.append(f"left: {', '.join(f'{left[k]} {k}' for k in sorted(left)) or 'none'}")
    named = {n: good[n].get(f"form {compiler}", {}).get("refused", 0) > 0 for n in both}
    alarms = sum(named[n] and taken(t["own"]) for n, t in both.items())
    given = {n: t for n, t in both.items() if word(t["own"]) != "too large"}
    misses = sum(not named[n] and not taken(t["own"]) for n, t in given.items())
    return "; ".join([*parts, f"`--strict=taken`: {alarms} false alarms, {misses} misses"])


def taken(cell: Cell) -> bool:
    """Return whether a compiler takes a file, and computes it well."""
    return cell["verdict"] in TAKEN


def left_by(cell: Cell) -> str:
    """Return why a file is not taken, in a word or two."""
    if cell["verdict"] == "refused":
        cause = cell.get("cause", "not attributed")
        return cause if cause == "not attributed" else f"by {cause}"
    return word(cell)


def speed(timed: list[dict[str, Any]], target: str) -> str:
    """Return the geometric mean of the ratios, and the least."""
    shares = [t[target]["ratio"] for t in timed]
    mean = math.exp(statistics.fmean(map(math.log, shares)))
    return f"{mean:.2f} times as fast in the geometric mean, least {min(shares):.2f}"


def said(title: str, told: dict[str, Told]) -> list[str]:
    """Return what compilers say of a model whose outputs are not right, in lines."""
    lines = []
    for name, cells in told.items():
        texts = {form: text for form, cell in cells.items() if (text := sentence(cell))}
        whens = {ORIGINAL: "before", "own": "after", "standard": "after `standard`"}
        if len(texts) > 1 and len(set(texts.values())) == 1:
            lines.append(f"- {title.partition(' ([')[0]}, {name}: {next(iter(texts.values()))}")
        elif texts:
            words = "; ".join(f"{whens[form]}: {text}" for form, text in texts.items())
            lines.append(f"- {title.partition(' ([')[0]}, {name}, {words}")
    return lines


def sentence(cell: Cell) -> str:
    """Return the answer of a cell in words; "" if it is right or too large."""
    if cell["verdict"] in ("right", TOO_LARGE):
        return ""
    numbers = [f"error {cell['error']:.2g}"] if "error" in cell else []
    numbers += [f"cosine {cell['cosine']:.7f}"] if "cosine" in cell else []
    cause = [left_by(cell)] if cell["verdict"] == "refused" else []
    cause += [f"a part of {', '.join(cell['part'][:8])}"] if cell.get("part") else []
    words = [word(cell), *cause, *numbers, *([cell["message"]] if cell["message"] else [])]
    return ", ".join(words)


def shortened(message: str) -> str:
    """Return a message without folders and colours, as a cell of a table holds it."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", message)
    plain = re.sub(r"(?<![\w/])/[\w.+-]+/\S*/", "", plain)
    return re.sub(r"[|<>`\s]+", " ", plain).strip()[:160]
