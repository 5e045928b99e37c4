"""Every reason that the tool can give, with its text.

`Reason`: why a scatter or gather is kept. `FloatReason`: why a write between quantizers stays on
floats. `LastBit`: why another operator set may change the last bits of a result.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import TypeVar, cast

from onnx_scatterx.text.visible_text import shortened

T = TypeVar("T")


class Reason(enum.Enum):
    """A reason for keeping a scatter or gather. The value is the text for users."""

    UNKNOWN_RANK = "the rank of an input is unknown"
    UNKNOWN_TYPE = "the element type is unknown"
    UNKNOWN_ATTRIBUTE = "callers of the function give an attribute different values"
    OLD_OPERATOR = "the model's operator set does not have this operator"
    INVALID = "the node is invalid"
    UNKNOWN_INDICES = "the indices are known only when the model runs"
    UNKNOWN_SIGN = "an index may count from the start or from the end"
    UNKNOWN_BOUNDS = (
        "it is not proven that the positions lie within the data if there are no updates"
    )
    IRREGULAR = "the written positions do not form a few boxes"
    DIAGONAL = "the write is along a diagonal of the data"
    QUANTIZER = "ONNX Runtime would change quantizers of the model, and so other values"
    COLLIDES = "two updates write the same element"
    MAY_COLLIDE = "two updates may write the same element"
    NO_CUT = "the order of the written regions is unknown"
    NO_KERNEL = "ONNX Runtime lacks a kernel of a required operator for the element type"
    OPSET = "the model's operator set does not have a required operator"
    NOT_IN_TARGET = "the target does not support a required operator"
    RANK = "a required tensor has more dims than the target supports"
    UNKNOWN_SIZE = "a required size cannot be read from the model's tensors"
    NO_GAIN = "no cheaper form is known"
    TOO_COSTLY = "the replacement would need too many nodes"
    TOO_LARGE = "a comparison of all positions with all indices would be too large"
    TOO_MUCH_WORK = "a function of chosen rows would be computed for too many rows"
    QUESTION_LIMIT = "the limit of steps for one question to the prover was reached"
    SCATTER_LIMIT = "the limit of steps for one scatter was reached"
    MODEL_LIMIT = "the limit of steps for one model was reached"
    NO_RULE = "none of the chosen rules can write this form"
    NOT_CHOSEN = "none of the chosen passes removes it"

    @property
    def missing(self) -> str:
        """What the removal of the node would need, in words.

        >>> Reason.UNKNOWN_SIGN.missing
        'a proof that the index is never negative, or always is'
        """
        return _MISSING[self]


_MISSING = {
    Reason.UNKNOWN_RANK: "the rank of every input; declare the shapes of the graph inputs",
    Reason.UNKNOWN_TYPE: "the element type; declare the types of the graph inputs",
    Reason.UNKNOWN_ATTRIBUTE: "one value of the attribute for all callers; inline the function",
    Reason.OLD_OPERATOR: "an operator set that has the operator; convert the model",
    Reason.INVALID: "a node that can run",
    Reason.UNKNOWN_INDICES: "indices that follow from constants and sizes alone",
    Reason.UNKNOWN_SIGN: "a proof that the index is never negative, or always is",
    Reason.UNKNOWN_BOUNDS: "a proof that the positions lie within the data at every size",
    Reason.IRREGULAR: "positions that form a few boxes, or a target that allows dense forms",
    Reason.DIAGONAL: "a form of operators for this combination of axes and element type",
    Reason.QUANTIZER: "one normal and positive scale for all written values",
    Reason.COLLIDES: "positions that are all different: ONNX does not say which update wins",
    Reason.MAY_COLLIDE: "a proof that no two updates go to one element",
    Reason.NO_CUT: "a proof of the order of the written regions at every size",
    Reason.NO_KERNEL: "another element type, or a runtime that has the operator for this one",
    Reason.OPSET: "a newer operator set; convert the model",
    Reason.NOT_IN_TARGET: "a compiler that has the operator",
    Reason.RANK: "tensors of fewer dims, or a compiler that takes this many",
    Reason.UNKNOWN_SIZE: "a tensor of the model with this size in its shape",
    Reason.NO_GAIN: "a form with fewer nodes than now",
    Reason.TOO_COSTLY: "a form with fewer nodes",
    Reason.TOO_LARGE: "smaller tensors, or a target that allows larger dense forms",
    Reason.TOO_MUCH_WORK: "a target that allows more work, by work_limit",
    Reason.QUESTION_LIMIT: "a simpler model: the proof takes too many steps",
    Reason.SCATTER_LIMIT: "a simpler model: the proofs about the scatter take too many steps",
    Reason.MODEL_LIMIT: "more steps: --effort 4 allows four times as many; or a smaller model",
    Reason.NOT_CHOSEN: "the pass LowerScatters, or for gathers SimplifyGathers",
    Reason.NO_RULE: "a rule for this form; optimize(rules=...) takes rules of your own",
}


_places_are_noted: ContextVar[bool] = ContextVar("places_are_noted", default=False)


@contextmanager
def noted_places() -> Iterator[None]:
    """Let each refusal of this block note the line of code that gave it.

    >>> with noted_places():
    ...     refusal = attempt(lambda: refuse_unless(1 < 0))
    >>> refusal.place.startswith("<doctest")
    True
    """
    token = _places_are_noted.set(True)
    try:
        yield
    finally:
        _places_are_noted.reset(token)


def _place() -> str:
    """Return the innermost line of code that is not of this file, and the line of a rule above it.

    A path begins at the package, such as onnx_scatterx/rewrites/pad.py:40.
    """
    frame: FrameType | None = sys._getframe()
    places: list[str] = []
    while frame is not None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        path = file.replace("\\", "/")
        within = path.rpartition("/onnx_scatterx/")[2]
        if file not in (__file__, "<string>") and (not places or within.startswith("rewrites/")):
            places.append(f"onnx_scatterx/{within}:{line}" if within != path else f"{path}:{line}")
            if within.startswith("rewrites/"):
                break
        frame = frame.f_back
    return ", for ".join(places)


@dataclass(frozen=True)
class Refusal:
    """Why something was not done: a reason, and its detail, such as an axis or a name.

    The detail is any object. Its text is made only if the refusal is printed. ``place`` is the line
    of code that gave the refusal, if ``noted_places`` asked for it.
    """

    reason: Reason
    detail: object = ""
    place: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if _places_are_noted.get() and not self.place:
            object.__setattr__(self, "place", _place())

    @property
    def shown(self) -> str:
        """The detail as a text of limited length.

        >>> len(Refusal(Reason.UNKNOWN_SIZE, "n + " * 999).shown)
        200
        """
        return shortened(str(self.detail))

    def __str__(self) -> str:
        shown = self.shown
        return f"{self.reason.value} ({shown})" if shown else self.reason.value


class RefusedError(Exception):
    """Carries a refusal from the place where a condition fails to the caller of `attempt`."""

    def __init__(self, reason: Reason, detail: object = "", place: str = "") -> None:
        super().__init__(reason.value)
        self.refusal = Refusal(reason, detail, place)


@dataclass(frozen=True)
class Detail:
    """A detail whose text is formatted only if it is printed.

    >>> str(Detail("the size {} of axis {}", "2*N", 1))
    'the size 2*N of axis 1'
    """

    template: str
    parts: tuple[object, ...]

    def __init__(self, template: str, *parts: object) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "parts", parts)

    def __str__(self) -> str:
        return self.template.format(*self.parts)


@dataclass(frozen=True)
class Missing:
    """Uses of operators that a target does not take.

    >>> str(Missing(("Pad of int64", "Concat"), "npu"))
    'Pad of int64 and Concat for npu'
    """

    uses: tuple[str, ...]
    target: str

    @property
    def listed(self) -> str:
        """The uses, as a sentence lists them."""
        *first, last = self.uses
        return f"{', '.join(first)} and {last}" if first else last

    def __str__(self) -> str:
        return f"{self.listed} for {self.target}"


class FloatReason(enum.Enum):
    """A reason why a write between quantizers stays on floats. The value is the text for users."""

    SCALES = "the scales or zero points differ"
    UNKNOWN_SCALE = "a scale is known only when the model runs"
    INEXACT = "QuantizeLinear may change an integer that DequantizeLinear gives"
    REDUCTION = "a reduction of integers gives other results than one of floats"
    COMPUTED = "a part of the written tensor is computed in floats"
    READ = "other nodes read the floats"
    AXIS = "elements move along the axis of the scales"
    PLAN = "the scatter is removed only on floats"
    REJECTED = "ONNX Runtime rejects a Slice or Transpose after this DequantizeLinear"
    RETYPED = "ONNX Runtime reads the integers of a DequantizeLinear without a zero point as uint8"
    INTEGER_KERNEL = "ONNX Runtime would compute a node beside it in integers, and round otherwise"
    ONE_SCALE = "ONNX Runtime treats a Where between quantizers as if they had one scale"
    LIMIT = "the limit of steps was reached"
    MOVED = "ONNX Runtime moves QuantizeLinear past an output of the graph"

    def __str__(self) -> str:
        return self.value

    @property
    def keeps_scatter(self) -> bool:
        """Whether ONNX Runtime would compute other values if the scatter were removed."""
        return self in _KEPT


_KEPT = frozenset(
    {
        *(FloatReason.INEXACT, FloatReason.RETYPED, FloatReason.REJECTED, FloatReason.MOVED),
        *(FloatReason.INTEGER_KERNEL, FloatReason.ONE_SCALE, FloatReason.LIMIT),
    }
)


def attempt(compute: Callable[[], T]) -> T | Refusal:
    """Return the result of a function, or the refusal that the function raises.

    >>> def refused() -> int:
    ...     raise RefusedError(Reason.NO_RULE)
    >>> attempt(lambda: 3), attempt(refused) == Refusal(Reason.NO_RULE)
    (3, True)
    """
    try:
        return compute()
    except RefusedError as error:
        return error.refusal


def granted(result: T | Refusal | None) -> T:
    """Return a result. Raise RefusedError if it is a refusal, or None (a refusal by NO_RULE)."""
    if isinstance(result, Refusal):
        raise RefusedError(result.reason, result.detail, result.place)
    refuse_unless(result is not None)
    return cast("T", result)


def only(values: Collection[T]) -> T:
    """Return the only value of a collection; RefusedError if it has none or several.

    >>> only([3]), attempt(lambda: only([3, 4])) == Refusal(Reason.NO_RULE)
    (3, True)
    """
    refuse_unless(len(values) == 1)
    return next(iter(values))


def refuse_unless(holds: object, reason: Reason = Reason.NO_RULE, detail: object = "") -> None:
    """Raise RefusedError if a condition does not hold.

    >>> attempt(lambda: refuse_unless(1 < 0)) == Refusal(Reason.NO_RULE)
    True
    """
    if not holds:
        raise RefusedError(reason, detail)


class LastBit(enum.Enum):
    """Why another operator set may change the last bit of a result: the text for users."""

    DEFINED = "ONNX Runtime computes a function otherwise than ONNX defines it"
    KERNEL = "ONNX Runtime has another kernel for an operator in another operator set"
    PACKED = "ONNX Runtime packs an operand that is a constant now"

    def __str__(self) -> str:
        return self.value


IN_ONNXRUNTIME = "onnx_scatterx.in_onnxruntime"
"""The metadata key for the reasons why ONNX Runtime may compute other values of a new model."""


def note_reasons(metadata: MutableMapping[str, str], reasons: Iterable[str]) -> None:
    """Add sentences of LastBit and FloatReason to a model's metadata.

    >>> metadata = {IN_ONNXRUNTIME: "MOVED"}
    >>> note_reasons(metadata, [str(LastBit.KERNEL)])
    >>> metadata[IN_ONNXRUNTIME]
    'KERNEL, MOVED'
    """
    told = {*noted_reasons(metadata), *reasons}
    if told:
        names = (why.name for why in (*LastBit, *FloatReason) if why.value in told)
        metadata[IN_ONNXRUNTIME] = ", ".join(names)


def noted_reasons(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Return the sentences for the names in a model's metadata; unknown names are ignored.

    >>> noted_reasons({IN_ONNXRUNTIME: "MOVED, ELSE"})
    ('ONNX Runtime moves QuantizeLinear past an output of the graph',)
    """
    told = set(metadata.get(IN_ONNXRUNTIME, "").split(", "))
    return tuple(why.value for why in (*LastBit, *FloatReason) if why.name in told)
