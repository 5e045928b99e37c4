"""`prove`: decides for each output of two models whether it is proven, refuted, or unknown."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import z3

from onnx_scatterx.judges.equivalence.building import shown
from onnx_scatterx.judges.equivalence.core.reading import Source
from onnx_scatterx.judges.equivalence.core.terms import UnsupportedError, new_table
from onnx_scatterx.judges.equivalence.counterexample import Replay, possible_sizes, refuted
from onnx_scatterx.judges.equivalence.declarations import InputClause, Planner
from onnx_scatterx.judges.equivalence.judge import Judgement, Progress, deep, judge

Kind = Literal["proven", "proven for the kernel", "proven for sizes", "unknown", "refuted"]

_COMBINATIONS = 4
_SHOWN = 4


@dataclass(frozen=True)
class Verdict:
    """The verdict on one output, and why it is not "proven"."""

    kind: Kind
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}" if self.why else self.kind


@dataclass(frozen=True)
class Proof:
    """The verdicts on the outputs of two models.

    ``promised`` are the user's statements about the inputs. ``assumed`` are the other assumptions
    of the proof. ``fixed`` are the sizes that are numbers only in the second model. If no proof was
    found for all sizes, ``least`` is 1 or 2 if there is a proof for all sizes from it on; if not,
    ``sizes`` may have a proof. ``refutation`` says how the models differ on ``inputs``, which were
    run. ``contradicted`` says that a proof was found all the same. ``regions`` counts the pairs of
    values that were compared, ``proven_regions`` the pairs that were proven to be the same.
    """

    outputs: Mapping[str, Verdict]
    assumed: tuple[str, ...] = ()
    promised: tuple[str, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=dict)
    least: int = 0
    sizes: tuple[Mapping[str, int], ...] = ()
    refutation: str | None = None
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)
    regions: int = 0
    proven_regions: int = 0
    seconds: float = 0.0
    questions: int = 0
    solver: str = field(default_factory=lambda: f"Z3 {z3.get_version_string()}")
    contradicted: bool = False

    @property
    def kind(self) -> Kind:
        """The verdict on all outputs together."""
        kinds = {v.kind for v in self.outputs.values()}
        order = get_args(Kind)[::-1]
        return next((k for k in order if k in kinds), "proven")

    @property
    def proven(self) -> bool:
        """Whether all outputs are the same for all sizes and all inputs."""
        return self.kind == "proven"

    def __bool__(self) -> bool:
        return self.proven

    def covers(self, sizes: Mapping[str, int]) -> bool:
        """Return whether the models are proven to be the same at these sizes of the inputs."""
        if self.kind != "proven for sizes":
            return self.proven
        if self.least:
            open_ = [n for name, n in sizes.items() if name not in self.fixed]
            return bool(open_) and min(open_) >= self.least
        return any(one.items() <= sizes.items() for one in self.sizes)

    def __str__(self) -> str:
        lines = [self._headline()]
        if self.refutation is not None:
            lines.append(f"  {self.refutation}")
        alike: dict[str, list[str]] = {}
        for name, verdict in self.outputs.items():
            if verdict.why:
                alike.setdefault(str(verdict), []).append(repr(name))
        for text, names in list(alike.items())[:_SHOWN]:
            shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
            lines.append(f"  {shown} {text}")
        if self.assumed and self.kind.startswith("proven"):
            lines.append("  assumed: " + "; ".join(self.assumed))
        if self.contradicted:
            lines.append("  a proof was found, and a run contradicts it: " + REPORT)
        return "\n".join(lines)

    def _headline(self) -> str:
        kind, fixed = self.kind, _named(self.fixed)
        if kind == "refuted":
            return "refuted: the models differ"
        if kind == "unknown":
            return f"not proven (by {self.solver}): no answer, neither that they differ"
        if kind == "proven for sizes":
            sizes = f"only for {self._some_sizes}"
        else:
            sizes = f"for {fixed}, which the second model has fixed," if fixed else "for all sizes"
        said = f"proven the same, {sizes} and all inputs on which the first model runs"
        if self.promised:
            said += f", if {', '.join(self.promised)}"
        if kind == "proven for the kernel":
            said += ": for the kernel, not for the fallback"
        return said

    @property
    def _some_sizes(self) -> str:
        if self.least and self.fixed:
            return f"{_named(self.fixed)} and other sizes of at least {self.least}"
        if self.least:
            return f"sizes of at least {self.least}"
        return "; ".join(map(_named, self.sizes))

    @property
    def shortfall(self) -> str:
        """Why this is not a full proof; empty if it is one."""
        if self.kind == "proven for sizes":
            return f"not proven for all sizes, only for {self._some_sizes}"
        if self.kind == "proven for the kernel":
            return "not proven for the fallback of ScatterX, only for the kernel"
        return {"proven": "", "unknown": "not proven"}.get(self.kind, self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the inputs as plain data."""
        return {
            "answer": self.kind,
            "outputs": {n: {"answer": v.kind, "why": v.why} for n, v in self.outputs.items()},
            "assumed": list(self.assumed),
            "promised": list(self.promised),
            "fixed": dict(self.fixed),
            "solver": self.solver,
            "least": self.least,
            "sizes": [dict(one) for one in self.sizes],
            "refutation": self.refutation,
            "regions": {"all": self.regions, "proven": self.proven_regions},
            "seconds": round(self.seconds, 3),
        }


REPORT = "please report this, with both models"


def _named(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def prove(
    before: Source,
    after: Source,
    *,
    replay: Replay | None = None,
    given: Sequence[InputClause] = (),
    distrust_dims: bool = False,
    effort: float = 1,
    progress: Progress | None = None,
    planner: Planner | None = None,
) -> Proof:
    """Decide for every size and every input whether two models are the same.

    A model is a path or a ModelProto, perhaps with the directory of its external data. ``replay``
    runs the solver's counterexamples: only a difference in a run is a refutation. ``given`` has the
    assumptions about the inputs. If ``distrust_dims``, dims of one name may differ. ``effort``
    multiplies Z3's work and the steps in terms. ``planner`` says which dims ONNX Runtime infers;
    without it, these dims are assumed to be right.

    >>> import onnx.parser
    >>> head = '<ir_version: 8, opset_import: ["" : 18]> g (float[N, 4] x) => (float[N, 4] y)'
    >>> twice = onnx.parser.parse_model(head + '''{
    ...     t = Transpose<perm = [1, 0]>(x)
    ...     y = Transpose<perm = [1, 0]>(t) }''')
    >>> prove(twice, onnx.parser.parse_model(head + "{ y = Identity(x) }")).kind
    'proven'
    """
    judged = functools.partial(
        judge,
        before,
        after,
        given=given,
        distrust_dims=distrust_dims,
        effort=effort,
        planner=planner and functools.cache(planner),
    )
    with deep(), new_table(effort):
        return _prove(Question(judged, given, effort), replay, progress)


def _prove(question: Question, replay: Replay | None, progress: Progress | None) -> Proof:
    start = time.monotonic()
    refutation: str | None = None
    inputs: Mapping[str, np.ndarray] = {}
    some: list[ForSizes] = []
    try:
        judgement, outputs, assumed = question.answered(progress=progress)
        if any(v.kind in ("unknown", "refuted") for v in outputs.values()):
            if replay is not None:
                refutation, inputs = refuted(judgement, replay)
            if refutation is not None:
                outputs = _unless_proven(outputs, lambda v: Verdict("refuted"))
            elif judgement.sizes and judgement.facts.status != "impossible":
                some = list(question.for_sizes(judgement))
                if some:
                    outputs = _unless_proven(outputs, lambda v: Verdict("proven for sizes", v.why))
    except UnsupportedError as error:  # a limit may also end the search for reasons or sizes
        return Proof({"": Verdict("unknown", str(error))}, seconds=time.monotonic() - start)
    return Proof(
        outputs,
        tuple(dict.fromkeys((*assumed, *(text for one in some for text in one.assumed)))),
        tuple(judgement.world.promised),
        {shown(key): n for key, n in judgement.fixed.items()},
        max((one.least for one in some), default=0),
        tuple(one.sizes for one in some if not one.least),
        refutation,
        inputs,
        len(judgement.regions),
        sum(bool(r.comparison) for r in judgement.regions),
        time.monotonic() - start,
        judgement.world.solver.asked,
    )


def _unless_proven(
    outputs: Mapping[str, Verdict], other: Callable[[Verdict], Verdict]
) -> dict[str, Verdict]:
    """Return the verdicts, changed by ``other`` for the outputs that are not proven."""
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

    ``judged`` is ``judge`` for these models, with its arguments ``given`` and ``effort``.
    """

    judged: Callable[..., Judgement]
    given: Sequence[InputClause] = ()
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
        except UnsupportedError as error:
            others = dict.fromkeys(outputs, Verdict("unknown", str(error)))
        outputs = _unless_proven(others, lambda v: Verdict("proven for the kernel", v.why))
        return judgement, outputs, tuple(dict.fromkeys(assumed))

    def for_large_sizes(self, judgement: Judgement) -> ForSizes | None:
        """Return a proof for all sizes of at least 1, or else of at least 2; None if not found."""
        keys = [key for key in judgement.sizes if key not in judgement.fixed]
        for_sizes = None
        for least in (2, 1) if keys else ():  # 1 broadcasts, 0 is empty
            bounds = [InputClause(key, ">=", least) for key in keys]
            assumed = self._proven(given=(*self.given, *bounds))
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

    def _proven(self, **how: Any) -> tuple[str, ...] | None:
        """Return the assumptions of a proof of all outputs; None without such a proof."""
        with suppress(UnsupportedError), new_table(self.effort):
            one, outputs, assumed = self.answered(**how)
            is_proven = all(v.kind == "proven" for v in outputs.values())
            if is_proven and outputs and one.facts.status != "impossible":
                return assumed
        return None


def verdicts(judgement: Judgement) -> dict[str, Verdict]:
    """Return the verdict of a judgement for each output."""
    doubts = {name: judgement.doubt(output) for name, output in judgement.outputs.items()}
    return {n: Verdict("unknown" if why else "proven", why) for n, why in doubts.items()}
