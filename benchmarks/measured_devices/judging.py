"""Compares a profile with what was measured: what it takes of the successes, and what of it fails.

Cases with computed bounds, amounts or shapes count only if the profile takes such operands.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.measured_devices.cases import Atom, Case
from onnx_scatterx import Target

WRITTEN = (
    *("Slice", "Concat", "Unsqueeze", "Reshape", "Transpose", "Where", "Pad", "Sub", "Equal"),
    *("Shape", "Expand", "Or", "Gather", "Add", "Squeeze", "Cast", "Identity", "Mul", "Div"),
    "Mod",
)
"""The 20 operators that are written most, counted over ``models/`` with all profiles, the most
first. Max, the thirteenth, was not measured."""


@dataclass(frozen=True)
class Judged:
    """What a profile says of the cases of an operator."""

    operator: str
    absent: tuple[str, ...]
    """The optional inputs that these cases lack."""
    ran: int
    """How many cases the device ran."""
    taken: int
    """How many of these the profile takes."""
    failed: tuple[Case, ...]
    """The cases that the profile takes, and the device does not run."""

    @property
    def share(self) -> float:
        """The share of the successes that the profile takes."""
        return self.taken / self.ran if self.ran else 1.0

    @property
    def failing(self) -> float:
        """The share of failures among what the profile takes."""
        return len(self.failed) / max(1, self.taken + len(self.failed))

    @property
    def good(self) -> bool:
        """Whether nine tenths of the successes are taken, and at most 2 % of what is taken fail."""
        return self.share >= 0.9 and self.failing <= 0.02


def counted(cases: Sequence[Case], target: Target) -> list[Case]:
    """Return the cases that count for a profile."""
    takes_computed = any(_takes(case, target) for case in cases if case.computes)
    return [case for case in cases if takes_computed or not case.computes]


def judged(cases: Sequence[Case], target: Target) -> Judged:
    """Return what a profile says of the cases of one operator."""
    found = counted(cases, target)
    taken = [c for c in found if _takes(c, target)]
    return Judged(
        cases[0].use.op_type,
        (),
        sum(c.ran for c in found),
        sum(c.ran for c in taken),
        tuple(c for c in taken if not c.ran),
    )


def taken_of(cases: Sequence[Case], target: Target) -> list[Case]:
    """Return the cases that count for a profile, and that it takes."""
    return [case for case in counted(cases, target) if _takes(case, target)]


def _takes(case: Case, target: Target) -> bool:
    rank = max((t.rank or 0 for t in [*case.use.inputs, *case.use.outputs] if t), default=0)
    is_low = target.max_rank is None or rank <= target.max_rank
    return is_low and not any(case.use.objections(target))


def by_absence(cases: Sequence[Case]) -> Iterator[tuple[tuple[str, ...], list[Case]]]:
    """Yield the cases by the optional inputs that they lack."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        absent = tuple(sorted(value for key, value in case.atoms if key == "absent"))
        groups.setdefault(absent, []).append(case)
    yield from sorted(groups.items())


def separated(failed: Sequence[Case], taken: Sequence[Case], most: int = 4) -> list[str]:
    """Return in words the facts that most separate failures from the rest of what is taken."""
    without = Counter(pair for c in taken if c.ran for pair in _pairs(c))
    left, told = list(failed), list[str]()
    while left and len(told) < most:
        with_ = Counter(pair for c in left for pair in _pairs(c))
        best = max(with_, key=lambda p: (with_[p] - 0.5 * without[p], -len(p), repr(p)))
        words = ", ".join(f"{key} {value}" for key, value in best)
        told.append(f"{words} ({with_[best]} of {with_[best] + without[best]})")
        left = [c for c in left if not c.atoms.issuperset(best)]
    return told


def _pairs(case: Case) -> Iterator[tuple[Atom, ...]]:
    atoms = sorted(case.atoms, key=repr)
    yield from ((atom,) for atom in atoms)
    yield from itertools.combinations(atoms, 2)
    yield from itertools.combinations(atoms, 3)


def table(measured: Mapping[str, Sequence[Case]], target: Target) -> str:
    """Return a table in Markdown of the operators that are written most, and lines below it."""
    lines = ["| operator | ran | taken of these | fails of what is taken |", "|---|---|---|---|"]
    below = []
    for operator in WRITTEN:
        if operator not in measured or not target.has(operator):
            ran = sum(case.ran for case in measured.get(operator, ()))
            lines.append(f"| {operator} | {ran} | not in the profile | |")
            continue
        found = judged(measured[operator], target)
        mark = "" if found.good else " !"
        share, failing = f"{found.share:.1%}", f"{found.failing:.1%}"
        lines.append(f"| {operator} | {found.ran} | {share} | {failing}{mark} |")
        if found.failed:
            words = separated(found.failed, taken_of(measured[operator], target))
            below.append(f"- {operator} fails: {'; '.join(words)}")
        groups = [*by_absence(counted(measured[operator], target))]
        for absent, cases in groups if len(groups) > 1 else ():
            part = judged(cases, target)
            without = f"without {', '.join(absent)}" if absent else "with all inputs"
            text = f"{part.taken} of {part.ran} taken, {len(part.failed)} fail"
            below.append(f"- {operator} {without}: {text}")
    return "\n".join([*lines, "", *below])
