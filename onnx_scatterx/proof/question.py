"""Asks whether two models are the same: for all sizes, for large sizes, for some sizes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from onnx_scatterx.proof.answer import Verdict
from onnx_scatterx.proof.assumed import SAME_NAMES, SHORT_AXES
from onnx_scatterx.proof.building import SizeKey, shown
from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.limits import ProofSpentError
from onnx_scatterx.proof.core.logic import at_most, both, equal, negation
from onnx_scatterx.proof.core.terms import Term, UnsupportedError, new_table
from onnx_scatterx.proof.declarations import InputClause
from onnx_scatterx.proof.judge import Judgement

_COMBINATIONS = 4


def unless_proven(
    outputs: Mapping[str, Verdict], other: Callable[[Verdict], Verdict]
) -> dict[str, Verdict]:
    """Return the verdicts; for each output that is not proven, ``other`` of its verdict."""
    return {n: v if v.kind == "proven" else other(v) for n, v in outputs.items()}


@dataclass(frozen=True)
class ForSizes:
    """A proof for all sizes of at least ``least``; if ``least`` is 0, for ``sizes``."""

    assumed: tuple[str, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    least: int = 0


@dataclass(frozen=True)
class Question:
    """Asks whether two models are the same for all sizes, for large sizes, or for some sizes.

    ``judged`` is ``judge`` for these models, with its arguments ``clauses`` and ``effort``.
    """

    judged: Callable[..., Judgement]
    clauses: Sequence[InputClause] = ()
    effort: float = 1

    def answered(self, **how: Any) -> tuple[Judgement, dict[str, Verdict], tuple[str, ...]]:
        """Return a judgement, its verdicts, and their assumptions.

        A proof for the kernel of ScatterX is full only if it holds for the fallbacks, too.
        """
        judgement = self.judged(**how)
        outputs, assumed = verdicts(judgement), judgement.assumed
        if not judgement.replaced or any(v.kind != "proven" for v in outputs.values()):
            return judgement, outputs, assumed
        try:
            with new_table(self.effort):
                again = self.judged(fallback=True, **how)
                others, assumed = verdicts(again), (*assumed, *again.assumed)
        except (UnsupportedError, ProofSpentError) as error:
            others = dict.fromkeys(outputs, Verdict("unknown", str(error)))
        outputs = unless_proven(others, lambda v: Verdict("proven for the kernel", v.why))
        return judgement, outputs, tuple(dict.fromkeys(assumed))

    def for_large_sizes(self, judgement: Judgement) -> ForSizes | None:
        """Return a proof for all sizes of at least 1, or else of at least 2; None if not found."""
        keys = [key for key in judgement.sizes if key not in judgement.fixed]
        for_sizes = None
        for least in (2, 1) if keys else ():  # 1 broadcasts, 0 is empty
            bounds = [InputClause(key, ">=", least) for key in keys]
            try:
                assumed = self._proven(clauses=(*self.clauses, *bounds))
            except ProofSpentError:
                if for_sizes is None:
                    raise
                break
            if assumed is None:
                break
            for_sizes = ForSizes(assumed, least=least)
        return for_sizes

    def for_sizes(self, judgement: Judgement) -> Iterator[ForSizes]:
        """Yield a proof for all large sizes; without one, proofs for some sizes."""
        large = self.for_large_sizes(judgement)
        if large is not None:
            yield large
            return
        for sizes in list(possible_sizes(judgement, _COMBINATIONS)):
            assumed = self._proven(sizes=sizes)
            if assumed is not None:
                yield ForSizes(assumed, {shown(key): size for key, size in sizes.items()})

    def why_never(self, judgement: Judgement) -> str:
        """Return that the first model runs on no input, and the assumption that makes it so."""
        never = "the first model runs on no input"
        if judgement.fixed:
            sizes = (f"{shown(key)} = {n}" for key, n in judgement.fixed.items())
            never += f" with {', '.join(sizes)}, which the second model has fixed"
        promised = judgement.world.promised
        if promised and self._runs(clauses=()):
            return f"{never}, if {', '.join(promised)}"
        if SAME_NAMES in judgement.assumed and self._runs(distrust_dims=True):
            return f"{never}, if {SAME_NAMES}: --distrust-dims does not assume this"
        if self._runs(long_axes=True):
            return f"{never}, if {SHORT_AXES}"
        return never

    def _runs(self, **how: Any) -> bool:
        """Return whether the first model may run on some inputs, as far as is known."""
        with suppress(UnsupportedError), new_table(self.effort):
            return not self.judged(**how).never_runs
        return False

    def _proven(self, **how: Any) -> tuple[str, ...] | None:
        """Return the assumptions of a proof of all outputs; None without such a proof."""
        with suppress(UnsupportedError), new_table(self.effort):
            one, outputs, assumed = self.answered(**how)
            is_proven = all(v.kind == "proven" for v in outputs.values())
            if is_proven and outputs and not one.never_runs:
                return assumed
        return None


def verdicts(judgement: Judgement) -> dict[str, Verdict]:
    """Return the verdict of a judgement for each output."""
    doubts = {name: judgement.doubt(output) for name, output in judgement.outputs.items()}
    if judgement.stopped:
        doubts = {
            name: f"{why}; {judgement.stopped}" if why else "" for name, why in doubts.items()
        }
    return {n: Verdict("unknown" if why else "proven", why) for n, why in doubts.items()}


def possible_sizes(judgement: Judgement, count: int) -> Iterator[Mapping[SizeKey, int]]:
    """Yield small sizes that the facts allow, no two the same.

    If the facts allow it, the sizes differ from each other and from 1, because an axis of size 1,
    or two axes of the same size, may hide a mistake.
    """
    solver, dims = judgement.world.solver, list(judgement.sizes.values())
    small = [at_most(d, integer(len(dims) + 3)) for d in dims]
    different = [negation(equal(a, b)) for a, b in itertools.combinations(dims, 2)]
    several = [at_most(integer(2), d) for d in dims]
    wishes = ([*several, *different], several, [at_most(integer(1), d) for d in dims])
    excluded: list[Term] = []
    for _ in range(count):
        answers = (solver.satisfiable([*small, *wish, *excluded]) for wish in wishes)
        model = next((a.model for a in answers if a.model is not None), None)
        if model is None:
            return
        sizes = {n: int(model.value(d)) for n, d in judgement.sizes.items()}
        yield sizes
        same = [equal(d, integer(sizes[n])) for n, d in judgement.sizes.items()]
        excluded.append(negation(both(*same)))
