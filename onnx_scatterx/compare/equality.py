"""Which outputs of two models count as equal, and how others differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnx_scatterx.compare.array_diff import (
    ArrayDifference,
    Tolerance,
    compare,
    count_zero_signs,
)
from onnx_scatterx.compare.draws import Draw
from onnx_scatterx.compare.empty_scans import is_without_iterations, iterated_axes
from onnx_scatterx.compare.fused_rounding import is_rounding, roundings
from onnx_scatterx.compare.result import Difference
from onnx_scatterx.graphs import all_nodes, graphs_of
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

    @classmethod
    def of(
        cls, before: ir.Model, after: ir.Model, tolerance: Tolerance | None, strict_zeros: bool
    ) -> Equality:
        """Return when outputs of two models are equal."""
        exact = strict_zeros or tolerance is not None  # a tolerance allows all signs of zeros
        forgiven = frozenset() if exact else outputs_of_new_where(before, after)
        both = iterated_axes(after)
        iterated = {n: axes & both.get(n, axes) for n, axes in iterated_axes(before).items()}
        return cls(forgiven, tolerance, roundings(before, after), strict_zeros, iterated)

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


def outputs_of_new_where(before: ir.Model, after: ir.Model) -> frozenset[str]:
    """Return the outputs of ``after`` that a Where of floats reaches which ``before`` lacks.

    A Where is in both models if its output has the same name. A Where of unknown type counts, too.
    """
    known = {v.name for n in all_nodes(before) for v in n.outputs if _is_where(n)}
    new = {
        f.identifier() for f in after.functions.values() if any(_is_where(n) for n in f.all_nodes())
    }
    reached: set[ir.Value | None] = set()
    for node in after.graph:
        inner = [node, *(n for body in graphs_of(node) for n in all_nodes(body))]
        is_new = any(
            (_is_where(n) and n.outputs[0].name not in known) or n.op_identifier() in new
            for n in inner
        )
        if is_new or any(v in reached for n in inner for v in n.inputs):
            reached.update(node.outputs)
    return frozenset(v.name or "" for v in after.graph.outputs if v in reached)


def _is_where(node: ir.Node) -> bool:
    if node.op_type != "Where" or node.domain:
        return False
    dtype = node.outputs[0].dtype
    return dtype is None or dtype.is_floating_point()
