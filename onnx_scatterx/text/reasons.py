"""Why a scatter or gather stays: every reason that the tool can give, with its text."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Reason(enum.Enum):
    """A reason for leaving a scatter or gather as it is. The value is what a user reads."""

    UNKNOWN_RANK = "the rank of an input is not known"
    UNKNOWN_TYPE = "the element type is not known"
    UNKNOWN_ATTRIBUTE = "an attribute is a reference that the function's callers give differently"
    OLD_OPERATOR = "the operator is not part of the model's operator set"
    INVALID = "the node is not valid"
    UNKNOWN_INDICES = "the indices are known only when the model runs"
    UNKNOWN_SIGN = "it is not known whether an index counts from the start or from the end"
    UNKNOWN_BOUNDS = (
        "it is not proven that the positions lie within the data when nothing is to be moved"
    )
    IRREGULAR = "the positions are no few boxes"
    DIAGONAL = "one dim runs along two axes of the data"
    COLLIDES = "two updates go to the same element"
    MAY_COLLIDE = "two updates may go to the same element"
    NO_CUT = "the order of the written regions is not known"
    NO_KERNEL = "an operator that would be needed has no kernel for the element type"
    OPSET = "an operator that would be needed is not in the model's operator set"
    NOT_IN_TARGET = "the target has not an operator that would be needed"
    RANK = "a tensor of more dims than the target takes would be needed"
    UNKNOWN_SIZE = "a size that would be needed cannot be read from the model's tensors"
    NO_GAIN = "nothing cheaper is known"
    TOO_COSTLY = "the slices would cost more nodes than are worth it"
    TOO_LARGE = "comparing all positions with all updates would be too large"
    QUESTION_LIMIT = "the steps that one question to the prover may take were spent"
    MODEL_LIMIT = "the steps that one model may take were spent"
    NO_RULE = "none of the chosen rules writes this form"


@dataclass(frozen=True)
class Refusal:
    """A reason, with the detail of the case: an axis, a name, a missing fact."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason.value} ({self.detail})" if self.detail else self.reason.value


class RefusedError(Exception):
    """Carries a refusal out of the middle of a construction."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason.value)
        self.refusal = Refusal(reason, detail)
