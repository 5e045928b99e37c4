"""`verify`: runs two models on the same inputs, and compares their outputs.

ONNX Runtime's Where does not keep the sign of a zero that it selects. So if a masked write became a
Where, outputs that this Where reaches may have 0.0 instead of -0.0.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_scatterx.assumptions import Assume
from onnx_scatterx.compare.array_diff import Tolerance
from onnx_scatterx.compare.asked import Asked, Feed, Pair
from onnx_scatterx.compare.draws import Draw, SampleSource, probed_model
from onnx_scatterx.compare.equality import Equality
from onnx_scatterx.compare.proving import judged, proven, require_solver, unrun
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.compare.session_pair import SessionPair
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.files import AnyModel, load
from onnx_scatterx.observer import Counted, Observer, Progress
from onnx_scatterx.processes import NoReply, raised_gc_threshold, scratch
from onnx_scatterx.runtime import Runner, as_file, runner_of
from onnx_scatterx.text import noted_reasons

if TYPE_CHECKING:
    from onnx_scatterx.proof import Proof


def verify(
    before: AnyModel,
    after: AnyModel,
    *,
    samples: int | None = None,
    seed: int = 0,
    assume: Assume = None,
    feeds: Iterable[Feed] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    library: str | os.PathLike[str] | None = None,
    timeout: float = 120.0,
    distrust_dims: bool = False,
    strict_zeros: bool = False,
    on_progress: Progress | None = None,
    prove: bool = False,
    effort: float = 1,
) -> Verification:
    """Run two models on the same inputs and compare their outputs, bit for bit by default.

    Both models run in ONNX Runtime on the CPU with one thread, in processes of their own, without
    graph optimizations. If `before` gives the same bits under the default options, both run under
    these, too; then floats may differ by rounding if ONNX Runtime fuses different nodes. Inputs
    that `before` rejects, or dies on, do not count. If only `after` has a Where of floats, the sign
    of a zero may differ in outputs that the Where reaches: ONNX Runtime's Where does not keep it.
    If a Loop runs no iteration, the dims of its empty scan outputs may differ: ONNX Runtime infers
    them from the body.
    If `after` declares numbers for symbols of `before`, the models are compared at these sizes.

    If ONNX Runtime is missing, both run in onnx's reference evaluator, in this process. The answer
    says so, because the evaluator may compute other values.

    Args:
        before: the original: a path, a `ModelProto`, an `onnx_ir.Model`, or an object with one.
        after: the new model, as any of these, such as the `Result` of `optimize`. External data of
            a `ModelProto` are expected beside the other model.
        samples: how many draws the original must accept. By default, 40 if a run is little work,
            and fewer, down to 2 or 3, if it is much: the answer has the numbers.
        seed: the seed of the random draws.
        assume: constraints on symbols and integer inputs, such as `{"seq": "<= 4096"}` or
            `{"positions": "contiguous, nonnegative"}`, or statements, `["0 <= idx < n"]`; and how
            many elements of any value are chosen, `["mask: exactly 576"]`. The
            assumptions in the metadata of the second model are added for the runs. A proof
            does not use those in the metadata.
        feeds: sets of inputs by name, which are run before the drawn ones. With `samples=0`, only
            these are run.
        rtol: let floats differ by `atol + rtol * abs(output of before)`. If neither `rtol` nor
            `atol` is given, every bit counts. If one of them is given, the other is 0.
        atol: the absolute part of this tolerance.
        library: a library of custom operators to register for both models.
        timeout: seconds that a run may take, and after which no new draw is begun. The limit of a
            proof is `effort`.
        distrust_dims: let dims of one name on different inputs differ.
        strict_zeros: count another sign of a zero as a difference in every output. A proof must not
            assume that the sign of a zero does not count.
        on_progress: is called with "verifying", how many draws are accepted and how many are
            wanted; and with "proving", how many nodes are examined, and how many there are.
        prove: decide first, by a solver, whether the two models are the same for every size and
            every input. The answer is `proof` of the result. Needs z3-solver.
        effort: multiplies the limits of a proof: the solver's work and the steps in terms.

    Returns:
        The answer. It is true if no output differs and, with ``prove``, a proof was found.

    Raises:
        ModelError: a model cannot be read.
        VerifyError: the models cannot be compared: different input names, random operators, inputs
            that cannot be drawn, feeds of another type or shape, a `before` that ONNX Runtime
            cannot load, an unknown operator, no z3-solver for a proof, a tolerance with a proof or
            `strict_zeros`.
        TypeError: `before` or `after` is not a model.

    Example:
        >>> import onnx.parser
        >>> head = '<ir_version: 8, opset_import: ["" : 18]> g (float[N] x) => (float[N] y)'
        >>> negation = onnx.parser.parse_model(head + "{ y = Neg(x) }")
        >>> bool(verify(negation, onnx.parser.parse_model(head + "{ y = Abs(x) }"), samples=2))
        False

    """
    start, observer = time.monotonic(), Observer(on_progress)
    tolerance = _tolerance(rtol, atol, prove, strict_zeros)
    if prove:
        require_solver()
    with contextlib.ExitStack() as stack:
        stack.enter_context(raised_gc_threshold())
        directory = stack.enter_context(scratch())
        pair = Pair.of(before, after, directory)
        if pair.different:
            return replace(_unlike(*pair.different, prove=prove), seed=seed)
        asked = Asked.of(pair, assume, feeds, distrust_dims)
        drawing = partial(SampleSource.of, asked.looked_at, asked.assumed, beside=pair.second)
        source = None if samples == 0 else drawing(seed=seed, distrust_dims=distrust_dims)
        library = None if library is None else _existing(library)
        one, other = (stack.enter_context(runner_of(file, library)) for file in pair.files)
        equal = Equality.of(pair.first, pair.second, tolerance, strict_zeros)
        counted = [asked.promises.chosen, *([] if source is None else [source.chosen])]
        probed = list(dict.fromkeys(name for chosen in counted for name in chosen.probed))
        if probed:
            cut = probed_model(load(before, pair.beside), probed)
            probe = runner_of(as_file(cut, cut, directory / "probe.onnx"), library)
            run_up_to = partial(_run_up_to, stack.enter_context(probe), timeout)
            for chosen in counted:
                chosen.probe = run_up_to
        comparison = SessionPair(one, other, timeout, equal, directory)
        how = asked.promises, effort, observer.counted("proving"), strict_zeros
        prover = partial(proven, before, after, comparison, *how) if prove else None
        draws = source, samples, observer.counted("verifying")
        failure, proof = _run(comparison, asked, prover, *draws)
        if failure is not None:
            found = _unlike(failure, prove=prove)
            found = replace(found, tolerance=tolerance, missing=one.missing)
        else:
            found = replace(
                comparison.so_far,
                seconds=time.monotonic() - start,
                assumed=() if source is None else tuple(map(str, asked.assumed)),
                stated=tuple(map(str, asked.stated)),
                proof=proof,
                fixed=dict(asked.fixed.symbols),
                broken_by=asked.broken_by(),
            )
        told = noted_reasons(pair.second.metadata_props)
        return replace(found, seed=seed, in_onnxruntime=told)


def _run(
    comparison: SessionPair,
    asked: Asked,
    prover: Callable[[], Proof] | None,
    source: SampleSource | None,
    samples: int | None,
    progress: Counted,
) -> tuple[str | None, Proof | None]:
    """Run both models on given inputs, counterexamples and draws.

    Return why only the second model does not load, and the proof. At fixed sizes, or if the first
    model runs on no input, the two are not different because of this.
    """
    is_fixed = bool(asked.fixed.shapes)
    failure = comparison.load()
    if failure is not None and not (asked.given or source or is_fixed):
        return failure, None
    for number, feed in enumerate(asked.given, 1):
        comparison.one(Draw(-number, {}, "given", feed))
    proof = None
    if prover is not None:
        proof = prover() if failure is None else unrun(failure, refuted=False)
    if source is not None:
        comparison.many(source, samples, progress)
    late = comparison.finish()
    told = late or failure
    if told is not None and not is_fixed and comparison.so_far.accepted:
        return told, None
    if proof is None:
        return None, None
    proof = unrun(late, refuted=False) if late is not None else proof
    return None, judged(proof, comparison.so_far.differences, asked.promises)


def _unlike(*why: str, prove: bool) -> Verification:
    """Return the answer that two models differ, since one cannot take the place of the other."""
    proof = unrun(why[0], refuted=True) if prove else None
    return Verification(0, 0, interface=why, proof=proof)


def _run_up_to(probe: Runner, timeout: float, feeds: Feed) -> Feed | None:
    """Return values of the first model at inputs; None if they cannot be computed."""
    answer = probe.run(feeds, timeout)
    return None if isinstance(answer, NoReply) else answer


def _tolerance(
    rtol: float | None, atol: float | None, prove: bool, strict_zeros: bool
) -> Tolerance | None:
    if rtol is None and atol is None:
        return None
    if prove or strict_zeros:
        what = "a proof" if prove else "a comparison with strict zeros"
        raise VerifyError(f"{what} is bit for bit, without rtol and atol")
    return Tolerance(rtol or 0.0, atol or 0.0)


def _existing(library: str | os.PathLike[str]) -> str:
    path = Path(library).resolve()
    if not path.is_file():
        raise VerifyError(f"the library {path} does not exist")
    return str(path)
