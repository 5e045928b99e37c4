"""Values of symbolic sizes for cost estimates only: a hint, or a usual number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.optimizer.assumptions.expressions import names
from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term

USUAL = (
    (("batch", "b", "n", "bs"), 1),
    (("height", "width", "h", "w"), 640),
    (("seq", "sequence", "time", "length", "len", "t", "s"), 512),
)
"""Words in the names of sizes, and the usual value of such a size."""
OTHER = 256  # any other size
_NUMBER = 1  # any other run-time number


def known_sizes(model: ir.Model) -> dict[str, str]:
    """Return the user's names of the sizes of a model, each with its name in terms.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4, ?] x) => (float[N, 4, M] y) { y = Identity(x) }''')
    >>> known_sizes(model)
    {'N': 'N', 'x[2]': 'x.2'}
    """
    found: dict[str, str] = {}
    for value in model.graph.inputs:
        for axis, d in enumerate(value.shape or ()):
            name = None if isinstance(d, int) else d.value
            if name:
                found |= {n: n for n in (name, *sorted(names(name)))}
            elif not isinstance(d, int) or d < 0:
                found[f"{value.name}[{axis}]"] = f"{value.name}.{axis}"
    return found


def check_sizes(model: ir.Model, sizes: Mapping[str, int]) -> None:
    """Raise ScatterXError if the model lacks a size that has a hint."""
    known = known_sizes(model)
    for name in sizes:
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "all that it has are numbers"
            raise ScatterXError(f"the model has no size {name!r}; {there}")


def in_terms(model: ir.Model, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return hints by their names in terms, without those on sizes that are numbers now."""
    known = known_sizes(model)
    return {known[name]: size for name, size in sizes.items() if name in known}


class Sizes:
    """Values for symbolic sizes; ``hints`` are the user's, by name.

    >>> from onnx_scatterx.optimizer.symbolic.terms import size
    >>> Sizes({"batch": 8}).value(size("batch") * 4 + 1), Sizes().value(size("seq_len"))
    (33.0, 512.0)
    """

    def __init__(self, hints: Mapping[str, int] | None = None) -> None:
        self.hints = dict(hints or {})
        for name, value in self.hints.items():
            if value < 0:
                raise ScatterXError(f"the size {name} is {value}, and must not be negative")
        self._values: dict[Term, float] = {}

    def value(self, t: Term) -> float:
        """Return about how large a term is."""
        if t.constant is not None:
            return float(t.constant)
        if t not in self._values:
            self._values[t] = float(t.evaluate(self._leaf, lambda _: 0))
        return self._values[t]

    def product(self, terms: tuple[Term, ...]) -> float:
        """Return about how many elements there are between these extents."""
        total = 1.0
        for t in terms:
            total *= max(self.value(t), 0.0)
        return total

    def _leaf(self, leaf: Symbol, parts: Any) -> int:
        if leaf.name in self.hints:
            return self.hints[leaf.name]
        if parts:
            return _NUMBER
        words = leaf.name.lower().replace(".", "_").split("_")
        return next((n for usual, n in USUAL if any(w in usual for w in words)), OTHER)
