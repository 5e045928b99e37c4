"""tensorscatter: a cache write is a TensorScatter, where the target has that operator."""

from typing import Any

from onnx_scatterx import Reason
from onnx_scatterx.optimizer.targets.catalogue import Target
from tests.helpers.rules import Golden, Refuses, rows

CACHES = Target("caches", extra=frozenset({"TensorScatter"}))


def copied(size: str, count: str, start: str = "p = Identity (q)", reduction: str = "none") -> str:
    """Return ``cache.index_copy(1, p + arange(n), u)``, as an exporter writes it."""
    return f"""g (float[B,{size},3] x, int64 q, float[B,{count},3] u) => (float[B,{size},3] y)
        <int64 nought = {{0}}> {{
            t = Transpose <perm = [1, 0, 2]> (x)
            v = Transpose <perm = [1, 0, 2]> (u)
            {start}
            {rows("i", "u", 1, "p")}
            z = ScatterND <reduction = "{reduction}"> (t, i, v)
            y = Transpose <perm = [1, 0, 2]> (z) }}"""


def starts(*cases: tuple[int, int]) -> list[dict[str, Any]]:
    """Return feeds with so many rows from there on."""
    return [{"B": b, "N": n, "q": q} for n, q in cases for b in (0, 1, 2)]


RING = """g (float[2,100] x, float[2,{count}] u, int32 q) => (float[2,100] y)
    <int64 ring = {{100}}> {{
            t = Transpose (x)
            v = Transpose (u)
            p = Cast <to = 7> (q)
            {rows}
            h = Mod (i, ring)
            z = ScatterND (t, h, v)
            y = Transpose (z) }}"""


def test_a_start_that_may_be_negative_goes_round(golden: Golden) -> None:
    golden(copied("5", "2"), *starts(*((2, q) for q in range(-5, 4))), target=CACHES, opset=24)


def test_a_start_that_is_not_negative_is_linear(golden: Golden) -> None:
    text = copied("5", "2", "p = Max (q, nought)")
    golden(text, *starts((2, -1), (2, 0), (2, 3)), target=CACHES, opset=24)


def test_no_rows_may_begin_anywhere(golden: Golden) -> None:
    text = copied("5", "N", "p = Max (q, nought)")
    golden(text, *starts((0, 9), (2, 3), (5, 0)), target=CACHES, opset=24)


def test_a_ring_buffer(golden: Golden) -> None:
    text = RING.format(count=70, rows=rows("i", "u", 1, "p"))
    golden(text, *({"q": q} for q in (0, 60, 99, 1234, -345)), target=CACHES, opset=24)


def test_a_cache_without_a_batch_is_no_cache(refuses: Refuses) -> None:
    refuses(
        """g (float[5,2] x, int64 p, float[2,2] u) => (float[5,2] y) <int64[2,1] r = {0, 1}> {
            i = Add (r, p)
            y = ScatterND (x, i, u) }""",
        Reason.UNKNOWN_SIGN,
        target=CACHES,
        opset=24,
    )


def test_a_target_without_the_operator(refuses: Refuses) -> None:
    refuses(copied("5", "2"), Reason.UNKNOWN_SIGN, opset=24)


def test_a_tensorscatter_stays_one(refuses: Refuses) -> None:
    refuses(
        """g (float[B,2,4,3] x, float[B,2,2,3] u, int64[B] p) => (float[B,2,4,3] y)
        { y = TensorScatter <mode = "circular"> (x, u, p) }""",
        Reason.UNKNOWN_INDICES,
        target=CACHES,
        opset=24,
    )


def test_operator_sets_before_24(refuses: Refuses) -> None:
    refuses(copied("5", "2"), Reason.OPSET, target=CACHES, opset=23)


def test_more_rows_than_positions(refuses: Refuses) -> None:
    refuses(copied("S", "2"), Reason.MAY_COLLIDE, target=CACHES, opset=24)


def test_more_rows_than_a_ring_has_positions(refuses: Refuses) -> None:
    text = RING.format(count="N", rows=rows("i", "u", 1, "p"))
    refuses(text, Reason.MAY_COLLIDE, target=CACHES, opset=24)


def test_rows_that_are_added(refuses: Refuses) -> None:
    refuses(copied("5", "2", reduction="add"), Reason.UNKNOWN_SIGN, target=CACHES, opset=24)


def test_rows_from_a_start_that_sizes_decide(refuses: Refuses) -> None:
    text = copied("5", "2", "s = Shape <start = 1> (q)").replace("int64 q", "float[K] like")
    text = text.replace("s = Shape <start = 1> (q)", "k = Shape (like) p = Squeeze (k)")
    refuses(text, Reason.NO_RULE, target=CACHES, opset=24)


def test_positions_that_do_not_follow_each_other(refuses: Refuses) -> None:
    refuses(
        """g (float[B,S,3] x, int64[B,N,3] i, float[B,N,3] u) => (float[B,S,3] y)
        { y = ScatterElements <axis = 1> (x, i, u) }""",
        Reason.UNKNOWN_INDICES,
        target=CACHES,
        opset=24,
    )


def test_one_start_for_each_of_another_axis(refuses: Refuses) -> None:
    refuses(
        """g (float[3,5,3] x, int64[1,1,3] p, float[3,1,3] u) => (float[3,5,3] y) {
            s = Shape (u)
            i = Expand (p, s)
            y = ScatterElements <axis = 1> (x, i, u) }""",
        Reason.UNKNOWN_INDICES,
        target=CACHES,
        opset=24,
    )


def test_no_row_is_checked_where_there_is_no_batch(refuses: Refuses) -> None:
    refuses(
        f"""g (float[B,5,2] x, int64[1] q, float[B,N,2] u) => (float[B,5,2] y)
        <int64 nought = {{0}}> {{
            p = Max (q, nought)
            {rows("i", "u", 1, "p")}
            s = Shape (u)
            k = Expand (i, s)
            y = ScatterElements <axis = 1> (x, k, u) }}""",
        Reason.MAY_COLLIDE,
        target=CACHES,
        opset=24,
    )


def test_element_types_without_kernels(refuses: Refuses) -> None:
    refuses(copied("5", "2").replace("float", "string"), Reason.NO_KERNEL, target=CACHES, opset=24)
