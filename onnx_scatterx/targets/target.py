"""What a target has: the operators that may be written for it, and its limits."""

from __future__ import annotations

from dataclasses import dataclass

SCATTERX = "ScatterX"
NEW = frozenset({SCATTERX, "TensorScatter"})
"""Operators that a target has only where it says so: few have them."""


@dataclass(frozen=True)
class Target:
    """A target by its name: which operators may be written for it, and its limits.

    >>> target = Target("npu", avoid=frozenset({"NonZero"}))
    >>> target.has("NonZero"), target.has("Where"), target.has("TensorScatter")
    (False, True, False)
    """

    name: str
    description: str = ""
    source: str = ""  # where all this is written
    operators: frozenset[str] | None = None  # all standard operators that it has; None: every one
    avoid: frozenset[str] = frozenset()  # operators that it lacks
    extra: frozenset[str] = frozenset()  # those of ``NEW`` that it has
    max_rank: int | None = None  # the most dims of a tensor
    static_only: bool = False  # all sizes must be numbers
    dense_limit: float | None = None
    """How many elements the largest tensor of a dense form may have (data times indices).

    None allows no dense form. A symbolic size counts as the largest that it can be, so only inf
    allows one without a bound.
    """
    avoids_dense: bool = False  # rules that pass over all of the data apply only if asked for
    is_timed: bool = False  # plans are weighed by the time that they take

    def has(self, op_type: str) -> bool:
        """Return whether an operator may be written for the target.

        ``ScatterX`` goes by its name, as the operators of the default domain do.
        """
        if op_type in self.avoid:
            return False
        if op_type in NEW:
            return op_type in self.extra or op_type in (self.operators or ())
        return self.operators is None or op_type in self.operators

    @property
    def native(self) -> bool:
        """Whether ScatterX may be written."""
        return self.has(SCATTERX)

    @property
    def is_limited(self) -> bool:
        """Whether there are standard operators or ranks that must not be written."""
        return self.operators is not None or bool(self.avoid) or self.max_rank is not None


STANDARD = Target("standard", "any ONNX runtime: standard operators only")
