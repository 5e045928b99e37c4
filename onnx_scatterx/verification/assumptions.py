"""What the user says of sizes and integer inputs, so that `verify` draws nothing else.

"<= 4096"    ">= 2, % 8 == 0"    "== 1"        for a symbol, or for the elements of an input
"nonnegative"  "contiguous"  "unique"          for the elements of an integer input
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from onnx_scatterx.errors import VerifyError

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_PROPERTIES = ("nonnegative", "contiguous", "unique")
_COMPARISON = re.compile(r"(?:%\s*(\d+)\s*)?(<=|>=|==|!=|<|>)\s*(-?\d+)")


@dataclass(frozen=True)
class Assumption:
    """What may be relied on: comparisons (modulus or 0, sign, number), and named properties."""

    comparisons: tuple[tuple[int, str, int], ...] = ()
    properties: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str, name: str) -> "Assumption":
        """Read an assumption about `name`; raise `VerifyError` if it cannot be read.

        >>> Assumption.parse(">= 2, % 8 == 0", "seq").allows(12)
        False
        """
        comparisons, properties = [], set()
        for part in filter(None, (part.strip() for part in text.split(","))):
            match = _COMPARISON.fullmatch(part)
            if match is not None and match[1] != "0":
                comparisons.append((int(match[1] or 0), match[2], int(match[3])))
            elif part in _PROPERTIES:
                properties.add(part)
            else:
                raise VerifyError(
                    f"cannot read the assumption {part!r} about {name}; write for example "
                    f"'<= 4096', '% 8 == 0', {', '.join(_PROPERTIES)}"
                )
        return cls(tuple(comparisons), frozenset(properties))

    def allows(self, value: int) -> bool:
        """Return whether a value satisfies every comparison, and is not negative if so said."""
        if value < 0 and "nonnegative" in self.properties:
            return False
        return all(
            _COMPARISONS[sign](value % modulus if modulus else value, number)
            for modulus, sign, number in self.comparisons
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers at and around which the comparisons change: candidates to draw."""
        around = {n + d for m, _, n in self.comparisons for d in (-1, 0, 1) if not m}
        multiples = {m * k + n for m, _, n in self.comparisons for k in (0, 1, 2, 4) if m}
        return tuple(sorted(n for n in around | multiples if self.allows(n)))


NOTHING = Assumption()


def parse_all(assume: Mapping[str, str] | None, known: set[str]) -> dict[str, Assumption]:
    """Read assumptions by name; raise `VerifyError` about a name that the model has not."""
    parsed = {name: Assumption.parse(text, name) for name, text in (assume or {}).items()}
    for name in parsed:
        if name not in known:
            raise VerifyError(
                f"cannot assume anything of {name!r}: the model has no such input or symbol; "
                f"it has {', '.join(sorted(known))}"
            )
    return parsed
