"""`optimize` removes the scatters of a model, and `inspect` reports what `optimize` would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, overload

import onnx
import onnx_ir as ir

from onnx_scatterx.doors.api.result import Result, raise_unmet
from onnx_scatterx.engine.passes import Settings, as_it_is
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.files import AnyModel, IrLike, MessageLike
from onnx_scatterx.observer import Observer, Progress, Watch
from onnx_scatterx.options import Options, Strict, checked_strict, comparison
from onnx_scatterx.tell import Inquiry, Report, optimized

if TYPE_CHECKING:
    from onnx_scatterx.compare import Verification


def inspect(
    model: AnyModel,
    *,
    as_is: bool = False,
    on_progress: Progress | None = None,
    **options: Unpack[Options],
) -> Report:
    """Return what ``optimize`` would do with each scatter of a model; the model is not changed.

    The arguments and the errors are those of ``optimize``, but for one.

    Args:
        model: as for ``optimize``.
        as_is: compare the model itself with the target, not what ``optimize`` would make of it.
        on_progress: as for ``optimize``.
        **options: the options of ``optimize``; with ``as_is``, those that say how to rewrite are
            an error.

    Returns:
        The report. Its ``scatters`` has an entry for each scatter.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
        ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
        >>> print(inspect(model).scatters[0].footprint)
        box [1, :]
        >>> inspect(model, target="rknn", as_is=True).violations[0].on_host
        True

    """
    settings = Settings.of(**as_it_is(options) if as_is else options)
    with Inquiry.about(model, settings, Observer(on_progress)) as asked:
        return asked.inspected[0]


@overload
def optimize(
    model: MessageLike,
    *,
    verify: bool | Mapping[str, Any] = ...,
    strict: Strict = ...,
    on_progress: Progress | None = ...,
    on_pass: Watch | None = ...,
    **options: Unpack[Options],
) -> Result[onnx.ModelProto]: ...


@overload
def optimize(
    model: IrLike,
    *,
    verify: bool | Mapping[str, Any] = ...,
    strict: Strict = ...,
    on_progress: Progress | None = ...,
    on_pass: Watch | None = ...,
    **options: Unpack[Options],
) -> Result[ir.Model]: ...


def optimize(
    model: AnyModel,
    *,
    verify: bool | Mapping[str, Any] = False,
    strict: Strict = False,
    on_progress: Progress | None = None,
    on_pass: Watch | None = None,
    **options: Unpack[Options],
) -> Result[onnx.ModelProto] | Result[ir.Model]:
    """Remove the scatters of a model, if other nodes are proven to write the same.

    Args:
        model: a path, a ModelProto, an ``onnx_ir.Model``, or an object with one of these as its
            attribute ``model``: the ONNXProgram of ``torch.onnx.export``, a ``Result``. It is not
            changed.
        target: a name ("scatterx"), a path of a profile (.toml) or a ``Target``.
        rules: names of rules, or rules of your own (``rewrites.Rule``); all by default.
        passes: names of passes, as in ``onnx_scatterx.passes``. Only these passes run, and the
            passes that keep the result right. All by default.
        distrust_dims: do not assume that a dim has the same size in all inputs that declare its
            name.
        gathers: replace Gather, GatherElements and GatherND by a Slice, too, if they read a box and
            the Slice takes no more nodes.
        assume: promises about the inputs, such as ``["seq <= 4096", "positions: contiguous,
            nonnegative"]`` or the same as a mapping; and about how many elements of any value are
            chosen, ``["mask: exactly 576"]``. If the model is changed, they are in the
            report and in the metadata of the new model.
        deterministic: let the last update win if several updates are known to write one element.
            ONNX leaves open which one wins.
        last_bits: compute a function of masked elements, as in ``x[m] = log(x[m])``, for all
            elements, even if ONNX Runtime gives other last bits at another place of a tensor. A
            function with the same bits everywhere is always computed for all elements. A Gemm or an
            Einsum that the target lacks is written by MatMul.
        size_hint: usual values of symbolic sizes, for targets that estimate time. The result is
            right at all sizes.
        opset: raise an older model to this operator set (TensorScatter needs 24), or lower a newer
            model if each of its nodes means the same there.
        fix: numbers for the shapes of inputs, by the name of a dim or of an input, such as
            ``{"batch": 4, "x": [4, 3, 224, 224]}``. Values that depend only on these are folded,
            and the result is right at these sizes.
        effort: multiplies the steps that may be taken: by default some 15 seconds of CPU for a
            model, or a millisecond for each node if that is more.
        verify: run both models on drawn inputs, and compare the outputs bit for bit. A mapping has
            the arguments of ``onnx_scatterx.verify``. The answer is ``verification`` of the result.
        strict: raise an error if the target refuses a part of the result, or runs a scatter on its
            host. With "native", raise an error also if it runs any other node on its host. With
            "taken", raise an error only for what it refuses.
        on_progress: is called with the name of a stage, how much of the stage is done, and its
            total (0 if unknown): ``("planning", 3, 12)``. The stages are "reading", "analysing",
            "planning", and with ``verify`` "verifying".
        on_pass: is called after each pass of the pipeline, with the name of the pass and the model.

    Returns:
        The new model and the report. The model is an ``onnx_ir.Model`` if one was given, and
        otherwise a ModelProto.

    Raises:
        ScatterXError: the target is unknown, or the model has no value or size of a given name.
        ModelError: the model cannot be read, is not valid, or cannot be raised or lowered.
        DifferenceError: ``verify`` found a difference.
        VerifyError: the models could not be compared.
        TargetError: ``strict`` is not met. The error has the ``result``, verified if asked for.
        TypeError: ``model`` is not a model.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
        ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
        >>> result = optimize(model)
        >>> result.report.removed, "ScatterND" in {node.op_type for node in result.model.graph.node}
        (1, False)

    """
    observer = Observer(on_progress, on_pass)
    checked_strict(strict)
    done = optimized(model, observer, **options)
    result = Result(done.model, done.report, done.source_path, done.read, None, done.one_file)
    if (checks := comparison(verify, options)) is not None:
        result = replace(result, verification=_verified(model, result, observer, checks))
    raise_unmet(result, strict)
    return result


def _verified(
    before: AnyModel, after: Result[Any], observer: Observer, arguments: Mapping[str, Any]
) -> Verification:
    """Return the answer of ``verify``; raise an error if the models differ."""
    from onnx_scatterx.compare import DifferenceError, verify

    observer.stage("verifying")
    answer = verify(before, after, **{"on_progress": observer.stage, **arguments})
    if answer.agrees:
        return answer
    first, *more = str(answer).split("\n")
    if answer.answer == "not compared":
        raise VerifyError(f"the optimized model could not be compared: {first}")
    raise DifferenceError(
        f"the optimized model differs: {'; '.join(line.strip() for line in more) or first}", answer
    )
