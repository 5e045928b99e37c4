"""`verify`: runs two models on the same inputs, and compares their outputs.

ONNX Runtime's Where does not keep the sign of a zero that it selects. So if a masked write became a
Where, outputs that this Where reaches may have 0.0 instead of -0.0.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import Assume, at_sizes, by_name, read_clauses
from onnx_scatterx.compare.array_diff import Tolerance
from onnx_scatterx.compare.broken_promises import broken_promises
from onnx_scatterx.compare.draws import (
    GIVEN,
    ChosenDraws,
    Draw,
    SampleSource,
    noted_promises,
    probed_model,
)
from onnx_scatterx.compare.empty_scans import iterated_axes
from onnx_scatterx.compare.equality import Equality
from onnx_scatterx.compare.fused_rounding import roundings
from onnx_scatterx.compare.interface import (
    Input,
    Interface,
    differences,
    narrowed,
    narrowing,
    require_deterministic,
    require_same_names,
)
from onnx_scatterx.compare.light_model import lighten
from onnx_scatterx.compare.proving import (
    Promises,
    judged,
    proven,
    require_solver,
    unrun,
)
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.compare.session_pair import SessionPair
from onnx_scatterx.errors import ScatterXError, VerifyError
from onnx_scatterx.files import AnyModel, ModelSource, load
from onnx_scatterx.graphs import all_nodes, graphs_of
from onnx_scatterx.observer import Observer, Progress
from onnx_scatterx.processes import NoReply, raised_gc_threshold, scratch
from onnx_scatterx.runtime import (
    DeclaredInput,
    ModelFile,
    Runner,
    as_file,
    runner_of,
    validated_inputs,
)
from onnx_scatterx.text import noted_reasons

Feed = Mapping[str, np.ndarray]


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
        beside = ModelSource.of(before).directory or ModelSource.of(after).directory
        first, file = _opened(before, beside, directory / "before.onnx")
        second, other_file = _opened(after, beside, directory / "after.onnx")
        require_deterministic(first, "the first model")
        require_deterministic(second, "the second model")
        face, other_face = Interface.of(first), Interface.of(second)
        require_same_names(face, other_face)
        different = differences(face, other_face)
        if different:
            proof = unrun(different[0], refuted=True) if prove else None
            return Verification(0, 0, interface=different, proof=proof, seed=seed)
        try:
            fixed = narrowing(first, second, distrust_dims)
            promised = at_sizes(read_clauses(assume), fixed)
            own = at_sizes(noted_promises(first, second), fixed)
            assumed = tuple(dict.fromkeys((*promised, *own)))
        except ScatterXError as error:
            raise VerifyError(str(error)) from error
        validated = [_validated(feed, number, face) for number, feed in enumerate(feeds or (), 1)]
        looked_at = narrowed(first, fixed)  # for analysis only: the original is run
        at = Interface.of(looked_at)
        known = by_name(promised)
        fed = ChosenDraws.of(looked_at, [i.name for i in at.inputs], known)
        promises = Promises((*at.inputs, *at.overridable), known, distrust_dims, fed)
        source = None
        if samples != 0:
            source = SampleSource.of(looked_at, at, seed, assumed, distrust_dims, beside=second)
        if library is not None:
            library = _existing(library)
        one = runner_of(file, library)
        stack.enter_context(one)
        other = runner_of(other_file, library)
        stack.enter_context(other)
        exact = strict_zeros or tolerance is not None  # a tolerance allows all signs of zeros
        forgiven = frozenset() if exact else outputs_of_new_where(first, second)
        both = iterated_axes(second)
        iterated = {n: axes & both.get(n, axes) for n, axes in iterated_axes(first).items()}
        rounded = roundings(first, second)
        equal = Equality(forgiven, tolerance, rounded, strict_zeros, iterated)
        for i, chosen in enumerate((source.chosen if source else None, promises.chosen)):
            if chosen is not None and chosen.probed:
                cut = probed_model(load(before, beside), chosen.probed)
                probe = runner_of(as_file(cut, cut, directory / f"probe{i}.onnx"), library)
                stack.enter_context(probe)
                chosen.probe = partial(_run_up_to, probe, timeout)
        comparison = SessionPair(one, other, timeout, equal, directory)

        def unloaded(why: str) -> Verification:
            proof = unrun(why, refuted=True) if prove else None
            nothing = replace(Verification(0, 0), tolerance=tolerance, missing=one.missing)
            told = noted_reasons(second.metadata_props)
            return replace(nothing, seed=seed, interface=(why,), proof=proof, in_onnxruntime=told)

        # The first model may run on no input, either, or not at fixed sizes.
        failure = comparison.load()
        if failure is not None and not (validated or source or fixed.shapes):
            return unloaded(failure)
        for number, feed in enumerate(validated, 1):
            comparison.one(Draw(-number, {}, "given", feed))
        found = (broken_promises(looked_at, assumed, feed) for feed in validated)
        broken_by = {number: broken for number, broken in enumerate(found, 1) if broken}
        proof = None
        if prove and failure is not None:
            proof = unrun(failure, refuted=False)
        elif prove:
            tell = observer.counted("proving")
            proof = proven(
                before, after, comparison, promised, promises, effort, tell, strict_zeros
            )
        if source is not None:
            comparison.many(source, samples, observer.counted("verifying"))
            if not comparison.so_far.accepted:
                broken = (*source.chosen.broken,)
                comparison.so_far = replace(comparison.so_far, unkept=broken)
        late = comparison.finish()
        told = late or failure
        if told is not None and not fixed.shapes and comparison.so_far.accepted:
            return unloaded(told)
        if late is not None and prove:
            proof = unrun(late, refuted=False)
        kept = (
            () if source is None else tuple(map(str, assumed))
        )  # given feeds may break assumptions
        if proof is not None:
            proof = judged(proof, comparison.so_far.differences, promises)
        return replace(
            comparison.so_far,
            seed=seed,
            seconds=time.monotonic() - start,
            assumed=kept,
            stated=tuple(str(clause) for clause in assumed if clause not in promised),
            proof=proof,
            fixed=dict(fixed.symbols),
            in_onnxruntime=noted_reasons(second.metadata_props),
            broken_by=broken_by,
        )


def _run_up_to(probe: Runner, timeout: float, feeds: Feed) -> Feed | None:
    """Return values of the first model at inputs; None if they cannot be computed."""
    answer = probe.run(feeds, timeout)
    return None if isinstance(answer, NoReply) else answer


def _opened(source: AnyModel, beside: Path | None, written: Path) -> tuple[ir.Model, ModelFile]:
    """Return a model and its file. Large tensors of a model that was a file are only there."""
    model = load(source, beside)
    file = as_file(source, model, written)
    if ModelSource.of(source).path is not None:
        lighten(model, lambda: load(source, beside))
    return model, file


def _tolerance(
    rtol: float | None, atol: float | None, prove: bool, strict_zeros: bool
) -> Tolerance | None:
    if rtol is None and atol is None:
        return None
    if prove or strict_zeros:
        what = "a proof" if prove else "a comparison with strict zeros"
        raise VerifyError(f"{what} is bit for bit, without rtol and atol")
    return Tolerance(rtol or 0.0, atol or 0.0)


def _validated(feed: Feed, number: int, face: Interface) -> Feed:
    """Return inputs of the user as arrays that the models take; VerifyError if that fails."""
    required, overridable = (
        [_declared(i) for i in some] for some in (face.inputs, face.overridable)
    )
    try:
        return validated_inputs(feed, required, overridable)
    except ScatterXError as error:
        raise VerifyError(f"{GIVEN} {number}: {error}") from error


def _declared(source: Input) -> DeclaredInput:
    kind = "sequence, optional or map" if source.dtype is None else source.dtype.name.lower()
    return DeclaredInput(
        source.name, f"tensor({kind})" if source.dtype else kind, source.dims or ()
    )


def _existing(library: str | os.PathLike[str]) -> str:
    path = Path(library).resolve()
    if not path.is_file():
        raise VerifyError(f"the library {path} does not exist")
    return str(path)


def outputs_of_new_where(before: ir.Model, after: ir.Model) -> frozenset[str]:
    """Return the outputs of ``after`` that a Where of floats reaches which ``before`` lacks.

    A Where is in both models if its output has the same name. A Where of unknown type counts, too.
    """
    known = {v.name for n in all_nodes(before) for v in n.outputs if _is_where(n)}
    new = {
        f.identifier() for f in after.functions.values() if any(_is_where(n) for n in f.all_nodes())
    }
    reached: set[ir.Value | None] = set()
    for node in after.graph:
        inner = [node, *(n for body in graphs_of(node) for n in all_nodes(body))]
        is_new = any(
            (_is_where(n) and n.outputs[0].name not in known) or n.op_identifier() in new
            for n in inner
        )
        if is_new or any(v in reached for n in inner for v in n.inputs):
            reached.update(node.outputs)
    return frozenset(v.name or "" for v in after.graph.outputs if v in reached)


def _is_where(node: ir.Node) -> bool:
    if node.op_type != "Where" or node.domain:
        return False
    dtype = node.outputs[0].dtype
    return dtype is None or dtype.is_floating_point()
