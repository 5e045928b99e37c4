"""The rules, computed with NumPy, against assignments; PyTorch is not needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onnx_scatterx.torch import indices, slices
from onnx_scatterx.torch.rows import part, strided
from tests.torch.numpy_ops import NumPy, Value

KINDS = [(False, True), (True, True), (True, False)]
POSITIONS = st.one_of(st.none(), st.integers(-9, 9), st.just(2**63 - 1), st.just(-(2**63)))


class OneNumber(NumPy):
    """Takes each tensor that is written for one filled with 7."""

    def filled(self, x: Any) -> float:
        return 7


def drawn(*shape: int, start: int = 0) -> NDArray[Any]:
    return np.arange(start, start + int(np.prod(shape)), dtype=np.float32).reshape(shape)


@pytest.mark.drawn
@pytest.mark.parametrize(("dynamic", "facts"), KINDS)
@given(
    n=st.integers(0, 7),
    dim=st.integers(-3, 2),
    bounds=st.tuples(POSITIONS, POSITIONS),
    step=st.integers(1, 9),
)
def test_slices(
    dynamic: bool, facts: bool, n: int, dim: int, bounds: tuple[Any, Any], step: int
) -> None:
    shape = [2, 3, 1]
    shape[dim] = n
    x = drawn(*shape)
    at = (slice(None),) * (dim % 3) + (slice(*bounds, step),)
    src = drawn(*x[at].shape, start=100)
    wanted = x.copy()
    wanted[at] = src
    ops = NumPy(dynamic, facts)
    out = slices.slice_scatter(ops, Value(x), Value(src), dim, *bounds, step)
    assert out is not None
    np.testing.assert_array_equal(out.array, wanted)


@pytest.mark.drawn
@given(
    n=st.integers(1, 9),
    writes=st.lists(
        st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 4)), min_size=2, max_size=5
    ),
)
def test_chains_of_writes(n: int, writes: list[tuple[int, int, int]]) -> None:
    """Parts of parts: each write replaces what was there."""
    wanted = drawn(2, n)
    out: Any = Value(wanted.copy())
    ops = NumPy(False)
    for count, bounds in enumerate(writes):
        src = drawn(*wanted[:, slice(*bounds)].shape, start=100 * (count + 1))
        wanted[:, slice(*bounds)] = src
        out = slices.slice_scatter(ops, out, Value(src), 1, *bounds)
    np.testing.assert_array_equal(out.array, wanted)


def test_a_chain_is_one_cat() -> None:
    ops, x, u, v = NumPy(False), *(Value(drawn(4, n)) for n in (6, 2, 2))
    first = slices.slice_scatter(ops, x, u, 1, 0, 2)
    ops.operators.clear()
    slices.slice_scatter(ops, first, v, 1, 4)
    assert ops.operators == ["slice", "cat"]
    ops, half = NumPy(False), Value(drawn(4, 3))
    even = slices.slice_scatter(ops, x, half, 1, 0, None, 2)
    ops.operators.clear()
    slices.slice_scatter(ops, even, half, 1, 1, None, 2)
    assert ops.operators == ["unsqueeze", "unsqueeze", "cat", "view"]


@pytest.mark.drawn
@given(
    writes=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=4),
    n=st.integers(1, 12),
    read=st.tuples(st.integers(0, 6), st.integers(0, 12), st.integers(2, 4)),
)
def test_a_stepped_read_of_stepped_writes(
    writes: list[tuple[int, int]], n: int, read: tuple[int, int, int]
) -> None:
    wanted, ops = drawn(2, n), NumPy(False)
    out: Any = Value(wanted.copy())
    for count, (start, step) in enumerate(writes):
        src = drawn(*wanted[:, start::step].shape, start=100 * (count + 1))
        wanted[:, start::step] = src
        out = slices.slice_scatter(ops, out, Value(src), 1, start, None, step)
    lo, hi, step = read
    taken = strided(ops, ops.rows.get(out, (1, []))[1], lo, min(hi, n), step)
    if taken is not None:
        rows = part(ops, taken[0], 1, *taken[1:])
        np.testing.assert_array_equal(rows.array, wanted[:, lo:hi:step])


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_stepped_read_is_what_was_written(dynamic: bool) -> None:
    ops, x, half = NumPy(dynamic), Value(drawn(4, 6)), Value(drawn(4, 3, start=50))
    even: Any = slices.slice_scatter(ops, x, half, 1, 0, None, 2)
    taken = strided(ops, ops.rows[even][1], 0, ops.size(even, 1), 2)
    assert taken is not None
    assert part(ops, taken[0], 1, *taken[1:]) is half
    odd = strided(ops, ops.rows[even][1], 1, ops.size(even, 1), 2)
    assert odd is not None
    np.testing.assert_array_equal(part(ops, odd[0], 1, *odd[1:]).array, x.array[:, 1::2])


@pytest.mark.parametrize(("dynamic", "facts"), KINDS)
@pytest.mark.parametrize("index", [-3, -1, 0, 2])
def test_select(dynamic: bool, facts: bool, index: int) -> None:
    x, src = drawn(2, 3, 2), drawn(2, 2, start=50)
    wanted = x.copy()
    wanted[:, index] = src
    out = slices.select_scatter(NumPy(dynamic, facts), Value(x), Value(src), 1, index)
    assert out is not None
    np.testing.assert_array_equal(out.array, wanted)


@pytest.mark.drawn
@pytest.mark.parametrize(("dynamic", "facts"), KINDS)
@given(
    shape=st.tuples(*[st.integers(0, 4)] * 3),
    dims=st.permutations(range(3)),
    offset=st.integers(-4, 4),
)
def test_diagonals(
    dynamic: bool, facts: bool, shape: tuple[int, ...], dims: list[int], offset: int
) -> None:
    wanted = drawn(*shape)
    x = Value(wanted.copy())
    if not -shape[dims[0]] <= offset <= shape[dims[1]]:
        return
    diagonal = np.diagonal(wanted, offset, dims[0], dims[1])
    src = drawn(*diagonal.shape, start=500)
    diagonal.setflags(write=True)
    diagonal[...] = src
    out = slices.diagonal_scatter(
        NumPy(dynamic, facts), x, Value(src), offset, dims[0], dims[1] - 3
    )
    assert out is not None
    np.testing.assert_array_equal(out.array, wanted)
    diagonal[...] = 7
    ops = OneNumber(dynamic, facts)
    out = slices.diagonal_scatter(ops, x, Value(src), offset, dims[0], dims[1])
    assert out is not None
    assert not {"take", "unsqueeze", "permute"} & {*ops.operators}
    np.testing.assert_array_equal(out.array, wanted)


@pytest.mark.drawn
@given(
    shape=st.tuples(*[st.integers(1, 4)] * 3),
    size=st.lists(st.integers(1, 4), max_size=3),
    stride=st.lists(st.integers(1, 20), min_size=3, max_size=3),
    offset=st.integers(0, 20),
)
def test_as_strided(
    shape: tuple[int, ...], size: list[int], stride: list[int], offset: int
) -> None:
    wanted, stride = drawn(*shape), stride[: len(size)]
    if offset + sum((k - 1) * s for k, s in zip(size, stride, strict=True)) >= wanted.size:
        return
    x, src = Value(wanted.copy()), drawn(*size, start=500)
    out = slices.as_strided_scatter(NumPy(False), x, Value(src), size, stride, offset)
    if out is not None:  # else it is no box
        strides = [4 * s for s in stride]
        flat = wanted.reshape(-1)[offset:]
        view = np.lib.stride_tricks.as_strided(flat, size, strides, writeable=True)
        view[...] = src
        np.testing.assert_array_equal(out.array, wanted)


def test_a_box_by_strides_is_found() -> None:
    x, src = Value(drawn(4, 5)), Value(drawn(2, 3, start=50))
    out = slices.as_strided_scatter(NumPy(False), x, src, [2, 3], [10, 1], 6)
    assert out is not None
    wanted = x.array.copy()
    wanted[1::2, 1:4] = src.array
    np.testing.assert_array_equal(out.array, wanted)
    assert slices.as_strided_scatter(NumPy(False), x, src, [6], [1], 1) is None
    assert slices.as_strided_scatter(NumPy(False), x, src, [2, 3], [1, 1], 1) is None


@pytest.mark.drawn
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("dynamic", "facts"), KINDS)
@given(n=st.integers(1, 6), data=st.data(), dim=st.integers(0, 2))
def test_rows(
    constant: bool, dynamic: bool, facts: bool, n: int, data: st.DataObject, dim: int
) -> None:
    shape = [2, 3, 2]
    shape[dim] = n
    x = drawn(*shape)
    index = np.array(data.draw(st.lists(st.integers(-n, n - 1), max_size=6)), np.int64)
    at = (slice(None),) * dim + (index,)
    src = drawn(*x[at].shape, start=100)
    wanted = x.copy()
    wanted[at] = src
    ops = NumPy(dynamic, facts, constant)
    given = [*[None] * dim, Value(index)]
    out = indices.index_put(ops, Value(x), given, Value(src))
    assert out is not None
    np.testing.assert_array_equal(out.array, wanted)


@pytest.mark.drawn
@pytest.mark.parametrize(("dynamic", "facts"), KINDS)
@given(data=st.data(), dim=st.integers(0, 2), depth=st.integers(1, 3), form=st.integers(0, 3))
def test_masks(
    dynamic: bool, facts: bool, data: st.DataObject, dim: int, depth: int, form: int
) -> None:
    shape = data.draw(st.tuples(*[st.integers(0, 3)] * 3))
    depth = min(depth, 3 - dim)
    x, size = drawn(*shape), int(np.prod(shape[dim : dim + depth]))
    true = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    mask = np.array(true, bool).reshape(shape[dim : dim + depth])
    at = (slice(None),) * dim + (mask,)
    rest = shape[dim + depth :]
    full = x[at].shape
    wide = [(), rest, (1, *rest), full][form]
    src = drawn(*wide, start=100)
    wanted = x.copy()
    wanted[at] = src
    given = [*[None] * dim, Value(mask)]
    out = indices.index_put(NumPy(dynamic, facts), Value(x), given, Value(src))
    if form < 2 or dim == 0 or (form == 2 and not dynamic):
        assert out is not None
        np.testing.assert_array_equal(out.array, wanted)
    elif out is not None:
        np.testing.assert_array_equal(out.array, wanted)


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3)])
def test_masked_scatter(shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    mask = (x % 2 == 0)[-1:] if x.ndim > 1 else x % 2 == 0
    source = drawn(7, start=100)
    wanted = x.copy()
    full = np.broadcast_to(mask, shape)
    wanted[full] = source[: full.sum()]
    out = indices.masked_scatter(NumPy(False), Value(x), Value(mask), Value(source))
    assert out is not None
    np.testing.assert_array_equal(out.array, wanted)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (3, 4)])
def test_one_element_of_each_row(dim: int, shape: tuple[int, int]) -> None:
    x, n = drawn(*shape), shape[dim]
    index = np.arange(x.size // n, dtype=np.int64).reshape(
        [1 if d == dim % 2 else size for d, size in enumerate(shape)]
    )
    index %= n
    for src in (7, drawn(*index.shape, start=50)):
        wanted = x.copy()
        np.put_along_axis(wanted, index, src, dim)
        given = src if isinstance(src, int) else Value(src)
        out = indices.scatter(NumPy(False), Value(x), dim, Value(index), given)
        assert out is not None
        np.testing.assert_array_equal(out.array, wanted)
    few = Value(np.zeros((1, 1), np.int64))
    other = NumPy(False, fixed=False)
    assert x.size == 1 or indices.scatter(other, Value(x), dim, few, 7) is None


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("line", [[1, 2], [2, 0], [0], [0, 1, 2, 3], [3, 1]])
@pytest.mark.parametrize("rows", [2, 4])
def test_a_scatter_to_a_constant_box(dim: int, line: list[int], rows: int) -> None:
    """Each row along an axis is written at the same positions; src may be larger than the box."""
    x, src = drawn(4, 4), drawn(5, 5, start=50)
    index = np.tile(np.array(line, np.int64), (rows, 1))
    index = index.T if dim == 0 else index
    for new in (7, Value(src)):
        wanted, head = x.copy(), src[: index.shape[0], : index.shape[1]]
        for at in np.ndindex(index.shape):
            place = (index[at], at[1]) if dim == 0 else (at[0], index[at])
            wanted[place] = 7 if new == 7 else head[at]
        for ops in (NumPy(False), NumPy(True)):
            out = indices.scatter(ops, Value(x), dim, Value(index), new)
            if out is None:
                assert ops.dynamic
                continue
            assert not {"eq", "take"} & set(ops.operators)
            np.testing.assert_array_equal(out.array, wanted)


@pytest.mark.drawn
@given(
    shape=st.tuples(st.integers(1, 4), st.integers(1, 5)),
    dim=st.integers(-2, 1),
    k=st.integers(1, 4),
    data=st.data(),
)
def test_few_elements_of_each_row(
    shape: tuple[int, int], dim: int, k: int, data: st.DataObject
) -> None:
    """If elements of a row go to the same place, the last one wins."""
    x, n, rows = drawn(*shape), shape[dim], shape[1 - dim % 2]
    places = data.draw(st.lists(st.integers(0, n - 1), min_size=k * rows, max_size=k * rows))
    index = np.array(places, np.int64).reshape((k, rows) if dim % 2 == 0 else (rows, k))
    src = drawn(*index.shape, start=50)
    for new in (7, Value(src)):
        wanted = x.copy()
        for at in np.ndindex(index.shape):
            place = (index[at], at[1]) if dim % 2 == 0 else (at[0], index[at])
            wanted[place] = 7 if new == 7 else src[at]
        out = indices.scatter(NumPy(False, fixed=False), Value(x), dim, Value(index), new)
        assert out is not None
        np.testing.assert_array_equal(out.array, wanted)


def test_what_is_left_alone() -> None:
    x, at = Value(drawn(3, 4)), Value(np.array([1, 1]))
    index_put = indices.index_put
    assert index_put(NumPy(False), x, [at], Value(drawn(4)), accumulate=True) is None
    assert index_put(NumPy(False), x, [at, at], Value(drawn(2))) is None
    many = Value(np.zeros(2**20, np.int64))
    assert index_put(NumPy(False, fixed=False), x, [many], Value(drawn(4))) is None
    five = Value(np.zeros((3, indices.FEW + 1), np.int64))
    assert indices.scatter(NumPy(False), x, 1, five, 7) is None
