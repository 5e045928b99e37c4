"""counted: a write by a mask takes, for each true element, the update that its count names."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.rules import Case, Refuses, assert_sound_at, each, row
from tests.helpers.support import parse

NUMBERS = """<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1},
     int64 first = {0}, int64 second = {1}>"""
ELEMENTS = f"""g (float[A,4] x, bool[A,4] m, float[K] u) => (float[A,4] y) {NUMBERS} {{
        n = NonZero (m)
        i = Transpose (n)
        y = ScatterND (x, i, u) }}"""
ROWS = f"""g (float[A,4] x, bool[A] m, float[K,4] u) => (float[A,4] y) {NUMBERS} {{
        n = NonZero (m)
        i = Transpose (n)
        y = ScatterND (x, i, u) }}"""
ROUTED = f"""g (float[T,3] x, bool[%s,T] m, float[K,3] u) => (float[T,3] y) {NUMBERS} {{
        n = NonZero (m)
        d = Gather (n, second)
        i = Unsqueeze (d, minus)
        y = ScatterND <reduction = "add"> (x, i, u) }}"""


def masks(*shapes: tuple[int, ...], more: int = 0) -> list[dict[str, Any]]:
    """Return masks of which no element is true, all are, and some; K counts them."""
    rng = np.random.default_rng(0)
    found = [rng.random(shape) < share for shape in shapes for share in (0.0, 1.1, 0.5)]
    return [{"m": m, "K": int(m.sum()) + more} for m in found]


FIRST = f"""g (float[A,4] x, bool[A,4] m, float[K] v) => (float[A,4] y) {NUMBERS} {{
        n = NonZero (m)
        k = Shape <start = 1> (n)
        i = Transpose (n)
        u = Slice (v, zero, k)
        y = ScatterND (x, i, u) }}"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kind", "reduction"),
    [*product(("float", "int64"), ("none", "add", "max")), ("bool", "none"), ("bool", "add")],
)
def test_other_types_and_numbers_that_are_combined(kind: str, reduction: str) -> None:
    text = FIRST.replace("float", kind)
    text = text.replace("ScatterND", f'ScatterND <reduction = "{reduction}">')
    for more in (0, 2):
        assert_sound_at(text, *masks((0, 4), (1, 4), (3, 4), more=more))


@pytest.mark.parametrize("turned", [False, True])
def test_rows_of_a_mask_in_either_order(turned: bool) -> None:
    """The axes as the mask has them, or exchanged; the mask has a size of its own."""
    text = f"""g (float[P,Q,3] x, bool[R,S] m, float[K,3] u) => (float[P,Q,3] y) {NUMBERS} {{
        n = NonZero (m)
        c = Gather <axis = 0> (n, first)
        d = Gather <axis = 0> (n, second)
        a = Unsqueeze (c, minus)
        b = Unsqueeze (d, minus)
        i = Concat <axis = -1> ({"b, a" if turned else "a, b"})
        y = ScatterND (x, i, u) }}"""
    feeds = masks((2, 5), (0, 5))
    shapes = [f["m"].shape[:: -1 if turned else 1] for f in feeds]
    assert_sound_at(text, *({**f, "P": p, "Q": q} for f, (p, q) in zip(feeds, shapes, strict=True)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reduction", ["none", "add", "max", "mul"])
@pytest.mark.parametrize(("shape", "row"), [("T,3", "first"), ("2,T,2", "second")])
def test_rows_that_a_mask_names_several_times(reduction: str, shape: str, row: str) -> None:
    """Tokens that experts get, each from the first and from the second choice of a router."""
    text = (ROUTED % 2).replace("2,T", shape).replace("(n, second)", f"(n, {row})")
    shapes = [(t, 3) if row == "first" else (2, t, 2) for t in (0, 1, 5)]
    feeds = [{**f, "T": f["m"].shape[row == "second"]} for f in masks(*shapes)]
    assert_sound_at(text.replace('"add"', f'"{reduction}"'), *feeds)


def test_rows_of_a_mask_of_one_row_as_elements() -> None:
    """No axis stands for the row of the mask."""
    text = f"""g (float[T,3] x, bool[1,T] m, float[K,3] u) => (float[T,3] y) {NUMBERS} {{
        n = NonZero (m)
        d = Gather <axis = 0> (n, second)
        b = Unsqueeze (d, minus)
        s = Shape (u)
        i = Expand (b, s)
        y = ScatterElements <axis = 0> (x, i, u) }}"""
    assert_sound_at(text, *masks((1, 5)), left=None)


def test_updates_that_are_broadcast_against_one_row_of_the_data() -> None:
    """As TorchScript writes index_add: there is no such row where the data has none."""
    text = f"""g (float[T,3] x, bool[2,T] m, float[K,3] u) => (float[T,3] y) {NUMBERS} {{
        n = NonZero (m)
        d = Gather <axis = 0> (n, second)
        b = Unsqueeze (d, minus)
        row = Slice (x, zero, one, zero)
        s = Shape (row)
        v = Expand (u, s)
        t = Shape (v)
        i = Expand (b, t)
        y = ScatterElements <axis = 0, reduction = "add"> (x, i, v) }}"""
    assert_sound_at(text, *masks((2, 0), (2, 1), (2, 5)), left=None)


def test_no_row_where_a_product_of_sizes_is_0() -> None:
    text = f"""g (float[B,S,3] x, bool[B,S] m) => (float[T,3] y) {NUMBERS} {{
        whole = Constant <value_ints = [-1, 3]> ()
        rows = Reshape (x, whole)
        line = Reshape (m, minus)
        n = NonZero (line)
        d = Squeeze (n, zero)
        u = Gather (rows, d)
        row = Slice (rows, zero, one, zero)
        s = Shape (row)
        v = Expand (u, s)
        t = Shape (v)
        b = Unsqueeze (d, minus)
        i = Expand (b, t)
        negative = Neg (rows)
        y = ScatterElements <axis = 0> (negative, i, v) }}"""
    assert_sound_at(text, *masks((3, 2), (1, 1), (0, 2), (2, 0)))


def test_a_mask_that_is_broadcast_twice() -> None:
    """As PyTorch writes it: rows are counted and chosen, and both Expands are gone."""
    text = f"""g (float[A,4] x, bool[A,1] m, float[K] u) => (float[A,4] y) {NUMBERS} {{
        s = Shape (x)
        a = Expand (m, s)
        b = Expand (a, s)
        n = NonZero (b)
        i = Transpose (n)
        y = ScatterND (x, i, u) }}"""
    cases = masks((0, 1), (1, 1), (3, 1))
    assert_sound_at(text, *[{"m": case["m"], "K": 4 * case["K"]} for case in cases])
    npu = "standard, avoid = ['CumSum', 'Expand', 'NonZero'], static_only = true"
    fixed = onnx_scatterx.optimize(parse(text), target=npu, fix={"A": 1024, "K": 64}, strict=True)
    assert fixed.report.removed == 1


GOLDEN = {
    "elements": row(*masks((0, 4), (1, 4), (3, 4))),
    "rows": row(*masks((0,), (1,), (3,))),
    "the first elements of a vector need not be cut from it": row(
        *masks((0, 4), (1, 4), (3, 4), more=2)
    ),
    "columns": row(*masks((0,), (1,), (3,))),
    "a mask with its axes exchanged": row(*masks((0, 4), (1, 4), (3, 4))),
    "a row that is named twice is written twice": row(*masks((2, 0), (2, 1), (2, 3))),
    "a mask of one row": row(*masks((1, 0), (1, 1), (1, 3))),
    "the first columns of some rows": row(*masks((0,), (1,), (3,))),
    "an axis of one position": row(*masks((0,), (1,), (3,))),
    "the first column of some rows": row(*masks((0,), (1,), (3,))),
    "one element that a mask of one chooses": row(*masks((1,))),
    "elements from the second on are cut": row(*masks((0,), (1,), (3,), more=2)),
    "a mask of another size is cut and filled up": row(
        *({"A": 3, "K": 2, "m": [[1, 0, 1, 0], *[[0] * 4] * n]} for n in (0, 2, 4))
    ),
}
test_golden = each(GOLDEN, "golden")


REFUSED = {
    "positions that are no mask": ELEMENTS.replace("bool[A,4] m", "int64[2,K] n").replace(
        "n = NonZero (m)", ""
    ),
    "the first of the true elements": ELEMENTS.replace(
        "i = Transpose (n)", "t = Transpose (n) i = Slice (t, zero, two)"
    ),
    "the first true element": ELEMENTS.replace(
        "i = Transpose (n)", "t = Transpose (n) i = Slice (t, zero, one)"
    ),
    "a mask of unknown rank": f"""
        g (float[A,4] x, bool[A] b, int64[R] s, float[K,4] u) => (float[A,4] y) {NUMBERS} {{
            m = Reshape (b, s)
            n = NonZero (m)
            r = Gather (n, first)
            i = Unsqueeze (r, minus)
            y = ScatterND (x, i, u) }}""",
    "a mask of the graph outside": """
        g (float[A,4] x, bool[A] m, float[K,4] u, bool c) => (float[A,4] y) {
            n = NonZero (m)
            i = Transpose (n)
            y = If (c) <
                then_branch = a () => (float[A,4] b) { b = ScatterND (x, i, u) },
                else_branch = d () => (float[A,4] e) { e = Identity (x) }> }""",
    "a count of rows that only the run knows": ROUTED % "R",
}


@pytest.mark.parametrize("model", REFUSED.values(), ids=REFUSED)
def test_what_is_no_masked_scatter(model: str, refuses: Refuses) -> None:
    refuses(model, Reason.UNKNOWN_INDICES)


def test_positions_behind_those_of_a_mask(refuses: Refuses) -> None:
    text = ELEMENTS.replace("i = Transpose (n)", "t = Transpose (n) i = Add (t, one)")
    m = np.zeros((3, 4), bool)
    given = [{"m": m, "K": 0}, {"m": m | np.eye(3, 4, dtype=bool) & (np.arange(4) < 2), "K": 2}]
    refuses(text, Reason.UNKNOWN_INDICES, *given)


def test_a_diagonal_where_a_mask_is_true(refuses: Refuses) -> None:
    text = ROWS.replace("i = Transpose (n)", "t = Transpose (n) i = Concat <axis = 1> (t, t)")
    text = text.replace("[A,4]", "[A,A]").replace("[K,4]", "[K]")
    refuses(text, Reason.UNKNOWN_INDICES, *masks((0,), (3,)))


def test_elements_of_an_axis_of_one_position() -> None:
    column = "t = Transpose (n) z = Mul (t, zero) i = Concat <axis = 1> (t, z)"
    text = ROWS.replace("i = Transpose (n)", column)
    text = text.replace("[A,4]", "[A,1]").replace("[K,4]", "[K]")
    assert_sound_at(text, *masks((0,), (1,), (3,)))


TWO = f"""g (float[4,4] x, bool[4,4] m, bool[4,4] o, float[%s] u) => (float[4,4] y) {NUMBERS} {{
        n = NonZero (m)
        p = NonZero (o)
        rows = Gather (n, first)
        columns = Gather (%s)
        r = Unsqueeze (rows, minus)
        c = Unsqueeze (columns, minus)
        %s
        y = ScatterND (x, i, u) }}"""


def test_rows_of_one_mask_and_columns_of_another(refuses: Refuses) -> None:
    m = np.random.default_rng(0).random((4, 4)) < 0.5
    feed = {"m": m, "o": m.T, "K": int(m.sum())}
    text = TWO % ("K", "p, second", "i = Concat <axis = 1> (r, c)")
    refuses(text, Reason.UNKNOWN_INDICES, feed, left=1)


PARTS = {
    "one row of many": (
        "1",
        """c = Transpose (n)
        z = Mul (c, first)
        p = Concat <axis = 1> (z, c)
        i = Unsqueeze (p, one)""",
    ),
    "two columns of six": (
        "2",
        """line = Constant <value = int64[1,2,1] {0, 1}> ()
        wide = Constant <value = int64[3] {1, 2, 1}> ()
        c = Transpose (n)
        b = Unsqueeze (c, minus)
        d = Mul (b, first)
        e = Add (d, line)
        f = Expand (b, wide)
        i = Concat <axis = -1> (f, e)""",
    ),
}


@pytest.mark.parametrize("how", PARTS)
def test_indices_of_which_a_mask_is_a_part(how: str) -> None:
    columns, indices = PARTS[how]
    text = f"""g (float[6,6] x, bool[6] m, float[K,{columns}] u) => (float[6,6] y) {NUMBERS} {{
        n = NonZero (m)
        {indices}
        y = ScatterND (x, i, u) }}"""
    assert_sound_at(text, *masks((6,)), left=None)


@pytest.mark.parametrize("kind", ["complex64", "int16", "string"])
@pytest.mark.parametrize("text", [ELEMENTS, ROWS, ROUTED % 2])
def test_element_types_without_kernels(kind: str, text: str, refuses: Refuses) -> None:
    refuses(text.replace("float", kind), Reason.NO_KERNEL)


KEPT = {
    "rows that are fed": Case(
        ROWS.replace("bool[A] m", "int64[K] p")
        .replace("n = NonZero (m)", "")
        .replace("Transpose (n)", "Unsqueeze (p, minus)"),
        Reason.UNKNOWN_INDICES,
    ),
    "elements that are fed as pairs": Case(
        ELEMENTS.replace("bool[A,4] m", "int64[K,2] i")
        .replace("n = NonZero (m)", "")
        .replace("i = Transpose (n)", ""),
        Reason.UNKNOWN_INDICES,
    ),
    "every row of a mask with every column": Case(
        TWO
        % (
            "K,K",
            "n, second",
            """k = Shape (rows)
        l = Concat <axis = 0> (k, k, one)
        a = Expand (c, l)
        d = Unsqueeze (r, one)
        b = Expand (d, l)
        i = Concat <axis = 2> (b, a)""",
        ),
        Reason.UNKNOWN_INDICES,
    ),
    "rows that a mask names too often": Case(
        ROUTED % 9, Reason.UNKNOWN_INDICES, *masks((9, 9)), left=1
    ),
    "counting needs operator set 11": Case(
        """g (float[A,4] x, bool[A] m, float[K,4] u) => (float[A,4] y) {
            i = Expand (Transpose (NonZero (m)), [1, 4])
            y = Scatter <axis = 0> (x, i, u) }""",
        Reason.OPSET,
        opset=10,
    ),
}
test_kept = each(KEPT, "refuses")
