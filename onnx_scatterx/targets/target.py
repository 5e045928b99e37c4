"""What a target has: the operators that may be written for it, and its limits."""

from __future__ import annotations

from dataclasses import dataclass

SCATTERX = "ScatterX"
NEW = frozenset({SCATTERX, "TensorScatter"})
"""Operators that a target has only where it says so: few have them."""


@dataclass(frozen=True)
class Target:
    """A target by its name, and what it has.

    ``operators`` are all standard operators that it has (None: all that there are), but for those
    that it ``avoid``s; ``extra`` names the ``NEW`` ones that it has. ``max_rank`` is the most dims
    of a tensor, ``static_only`` says that all sizes must be numbers. ``dense_limit`` is how many
    elements the largest tensor of a dense form (whose work is data times indices) may have; None
    allows no dense forms. A size that is not known counts as large as it can be, so that only inf
    allows it without a bound. ``opt_in_rules`` names the rules that are only chosen where somebody
    asks for them. ``source`` says where all this is written. ``is_timed`` says that plans are
    weighed by the time that they take.

    >>> target = Target("npu", avoid=frozenset({"NonZero"}))
    >>> target.has("NonZero"), target.has("Where"), target.has("TensorScatter")
    (False, True, False)
    """

    name: str
    description: str = ""
    source: str = ""
    operators: frozenset[str] | None = None
    avoid: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()
    max_rank: int | None = None
    static_only: bool = False
    dense_limit: float | None = None
    opt_in_rules: frozenset[str] = frozenset()
    is_timed: bool = False

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
