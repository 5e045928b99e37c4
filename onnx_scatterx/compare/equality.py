"""Which outputs of two models count as equal, and how others differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np

from onnx_scatterx.compare.array_diff import (
    ArrayDifference,
    Tolerance,
    compare,
    count_zero_signs,
)
from onnx_scatterx.compare.draws import Draw
from onnx_scatterx.compare.empty_scans import is_without_iterations
from onnx_scatterx.compare.fused_rounding import is_rounding
from onnx_scatterx.compare.result import Difference
from onnx_scatterx.processes import NoReply

_Shapes: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"
Outputs: TypeAlias = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Equality:
    """When outputs are equal.

    In the outputs ``forgiven`` a zero may change its sign. Floats may differ by a ``tolerance``;
    None: bit for bit. An element was rounded about ``roundings`` times in a row. With
    ``strict_zeros``, each sign of a zero counts. ``iterated`` are the axes along which both models
    stack an output in Loops.
    """

    forgiven: frozenset[str] = frozenset()
    tolerance: Tolerance | None = None
    roundings: int = 1
    strict_zeros: bool = False
    iterated: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def differences(
        self, draw: Draw, expected: Outputs, actual: Outputs | NoReply, own: bool = False
    ) -> Iterator[Difference]:
        """Compare outputs. If `own`, both are of the first model, and the sign of a zero counts."""
        if isinstance(actual, NoReply):
            yield Difference(draw, "", ArrayDifference("failed", None, actual.reason))
            return
        for name in [*expected, *(name for name in actual if name not in expected)]:
            if name not in actual or name not in expected:
                yield Difference(
                    draw, name, ArrayDifference("missing", name in expected, name in actual)
                )
                continue
            zeros = not own and self._forgives(name)
            mismatch = compare(expected[name], actual[name], zeros=zeros, tolerance=self.tolerance)
            if mismatch is not None:
                yield Difference(draw, name, mismatch)

    def without_empty(self, found: Iterable[Difference]) -> tuple[list[Difference], bool]:
        """Return the differences that count, and whether others are of empty scan outputs."""
        found = list(found)
        counted = [each for each in found if not self._is_empty_scan(each)]
        return counted, len(counted) < len(found)

    def is_rounding(
        self, difference: Difference, before: Outputs, after: Outputs | NoReply
    ) -> bool:
        """Return whether a difference is not larger than that of other roundings."""
        if isinstance(after, NoReply):
            return False
        one, other = (outputs.get(difference.output) for outputs in (before, after))
        if one is None or other is None or not is_rounding(one, other, self.roundings):
            return False
        return not (self.strict_zeros and count_zero_signs(one, other))

    def zero_signs(self, expected: Outputs, actual: Outputs | NoReply) -> int:
        """Return how many zeros have another sign in outputs in which they may."""
        if isinstance(actual, NoReply):
            return 0
        both = [n for n in expected if n in actual and self._forgives(n)]
        return sum(count_zero_signs(expected[name], actual[name]) for name in both)

    def _is_empty_scan(self, difference: Difference) -> bool:
        """Return whether only dims of a scan output differ, and its Loop ran no iteration."""
        axes, found = self.iterated.get(difference.output, frozenset()), difference.found
        shapes = found.before, found.after
        return found.kind == "shape" and is_without_iterations(*cast(_Shapes, shapes), axes)

    def _forgives(self, output: str) -> bool:
        """Return whether the sign of a zero may differ in an output, or in an element of it."""
        return output in self.forgiven or output.rpartition("[")[0] in self.forgiven
