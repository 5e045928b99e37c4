"""Sizes at the edge: none, one, rank 0, rank 8, nothing to write, nothing to write into."""

import numpy as np
import pytest

from tests.helpers.support import assert_sound, sample


def test_nothing_is_written() -> None:
    model = """g (float[4,3] x, float[0,3] u) => (float[4,3] y) <int64[0,1] i = {}> {
        y = ScatterND (x, i, u) }"""
    assert_sound(model, left=0)


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
def test_nothing_is_reduced(reduction: str) -> None:
    model = f"""g (float[4,3] x, float[0,3] u) => (float[4,3] y) <int64[0,1] i = {{}}> {{
        y = ScatterND <reduction: string = "{reduction}"> (x, i, u) }}"""
    assert_sound(model, left=0)


def test_as_many_rows_as_are_fed() -> None:
    model = """g (float[N,3] x, float[K,3] u, int64[K,1] i) => (float[N,3] y) {
        y = ScatterND (x, i, u) }"""
    feeds = [
        {"N": n, "K": k, "i": np.arange(k).reshape(k, 1)}
        for n, k in ((1, 0), (1, 1), (4, 0), (4, 4), (4, 2), (300, 7))
    ]
    assert_sound(model, *feeds)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_no_index_per_update(n: int) -> None:
    # indices.shape[-1] == 0: every update is a whole tensor, and the last one wins.
    model = f"""g (float[2,3] x, float[{n},2,3] u) => (float[2,3] y) <int64[{n},0] i = {{}}> {{
        y = ScatterND (x, i, u) }}"""
    assert_sound(model, {}, {})


def test_no_index_at_all() -> None:
    model = """g (float[2,3] x, float[2,3] u) => (float[2,3] y) { y = ScatterND (x, [], u) }"""
    assert_sound(model)


def test_one_index_without_a_batch() -> None:
    # indices of rank 1: one update.
    model = """g (float[4,3] x, float[3] u, float v) => (float[4,3] y) {
            y = ScatterND (ScatterND (x, [2], u), [-1, -2], v) }"""
    assert_sound(model, {"v": 7}, left=0)


def test_data_of_rank_zero() -> None:
    model = """g (float x, float[1] u) => (float[1] y, float z) {
        z = Neg (x)
        s = Constant <value = int64[1] {1}> ()
        y = ScatterElements (Reshape (z, s), [0], u) }"""
    assert_sound(model, {"x": -0.0, "u": [3]}, left=0)


@pytest.mark.parametrize("axis", [0, 3, 7, -1, -8])
def test_data_of_rank_eight(axis: int) -> None:
    shape = [2, 1, 3, 2, 1, 2, 1, 2]
    part = shape.copy()
    part[axis] = 1
    count = int(np.prod(part))
    last = shape[axis] - 1
    dims, sizes = (",".join(map(str, s)) for s in (part, shape))
    values = ", ".join([str(last)] * count)
    model = f"""g (float[{sizes}] x, float[{dims}] u) => (float[{sizes}] y)
        <int64[{dims}] i = {{{values}}}> {{
            y = ScatterElements <axis: int = {axis}> (x, i, u) }}"""
    assert_sound(model, left=0)


@pytest.mark.parametrize(("k", "last"), [(8, "1"), (7, "-1"), (3, "0")])
def test_one_point_of_rank_eight(k: int, last: str) -> None:
    shape = [2, 1, 3, 2, 1, 2, 1, 2]
    point = ", ".join(["0"] * (k - 1) + ["0" if shape[k - 1] == 1 else last])
    tail = ",".join(map(str, [1, *shape[k:]]))
    model = f"""g (float[2,1,3,2,1,2,1,2] x, float[{tail}] u) => (float[2,1,3,2,1,2,1,2] y)
        <int64[1,{k}] i = {{{point}}}> {{ y = ScatterND (x, i, u) }}"""
    assert_sound(model, left=0)


@pytest.mark.parametrize("shape", [(3, 0, 0), (3, 2, 0), (2, 0, 3)])
def test_data_with_empty_axes(shape: tuple[int, ...]) -> None:
    sizes = ",".join(map(str, shape))
    model = f"""g (float[{sizes}] x, float[0,{shape[1]},{shape[2]}] u) => (float[{sizes}] y)
        <int64[0,1] i = {{}}> {{ y = ScatterND (x, i, u) }}"""
    assert_sound(model, {"u": sample("float32", 0, *shape[1:])})


@pytest.mark.parametrize(
    ("data", "indices"),
    [
        ((3, 0, 0), (3, 1, 0)),
        ((3, 0, 0), (3, 7, 0)),
        ((3, 0, 2), (0, 5, 1)),
        ((3, 4, 2), (3, 9, 0)),
    ],
)
def test_more_rows_than_there_are_and_nothing_in_them(
    data: tuple[int, ...], indices: tuple[int, ...]
) -> None:
    # On the written axis indices may be longer than data; with no element no index is wrong.
    sizes, dims = (",".join(map(str, s)) for s in (data, indices))
    model = f"""g (float[{sizes}] x, float[{dims}] u)
        => (float[{sizes}] y) <int64[{dims}] i = {{}}> {{
        y = ScatterElements <axis = 1> (x, i, u) }}"""
    assert_sound(model, left=0)


def test_elements_smaller_than_data_of_unknown_sizes() -> None:
    model = """g (float[A,B,C] x, float[D,E,F] u, int64[D,E,F] i) => (float[A,B,C] y) {
        y = ScatterElements <axis = 1> (x, i, u) }"""
    feeds = [
        {
            "x": sample("float32", *data),
            "u": sample("float32", *part, seed=1),
            "i": np.full(part, data[1] - 1),
        }
        for data, part in (
            ((3, 2, 2), (1, 2, 2)),
            ((3, 2, 2), (1, 1, 1)),
            ((3, 2, 2), (3, 2, 1)),
            ((3, 2, 2), (3, 5, 2)),
            ((3, 0, 0), (3, 1, 0)),
            ((1, 1, 1), (1, 1, 1)),
        )
    ]
    assert_sound(model, *feeds)


@pytest.mark.parametrize("part", [(2, 3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 1), (1, 1, 1), (2, 2, 3)])
def test_elements_smaller_than_data(part: tuple[int, ...]) -> None:
    # Only a corner of the other axes is written.
    dims = ",".join(map(str, part))
    values = ", ".join(str(p[1] % 3) for p in np.ndindex(part))
    model = f"""g (float[2,3,4] x, float[{dims}] u)
        => (float[2,3,4] y) <int64[{dims}] i = {{{values}}}> {{
        y = ScatterElements <axis = 1> (x, i, u) }}"""
    assert_sound(model, left=0)


def test_a_column_written_by_expanding_its_number() -> None:
    # x[:, -1] = u as a ScatterElements of an Expand: with no rows there is nothing to write into.
    model = """g (float[N,M] x, float[N,1] u) => (float[N,M] y) {
        y = ScatterElements <axis = 1> (x, Expand (-1, Shape (u)), u) }"""
    sizes = ((1, 1), (3, 4), (0, 2), (0, 0), (2, 1))
    assert_sound(model, *({"N": s[0], "x": sample("float32", *s)} for s in sizes))


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_the_first_two_rows_or_all_there_are(size: int) -> None:
    # x[:2] = u[:2] by a Range that ends at min(N, 2).
    model = """g (float[N,2] x, float[2,2] u) => (float[N,2] y) {
            m = Min (Shape <end = 1> (x), [2])
            i = Unsqueeze (Range (0, Squeeze (m), 1), [-1])
            y = ScatterND (x, i, Slice (u, [0], m)) }"""
    assert_sound(model, {"N": size})
