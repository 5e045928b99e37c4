"""Finds the limits that separate the uses that a device ran from those that it did not.

One limit after the other is added: the facts, one to three of them, for which the most of the cases
that are still taken fail, and few run. All limits together refuse at most 8 % of the successes.
Facts that differ in one value become one limit.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.measured_devices.cases import Atom, Case

ENOUGH = 0.005
"""The share of failures among what is taken at which no further limit is looked for."""
_FAILING = 0.02  # of what is taken: an operator of which more fail is not in a profile
_WORTH = (9, 3, 1, 0.5)
"""How many failures a limit must refuse for each success that it refuses; the first that does."""
_LEAST = 0.003  # of the cases: a limit that refuses fewer is an accident, if enough is refused
_LOST = 0.08  # the share of all successes that the limits may refuse
_MORE = 0.98  # how much less a limit of one more fact is worth
_MOST_LIMITS = 24
Facts = dict[str, frozenset[Any]]
"""What a limit says: for each fact its values, all of which are refused."""


@dataclass
class Limits:
    """The limits of an operator."""

    facts: list[Facts] = field(default_factory=list)
    computed: bool = True
    """Whether bounds, amounts and shapes may be computed."""
    taken: bool = True
    """Whether the device ran it at all, and the limits separate what it did not run."""


def learnt(cases: Sequence[Case]) -> Limits:
    """Return the limits of an operator, of which these are the cases."""
    constant = [case for case in cases if not case.computes]
    limits = Limits(taken=False)
    for worth in _WORTH:
        limits = Limits(_facts(constant, worth))
        taken = [case for case in constant if not _is_refused(case.atoms, limits.facts)]
        ran = sum(case.ran for case in taken)
        limits.taken = len(taken) - ran <= _FAILING * len(taken) and ran > 0
        if limits.taken:
            break
    if len(constant) < len(cases):
        computing = [c for c in cases if c.computes and not _is_refused(c.atoms, limits.facts)]
        ran = sum(case.ran for case in computing)
        limits.computed = ran >= 0.98 * len(computing) > 0
    return limits


def _is_refused(atoms: frozenset[Atom], facts: Iterable[Facts]) -> bool:
    return any(
        all(any((key, value) in atoms for value in values) for key, values in one.items())
        for one in facts
    )


def _facts(cases: Sequence[Case], least: float) -> list[Facts]:
    counted = Counter((case.atoms, case.ran) for case in cases)
    kinds = sorted({atoms for atoms, _ in counted}, key=_in_order)
    ran = np.array([counted[kind, True] for kind in kinds])
    failed = np.array([counted[kind, False] for kind in kinds])
    atoms = sorted({atom for kind in kinds for atom in kind}, key=_plain_first)
    has = np.array([[atom in kind for kind in kinds] for atom in atoms], bool)
    taken = np.ones(len(kinds), bool)
    found: list[Facts] = []
    while len(found) < _MOST_LIMITS and failed[taken].sum() > ENOUGH * (ran + failed)[taken].sum():
        spare = ran[taken].sum() - (1 - _LOST) * ran.sum()
        worth = failed[taken] - least * ran[taken]
        _, rows = np.unique(has[:, taken], axis=0, return_index=True)
        rows = np.sort(rows)
        rows = rows[has[rows][:, taken].any(axis=1) & ~has[rows][:, taken].all(axis=1)]
        some = [atoms[i] for i in rows]
        if not some:
            break
        score, best = _best(some, has[rows][:, taken], worth, ran[taken], spare)
        chosen = [rows[i] for i in best]
        enough = failed[taken].sum() <= _FAILING * (ran + failed)[taken].sum()
        if score < (max(2.0, _LEAST * len(cases)) if enough else 0.9):
            break
        taken &= ~np.all(has[chosen], axis=0)
        found.append({atoms[i][0]: frozenset({atoms[i][1]}) for i in chosen})
    return merged(found)


def _plain_first(atom: Atom) -> tuple[bool, str]:
    """Return what orders facts: of two that say the same of all cases, the plainer one is taken."""
    return atom[0] == "whole" or atom[0].startswith("rank_of"), repr(atom)


def _in_order(kind: frozenset[Atom]) -> list[str]:
    """Return facts as texts, in an order that no run changes."""
    return sorted(map(repr, kind))


def _best(
    atoms: Sequence[Atom], has: np.ndarray, worth: np.ndarray, ran: np.ndarray, spare: float
) -> tuple[float, tuple[int, ...]]:
    """Return how good it is to refuse the cases that have some facts, and the best of these facts.

    Three facts must be better than two of them, and two better than one. Facts that more than
    ``spare`` successes have are no limit.
    """
    same = np.array([[a[0] == b[0] for b in atoms] for a in atoms], bool)
    facts = has.astype(np.float32)
    worth, ran = worth.astype(np.float32), ran.astype(np.float32)
    best: tuple[float, tuple[int, ...]] = -np.inf, ()
    for i, first in enumerate(facts):
        with_first = first > 0
        here, behind = facts[:, with_first], facts[i:][:, with_first]
        scores = (here * worth[with_first]) @ behind.T
        scores[(here * ran[with_first]) @ behind.T > spare] = -np.inf
        scores[same[i]] = -np.inf
        scores[:, 0] = np.where(same[i], -np.inf, scores[:, 0])
        alone = worth[with_first].sum() if ran[with_first].sum() <= spare else -np.inf
        found: list[tuple[float, tuple[int, ...]]] = [(float(alone), (i,))]
        pair = int(scores[:, 0].argmax())
        found.append((float(scores[pair, 0]) * _MORE, (i, pair)))
        triples = np.where(same[:, i:] | same[i][None, i:], -np.inf, scores)
        j, k = np.unravel_index(triples.argmax(), triples.shape)
        found.append((float(triples[j, k]) * _MORE**2, (i, int(j), i + int(k))))
        best = max(best, *found, key=lambda one: (one[0], -len(one[1])))
    return best


def merged(found: Sequence[Facts]) -> list[Facts]:
    """Return limits of which no two differ in the values of one fact alone.

    >>> merged([{"ranks": frozenset({5})}, {"ranks": frozenset({6})}])
    [{'ranks': frozenset({5, 6})}]
    """
    result = list(found)
    for one, other in itertools.combinations(result, 2):
        if one.keys() != other.keys():
            continue
        differ = [key for key in one if one[key] != other[key]]
        if len(differ) == 1 and differ != ["axes"]:
            (key,) = differ
            rest = [facts for facts in result if facts not in (one, other)]
            return merged([*rest, {**one, key: one[key] | other[key]}])
    return result
