"""Finds the limits that separate the uses that a device ran from those that it did not.

One limit after the other is added: the facts, one to three of them, for which the most of the cases
that are still taken fail, and at most a tenth of that many run. Facts that differ in one value
become one limit.
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
_WORTH = 9  # failures that a limit must refuse for each success that it refuses
_LEAST = 0.003  # of the cases: a limit that refuses fewer is an accident
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
    limits = Limits(_facts(constant))
    taken = [case for case in constant if not _is_refused(case.atoms, limits.facts)]
    ran = sum(case.ran for case in taken)
    limits.taken = len(taken) - ran <= _FAILING * len(taken) and ran > 0
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


def _facts(cases: Sequence[Case]) -> list[Facts]:
    counted = Counter((case.atoms, case.ran) for case in cases)
    kinds = sorted({atoms for atoms, _ in counted}, key=_in_order)
    ran = np.array([counted[kind, True] for kind in kinds])
    failed = np.array([counted[kind, False] for kind in kinds])
    atoms = sorted({atom for kind in kinds for atom in kind}, key=repr)
    has = np.array([[atom in kind for kind in kinds] for atom in atoms], bool)
    taken = np.ones(len(kinds), bool)
    found: list[Facts] = []
    while len(found) < _MOST_LIMITS and failed[taken].sum() > ENOUGH * (ran + failed)[taken].sum():
        spare = ran[taken].sum() - (1 - _LOST) * ran.sum()
        score, chosen = _best(atoms, has[:, taken], ran[taken], failed[taken], spare)
        if score < max(2.0, _LEAST * len(cases)):
            break
        taken &= ~np.all(has[list(chosen)], axis=0)
        found.append({atoms[i][0]: frozenset({atoms[i][1]}) for i in chosen})
    return merged(found)


def _in_order(kind: frozenset[Atom]) -> list[str]:
    """Return facts as texts, in an order that no run changes."""
    return sorted(map(repr, kind))


def _best(
    atoms: Sequence[Atom], has: np.ndarray, ran: np.ndarray, failed: np.ndarray, spare: float
) -> tuple[float, tuple[int, ...]]:
    """Return how good it is to refuse the cases that have some facts, and the best of these facts.

    Three facts must be better than two of them, and two better than one. Facts that more than
    ``spare`` successes have are no limit.
    """
    worth = failed.astype(float) - _WORTH * ran
    same = np.array([[a[0] == b[0] for b in atoms] for a in atoms], bool)
    best = -np.inf, ()
    for i, with_first in enumerate(has):
        scores = (has * (worth * with_first)) @ has.T.astype(float)
        scores[(has * (ran * with_first)) @ has.T.astype(float) > spare] = -np.inf
        apart = ~same & ~same[i] & ~same[i][:, None]
        alone = worth[with_first].sum() if ran[with_first].sum() <= spare else -np.inf
        found = [(float(alone), (i,))]
        pairs = np.where(same[i], -np.inf, np.diag(scores))
        found.append((float(pairs.max()) * _MORE, (i, int(pairs.argmax()))))
        triples = np.where(apart, scores, -np.inf)
        j, k = np.unravel_index(triples.argmax(), triples.shape)
        found.append((float(triples[j, k]) * _MORE**2, (i, int(j), int(k))))
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
