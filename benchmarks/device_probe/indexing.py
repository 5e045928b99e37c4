"""Operators that take or write by indices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.device_probe.rows import I32, I64, B, C, D, F, H, In, Row, a, row, typed


def indexing() -> Iterator[Row]:
    x = In(a(4, 6))
    yield row("Gather", "", x, C([2, 0, 3]), axis=0)
    yield from typed("Gather", lambda k: (In(a(4, 6, dtype=k)), C([2, 0])), axis=1)
    yield row("Gather", "scalar", x, C(2), axis=0)
    yield row("Gather", "indices=matrix", x, C([[2, 0], [1, 1]]), axis=1)
    yield row("Gather", "indices=int32", x, C([2, 0], I32), axis=0)
    yield row("Gather", "negative", x, C([-1, 0]), axis=0)
    yield row("Gather", "negative scalar", x, C(-1), axis=1)
    yield row("Gather", "computed indices", x, In([2, 0, 3], I64), axis=0)
    yield row("Gather", "computed indices int32", x, In([2, 0, 3], I32), axis=1)
    yield row("Gather", "negative computed", x, In([-2, 0, 3], I64), axis=0)
    yield row("Gather", "axis=-1", x, C([2, 0, 3]), axis=-1)
    yield row("Gather", "constant data", C(a(4, 6), F), In([2, 0, 3], I64), axis=0)
    for rank in range(1, 8):
        yield row("Gather", f"rank={rank}", In(a(*[2] * rank)), C([1, 0]), axis=rank - 1)
    index = np.array([[0, 2, 1, 1, 0, 3], [3, 3, 0, 0, 1, 1]])
    yield row("GatherElements", "", x, C(index), axis=0)
    yield from typed("GatherElements", lambda k: (In(a(4, 6, dtype=k)), C(index)), axis=0)
    yield row("GatherElements", "axis=1", x, C([[1, 4], [0, 2], [3, 5], [5, 4]]), axis=1)
    yield row("GatherElements", "computed indices", x, In(index, I64), axis=0)
    yield row("GatherElements", "indices=int32", x, In(index, I32), axis=0)
    yield row("GatherElements", "negative", x, C(index - 1), axis=0)
    yield row("GatherElements", "negative computed", x, In(index - 2, I64), axis=0)
    pairs = np.array([[0, 2], [3, 5], [1, 0]])
    yield row("GatherND", "", x, C(pairs))
    yield from typed("GatherND", lambda k: (In(a(4, 6, dtype=k)), C(pairs)))
    yield row("GatherND", "rows", x, C([[2], [0]]))
    yield row("GatherND", "computed indices", x, In(pairs, I64))
    yield row("GatherND", "negative", x, C(pairs - 1))
    yield row("GatherND", "negative computed", x, In(pairs - 1, I64))
    yield row("GatherND", "batch_dims=1", In(a(2, 3, 4)), C([[1], [2]]), batch_dims=1)
    yield row("TopK", "", x, C([3]), axis=1, outputs=2)
    yield from typed(
        "TopK", lambda k: (In(a(4, 6, dtype=k)), C([3])), (F, I64, I32, H, D), axis=1, outputs=2
    )
    yield row("TopK", "smallest", x, C([3]), axis=1, largest=0, outputs=2)
    yield row(
        "TopK", "smallest int64", In(a(4, 6, dtype=I64)), C([6]), axis=1, largest=0, outputs=2
    )
    yield row("TopK", "axis=0", x, C([2]), axis=0, outputs=2)
    yield row("TopK", "unsorted", x, C([6]), axis=1, sorted=1, outputs=2)
    yield row("TopK", "computed", x, In([3], I64), axis=1, outputs=2)
    yield row("TopK", "ties", In(np.array([[1, 2, 2, 1, 3]], F)), C([4]), axis=1, outputs=2)
    for name in ("ArgMax", "ArgMin"):
        yield row(name, "", x, axis=1, keepdims=0)
        yield row(name, "keepdims", x, axis=0, keepdims=1)
        yield row(name, "last", In(np.array([[1, 2, 2, 1]], F)), axis=1, select_last_index=1)
    values = C([0, 1], F)
    yield row("OneHot", "", In([2, 0, 3], I64), C(4), values)
    yield row("OneHot", "values=int64", In([2, 0, 3], I64), C(4), C([0, 1]))
    yield row("OneHot", "indices=int32", In([2, 0, 3], I32), C(4, I32), values)
    yield row("OneHot", "axis=0", In([2, 0, 3], I64), C(4), values, axis=0)
    yield row("OneHot", "negative", In([-1, 0, -4], I64), C(4), values)
    yield row("OneHot", "out of range", In([-9, 0, 7], I64), C(4), values)
    yield row("NonZero", "", In(a(4, 6)))
    yield from typed("NonZero", lambda k: (In(a(4, 6, dtype=k)),), (F, B, I64, I32))
    yield row("Compress", "", x, C([True, False, True, True], B), axis=0)
    yield row("Unique", "", In([2.0, 1, 1, 3], F), outputs=1)


def scatters() -> Iterator[Row]:
    x = In(a(4, 6))
    rows, u = C([[2], [0]]), In(a(2, 6, low=40))
    yield row("ScatterND", "", x, rows, u)
    yield row("ScatterND", 'reduction="none" written', x, rows, u, reduction="none")
    yield from typed(
        "ScatterND", lambda k: (In(a(4, 6, dtype=k)), rows, In(a(2, 6, dtype=k, low=40)))
    )
    yield row("ScatterND", "computed indices", x, In([[2], [0]], I64), u)
    yield row("ScatterND", "negative", x, C([[-1], [0]]), u)
    yield row("ScatterND", "negative computed", x, In([[-1], [0]], I64), u)
    yield row("ScatterND", "points", x, C([[0, 2], [3, 5], [1, 0]]), In(a(3, low=40)))
    for how, opset in (("add", 16), ("mul", 16), ("max", 18), ("min", 18)):
        yield row("ScatterND", f"reduction={how}", x, rows, u, reduction=how, opset=opset)
        yield row(
            "ScatterND",
            f"reduction={how} duplicates",
            x,
            C([[2], [2]]),
            u,
            reduction=how,
            opset=opset,
        )
    index = np.array([[0, 2, 1, 1, 0, 3], [3, 3, 0, 0, 1, 1]])
    yield row("ScatterElements", "", x, C(index), u, axis=0)
    yield row(
        "ScatterElements", 'reduction="none" written', x, C(index), u, axis=0, reduction="none"
    )
    yield from typed(
        "ScatterElements",
        lambda k: (In(a(4, 6, dtype=k)), C(index), In(a(2, 6, dtype=k, low=40))),
        axis=0,
    )
    yield row(
        "ScatterElements",
        "axis=1",
        x,
        C([[1, 4], [0, 2], [3, 5], [5, 4]]),
        In(a(4, 2, low=40)),
        axis=1,
    )
    yield row("ScatterElements", "computed indices", x, In(index, I64), u, axis=0)
    yield row("ScatterElements", "indices=int32", x, In(index, I32), u, axis=0)
    negative = index.copy()
    negative[0] -= 4
    yield row("ScatterElements", "negative", x, C(negative), u, axis=0)
    yield row("ScatterElements", "negative computed", x, In(negative, I64), u, axis=0)
    for how, opset in (("add", 16), ("mul", 16), ("max", 18), ("min", 18)):
        yield row(
            "ScatterElements",
            f"reduction={how}",
            x,
            C(index),
            u,
            axis=0,
            reduction=how,
            opset=opset,
        )
        same = C(np.full((2, 6), 1))
        yield row(
            "ScatterElements",
            f"reduction={how} duplicates",
            x,
            same,
            u,
            axis=0,
            reduction=how,
            opset=opset,
        )
    cache, new = In(a(2, 5, 3)), In(a(2, 2, 3, low=50))
    yield row("TensorScatter", "", cache, new, C([1, 0]), opset=24, axis=1)
    yield row("TensorScatter", "computed", cache, new, In([1, 0], I64), opset=24, axis=1)
    yield row(
        "TensorScatter", "circular", cache, new, In([4, 0], I64), opset=24, axis=1, mode="circular"
    )
