"""What is assumed, where sizes are fixed: a promise about a number is true or not.

--assume '0 <= idx < n' --fix n=4        promises 0 <= idx < 4
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.optimizer.assumptions.assumption import Assumption
from onnx_scatterx.optimizer.assumptions.clauses import Clause, by_name
from onnx_scatterx.optimizer.assumptions.fixed_sizes import FixedSizes


def at_sizes(assumed: Sequence[Clause], fixed: FixedSizes) -> tuple[Clause, ...]:
    """Return assumptions with the numbers of fixed sizes in the place of their names.

    One of a size that is fixed is true or not: raises ScatterXError if it is not.

    >>> from onnx_scatterx.optimizer.assumptions.clauses import clauses
    >>> print(*at_sizes(clauses(["idx < 2*n", "n <= 8"]), FixedSizes({"n": 4}, {})))
    idx < 2*4
    """
    numbers = {re.escape(n): str(v) for n, v in fixed.symbols.items() if n.isidentifier()}
    pattern = re.compile(rf"\b({'|'.join(numbers) or '$^'})\b")
    found: dict[Clause, None] = {}
    for clause in assumed:
        text = pattern.sub(lambda match: numbers[match[1]], clause.condition)
        number = fixed.symbols.get(clause.name)
        if number is None:
            found[Clause(clause.name, text)] = None
        elif not Assumption.parse(text, clause.name).allows(number, fixed.symbols):
            raise ScatterXError(f"{clause} is assumed, and {clause.name!r} is fixed at {number}")
    return tuple(found)


def equalities(assumed: Iterable[Clause]) -> dict[str, int]:
    """Return the numbers that are assumed of names.

    >>> from onnx_scatterx.optimizer.assumptions.clauses import clauses
    >>> equalities(clauses(["b == 4", "n <= 8"]))
    {'b': 4}
    """
    found = {}
    for name, assumption in by_name(assumed).items():
        for comparison in assumption.comparisons:
            is_number = isinstance(comparison.bound, int) and not comparison.modulus
            if comparison.sign == "==" and is_number:
                found[name] = int(comparison.bound)
    return found
