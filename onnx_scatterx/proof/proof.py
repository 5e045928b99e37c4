"""`prove`: decides for each output of two models whether it is proven, refuted, or unknown."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence

import numpy as np

from onnx_scatterx.proof.answer import Kind, Proof, Verdict
from onnx_scatterx.proof.assumed import in_order
from onnx_scatterx.proof.building import shown
from onnx_scatterx.proof.core.limits import ProofSpentError
from onnx_scatterx.proof.core.reading import Source
from onnx_scatterx.proof.core.terms import UnsupportedError, new_table, present_table
from onnx_scatterx.proof.counterexample import Counterexample, Replay, refuted
from onnx_scatterx.proof.declarations import InputClause, Planner
from onnx_scatterx.proof.judge import Progress, deep, judge
from onnx_scatterx.proof.question import ForSizes, Question, unless_proven

__all__ = ["Kind", "Proof", "Verdict", "prove"]


def prove(
    before: Source,
    after: Source,
    *,
    replay: Replay | None = None,
    clauses: Sequence[InputClause] = (),
    distrust_dims: bool = False,
    effort: float = 1,
    progress: Progress | None = None,
    planner: Planner | None = None,
) -> Proof:
    """Decide for every size and every input whether two models are the same.

    A model is a path or a ModelProto, perhaps with the directory of its external data. ``replay``
    runs the solver's counterexamples: only a difference in a run is a refutation. ``clauses`` are
    the assumptions about the inputs. If ``distrust_dims``, dims of one name may differ. ``effort``
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
        clauses=clauses,
        distrust_dims=distrust_dims,
        effort=effort,
        planner=planner and functools.cache(planner),
    )
    with deep(), new_table(effort):
        return _prove(Question(judged, clauses, effort), replay, progress)


def _prove(question: Question, replay: Replay | None, progress: Progress | None) -> Proof:
    start = time.monotonic()
    refutation: str | None = None
    inputs: Mapping[str, np.ndarray] = {}
    example: Counterexample | None = None
    some: list[ForSizes] = []
    try:
        judgement, outputs, assumed = question.answered(progress=progress)
    except (UnsupportedError, ProofSpentError) as error:
        return Proof({"": Verdict("unknown", str(error))}, seconds=time.monotonic() - start)
    present_table().account.go_on()
    try:
        if judgement.never_runs:
            outputs = dict.fromkeys(outputs, Verdict("unknown", question.why_never(judgement)))
        elif any(v.kind in ("unknown", "refuted") for v in outputs.values()):
            if replay is not None:
                refutation, inputs, example = refuted(judgement, replay)
            if refutation is not None:
                outputs = unless_proven(outputs, lambda v: Verdict("refuted"))
            elif judgement.sizes and not judgement.stopped:  # some sizes would need as much work
                for one in question.for_sizes(judgement):
                    some.append(one)
    except (UnsupportedError, ProofSpentError) as error:  # the sizes that are proven stay proven
        then = f"; then {error}"
        outputs = unless_proven(outputs, lambda v: Verdict("unknown", v.why + then))
    if some:
        outputs = unless_proven(outputs, lambda v: Verdict("proven for sizes", v.why))
    return Proof(
        outputs,
        in_order((*assumed, *(text for one in some for text in one.assumed))),
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
        counterexample=example,
    )
