"""table: a write to known positions in any order is one Gather."""

import numpy as np
import pytest
from hypothesis import given

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.drawn_scatters import Drawn, scatter_nd
from tests.helpers.examples import examples
from tests.helpers.rules import Refuses, assert_sound_at, each, parse_text, row, rows, sizes
from tests.helpers.support import assert_sound

TRIANGLE = """g (float[3,3,N] x, float[6,N] u) => (float[3,3,N] y)
    <int64[6,2] i = {0,0, 1,0, 1,1, 2,0, 2,1, -1,-1}> { y = ScatterND (x, i, u) }"""
SCATTERED = """g (float[%s] x, float[%s] u) => (float[%s] y) <int64[%d,1] i = {%s}>
    { y = ScatterND <reduction = "%s"> (x, i, u) }"""


def written(size: int | str, positions: list[int], reduction: str = "none", tail: str = "") -> str:
    """Return a write of elements, or rows, to some positions."""
    data, updates = f"{size}{tail}", f"{len(positions)}{tail}"
    listed = ", ".join(map(str, positions))
    return SCATTERED % (data, updates, data, len(positions), listed, reduction)


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_a_triangle_of_every_matrix(reduction: str) -> None:
    scatter = f"""t = Transpose <perm = [1, 2, 0]> (x)
        v = Transpose (u)
        z = ScatterND <reduction = "{reduction}"> (t, i, v)
        y = Transpose <perm = [2, 0, 1]> (z)"""
    text = TRIANGLE.replace("y = ScatterND (x, i, u)", scatter)
    text = text.replace("3,3,N", "N,3,3").replace("6,N", "N,6")
    assert_sound_at(text, *sizes(N=(0, 1, 4)))


def test_axes_apart_from_each_other() -> None:
    """Axes 0 and 2 by a table, axis 1 and dim 1 in full: they are brought together and back."""
    text = f"""g (float[3,N,3] x, float[4,N] u) => (float[3,N,3] y) {{
            {rows("r", "u", 1)}
            t = Concat <axis = 0> (Shape (u), [1])
            i0 = Expand ([[[0]], [[2]], [[1]], [[-1]]], t)
            i = Concat <axis = -1> (i0, Expand (r, t), Expand ([[[1]], [[1]], [[0]], [[0]]], t))
            y = ScatterND (x, i, u) }}"""
    assert_sound_at(text, *sizes(N=(0, 1, 5)))


@examples(60)
@given(scatter_nd(listed=True))
def test_any_positions(case: Drawn) -> None:
    model, feeds = case
    reduces = 'reduction = "none"' not in model
    # Without a reduction, ONNX does not define which of several colliding updates wins.
    assert_sound(model, *feeds, left=0 if reduces else None)


def test_zeros_behind_axes_that_become_one_need_operator_set_14(refuses: Refuses) -> None:
    text = """g (float[2,2,N] x, float[2,N] u) => (float[2,2,N] y)
        { y = ScatterND (x, [[0, 1], [1, 0]], u) }"""
    assert_sound_at(text, *sizes(N=(0, 3)))
    refuses(text, Reason.OPSET, *sizes(N=(0, 3)), left=1, opset=13)
    (scatter,) = onnx_scatterx.inspect(parse_text(text, 13), target="standard").scatters
    assert str(scatter.refusal).endswith("(Reshape needs operator set 14: a size of 0 is meant)")


@pytest.mark.parametrize("beyond", [200, -201])
def test_positions_beyond_the_end_in_a_branch_that_is_not_taken(beyond: int) -> None:
    listed = np.random.default_rng(0).permutation(200)[:100].tolist()
    listed[50] = beyond
    text = f"""g (bool c, float[200] x, float[100] u) => (float[200] y)
        <int64[100,1] i = {{{", ".join(map(str, listed))}}}> {{
            y = If (c) <
                then_branch = t () => (float[200] a) {{ a = ScatterND (x, i, u) }},
                else_branch = e () => (float[200] b) {{ b = Identity (x) }}> }}"""
    assert_sound_at(text, {"c": False}, left=1)


REFUSED = {
    "updates that meet": (Reason.COLLIDES, written(5, [1, 3, 1])),
    "too many that meet": (Reason.TOO_COSTLY, written(2, [1] * 9, "add")),
    "tables much larger than what is written": (
        Reason.TOO_COSTLY,
        written(2049, [1, 3, 2, 1], "add"),
    ),
    "positions that only the run knows": (
        Reason.UNKNOWN_INDICES,
        """g (float[5] x, int64[2,1] i, float[2] u) => (float[5] y) { y = ScatterND (x, i, u) }""",
    ),
    "a size that only the run knows": (Reason.COLLIDES, written("M", [1, 3, 1], "add")),
    "a count that only the run knows": (
        Reason.UNKNOWN_INDICES,
        """g (float[5] x, float[N] u) => (float[5] y) {
            i = ConstantOfShape (Concat <axis = 0> (Shape (u), [1]))
            y = ScatterND <reduction = "add"> (x, i, u) }""",
    ),
    "positions outside": (Reason.INVALID, written(5, [1, 7, 1], "add")),
    "a full cover": (Reason.NO_RULE, written(3, [0, 1, 2])),
}


@pytest.mark.parametrize(("why", "model"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(why: Reason, model: str, refuses: Refuses) -> None:
    refuses(model, why)


@pytest.mark.parametrize("size", [40, 200])
def test_a_hundred_points_of_a_matrix(size: int) -> None:
    """A table of all positions may be larger than the model."""
    at = np.random.default_rng(0).permutation(size * size)[:100]
    listed = ", ".join(f"{n // size}, {n % size}" for n in at)
    text = f"""g (float[{size},{size}] x, float[100] u) => (float[{size},{size}] y)
        <int64[100,2] i = {{{listed}}}> {{ y = ScatterND (x, i, u) }}"""
    assert_sound_at(text, {}, left=0 if size == 40 else 1)


@pytest.mark.parametrize(("kind", "reduction"), [("complex64", "none"), ("string", "none")])
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(TRIANGLE.replace("float", kind), Reason.NO_KERNEL)


@pytest.mark.parametrize("kind", ["complex64", "int16"])
def test_reductions_without_kernels(kind: str, refuses: Refuses) -> None:
    refuses(written(5, [1, 3, 1], "add").replace("float", kind), Reason.NO_KERNEL)


GOLDEN = {
    "a triangle": row(*sizes(N=(0, 1, 5))),
    "all positions in another order": row(rules=["constant_indices"]),
    "columns in another order for each row": row(),
    "positions that meet are added in rounds": row(*sizes(N=(0, 1, 5))),
    "the greatest of those that meet": row(),
    "eight rounds": row(),
    "tables of 2048 entries": row(),
    "one number for rows that meet": row(),
}
test_golden = each(GOLDEN, "golden")
