"""Writes the results of ``benchmarks/gallery.py`` as the tables of ``docs/gallery.md``."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from typing import Any

from gallery_rows import GALLERY, LEFT_OUT

TARGETS = ("standard", "ort-cpu")
STEPS = ("export", "size", *TARGETS, "judge", "times")  # all others ask a compiler
SIGNS = {"right": "yes", "wrong": "wrong", "refused": "-"}
Rows = dict[str, dict[str, Any]]


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


def answers(found: dict[str, Any], compilers: list[str]) -> list[str]:
    """Return the cells of the compilers."""
    cells = []
    for name in compilers:
        asked = found.get(name, {})
        signs = [SIGNS[asked[w]["verdict"]] for w in ("before", "after") if w in asked]
        cells.append(" → ".join(signs) or ("-" if asked else "?"))
    return cells


def linked(text: str, thread: str) -> str:
    """Return a title, with a link to a thread."""
    repository, _, issue = thread.partition("#")
    where = f"https://github.com/{repository}/issues/{issue}"
    return f"{text} ([{thread}]({where}))" if thread else text


def page(results: Rows) -> str:
    """Return the table of all results, and what is in no cell."""
    good = {n: f for n, f in results.items() if f.get("standard", {}).get("before")}
    versions: dict[str, str] = {}
    for row in good.values():
        versions |= {n: f["compiler"] for n, f in row.items() if "compiler" in f}
    compilers = sorted({n for row in good.values() for n in row if n not in STEPS})
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
        cells = [title, how, *counts, size, *answers(found, compilers), *timed_as(found)]
        rows.append(f"| {' | '.join((*cells, judged_as(found)))} |")
        words += said(title, found, compilers)
    totals = [sum(f["standard"][w]["scatters"] for f in good.values()) for w in ("before", "after")]
    lines = [
        f"- {len(good)} models; {totals[0]} scatters before, {totals[1]} after `standard`",
        f"- {sum(judged_as(f) == 'proven' for f in good.values())} are proven equal, "
        f"{sum(judged_as(f) == 'compared: equal' for f in good.values())} more are compared, and "
        "their bits are equal",
        *(f"- {versions.get(c, c)}: {takes(good, c)}" for c in compilers),
        *(f"- {t}: {speed(timed, t)}" for t in TARGETS if timed),
        *clocks(good),
        f"- package {', '.join(told(f['standard']['version'] for f in good.values()))}",
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


def told(texts: Iterable[str]) -> list[str]:
    """Return texts, the frequent ones first."""
    return [text for text, _ in Counter(texts).most_common()]


def why(found: dict[str, Any]) -> str:
    """Return the reason of a step that failed."""
    text = shortened(str(found["failed"]))
    if text == "MemoryError:" or "bad_alloc" in text:
        return "it needs more than 9 GiB of memory"
    return text or "no reason"


def takes(good: Rows, compiler: str) -> str:
    """Return how many models a compiler takes, before and after."""
    cells = [f[compiler] for f in good.values() if "after" in f.get(compiler, {})]
    right = [sum(c[w]["verdict"] == "right" for c in cells) for w in ("before", "after")]
    return f"{right[0]} models of {len(cells)} taken and right before, {right[1]} after"


def speed(timed: list[dict[str, Any]], target: str) -> str:
    """Return the geometric mean of the ratios, and the least."""
    shares = [t[target]["ratio"] for t in timed]
    mean = math.exp(statistics.fmean(map(math.log, shares)))
    return f"{mean:.2f} times as fast in the geometric mean, least {min(shares):.2f}"


def said(title: str, found: dict[str, Any], compilers: list[str]) -> list[str]:
    """Return what compilers say of a model that they do not take, in lines."""
    lines = []
    for name in compilers:
        asked = found.get(name, {})
        texts = {w: asked[w]["why"] for w in ("before", "after") if asked.get(w, {}).get("why")}
        if len(set(texts.values())) == 1 < len(texts):
            texts = {"before and after": texts["before"]}
        told = "; ".join(f"{when}: {text}" for when, text in texts.items())
        lines += [f"- {title.partition(' ([')[0]}, {name}, {told}"] if told else []
    return lines


def shortened(message: str) -> str:
    """Return a message without folders and colours, as a cell of a table holds it."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", message)
    plain = re.sub(r"(?<![\w/])/[\w.+-]+/\S*/", "", plain)
    return re.sub(r"[|<>`\s]+", " ", plain).strip()[:160]
