"""The answer of ``verify`` on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_scatterx.verification import Verification


@dataclass(frozen=True)
class ComparedNote:
    """On how many inputs two models were compared, whether they are the same, and all the lines.

    ``solved`` says that a solver has proven it, too.
    """

    inputs: int
    same: bool
    solved: bool = False
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, verification: Verification | None) -> ComparedNote | None:
        """Return the text of a page about an answer of ``verify``, or None without an answer."""
        if verification is None:
            return None
        proof = verification.proof
        solved = proof is not None and proof.kind == "proven"
        lines = tuple(str(verification).split("\n"))
        return cls(verification.accepted, verification.same, solved, lines)

    @property
    def outcome(self) -> str:
        """The result, to follow the word "compared".

        >>> ComparedNote(1, True).outcome, ComparedNote(40, False).outcome
        ('on 1 input and are the same', 'on 40 inputs and DIFFER')
        """
        if not self.inputs:
            return "by what they declare and DIFFER" if not self.same else "and are the same"
        count = f"on {self.inputs} input{'s' * (self.inputs != 1)}"
        proof = ", which a solver has proven for all" if self.solved and self.same else ""
        return f"{count} and {'are the same' if self.same else 'DIFFER'}{proof}"
