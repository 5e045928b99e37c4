"""A write to where a mask is true is a Where.

    before   y = ScatterND(x, Transpose(NonZero(m)), v for every true element)
    after    y = Where(m, v, x)

    before   y = ScatterND(x, Transpose(NonZero(m)), f(GatherND(h, Transpose(NonZero(m)))))
    after    y = Where(m, f(h), x)

    before   y = ScatterND<reduction="add">(x, NonZero(m)[0], f(Gather(h, NonZero(m)[0])))
    after    y = Where(m, x + f(h), x)

Holds if the indices are the coordinates of all true elements of a mask, in order. The updates must
be in that order too: one value, a vector over trailing axes that the mask does not depend on, or a
function of each chosen row alone, of rows that the same mask reads (``rows``). The function
must compute the same bits for a row alone and among others (``engine/plan/last_bits.py``).

If the mask selects whole rows, they are read quickly. So where time counts, a function of rows is
kept: for all rows it may take any number of times as long. A target that chooses rows itself keeps
a function that multiplies matrices, too.
"""

from __future__ import annotations

from functools import partial

from onnx_scatterx.engine.rules import (
    Context,
    Detail,
    Plan,
    Reason,
    Refusal,
    Scatter,
    ScatterRule,
    attempt,
    granted,
    refuse_unless,
)
from onnx_scatterx.rewrites.rows import masked, whole_write


class MaskRule(ScatterRule):
    """Rewrites masked writes."""

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        by_mask, target = masked(scatter, context), context.target
        kind = granted(by_mask.mask.abstract.dtype)
        counts = not target.chooses_rows(kind)
        whole = attempt(partial(whole_write, by_mask, context, counts=counts))
        if isinstance(whole, Refusal):
            return Refusal(Reason.UNKNOWN_INDICES, "whether the updates are in the mask's order")
        if whole.updates.is_computed and by_mask.others and target.is_timed:
            return Refusal(Reason.NO_GAIN, "the mask may select few rows")
        work = whole.updates.multiply_adds
        if work is not None:
            times = max(1.0, work.times)
            why = Detail("{:g} times as many multiply-adds", times)
            refuse_unless(target.allows_work(times, kind), Reason.TOO_MUCH_WORK, why)
        return Plan(whole.write, multiply_adds=work)
