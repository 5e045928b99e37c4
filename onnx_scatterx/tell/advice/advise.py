"""Advice about the kept scatters: commands that remove them.

A command is printed only if the whole model was rewritten with its arguments and the nodes were
removed. Only the user knows whether a promise is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from onnx_scatterx.engine.device import Violation
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.tell.advice.again import Again
from onnx_scatterx.tell.advice.change import Change, Command
from onnx_scatterx.tell.advice.search import Search
from onnx_scatterx.tell.advice.sizes import SizeAdvice
from onnx_scatterx.tell.advice.trials import stuck_of
from onnx_scatterx.tell.advice.whole import Whole
from onnx_scatterx.tell.advice.worded import about_all, about_kept, about_refused
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.kept_advice import Advice


class Advised(NamedTuple):
    """Advice, and the violations of the target that no command of it removes; None: not known."""

    advice: tuple[Advice, ...]
    left: tuple[Violation, ...] | None


def advise_on(
    whole: Whole,
    records: Sequence[NodeRecord],
    violations: Sequence[Violation] | None = None,
    command: Command | None = None,
    observer: Observer = NOBODY,
) -> Advised:
    """Return advice about kept scatters and gathers, and about other nodes that the target refuses.

    A scatter that becomes ScatterX needs no advice. ``records`` has each scatter and gather of the
    ``whole`` model, ``violations`` the refused nodes of the result, if they are known: then what
    the target takes is told apart. ``command`` was typed by the user. ``observer`` is told how many
    changes were tried.
    """
    base = command or Command(target=whole.settings.target.text)
    sized = SizeAdvice.of(whole)
    if sized.failure is not None and not sized.options:
        return Advised(sized.advice(base), None if violations is None else tuple(violations))
    search = Search(whole, stuck_of(records), sized.change or Change(), observer)
    if sized.change is not None or not (sized.options or sized.failure):  # else sizes come first
        search.refused = search.beside(violations or ())
    search.violations = violations
    search.run()
    left = None if sized.options and not sized.change else _left(search)
    again = Again(search)
    about = (about_all, about_kept, about_refused)
    advice = [*chain.from_iterable(each(search, base, again) for each in about)]
    if untried := search.left_over():
        advice.append(Advice.about_untried(untried))
    ways = (way for key, ways in search.ways.items() if key not in search.taken() for way in ways)
    if any(way.change.fix and way.change.asks < 2 for way in ways):  # for the same target
        return Advised(tuple(advice), left)
    also = "" if sized.change is None else again.told(sized.change)
    return Advised((*sized.advice(base, also), *advice), left)


def _left(search: Search) -> tuple[Violation, ...] | None:
    """Return the violations that are left at the sizes of ``base``, and that no change removes."""
    if search.violations is None:
        return None
    gone = (record.entry for record in search.stuck if search.key(record) in search.ways)
    nodes = {(entry.op, entry.node) for entry in gone}
    there = (v for v in search.violations if (v.op, v.node) not in nodes)
    return tuple(v for v in there if (v.op, v.why) not in search.ways)
