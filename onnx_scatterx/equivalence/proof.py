"""The answer of `prove` for two models: each output proven, refuted, or not known, and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import onnx

from onnx_scatterx.equivalence.comparing import Comparison
from onnx_scatterx.equivalence.core.solver import ALL
from onnx_scatterx.equivalence.core.terms import UnsupportedError, new_table
from onnx_scatterx.equivalence.counterexample import counterexamples, possible_sizes
from onnx_scatterx.equivalence.givens import Given
from onnx_scatterx.equivalence.judge import Judgement, Progress, deep, judge

Kind = Literal["proven", "proven for sizes", "refuted", "unknown"]
Replay = Callable[[dict[str, int], Mapping[str, np.ndarray]], str | None]
"""Runs both models on sizes and inputs; says how they differ, None if they do not."""

_LARGEST, _COMBINATIONS = 4, 4
_SHOWN = 4


@dataclass(frozen=True)
class Verdict:
    """What is known of one output, and why not more."""

    kind: Kind
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}" if self.why else self.kind


@dataclass(frozen=True)
class Proof:
    """The verdicts on the outputs of two models.

    ``assumed`` are a proof's assumptions. If no proof was found for all sizes, ``sizes`` are those
    for which one was found. ``refutation`` says how the models differ on ``inputs``, which were
    run. ``regions`` counts the values that both models name and compute differently, and ``proven``
    how many of them were proven to be the same.
    """

    outputs: Mapping[str, Verdict]
    assumed: tuple[str, ...] = ()
    sizes: tuple[Mapping[str, int], ...] = ()
    refutation: str | None = None
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)
    regions: int = 0
    proven_regions: int = 0
    seconds: float = 0.0
    questions: int = 0

    @property
    def kind(self) -> Kind:
        """What is known of all outputs together."""
        kinds = {v.kind for v in self.outputs.values()}
        order: tuple[Kind, ...] = ("refuted", "unknown", "proven for sizes")
        return next((k for k in order if k in kinds), "proven")

    @property
    def proven(self) -> bool:
        """Whether all outputs are the same for all sizes and all inputs."""
        return self.kind == "proven"

    def __bool__(self) -> bool:
        return self.proven

    def __str__(self) -> str:
        lines = [_SAID[self.kind]]
        if self.kind == "proven for sizes":
            lines[0] += f" ({self._sizes()})"
        if self.refutation is not None:
            lines.append(f"  {self.refutation}")
        alike: dict[str, list[str]] = {}
        for name, verdict in self.outputs.items():
            if verdict.why:
                alike.setdefault(str(verdict), []).append(repr(name))
        for text, names in list(alike.items())[:_SHOWN]:
            shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
            lines.append(f"  {shown} {text}")
        if self.assumed and self.kind in ("proven", "proven for sizes"):
            lines.append("  assumed: " + "; ".join(self.assumed))
        return "\n".join(lines)

    def _sizes(self) -> str:
        named = (", ".join(f"{n} = {k}" for n, k in one.items()) for one in self.sizes)
        return "; ".join(named)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the inputs as plain data."""
        return {
            "answer": self.kind,
            "outputs": {n: {"answer": v.kind, "why": v.why} for n, v in self.outputs.items()},
            "assumed": list(self.assumed),
            "sizes": [dict(one) for one in self.sizes],
            "refutation": self.refutation,
            "regions": {"all": self.regions, "proven": self.proven_regions},
            "seconds": round(self.seconds, 3),
        }


_SAID = {
    "proven": "proven the same, for all sizes and all inputs on which the first model runs",
    "proven for sizes": "proven the same, for some sizes and all inputs",
    "refuted": "refuted: the models differ",
    "unknown": "not proven",
}


def prove(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    *,
    replay: Replay | None = None,
    given: Sequence[Given] = (),
    distrust_dims: bool = False,
    budget: int = ALL,
    progress: Progress | None = None,
) -> Proof:
    """Decide for every size and every input whether two models are the same.

    ``replay`` runs the solver's counterexamples: only a difference there is a refutation. ``given``
    has the assumptions about the inputs, ``distrust_dims`` lets dims of one name differ. ``budget``
    is Z3's limit of work.

    >>> import onnx.parser
    >>> head = '<ir_version: 8, opset_import: ["" : 18]> g (float[N, 4] x) => (float[N, 4] y)'
    >>> twice = onnx.parser.parse_model(head + '''{
    ...     t = Transpose<perm = [1, 0]>(x)
    ...     y = Transpose<perm = [1, 0]>(t) }''')
    >>> print(prove(twice, onnx.parser.parse_model(head + "{ y = Identity(x) }")))
    proven the same, for all sizes and all inputs on which the first model runs
      assumed: every axis is shorter than 2^31
    """
    with deep(), new_table():
        return _prove(before, after, replay, given, distrust_dims, budget, progress)


def _prove(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    replay: Replay | None,
    given: Sequence[Given],
    distrust_dims: bool,
    budget: int,
    progress: Progress | None,
) -> Proof:
    start = time.monotonic()

    def judged(sizes: Mapping[str, int] | None = None) -> Judgement:
        return judge(
            before,
            after,
            sizes=sizes,
            given=given,
            distrust_dims=distrust_dims,
            budget=budget,
            progress=progress if sizes is None else None,
        )

    names = [o.name for o in before.graph.output]
    try:
        judgement = judged()
    except UnsupportedError as error:
        spent = time.monotonic() - start
        return Proof({n: Verdict("unknown", str(error)) for n in names}, seconds=spent)
    outputs = verdicts(judgement)
    refutation: str | None = None
    inputs: Mapping[str, np.ndarray] = {}
    sizes: tuple[Mapping[str, int], ...] = ()
    if any(v.kind != "proven" for v in outputs.values()):
        if replay is not None:
            refutation, inputs = _refuted(judgement, replay)
        if refutation is not None:
            outputs = {
                n: v if v.kind == "proven" else Verdict("refuted") for n, v in outputs.items()
            }
        elif judgement.sizes and judgement.facts.status != "proven":
            sizes = tuple(_proven_sizes(judgement, judged))
            if sizes:
                outputs = {
                    n: v if v.kind == "proven" else Verdict("proven for sizes", v.why)
                    for n, v in outputs.items()
                }
    return Proof(
        outputs,
        judgement.assumed,
        sizes,
        refutation,
        inputs,
        len(judgement.regions),
        sum(bool(r.found) for r in judgement.regions),
        time.monotonic() - start,
        judgement.world.solver.asked,
    )


def verdicts(judgement: Judgement) -> dict[str, Verdict]:
    """Return the verdict of a judgement for each output."""
    found = {}
    for name, comparison in judgement.outputs.items():
        if judgement.facts.status == "proven":
            found[name] = Verdict("unknown", "the first model runs on no input")
        elif judgement.facts.status == "limit":
            found[name] = Verdict("unknown", "solver limit: the first model may run on no input")
        elif not comparison:
            found[name] = Verdict("unknown", _doubt(judgement, comparison))
        elif judgement.owed:
            what, open_ = judgement.owed[0]
            found[name] = Verdict("unknown", _reason(open_.status, what))
        else:
            found[name] = Verdict("proven")
    return found


def _doubt(judgement: Judgement, comparison: Comparison) -> str:
    """Return why an output is not proven: unmodelled operators first, as all else follows."""
    known = set(judgement.unmodelled.values())
    unmodelled = (what for what, open_ in judgement.owed if what in known and not open_)
    return next(unmodelled, _reason(comparison.status, comparison.why))


def _reason(status: str, what: str) -> str:
    return f"a counterexample that did not reproduce: {what}" if status == "differ" else what


def _refuted(judgement: Judgement, replay: Replay) -> tuple[str | None, Mapping[str, np.ndarray]]:
    for sizes, feeds in counterexamples(judgement):
        found = replay(sizes, feeds)
        if found is not None:
            return found, feeds
    return None, {}


def _proven_sizes(
    judgement: Judgement, judged: Callable[[Mapping[str, int]], Judgement]
) -> Iterator[Mapping[str, int]]:
    """Yield the sizes of those tried for which everything is proven."""
    for sizes in list(possible_sizes(judgement, _LARGEST, _COMBINATIONS)):
        with new_table():
            one = judged(sizes)
        if one.facts.status == "proven":
            continue
        if all(v.kind == "proven" for v in verdicts(one).values()):
            yield sizes
