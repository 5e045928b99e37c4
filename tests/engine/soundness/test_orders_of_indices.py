"""Constant indices in every order: negative, wrapping, reversed, permuted, strided, repeated."""

from itertools import product

import numpy as np
import onnx
import pytest

from tests.helpers.support import assert_sound, optimize, parse

ROWS = (
    "-1",
    "-4",
    "-2, -1",
    "-1, 0, 1",
    "-1, 0",
    "2, 3, 0",
    "3, 0",
    "3, 2, 1, 0",
    "0, -1, -2, -3",
    "-4, -3, -2, -1",
    "2, 0, 3, 1",
    "1, 3",
    "3, 1",
    "0, 3",
    "-3, -1",
    "0, 1, 3",
    "1, 0, 3",
    "1, -3",  # the same row twice
    "3, -1, 0",
    "0, 0",
    "0, 1, 2, 3, 3",
    "0, 1, 1, 2, 3",
    "2, 1, 2",
    "3, 2, 1, 0, 3, 2, 1, 0",
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", ROWS)
def test_rows(rows: str) -> None:
    n = len(rows.split(","))
    model = f"""g (float[4,3] x, float[{n},3] u) => (float[4,3] y) <int64[{n},1] i = {{{rows}}}> {{
        y = ScatterND (x, i, u) }}"""
    unique = len({int(r) % 4 for r in rows.split(",")}) == n
    assert_sound(model, left=0 if unique else None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_elements_of_an_axis(kind: str, rows: str) -> None:
    # The index depends on the axis alone, and on fewer columns than the data has.
    n = len(rows.split(","))
    indices = ", ".join(f"{r}, {r}" for r in rows.split(","))
    model = f"""g (float[4,3] x, float[{n},2] u)
        => (float[4,3] y) <{kind}[{n},2] i = {{{indices}}}> {{
        y = ScatterElements <axis = 0> (x, i, u) }}"""
    assert_sound(model)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [4, 5])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_of_a_size_that_is_fed(rows: str, size: int) -> None:
    # What a negative row is depends on the size, and so does whether two rows are one.
    n = len(rows.split(","))
    model = f"""g (float[N,2] x, float[{n},2] u) => (float[N,2] y) <int64[{n},1] i = {{{rows}}}> {{
        y = ScatterND (x, i, u) }}"""
    assert_sound(model, {"N": size}, {"N": size + 3})


def write(indices: np.ndarray, data: tuple[int, ...]) -> onnx.ModelProto:
    """ScatterND with constant indices."""
    shape = indices.shape[:-1] + data[indices.shape[-1] :]
    sizes, updates = (",".join(map(str, s)) or "" for s in (data, shape))
    target = f"float[{updates}]" if updates else "float"
    dims, values = ",".join(map(str, indices.shape)), ", ".join(map(str, indices.ravel()))
    return parse(f"""g (float[{sizes}] x, {target} u) => (float[{sizes}] y)
        <int64[{dims}] i = {{{values}}}> {{ y = ScatterND (x, i, u) }}""")


def grid(*axes: range) -> np.ndarray:
    """The points of a box, as indices of shape [sizes..., rank]."""
    points = np.array(list(product(*axes)), np.int64)
    return points.reshape([len(axis) for axis in axes] + [len(axes)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "axes",
    [
        (range(1, 3), range(2, 5)),
        (range(4), range(1, 2)),
        (range(4), range(5)),
        (range(0, 4, 2), range(5)),
        (range(0, 4, 2), range(1, 5, 2)),
        (range(3, -1, -1), range(0, 5, 2)),
        (range(-2, 0), range(-5, -1)),
        (range(2, 3), range(4, 5)),
        (range(1, 1), range(5)),
        (range(1, 3), range(1, 4), range(2)),
        (range(1, 3), range(4, -1, -2), range(1, 2)),
    ],
    ids=str,
)
def test_boxes(axes: tuple[range, ...]) -> None:
    data = (4, 5, 2)
    assert_sound(write(grid(*axes), data), left=0)


@pytest.mark.parametrize("seed", range(6))
def test_a_box_in_another_order_of_axes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    indices = grid(range(1, 3), range(2, 5), range(2)).transpose([*rng.permutation(3), 3])
    assert_sound(write(indices, (4, 5, 2)), left=0)


@pytest.mark.parametrize("seed", range(6))
def test_a_box_in_random_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    indices = rng.permutation(grid(range(1, 3), range(2, 5)).reshape(-1, 2))
    assert_sound(write(indices, (4, 5)))


@pytest.mark.parametrize(
    "boxes",
    [
        ((range(0, 1), range(0, 2)), (range(2, 3), range(3, 5))),
        ((range(0, 2), range(0, 2)), (range(2, 4), range(2, 4))),
        ((range(0, 2), range(0, 2)), (range(1, 3), range(1, 3))),  # they overlap
        ((range(0, 2), range(0, 5)), (range(2, 4), range(0, 5))),
        ((range(-1, 2), range(-1, 2)), (range(2, 3), range(1, 3))),  # it wraps on both axes
    ],
    ids=str,
)
def test_several_boxes_in_one_scatter(boxes: tuple[tuple[range, range], ...]) -> None:
    indices = np.concatenate([grid(*axes).reshape(-1, 2) for axes in boxes])
    assert_sound(write(indices, (4, 5)))


def test_elements_that_all_differ() -> None:
    rng = np.random.default_rng(0)
    indices = np.stack([rng.permutation(5) for _ in range(3)])  # a permutation of each row
    values = ", ".join(map(str, indices.ravel()))
    model = f"""g (float[3,5] x, float[3,5] u) => (float[3,5] y) <int64[3,5] i = {{{values}}}> {{
        y = ScatterElements <axis = 1> (x, i, u) }}"""
    assert_sound(model)


@pytest.mark.parametrize("rows", ["4", "-5", "0, 9", "9223372036854775807"])
def test_indices_out_of_bounds(rows: str) -> None:
    # The original never runs, so anything may come out; but optimize must not fail.
    n = len(rows.split(","))
    model = parse(f"""g (float[4,3] x, float[{n},3] u)
        => (float[4,3] y) <int64[{n},1] i = {{{rows}}}> {{ y = ScatterND (x, i, u) }}""")
    assert [o.name for o in optimize(model).graph.output] == ["y"]


def test_a_long_list_of_rows() -> None:
    # Every other row of 2000: the number of nodes must not grow with the rows.
    rows = ", ".join(map(str, range(0, 2000, 2)))
    model = parse(f"""g (float[2000,2] x, float[1000,2] u) => (float[2000,2] y)
        <int64[1000,1] i = {{{rows}}}> {{ y = ScatterND (x, i, u) }}""")
    assert_sound(model, left=0)
    assert len(optimize(model).graph.node) < 30


def test_a_part_of_rows_in_any_order() -> None:
    """One Gather takes whole rows: these are narrower than the data."""
    rows = np.random.default_rng(1).permutation(32)[:11]
    listed = ", ".join(f"{r}, {r}" for r in rows)
    text = f"""g (float[32,4] x, float[11,2] u) => (float[32,4] y)
        <int64[11,2] i = {{{listed}}}> {{ y = ScatterElements <axis = 0> (x, i, u) }}"""
    assert_sound(text, left=0)
