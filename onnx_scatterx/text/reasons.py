"""Why a scatter or gather stays: every reason that the tool can give, with its text."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Reason(enum.Enum):
    """A reason for leaving a scatter or gather as it is. The value is what a user reads."""

    UNKNOWN_RANK = "the rank of an input is unknown"
    UNKNOWN_TYPE = "the element type is unknown"
    UNKNOWN_ATTRIBUTE = "callers of the function give an attribute different values"
    OLD_OPERATOR = "the model's operator set does not have this operator"
    INVALID = "the node is invalid"
    UNKNOWN_INDICES = "the indices are known only when the model runs"
    UNKNOWN_SIGN = "an index may count from the start or from the end"
    UNKNOWN_BOUNDS = "not proven: the positions lie within the data, even if the updates are empty"
    IRREGULAR = "the written positions do not form a few boxes"
    DIAGONAL = "one dim runs along two axes of the data"
    COLLIDES = "two updates write the same element"
    MAY_COLLIDE = "two updates may write the same element"
    NO_CUT = "the order of the written regions is unknown"
    NO_KERNEL = "ONNX Runtime has no kernel of a required operator for the element type"
    OPSET = "the model's operator set does not have a required operator"
    NOT_IN_TARGET = "the target does not support a required operator"
    RANK = "a required tensor has more dims than the target supports"
    UNKNOWN_SIZE = "a required size cannot be read from the model's tensors"
    NO_GAIN = "no cheaper form is known"
    TOO_COSTLY = "the replacement would need too many nodes"
    TOO_LARGE = "a comparison of all positions with all updates would be too large"
    QUESTION_LIMIT = "the limit of steps for one question to the prover was reached"
    MODEL_LIMIT = "the limit of steps for one model was reached"
    NO_RULE = "none of the chosen rules can write this form"


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
