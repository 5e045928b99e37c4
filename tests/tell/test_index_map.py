"""The index map: what is shaded is what is written, at the sizes that it is shown at."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.tell.index_map import IndexMap, Panel
from tests.helpers.support import parse


def map_of(text: str, **options: Any) -> IndexMap | None:
    (entry,) = onnx_scatterx.inspect(parse(text), **options).entries
    assert entry.detail is not None
    return entry.detail.index_map


def shaded(panel: Panel) -> np.ndarray:
    """Return which cells of a panel are shaded."""
    found = np.zeros((panel.rows[1], panel.columns[1]), bool)
    for shade in panel.shades:
        assert not shade.rows or 0 <= shade.rows[0] <= shade.rows[-1] < panel.rows[1]
        assert not shade.columns or 0 <= shade.columns[0] <= shade.columns[-1] < panel.columns[1]
        for i in shade.rows:
            for j in shade.columns:
                found[i, j] = True
    return found


@given(st.data())
def test_points_of_two_axes(data: st.DataObject) -> None:
    """Whatever is written of a matrix is shaded, and nothing else."""
    n, m = (data.draw(st.integers(1, 7)) for _ in range(2))
    count = data.draw(st.integers(1, 6))
    rows = data.draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
    columns = data.draw(st.lists(st.integers(-m, m - 1), min_size=count, max_size=count))
    pairs = ", ".join(f"{i}, {j}" for i, j in zip(rows, columns, strict=True))
    found = map_of(f"""g (float[{n}, {m}] x, float[{count}] u) => (float[{n}, {m}] y)
        <int64[{count}, 2] i = {{{pairs}}}> {{ y = ScatterND (x, i, u) }}""")
    wanted = np.zeros((n, m), bool)
    wanted[rows, columns] = True
    check(found, wanted)


@given(st.data())
def test_rows_of_a_tensor(data: st.DataObject) -> None:
    shape = [data.draw(st.integers(1, 5)) for _ in range(data.draw(st.integers(1, 3)))]
    count = data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.integers(-shape[0], shape[0] - 1), min_size=count, max_size=count))
    dims, rest = ", ".join(map(str, shape)), ", ".join(map(str, [count, *shape[1:]]))
    found = map_of(f"""g (float[{dims}] x, float[{rest}] u) => (float[{dims}] y)
        <int64[{count}, 1] i = {{{", ".join(map(str, rows))}}}> {{ y = ScatterND (x, i, u) }}""")
    wanted = np.zeros(shape, bool)
    wanted[rows] = True
    check(found, wanted)


def check(found: IndexMap | None, wanted: np.ndarray) -> None:
    """What is shaded is the projection of what is written to the two axes that are shown."""
    assert found is not None
    names = (name for name, _ in (found.data.rows, found.data.columns) if name)
    axes = [int(name.removeprefix("axis ")) for name in names]
    others = tuple(a for a in range(wanted.ndim) if a not in axes)
    projected = wanted.any(axis=others) if others else wanted
    np.testing.assert_array_equal(shaded(found.data), np.atleast_2d(projected))


def test_a_box_of_symbolic_size_is_drawn_at_one_that_fits() -> None:
    found = map_of("""g (float[N, 4] x, float[M, 4] u) => (float[N, 4] y) {
        n = Shape <start = 0, end = 1> (u)  m = Squeeze (n)  r = Range (0, m, 1)
        i = Unsqueeze (r, [-1])  y = ScatterND (x, i, u) }""")
    assert found is not None
    assert found.notes == ("shown at M = 3, N = 8",)
    assert (found.data.rows, found.other.rows) == (("axis 0", 8), ("dim 0", 3))
    assert shaded(found.data).tolist() == [[i < 3] * 4 for i in range(8)]
    assert shaded(found.other).all()
    assert not found.is_read


@pytest.mark.parametrize("n", [1, 40, 5000])
def test_strides_and_large_sizes(n: int) -> None:
    text = f"""g (float[{2 * n}, 3] x, float[{n}, 3] u) => (float[{2 * n}, 3] y)
        <int64 end = {{{2 * n}}}> {{
        r = Range (0, end, 2)  i = Unsqueeze (r, [-1])  y = ScatterND (x, i, u) }}"""
    found = map_of(text)
    assert found is not None
    written = shaded(found.data).any(axis=1)
    assert written.tolist() == [i % 2 == 0 for i in range(2 * n)]
    assert len(found.data.shades) <= 4


def test_rows_far_apart_come_from_rows_of_the_updates() -> None:
    found = map_of("""g (float[9, 4] x, float[2, 4] u) => (float[9, 4] y)
        { y = ScatterND (x, [[7], [1]], u) }""")
    assert found is not None
    assert found.other.rows == ("dim 0", 2)
    from_, to = ({s.colour: s.rows[0] for s in p.shades} for p in (found.other, found.data))
    assert {from_[colour]: to[colour] for colour in to} == {0: 7, 1: 1}


def test_what_only_a_run_knows_has_no_map() -> None:
    text = """g (float[5, 4] x, int64[N, 1] i, float[N, 4] u) => (float[5, 4] y)
        { y = ScatterND (x, i, u) }"""
    assert map_of(text) is None


def test_a_start_that_only_a_run_knows_is_drawn_somewhere() -> None:
    text = """g (float[1, 8, 4] x, float[1, 2, 4] u, int64[1] at) => (float[1, 8, 4] y)
        { y = TensorScatter <axis = 1> (x, u, at) }"""
    (entry,) = onnx_scatterx.inspect(parse(text, opset=24, ir_version=11)).entries
    assert entry.detail is not None
    found = entry.detail.index_map
    if found is not None:
        assert any("shown at at" in note for note in found.notes)
        assert shaded(found.data).sum() == 8


def test_a_gather_reads() -> None:
    text = """g (float[5, 4] x) => (float[2, 4] y) { y = Gather <axis = 0> (x, [1, 2]) }"""
    found = map_of(text, gathers=True)
    assert found is not None
    assert found.is_read
    assert found.other.title == "output"
    assert shaded(found.data).tolist() == [[i in (1, 2)] * 4 for i in range(5)]


def test_axes_of_the_statement() -> None:
    """A Transpose before and after: the map is that of ``x[:, 1:3] = u``."""
    text = """g (float[4, 6] x, float[2, 4] u) => (float[4, 6] y) {
        t = Transpose <perm = [1, 0]> (x)  s = ScatterND (t, [[1], [2]], u)
        y = Transpose <perm = [1, 0]> (s) }"""
    found = map_of(text)
    assert found is not None
    assert (found.data.rows, found.data.columns) == (("axis 0", 4), ("axis 1", 6))
    assert shaded(found.data).tolist() == [[j in (1, 2) for j in range(6)]] * 4
    alone = map_of(
        text.replace("(float[4, 6] y)", "(float[6, 4] y)").replace(
            "y = Transpose <perm = [1, 0]> (s)", "y = Relu (s)"
        )
    )
    assert alone is not None
    assert alone.data.rows == ("axis 0", 6)


def test_a_transpose_that_undoes_one_and_makes_the_next() -> None:
    """``x[:, 1:3][:, :, 2:] = u``: the inner statement is undone with the outer one."""
    (first, second) = onnx_scatterx.inspect("models/box_update_dynamo.onnx").scatters
    assert first.detail is not None
    assert second.detail is not None
    assert first.detail.index_map is not None
    assert second.detail.index_map is not None
    assert (first.detail.index_map.data.columns, second.detail.index_map.data.rows) == (
        ("axis 2", 8),
        ("axis 1", 6),
    )
