"""Operators that move elements: Slice, Concat, Pad, Transpose, Reshape and their like."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.device_probe.rows import I32, I64, TYPES, C, F, In, Row, a, row, type_name, typed


def moves() -> Iterator[Row]:
    x = In(a(4, 6))
    yield row("Slice", "", x, C([1]), C([3]), C([0]), C([1]))
    yield from typed("Slice", lambda k: (In(a(4, 6, dtype=k)), C([1]), C([3]), C([0]), C([1])))
    yield row("Slice", "axes=all", x, C([1, 2]), C([3, 5]), C([0, 1]), C([1, 1]))
    yield row("Slice", "axes=none", x, C([1, 2]), C([3, 5]))
    yield row("Slice", "bounds=negative", x, C([-3]), C([-1]), C([-1]), C([1]))
    yield row("Slice", "bounds=int64 max", x, C([1]), C([2**63 - 1]), C([1]), C([1]))
    yield row("Slice", "bounds=int32", x, C([1], I32), C([3], I32), C([0], I32), C([1], I32))
    yield row("Slice", "bounds=beyond", x, C([1]), C([100]), C([1]), C([1]))
    yield row("Slice", "steps=2", x, C([0]), C([6]), C([1]), C([2]))
    yield row("Slice", "steps=2 from 1", x, C([1]), C([2**63 - 1]), C([1]), C([2]))
    yield row("Slice", "steps=-1", x, C([-1]), C([-(2**63)]), C([1]), C([-1]))
    yield row("Slice", "steps=-2", x, C([5]), C([0]), C([1]), C([-2]))
    yield row("Slice", "computed", x, In([1], I64), In([3], I64), C([0]), C([1]))
    yield row("Slice", "empty", x, C([2]), C([2]), C([0]), C([1]))
    yield row("Slice", "opset=11", x, C([1]), C([3]), C([0]), opset=11)
    for rank in range(1, 8):
        yield row(
            "Slice", f"rank={rank}", In(a(*[3] * rank)), C([1]), C([3]), C([rank - 1]), C([1])
        )
    yield row("Concat", "", x, In(a(2, 6)), axis=0)
    yield from typed("Concat", lambda k: (In(a(4, 6, dtype=k)), In(a(2, 6, dtype=k))), axis=0)
    yield row("Concat", "axis=-1", x, In(a(4, 2)), axis=-1)
    yield row("Concat", "inputs=1", x, axis=0)
    yield row("Concat", "inputs=5", x, x, x, x, x, axis=1)
    yield row("Concat", "constant", x, C(a(4, 2), F), axis=1)
    yield row("Concat", "constant first", C(a(4, 2), F), x, axis=1)
    yield row("Concat", "empty", x, In(a(4, 0)), axis=1)
    for rank in range(1, 8):
        yield row("Concat", f"rank={rank}", In(a(*[2] * rank)), In(a(*[2] * rank)), axis=rank - 1)
    pads = C([0, 1, 0, 2])
    yield row("Pad", "", x, pads, mode="constant")
    yield from typed("Pad", lambda k: (In(a(4, 6, dtype=k)), pads))
    yield from (
        row("Pad", f"value type={type_name(k)}", In(a(4, 6, dtype=k)), pads, C(1, k)) for k in TYPES
    )
    yield row("Pad", "value", x, pads, C(2.5, F), mode="constant")
    yield row("Pad", "negative", x, C([0, -1, 0, -2]))
    yield row("Pad", "computed", x, In([0, 1, 0, 2], I64))
    yield row("Pad", "axes", x, C([1, 2]), C(0.0, F), C([1]), opset=18)
    yield row("Pad", "zero pads", x, C([0, 0, 0, 0]))
    yield row("Pad", "mode=edge", x, pads, mode="edge")
    yield row("Pad", "mode=reflect", x, pads, mode="reflect")
    for rank in range(1, 8):
        yield row("Pad", f"rank={rank}", In(a(*[2] * rank)), C([1] + [0] * (2 * rank - 1)))
    yield row("Transpose", "", In(a(2, 3, 4)), perm=[1, 0, 2])
    yield from typed("Transpose", lambda k: (In(a(2, 3, dtype=k)),), perm=[1, 0])
    for rank in range(2, 8):
        yield row(
            "Transpose", f"rank={rank}", In(a(*range(1, rank + 1))), perm=list(range(rank))[::-1]
        )
    yield row("Reshape", "", x, C([6, 4]))
    yield from typed("Reshape", lambda k: (In(a(4, 6, dtype=k)), C([6, 4])))
    yield row("Reshape", "shape=-1", x, C([-1]))
    yield row("Reshape", "shape=0", x, C([0, -1]))
    yield row("Reshape", "scalar", In(a(1)), C([], I64))
    yield row("Reshape", "computed", x, In([6, 4], I64))
    for rank in range(1, 8):
        yield row("Reshape", f"rank={rank}", In(a(2**rank)), C([2] * rank))
        yield row("Reshape", f"from rank={rank}", In(a(*[2] * rank)), C([-1]))
    yield row("Unsqueeze", "", x, C([1]))
    yield from typed("Unsqueeze", lambda k: (In(a(4, 6, dtype=k)), C([1])))
    yield row("Unsqueeze", "axes=-1", x, C([-1]))
    yield row("Unsqueeze", "axes=2", x, C([0, 3]))
    yield row("Unsqueeze", "opset=11", x, opset=11, axes=[1])
    yield row("Squeeze", "", In(a(4, 1, 6)), C([1]))
    yield from typed("Squeeze", lambda k: (In(a(4, 1, 6, dtype=k)), C([1])))
    yield row("Squeeze", "to a scalar", In(a(1)), C([0]))
    yield row("Squeeze", "opset=11", In(a(4, 1, 6)), opset=11, axes=[1])
    yield row("Expand", "", In(a(1, 6)), C([4, 6]))
    yield from typed("Expand", lambda k: (In(a(1, 6, dtype=k)), C([4, 6])))
    yield row("Expand", "shape=ones", In(a(4, 1)), C([1, 6]))
    yield row("Expand", "more dims", In(a(6)), C([4, 6]))
    yield row("Expand", "scalar", In(a()), C([4, 6]))
    yield row("Expand", "nothing", x, C([1]))
    yield row("Expand", "computed", In(a(1, 6)), In([4, 6], I64))
    for rank in range(1, 8):
        yield row("Expand", f"rank={rank}", In(a(*[2] * (rank - 1), 1)), C([2] * rank))
    yield row("Tile", "", x, C([2, 1]))
    yield from typed("Tile", lambda k: (In(a(4, 6, dtype=k)), C([2, 1])))
    yield row("Tile", "computed", x, In([2, 1], I64))
    for rank in range(1, 8):
        yield row("Tile", f"rank={rank}", In(a(*[2] * rank)), C([2] + [1] * (rank - 1)))
    yield row("Flatten", "", In(a(2, 3, 4)), axis=1)
    yield row("Split", "", x, C([2, 4]), axis=1, outputs=2)
    yield row("Split", "equal", x, axis=1, outputs=2)
    yield row("Split", "num_outputs", x, axis=1, outputs=2, opset=18, num_outputs=2)
    yield from typed("Identity", lambda k: (In(a(4, 6, dtype=k)),))
    yield row("DepthToSpace", "", In(a(1, 8, 2, 3)), blocksize=2)
    yield row("SpaceToDepth", "", In(a(1, 2, 4, 6)), blocksize=2)
    yield row("Trilu", "", x, upper=1)
    yield row("Trilu", "k", x, C(1), upper=0)
    yield row("ReverseSequence", "", In(a(4, 2)), C([4, 3]), time_axis=0, batch_axis=1)
    yield row("EyeLike", "", x)
