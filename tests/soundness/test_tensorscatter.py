"""Cache writes become TensorScatter where a target has it, from any start."""

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx import Reason, inspect
from onnx_scatterx.optimizer.targets.target import Target
from tests.helpers.pair import assert_same
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample

START = """<int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] first = {0},
    int64[1] two = {2}, int64[1] three = {3}>"""


CACHES = Target("caches", extra=frozenset({"TensorScatter"}))


def copied(size: str, count: str, start: str = "p = Identity (q)") -> str:
    """As an exporter writes ``cache.index_copy(2, p + arange(n), u)``."""
    return f"""g (float[B,2,{size},3] x, int64 q, float[B,2,{count},3] u)
        => (float[B,2,{size},3] y) {START} {{
        t = Transpose <perm = [2, 0, 1, 3]> (x)
        v = Transpose <perm = [2, 0, 1, 3]> (u)
        s = Shape (u)
        n1 = Slice (s, two, three)
        n = Squeeze (n1)
        r = Range (zero, n, one)
        {start}
        i = Add (r, p)
        j = Unsqueeze (i, last)
        z = ScatterND (t, j, v)
        y = Transpose <perm = [1, 2, 0, 3]> (z) }}"""


def feeds(cases: list[tuple[int, int]]) -> list[dict[str, np.ndarray]]:
    return [
        {
            "x": sample("float32", b, 2, 5, 3),
            "q": np.array(p),
            "u": sample("float32", b, 2, n, 3, seed=1),
        }
        for n, p in cases
        for b in (0, 1, 2)
    ]


def ops(model: str) -> list[str]:
    return [n.op_type for n in nodes(optimize(parse(model, 24, 11), CACHES))]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_any_start(count: int) -> None:
    model = copied("5", str(count))
    cases = [(count, p) for p in range(-5, 6 - count)]
    assert_sound(parse(model, 24, 11), *feeds(cases), target=CACHES)
    assert ops(model).count("TensorScatter") == 1
    assert not {"ScatterND", "Transpose"} & set(ops(model))


def test_a_start_that_is_not_negative_is_linear() -> None:
    model = copied("5", "2", "p = Max (q, zero)")
    assert_sound(parse(model, 24, 11), *feeds([(2, p) for p in range(4)]), target=CACHES)
    (node,) = [
        n for n in nodes(optimize(parse(model, 24, 11), CACHES)) if n.op_type == "TensorScatter"
    ]
    assert {a.name: a.s for a in node.attribute if a.name == "mode"} == {"mode": b"linear"}


def test_rows_that_are_contiguous_by_assumption() -> None:
    model = parse(
        """g (float[B,S,4] x, int64[N] p, float[B,N,4] u) => (float[B,S,4] y)
        <int64[1] last = {-1}> {
        t = Transpose <perm = [1, 0, 2]> (x)
        v = Transpose <perm = [1, 0, 2]> (u)
        j = Unsqueeze (p, last)
        z = ScatterND (t, j, v)
        y = Transpose <perm = [1, 0, 2]> (z) }""",
        24,
        11,
    )
    assume = ["p = contiguous", "p = nonnegative"]
    result = onnx_scatterx.optimize(model, target=CACHES, assume=assume).model
    assert "TensorScatter" in {n.op_type for n in nodes(result)}
    feeds = [
        {
            "x": sample("float32", 2, 5, 4),
            "p": np.arange(n) + start,
            "u": sample("float32", 2, n, 4, seed=1),
        }
        for n, start in ((0, 0), (1, 4), (3, 1), (5, 0))
    ]
    assert_same(model, result, feeds)


def test_one_start_for_each_of_the_batch() -> None:
    model = """g (float[B,S,3] x, int64[B] p, float[B,1,3] u) => (float[B,S,3] y)
        <int64[2] behind = {1, 2}> {
        q = Unsqueeze (p, behind)
        s = Shape (u)
        i = Expand (q, s)
        y = ScatterElements <axis = 1> (x, i, u) }"""
    rng = np.random.default_rng(0)
    given = [
        {
            "x": sample("float32", b, 4, 3),
            "p": rng.integers(-4, 4, b),
            "u": sample("float32", b, 1, 3),
        }
        for b in (0, 1, 3)
    ]
    assert_sound(parse(model, 24, 11), *given, target=CACHES)


@pytest.mark.parametrize(
    ("model", "opset", "reason"),
    [
        (copied("5", "2"), 23, Reason.OPSET),  # the operator came with 24
        (copied("S", "2"), 24, Reason.MAY_COLLIDE),  # it takes no more rows than there are
    ],
)
def test_what_it_cannot_say(model: str, opset: int, reason: Reason) -> None:
    parsed = parse(model, opset, 11)
    only = inspect(parsed, target=CACHES, rules=["view", "concat", "tensorscatter"])
    assert [s.reason for s in only.scatters] == [reason]
    assert "TensorScatter" not in {n.op_type for n in nodes(optimize(parsed, CACHES))}


def test_the_first_axis_is_the_batch() -> None:
    model = """g (float[5,2] x, int64 p, float[2,2] u) => (float[5,2] y)
        <int64[2,1] r = {0, 1}> { i = Add (r, p) y = ScatterND (x, i, u) }"""
    given = [
        {"x": sample("float32", 5, 2), "p": np.array(p), "u": sample("float32", 2, 2)}
        for p in range(-5, 4)
    ]
    assert_sound(parse(model, 24, 11), *given, target=CACHES, left=0)


def test_others_do_without() -> None:
    assert "TensorScatter" not in {
        n.op_type for n in nodes(optimize(parse(copied("5", "2"), 24, 11)))
    }


RING = """g (float[1,{size}] x, float[1,{count}] u, int32 q) => (float[1,{size}] y) {names} {{
    t = Transpose <perm = [1, 0]> (x)
    v = Transpose <perm = [1, 0]> (u)
    s = Shape (u)
    n1 = Slice (s, one1, two)
    n = Squeeze (n1)
    r = Range (zero, n, one)
    p = Cast <to = 7> (q)
    i = Add (r, p)
    h = Mod (i, ring)
    j = Unsqueeze (h, last)
    z = ScatterND (t, j, v)
    y = Transpose <perm = [1, 0]> (z) }}"""


@pytest.mark.parametrize("count", ["70", "N"])
def test_a_ring_buffer_is_circular_wherever_it_starts(count: str) -> None:
    names = START.replace("first = {0}", "one1 = {1}").replace(">", ", int64 ring = {100}>")
    model = parse(RING.format(size=100, count=count, names=names), 24, 11)
    x, starts = sample("float32", 1, 100), (0, 20, 60, 99, 1234, -1, -345)
    feeds = [
        {"x": x, "u": sample("float32", 1, n, seed=1), "q": np.array(q, np.int32)}
        for n in ((70,) if count == "70" else (0, 1, 100, 130))
        for q in starts
    ]
    assert_sound(model, *feeds, target=CACHES)
    raised = "TensorScatter" in [n.op_type for n in nodes(optimize(model, CACHES))]
    assert raised is (count == "70")  # more rows than positions meet


def test_rows_are_added_as_before() -> None:
    model = copied("5", "2", "p = Max (q, zero)").replace(
        "ScatterND (", 'ScatterND <reduction = "add"> ('
    )
    assert_sound(parse(model, 24, 11), *feeds([(2, p) for p in range(4)]), target=CACHES)


def test_no_rows_may_begin_anywhere() -> None:
    model = copied("5", "N", "p = Max (q, zero)")
    assert_sound(parse(model, 24, 11), *feeds([(0, 9), (2, 3), (5, 0)]), target=CACHES)


def test_no_row_is_checked_where_there_is_no_batch() -> None:
    model = """g (float[B,5,2] x, int64[1] q, float[B,N,2] u) => (float[B,5,2] y)
        <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}> {
        s = Shape (u)
        n = Gather (s, one)
        r = Range (zero, n, one)
        p = Max (q, zero)
        i = Add (r, p)
        j = Unsqueeze (i, last)
        k = Expand (j, s)
        y = ScatterElements <axis = 1> (x, k, u) }"""
    given = [
        {"x": sample("float32", b, 5, 2), "q": np.array([q]), "u": sample("float32", b, n, 2)}
        for b, n, q in ((2, 3, 1), (0, 3, 4), (0, 7, 0))
    ]
    assert_sound(parse(model, 24, 11), *given, target=CACHES)


def test_one_start_for_each_of_another_axis() -> None:
    model = """g (float[3,5,3] x, int64[1,1,3] p, float[3,1,3] u) => (float[3,5,3] y) {
        s = Shape (u)
        i = Expand (p, s)
        y = ScatterElements <axis = 1> (x, i, u) }"""
    feed = {"x": sample("float32", 3, 5, 3), "u": sample("float32", 3, 1, 3, seed=1)}
    assert_sound(parse(model, 24, 11), feed | {"p": np.array([[[0, 3, 1]]])}, target=CACHES)


ENDS = (0, 3, 2**31, 2**62, *(2**63 - k for k in range(1, 9)), -1, -(2**63))


@pytest.mark.parametrize("dims", ["1,S,2", "1,6,2", "B,S,2", "3,7,2"])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_circular_write_begins_anywhere(dims: str, count: int) -> None:
    """ONNX Runtime takes the start modulo the size before anything is added to it."""
    batch, size, _ = dims.split(",")
    model = parse(
        f"""g (float[{dims}] x, float[{batch},{count},2] u, int64[{batch}] w)
            => (float[{dims}] y) {{
        y = TensorScatter <axis = 1, mode = "circular"> (x, u, w) }}""",
        24,
        11,
    )
    rng = np.random.default_rng(count)
    given = []
    for first in ENDS:
        b, s = {"1": 1, "3": 3, "B": 2}[batch], int(size) if size.isdigit() else 7
        w = np.array([first, *rng.choice(ENDS[:-2], b - 1)])
        given.append(
            {
                "x": sample("float32", b, s, 2),
                "u": sample("float32", b, count, 2, seed=1),
                "w": w,
            }
        )
    for target in ("standard", "scatterx", CACHES):
        assert_sound(model, *given, target=target, rejected=2)  # negative starts


@pytest.mark.parametrize("target", ["standard", "scatterx", "ort-cpu"])
def test_a_ring_buffer_of_64_bits_begins_anywhere(target: str) -> None:
    """One row at ``Mod (q, size)``, for any q."""
    model = parse("""g (float[1,S] x, float[1,1] u, int64[1,1] q) => (float[1,S] y) {
        one = Constant <value = int64[1] {1}> ()
        two = Constant <value = int64[1] {2}> ()
        s = Shape (x)
        ring = Slice (s, one, two)
        i = Mod (q, ring)
        y = ScatterElements <axis = 1> (x, i, u) }""")
    given = [
        {"x": sample("float32", 1, s), "u": sample("float32", 1, 1, seed=1), "q": np.array([[q]])}
        for s in (1, 3, 7)
        for q in (*ENDS, 1 - 2**63, 2 - 2**63)
    ]
    assert_sound(model, *given, target=target)
