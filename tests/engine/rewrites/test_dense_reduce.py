"""fold: every position folds its updates into its element, in their order."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx import Reason
from onnx_scatterx.targets.target import Target
from tests.helpers.rules import Golden, Refuses, assert_sound_at, each, row

DENSE = Target("dense", dense_limit=1 << 20)
UNBOUNDED = Target("unbounded", dense_limit=float("inf"))
SMALL = Target("small", dense_limit=1000)


def nd(size: str, count: str, reduction: str, kind: str = "float") -> str:
    """Return rows that are combined at any positions."""
    return f"""g ({kind}[{size},3] x, int64[{count},1] i, {kind}[{count},3] u) => ({kind}[{size},3] y)
    {{ y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""


PER_ROW = """g (float[B,7] x, int64[B,N] i, float[B,N] u) => (float[B,7] y)
    { y = ScatterElements <axis = 1, reduction = "%s"> (x, i, u) }"""


def for_rows(size: int, *counts: int) -> list[dict[str, Any]]:
    """Return positions from both ends of an axis, some of them twice."""
    rng = np.random.default_rng(0)
    return [{"i": rng.integers(-size, size, (n, 1)), "P": size} for n in counts]


def per_row() -> list[dict[str, Any]]:
    """Return positions of every row."""
    rng = np.random.default_rng(0)
    return [{"i": rng.integers(-7, 7, (b, n))} for b in (0, 1, 3) for n in (0, 1, 20)]


GOLDEN = {
    "a sum": row(*for_rows(5, 0, 1, 9)),
    "a sum of integers": row(*for_rows(5, 0, 1, 9)),
    "a sum for each row": row(*per_row()),
    "few updates": row(*for_rows(1, 3), *for_rows(9, 3), target=DENSE),
    "a maximum of integers": row(*for_rows(5, 0, 1, 9)),
    "a minimum of integers": row(*for_rows(5, 0, 1, 9)),
    "a maximum of floats for each row": row(*per_row()),
    "many of both where the target allows it": row(*for_rows(50, 20), target=DENSE),
    "a product of few updates": row(*for_rows(1, 3), *for_rows(9, 3), target=DENSE),
}
test_golden = each(GOLDEN, "golden")


@pytest.mark.parametrize("kind", ["float", "int64"])
@pytest.mark.parametrize("count", [0, 1, 2, 16])
def test_a_product_of_some_updates_for_each_row(kind: str, count: int) -> None:
    text = (PER_ROW % "mul").replace("float", kind).replace("7]", "P]").replace("N]", f"{count}]")
    rng = np.random.default_rng(count)
    feeds = [{"P": p, "i": rng.integers(-p, p, (b, count))} for b, p in ((0, 3), (1, 1), (3, 5))]
    assert_sound_at(text, *feeds, target=UNBOUNDED)


@pytest.mark.parametrize("reduction", ["add", "max", "min"])
def test_the_order_of_many(reduction: str) -> None:
    """Sums of floats that depend on their order; NaN and both zeros among what is compared."""
    rng, feeds = np.random.default_rng(0), for_rows(5, 0, 1, 30, 300)
    for n in (30, 300):
        scale = 10.0 ** rng.integers(-4, 5, (n, 3))
        feeds += [{**f, "u": rng.standard_normal((n, 3)) * scale} for f in for_rows(5, n)]
    assert_sound_at(nd("5", "N", reduction), *feeds, target=UNBOUNDED)


@pytest.mark.parametrize("width", [1, 3])
def test_sums_of_nothing_keep_negative_zeros(width: int) -> None:
    text = f"""g (float[N,{width}] x, int64[3,1] i) => (float[N,{width}] y)
        <int64[2] shape = {{3, {width}}}> {{
            y = ScatterND <reduction = "add"> (x, i, ConstantOfShape (shape)) }}"""
    feeds = [{"x": np.full((n, width), -0.0), "i": [[0], [0], [1]]} for n in (2, 5)]
    assert_sound_at(text, *feeds, target=UNBOUNDED)


def test_a_product_of_integers_for_each_row(golden: Golden) -> None:
    text = PER_ROW.replace("float", "int32").replace("N]", "2]")
    indices = np.random.default_rng(0)
    rows = [{"i": indices.integers(-7, 7, (b, 2))} for b in (0, 1, 3)]
    golden(text % "mul", *rows)


NO_CUMSUM = "standard, avoid = ['CumSum', 'ScatterElements', 'ScatterND'], dense = true"
INTEGERS = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]
ELEMENTS = """g (float[2,5] x, int64[2,40] i, float[2,40] u) => (float[2,5] y)
    { y = ScatterElements <axis = 1, reduction = "add"> (x, i, u) }"""


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("text", [nd("5", "40", "add"), ELEMENTS], ids=["rows", "elements"])
def test_sums_of_integers_wrap(kind: str, text: str) -> None:
    """ONNX Runtime's ReduceSum adds doubles, and ends at the largest number."""
    rng, limits = np.random.default_rng(0), np.iinfo(kind)
    rows = text is not ELEMENTS
    shape, data = ((40, 3), (5, 3)) if rows else ((2, 40), (2, 5))
    top = int(limits.max)
    ends = np.array([limits.min, top, top - 1, top // 2 + 1, 0, 1], kind)
    given = [np.full(shape, end) for end in ends] + [rng.choice(ends, shape)]
    given += [rng.integers(limits.min, top, shape, kind, endpoint=True) for _ in range(3)]
    feeds = [
        {
            "x": rng.integers(limits.min, top, data, kind, endpoint=True),
            "i": rng.integers(-5, 5, (40, 1) if rows else shape),
            "u": u,
        }
        for u in given
    ]
    assert_sound_at(text.replace("float", kind), *feeds, target=NO_CUMSUM)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_counts_of_integers(count: int) -> None:
    """Small numbers are added as they are."""
    text = f"""g (int32[5] x, int64[{count},1] i) => (int32[5] y) <int32 one = {{1}}> {{
        u = Expand (one, [{count}])
        y = ScatterND <reduction = "add"> (x, i, u) }}"""
    assert_sound_at(text, {"i": [[-1], [4], [0]][:count]}, target=NO_CUMSUM)


REFUSED = {
    "a write": nd("5", "N", "none"),
    "a product": nd("5", "N", "mul"),
    "a product of many updates": nd("5", "17", "mul"),
    "a product of float16": nd("5", "3", "mul", "float16"),
    "few updates of many short rows": nd("50000", "3", "add"),
    "many of both": nd("5000", "20", "add"),
}


@pytest.mark.parametrize("model", REFUSED.values(), ids=REFUSED)
def test_what_is_not_added_densely(model: str, refuses: Refuses) -> None:
    refuses(model, Reason.UNKNOWN_INDICES)


def test_more_elements_than_the_target_allows(refuses: Refuses) -> None:
    refuses(nd("5000", "20", "add"), Reason.TOO_LARGE, target=SMALL)


def test_a_sequence_that_goes_round(refuses: Refuses) -> None:
    refuses(
        """g (float[7] x, float[7] u) => (float[7] y)
            { y = ScatterND <reduction = "add"> (x, [[0], [1], [2], [3], [4], [5], [6]], u) }""",
        Reason.NO_RULE,
    )


@pytest.mark.parametrize(
    ("kind", "reduction"),
    [
        ("float16", "add"),
        ("int16", "max"),
        ("bool", "add"),
        ("bool", "max"),
        ("int4", "min"),
        ("string", "max"),
    ],
)
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(nd("5", "N", reduction, kind), Reason.NO_KERNEL)
