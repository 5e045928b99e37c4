"""Where, comparisons and logic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.device_probe.rows import (
    I32,
    I64,
    NO_BOOL,
    U8,
    B,
    C,
    D,
    F,
    H,
    In,
    Row,
    a,
    row,
    typed,
)


def choices() -> Iterator[Row]:
    m = In(a(4, 6, dtype=B))
    yield row("Where", "", m, In(a(4, 6)), In(a(4, 6, low=3)))
    yield from typed(
        "Where", lambda k: (m, In(a(4, 6, dtype=k)), In(a(4, 6, dtype=k, low=3))), NO_BOOL
    )
    yield row("Where", "broadcast=condition", In(a(4, 1, dtype=B)), In(a(4, 6)), In(a(4, 6, low=3)))
    yield row(
        "Where", "broadcast=condition row", In(a(6, dtype=B)), In(a(4, 6)), In(a(4, 6, low=3))
    )
    yield row("Where", "broadcast=x", m, In(a(6)), In(a(4, 6, low=3)))
    yield row("Where", "broadcast=scalar", m, C(2.0, F), In(a(4, 6)))
    yield row("Where", "broadcast=scalars", m, C(2.0, F), C(1.0, F))
    yield row("Where", "broadcast=all", In(a(4, 1, 1, dtype=B)), In(a(3, 1)), In(a(5)))
    yield row("Where", "broadcast=int64", In(a(4, 1, dtype=B)), In(a(4, 6, dtype=I64)), C(3))
    yield row("Where", "broadcast=int32", In(a(4, 1, dtype=B)), In(a(4, 6, dtype=I32)), C(3, I32))
    yield row(
        "Where", "constant condition", C(a(4, 6, dtype=B), B), In(a(4, 6)), In(a(4, 6, low=3))
    )
    for rank in range(1, 8):
        one = In(a(*[2] * rank))
        yield row(
            "Where", f"rank={rank}", In(a(*[2] * rank, dtype=B)), one, In(a(*[2] * rank, low=2))
        )
    for name in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"):
        kinds = (F, I64, I32, B, H, D, U8) if name == "Equal" else (F, I64, I32, H, D, U8)
        yield row(name, "", In(a(4, 6)), In(a(4, 6, low=1)))
        yield from typed(
            name, lambda k: (In(a(4, 6, dtype=k)), In(a(6, 4, dtype=k).reshape(4, 6))), kinds
        )
        yield row(name, "constant", In(a(4, 6)), C(1.0, F))
        yield row(name, "constant int64", In(a(4, 6, dtype=I64)), C(5))
        yield row(name, "constant int32", In(a(4, 6, dtype=I32)), C(5, I32))
        yield row(name, "broadcast", In(a(4, 1, dtype=I64)), C(np.arange(6)))
        yield row(name, "broadcast float", In(a(4, 1)), C(np.arange(6), F))
    yield row("Equal", "constant bool", In(a(4, 6, dtype=B)), C(False, B))
    for name in ("And", "Or", "Xor"):
        yield row(name, "", m, In(a(6, 4, dtype=B).reshape(4, 6)))
        yield row(name, "broadcast", m, In(a(4, 1, dtype=B)))
        yield row(name, "constant", m, C(a(6, dtype=B), B))
    yield row("Not", "", m)
    specials = np.array([[1, np.nan, np.inf], [-np.inf, 0, -1]], F)
    yield row("IsNaN", "", In(specials))
    yield row("IsNaN", "type=double", In(specials.astype(D)))
    yield row("IsInf", "", In(specials))
