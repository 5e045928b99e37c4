"""A scatter that no rule takes is peeled to the box that it writes.

    before   y = ScatterElements(x, i, u, axis=0)            x of [P, S], i, u of [K, n]
    after    z = ScatterElements(x[:, :n], i, u, axis=0),    y = Concat(z, x[:, n:])

Holds on an axis whose target is ``start + I_d``, within the axis at every size, or one position.
Most rules need every axis to be written in full, except the one that is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import onnx_ir as ir

from onnx_scatterx.engine.lift import Scatter
from onnx_scatterx.engine.plan.rule import Context, Plan
from onnx_scatterx.engine.terms import Term, minimum, term
from onnx_scatterx.graphs import INT64_MAX


@dataclass(frozen=True)
class SubBox:
    """A scatter into a box: ``within[axis]`` is the start and end of the box.

    ``inner`` is the scatter on the box alone. Its data is a placeholder value.
    """

    scatter: Scatter
    inner: Scatter
    within: dict[int, tuple[Term, Term]]
    context: Context  # which knows that value

    def whole(self, plan: Plan) -> Plan:
        """Return a rewriting of the inner scatter as one of the whole."""
        cuts, data = list(self.within.items()), self.scatter.data
        return replace(plan, write=lambda: self._written(cuts, data, plan.write))

    def _written(
        self,
        cuts: list[tuple[int, tuple[Term, Term]]],
        x: ir.Value,
        write: Callable[[], ir.Value],
    ) -> ir.Value:
        """Cut a tensor axis by axis, write the box, and concatenate the rest around it."""
        w, dtype = self.context.writer, self.scatter.dtype
        if not cuts:
            w.let(self.inner.data, x)
            return write()
        (axis, (low, high)), *others = cuts

        def cut(start: ir.Value, end: ir.Value) -> ir.Value:
            return w.slice_dynamic(x, dtype, axis, start, end, 1)

        numbers = self.context.numbers
        first, last = numbers.vector(low), numbers.vector(high)
        parts = [self._written(others, cut(first, last), write)]
        if low.constant != 0:
            parts.insert(0, cut(w.constant([0]), first))
        if not self.scatter.facts.equal(high, self.scatter.data_shape[axis]):
            parts.append(cut(last, w.constant([INT64_MAX])))
        return w.concat(parts, dtype, axis)


def peel_to_box(scatter: Scatter, context: Context) -> SubBox | None:
    """Return a scatter as one into a box, or None if it may reach all of its data."""
    within: dict[int, tuple[Term, Term]] = {}
    targets = list(scatter.index_exprs)
    for axis, target, size in scatter.by_axis():
        affine = scatter.affine(axis)
        if affine is None or affine.step not in (0, 1) or not scatter.nonnegative[axis]:
            continue
        start, count = affine.start, term(1) if affine.dim is None else scatter.shape[affine.dim]
        # If nothing is written, the start may lie behind the axis.
        low = start if scatter.facts.is_nonnegative(size - start) else minimum(start, size)
        if scatter.facts.equal(count, size) or not scatter.facts.is_nonnegative(low):
            continue
        if scatter.facts.is_nonnegative(size - low - count):
            within[axis] = (low, low + count)
            targets[axis] = target - start
    if not within:
        return None
    shape = tuple(
        within[c][1] - within[c][0] if c in within else n for c, n in enumerate(scatter.data_shape)
    )
    data, described = context.with_placeholder(f"{scatter.data.name}/part", scatter.dtype, shape)
    inner = replace(scatter, data=data, data_shape=shape, index_exprs=tuple(targets))
    return SubBox(scatter, inner, within, described)
