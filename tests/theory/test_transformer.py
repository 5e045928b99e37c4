"""Transformers and their components against loops over every index."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.theory.components import (
    Affine,
    AffineModulo,
    Component,
    Constant,
    Lookup,
    coordinate,
    fit_component,
)
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.transformer import XTransformer
from tests.helpers.examples import examples
from tests.theory.fields import Index, Integers, fields
from tests.theory.paper.draws import picks

fast = examples(150)


def indices(shape: Iterable[int]) -> list[Index]:
    return list(itertools.product(*map(range, shape)))


@st.composite
def formulas(draw: st.DrawFn, shape: tuple[int, ...], size: int) -> Callable[[Index], int]:
    """One component: any of the forms, in bounds of an axis."""
    kind = draw(st.sampled_from(["constant", "affine", "modulo", "coordinate", "table"]))
    d = draw(st.integers(0, len(shape) - 1)) if shape else None
    start, step = draw(st.integers(0, size - 1)), draw(st.integers(-3, 3))
    if kind == "constant" or d is None:
        return lambda index: start
    if kind == "table":
        dims = draw(st.sets(st.integers(0, len(shape) - 1)))
        values = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=9))
        return lambda index: values[sum(index[d] * (d + 2) for d in dims) % len(values)]
    if kind == "coordinate":
        start, step = 0, 1
    last = start + step * (shape[d] - 1)
    if kind == "modulo" or not 0 <= last < size:
        return lambda index: (start + step * index[d]) % size
    return lambda index: start + step * index[d]


@st.composite
def provisions(draw: st.DrawFn) -> tuple[Integers, tuple[int, ...]]:
    """A provision tensor in bounds, some of it counted from the end, and the shape of data."""
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    data_shape = tuple(draw(st.lists(st.integers(1, 6), max_size=3)))
    columns = [draw(formulas(shape, size)) for size in data_shape]
    from_end = draw(st.lists(st.booleans(), min_size=1, max_size=7))
    e = np.zeros((*shape, len(data_shape)), np.int64)
    for number, index in enumerate(indices(shape)):
        for c, (column, size) in enumerate(zip(columns, data_shape, strict=True)):
            below = size if from_end[(number + c) % len(from_end)] else 0
            e[(*index, c)] = column(index) - below
    return e, data_shape


@st.composite
def representations(draw: st.DrawFn) -> XTransformer:
    """Any representation: picks may repeat dims, share dims and come in any order."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    data_shape = tuple(draw(st.lists(st.integers(3, 4), max_size=3)))
    rank = len(data_shape)
    p1, p2 = draw(picks(len(shape), 3)), draw(picks(len(shape), rank))
    p = Pick(draw(st.permutations(range(rank))))
    f_shape = (*p1(shape), rank - len(p2))
    numbers = st.lists(st.integers(-3, 2), min_size=1, max_size=8)
    f = np.resize(np.array(draw(numbers)), f_shape).astype(np.int64)
    return XTransformer(shape, data_shape, f, p1, p2, p)


def from_front(e: Integers, data_shape: tuple[int, ...]) -> Integers:
    sizes = np.array(data_shape, np.int64)
    return np.where(e < 0, e + sizes, e)


def component_by_loops(values: dict[Index, int], shape: Index, size: int) -> Component[int]:
    """The first form that fits, in the words of the definition."""
    if not values or len(set(values.values())) == 1:
        return Constant(next(iter(values.values()), 0))

    def essential(d: int) -> bool:
        return any(values[i] != values[(*i[:d], 0, *i[d + 1 :])] for i in values)

    dims = tuple(d for d in range(len(shape)) if essential(d))
    if len(dims) == 1:
        (d,) = dims
        line = [
            values[tuple(x if e == d else 0 for e in range(len(shape)))] for x in range(shape[d])
        ]
        step = line[1] - line[0]
        if all(v == line[0] + step * x for x, v in enumerate(line)):
            return Affine(line[0], step, d)
        if all(v == (line[0] + step * x) % size for x, v in enumerate(line)):
            return AffineModulo(line[0], step % size, d, size)
    table = np.empty([shape[d] for d in dims], np.int64)
    for i, v in values.items():
        table[tuple(i[d] for d in dims)] = v
    return Lookup(dims, table)


@given(provisions())
@fast
def test_a_provisioned_transformer(given_: tuple[Integers, tuple[int, ...]]) -> None:
    e, data_shape = given_
    t = XTransformer.from_provision(e, data_shape)
    expected = from_front(e, data_shape)
    for index in indices(t.shape):
        assert t(index) == tuple(expected[index])
    np.testing.assert_array_equal(t.provision(), expected, strict=True)
    for c, size in enumerate(data_shape):
        values = {i: int(expected[(*i, c)]) for i in indices(t.shape)}
        assert t.components[c] == component_by_loops(values, t.shape, size)
        assert fit_component(e[..., c], size) == t.components[c]
    assert t.out_of_bounds() == ()


@given(representations())
@fast
def test_representations_of_one_function_are_equal(t: XTransformer) -> None:
    e = np.zeros((*t.shape, len(t.data_shape)), np.int64)
    for i in indices(t.shape):
        e[i] = t.p(tuple(int(j) for j in t.f[t.p1(i)]) + t.p2(i))
    again = XTransformer.from_provision(e, t.data_shape)
    assert again == t
    assert hash(again) == hash(t)
    assert [t(i) for i in indices(t.shape)] == [again(i) for i in indices(t.shape)]
    assert fields(again.normal()) == fields(t.normal())


@given(representations())
@fast
def test_the_normal_form(t: XTransformer) -> None:
    n = t.normal()
    assert n == t
    assert fields(n.normal()) == fields(n)
    assert [n(i) for i in indices(t.shape)] == [t(i) for i in indices(t.shape)]
    # p2 takes what is exactly a coordinate; p1, ascending, what the others depend on.
    coordinates = [d for d in map(coordinate, t.components) if d is not None]
    others = [c for c in t.components if coordinate(c) is None]
    sizes = [n for n, c in zip(t.data_shape, t.components, strict=True) if coordinate(c) is None]
    assert list(n.p2) == coordinates
    assert list(n.p1) == sorted({d for c in others for d in c.dims})
    for column, (component, size) in enumerate(zip(others, sizes, strict=True)):
        assert fit_component(n.f[..., column], size) == over(component, n.p1)


def over(component: Component[int], p1: Pick) -> Component[int]:
    """The component as f shows it: over the places of p1."""
    match component:
        case Affine(dim=d) | AffineModulo(dim=d):
            return replace(component, dim=p1.coordinates.index(d))
        case Lookup(dims=dims):
            return replace(component, dims=tuple(map(p1.coordinates.index, dims)))
        case Constant():
            return component


@given(representations(), st.data())
@fast
def test_other_picks(t: XTransformer, data: st.DataObject) -> None:
    """With wanted picks there is a representation exactly if the function allows it."""
    rank = len(t.data_shape)
    p1, p2 = data.draw(picks(len(t.shape), 4)), data.draw(picks(len(t.shape), rank))
    p = Pick(data.draw(st.permutations(range(rank))))
    other = t.represented(p1, p2, p)
    seen: dict[Index, Index] = {}
    possible = True
    for i in indices(t.shape):
        columns = p.inverse()(t(i))
        inner, rest = columns[: rank - len(p2)], columns[rank - len(p2) :]
        possible &= rest == p2(i) and seen.setdefault(p1(i), inner) == inner
    assert (other is not None) == possible
    if other is not None:
        assert other == t
        assert (other.p1, other.p2, other.p) == (p1, p2, p)
        assert [other(i) for i in indices(t.shape)] == [t(i) for i in indices(t.shape)]


@given(provisions(), st.data())
@fast
def test_other_functions_are_unequal(
    given_: tuple[Integers, tuple[int, ...]], data: st.DataObject
) -> None:
    e, data_shape = given_
    t = XTransformer.from_provision(e, data_shape)
    assert t != XTransformer.from_provision(e, tuple(n + 1 for n in data_shape)) or not data_shape
    movable = [c for c, size in enumerate(data_shape) if size > 1]
    if e.size and movable:
        c = data.draw(st.sampled_from(movable))
        index = data.draw(st.sampled_from(indices(t.shape)))
        moved = from_front(e, data_shape)
        moved[(*index, c)] = (moved[(*index, c)] + 1) % data_shape[c]
        assert XTransformer.from_provision(moved, data_shape) != t


@given(representations(), st.data())
@fast
def test_transposes(t: XTransformer, data: st.DataObject) -> None:
    e, n = t.provision(), t.normal()
    axes = data.draw(st.permutations(range(len(t.data_shape))))
    moved = XTransformer.from_provision(e[..., list(axes)], [t.data_shape[a] for a in axes])
    assert t.transpose_data(axes) == n.transpose_data(axes) == moved
    dims = data.draw(st.permutations(range(len(t.shape))))
    turned = XTransformer.from_provision(e.transpose(*dims, -1), t.data_shape)
    assert t.transpose_updates(dims) == n.transpose_updates(dims) == turned


@given(provisions())
@fast
def test_collisions(given_: tuple[Integers, tuple[int, ...]]) -> None:
    e, data_shape = given_
    t = XTransformer.from_provision(e, data_shape)
    groups: dict[Index, list[Index]] = {}
    for i in indices(t.shape):
        groups.setdefault(t(i), []).append(i)
    assert t.collisions() == tuple(tuple(g) for g in groups.values() if len(g) > 1)
    assert t.is_injective() == (not t.collisions())
    flat = np.arange(np.prod(data_shape, dtype=np.int64)).reshape(data_shape)
    for i in indices(t.shape):
        assert t.offsets()[i] == flat[t(i)]


@given(representations(), st.data())
@fast
def test_bounds(t: XTransformer, data: st.DataObject) -> None:
    sizes = tuple(data.draw(st.integers(0, 4)) for _ in t.data_shape)
    t = XTransformer(t.shape, sizes, t.f, t.p1, t.p2, t.p)
    outside = tuple(
        i
        for i in indices(t.shape)
        if any(not 0 <= j < size for j, size in zip(t(i), sizes, strict=True))
    )
    assert t.out_of_bounds() == outside
    if outside:
        with pytest.raises(ValueError, match="is out of bounds: component"):
            t.check_bounds()
    else:
        t.check_bounds()
