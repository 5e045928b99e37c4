"""tensorscatter: a cache write is a TensorScatter, where the target has that operator."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from onnx_scatterx import Reason
from onnx_scatterx.targets.target import Target
from tests.helpers.rules import Case, Golden, Refuses, assert_sound_at, each, row, rows

CACHES = Target("caches", extra=frozenset({"TensorScatter"}))


def copied(size: str, count: str, start: str = "p = Identity (q)", reduction: str = "none") -> str:
    """Return ``cache.index_copy(1, p + arange(n), u)``, as an exporter writes it."""
    return f"""g (float[B,{size},3] x, int64 q, float[B,{count},3] u) => (float[B,{size},3] y)
        <int64 nought = {{0}}, int64[1] last = {{-1}}> {{
            t = Transpose <perm = [1, 0, 2]> (x)
            v = Transpose <perm = [1, 0, 2]> (u)
            {start}
            {rows("i", "u", 1, "p")}
            z = ScatterND <reduction = "{reduction}"> (t, i, v)
            y = Transpose <perm = [1, 0, 2]> (z) }}"""


def starts(*cases: tuple[int, int]) -> list[dict[str, Any]]:
    """Return feeds with so many rows from there on."""
    return [{"B": b, "N": n, "q": q} for n, q in cases for b in (0, 1, 2)]


RING = """g (float[2,100] x, float[2,{count}] u, int32 q) => (float[2,100] y) {{
            t = Transpose (x)
            v = Transpose (u)
            p = Cast <to = 7> (q)
            {rows}
            z = ScatterND (t, Mod (i, 100), v)
            y = Transpose (z) }}"""


GOLDEN = {
    "a start that may be negative goes round": row(
        *starts(*((2, q) for q in range(-5, 4))), target=CACHES, opset=24
    ),
    "a start that is not negative is linear": row(
        *starts((2, -1), (2, 0), (2, 3)), target=CACHES, opset=24
    ),
    "no rows may begin anywhere": row(*starts((0, 9), (2, 3), (5, 0)), target=CACHES, opset=24),
    "a ring buffer": row(*({"q": q} for q in (0, 60, 99, 1234, -345)), target=CACHES, opset=24),
}
test_golden = each(GOLDEN, "golden")


def test_rows_that_are_contiguous_by_assumption(golden: Golden) -> None:
    text = copied("S", "N").replace("int64 q", "int64[N] q").replace(rows("i", "u", 1, "p"), CLIMB)
    cases = ((0, 5, 0), (1, 5, 4), (3, 5, 1), (5, 5, 0))
    feeds = [{"B": 2, "S": s, "q": [*range(p, p + n)]} for n, s, p in cases]
    assume = ["q = contiguous", "q = nonnegative"]
    golden(text, *feeds, target=CACHES, opset=24, assume=assume)


CLIMB = "i = Unsqueeze (p, last)"
ENDS = (0, 3, 2**31, 2**62, *(2**63 - k for k in range(1, 9)), -1, -(2**63))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dims", ["1,S,2", "1,6,2", "B,S,2", "3,7,2"])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_circular_write_may_begin_anywhere(dims: str, count: int) -> None:
    """ONNX Runtime takes the start modulo the size before anything is added to it."""
    batch = dims[0]
    text = f"""g (float[{dims}] x, float[{batch},{count},2] u, int64[{batch}] w)
        => (float[{dims}] y) {{ y = TensorScatter <axis = 1, mode = "circular"> (x, u, w) }}"""
    rng, others = np.random.default_rng(count), {"1": 0, "3": 2, "B": 1}[batch]
    feeds = [{"S": 7, "w": [first, *rng.choice(ENDS[:-2], others)]} for first in ENDS]
    for target in ("standard", "scatterx", CACHES):
        assert_sound_at(text, *feeds, left=None, rejected=2, target=target, opset=24)


@pytest.mark.parametrize("target", ["standard", "scatterx", "ort-cpu"])
def test_a_ring_buffer_of_64_bits_begins_anywhere(target: str) -> None:
    """One row at ``Mod (q, size)``, for any q."""
    text = """g (float[1,S] x, float[1,1] u, int64[1,1] q) => (float[1,S] y) {
        y = ScatterElements <axis = 1> (x, Mod (q, Shape <start = 1> (x)), u) }"""
    starts = (*ENDS, 1 - 2**63, 2 - 2**63)
    feeds = [{"S": s, "q": [[q]]} for s, q in product((1, 3, 7), starts)]
    assert_sound_at(text, *feeds, left=None, target=target)


def test_more_rows_than_a_ring_has_positions(refuses: Refuses) -> None:
    text = RING.format(count="N", rows=rows("i", "u", 1, "p"))
    feeds = [{"N": n, "q": q} for n in (0, 1, 100, 130) for q in (0, 20, 99, 1234, -1, -345)]
    refuses(text, Reason.MAY_COLLIDE, *feeds, target=CACHES, opset=24)


def test_rows_that_are_added(refuses: Refuses) -> None:
    text = copied("5", "2", reduction="add")
    feeds = starts((2, 0), (2, 3))
    refuses(text, Reason.UNKNOWN_SIGN, *feeds, left=0, target=CACHES, opset=24)


def test_rows_from_a_start_that_sizes_decide(refuses: Refuses) -> None:
    text = copied("5", "2", "s = Shape <start = 1> (q)").replace("int64 q", "float[K] like")
    text = text.replace("s = Shape <start = 1> (q)", "k = Shape (like) p = Squeeze (k)")
    refuses(text, Reason.NO_RULE, target=CACHES, opset=24)


KEPT = {
    "a cache without a batch is no cache": Case(
        """g (float[5,2] x, int64 p, float[2,2] u) => (float[5,2] y) {
            y = ScatterND (x, Add ([[0], [1]], p), u) }""",
        Reason.UNKNOWN_SIGN,
        *({"p": p} for p in range(-5, 4)),
        left=0,
        target=CACHES,
        opset=24,
    ),
    "a target without the operator": Case(copied("5", "2"), Reason.UNKNOWN_SIGN, opset=24),
    "a tensorscatter stays one": Case(
        """g (float[B,2,4,3] x, float[B,2,2,3] u, int64[B] p) => (float[B,2,4,3] y)
        { y = TensorScatter <mode = "circular"> (x, u, p) }""",
        Reason.UNKNOWN_INDICES,
        target=CACHES,
        opset=24,
    ),
    "operator sets before 24": Case(copied("5", "2"), Reason.OPSET, target=CACHES, opset=23),
    "more rows than positions": Case(copied("S", "2"), Reason.MAY_COLLIDE, target=CACHES, opset=24),
    "one start for each of the batch": Case(
        """g (float[B,S,3] x, int64[B] p, float[B,1,3] u) => (float[B,S,3] y) {
            y = ScatterElements <axis = 1> (x, Expand (Unsqueeze (p, [1, 2]), Shape (u)), u) }""",
        Reason.MAY_COLLIDE,
        *({"S": 4, "p": p} for p in ([], [-4], [3, 0, -1])),
        target=CACHES,
        opset=24,
    ),
    "positions that do not follow each other": Case(
        """g (float[B,S,3] x, int64[B,N,3] i, float[B,N,3] u) => (float[B,S,3] y)
        { y = ScatterElements <axis = 1> (x, i, u) }""",
        Reason.UNKNOWN_INDICES,
        target=CACHES,
        opset=24,
    ),
    "one start for each of another axis": Case(
        """g (float[3,5,3] x, int64[1,1,3] p, float[3,1,3] u) => (float[3,5,3] y) {
            y = ScatterElements <axis = 1> (x, Expand (p, Shape (u)), u) }""",
        Reason.UNKNOWN_INDICES,
        {"p": [[[0, 3, 1]]]},
        target=CACHES,
        opset=24,
    ),
    "no row is checked where there is no batch": Case(
        f"""g (float[B,5,2] x, int64[1] q, float[B,N,2] u) => (float[B,5,2] y) {{
            p = Max (q, 0)
            {rows("i", "u", 1, "p")}
            y = ScatterElements <axis = 1> (x, Expand (i, Shape (u)), u) }}""",
        Reason.MAY_COLLIDE,
        *({"B": b, "N": n, "q": [q]} for b, n, q in ((2, 3, 1), (0, 3, 4), (0, 7, 0))),
        target=CACHES,
        opset=24,
    ),
    "element types without kernels": Case(
        copied("5", "2").replace("float", "string"), Reason.NO_KERNEL, target=CACHES, opset=24
    ),
}
test_kept = each(KEPT, "refuses")
