"""What models write into tensors, as cases of kernel.py: a function for each kind of statement."""

from __future__ import annotations

import numpy as np
from kernel_case import (
    Array,
    Case,
    Shape,
    case,
    draw,
    model,
    scatter_elements,
    scatter_nd,
    scatterx,
)
from onnx import helper


def pick_rows(height: int, count: int, order: str) -> Array:
    rng = np.random.default_rng(1)
    if order == "following":
        return np.arange(height // 4, height // 4 + count)
    if order == "colliding":
        return rng.integers(0, height, count)
    rows = rng.permutation(height)[:count]
    return np.sort(rows) if order == "sorted" else rows


def rows_0(
    name: str, shape: Shape, count: int, order: str, dtype: str, reduction: str = "none"
) -> Case:
    """``x[rows] = y``"""
    rows = pick_rows(shape[0], count, order)[:, None]
    updates = draw((count, *shape[1:]), dtype)
    rest = tuple(range(1, len(shape)))
    picks = ((0,), rest, tuple(range(len(shape))))
    exact = order != "colliding"
    return case(
        name,
        draw(shape, dtype),
        updates,
        rows,
        picks,
        scatter_nd(reduction),
        rows,
        reduction,
        exact=exact,
    )


def rows_1(name: str, shape: Shape, count: int, order: str, dtype: str, form: str) -> Case:
    """``x[:, rows] = y``: as ScatterND on pairs, or between transposes as in torch.export."""
    batch, height, width = shape
    rows = pick_rows(height, count, order)
    updates = draw((batch, count, width), dtype)
    picks = ((1,), (0, 2), (1, 0, 2))
    if form == "pairs":
        pairs = np.stack(np.broadcast_arrays(np.arange(batch)[:, None], rows[None]), axis=-1)
        return case(name, draw(shape, dtype), updates, rows[:, None], picks, scatter_nd(), pairs)
    flip = [1, 0, 2]
    nodes = [
        helper.make_node("Transpose", ["data"], ["d"], perm=flip),
        helper.make_node("Transpose", ["updates"], ["u"], perm=flip),
        helper.make_node("ScatterND", ["d", "indices", "u"], ["o"]),
        helper.make_node("Transpose", ["o"], ["output"], perm=flip),
    ]
    return case(
        name, draw(shape, dtype), updates, rows[:, None], picks, nodes, rows[:, None],
        as_exported=True,
    )  # fmt: skip


def rows_last(name: str, shape: Shape, count: int, order: str, dtype: str) -> Case:
    """``x[..., columns] = y``, as ScatterElements with expanded indices."""
    columns = pick_rows(shape[-1], count, order)
    updates = draw((*shape[:-1], count), dtype)
    indices = np.broadcast_to(columns, updates.shape)
    axis = len(shape) - 1
    picks = ((axis,), tuple(range(axis)), (*range(1, axis + 1), 0))
    return case(
        name, draw(shape, dtype), updates, columns[:, None], picks, scatter_elements(axis), indices
    )


def points(
    name: str, shape: Shape, count: int, dtype: str, reduction: str = "none", order: str = "random"
) -> Case:
    """``x[i, j] = y``: one element an index tuple."""
    rng = np.random.default_rng(2)
    size = int(np.prod(shape))
    flat = rng.integers(0, size, count) if reduction != "none" else rng.permutation(size)[:count]
    if order == "sorted":
        flat.sort()
    table = np.stack(np.unravel_index(flat, shape), axis=-1)
    picks = ((0,), (), tuple(range(len(shape))))
    return case(
        name, draw(shape, dtype), draw((count,), dtype), table, picks, scatter_nd(reduction), table,
        reduction, exact=reduction == "none" or np.dtype(dtype).kind == "i",
    )  # fmt: skip


def box(
    name: str, shape: Shape, start: Shape, size: Shape, dtype: str, constant: bool = False
) -> Case:
    """``x[a:b, c:d, e:f] = y`` as TorchScript writes it: a ScatterND on every point of the box."""
    table = np.stack(
        np.meshgrid(
            *(np.arange(a, a + n) for a, n in zip(start, size, strict=True)), indexing="ij"
        ),
        axis=-1,
    )
    dims = tuple(range(len(shape)))
    return case(
        name, draw(shape, dtype), draw(size, dtype), table, (dims, (), dims), scatter_nd(), table,
        constant=constant,
    )  # fmt: skip


def elements(
    name: str,
    shape: Shape,
    axis: int,
    count: int,
    dtype: str,
    reduction: str = "none",
    order: str = "random",
) -> Case:
    """``x.scatter(axis, indices, y)`` on two axes; `same`: one index for a whole row."""
    rng = np.random.default_rng(3)
    extent = list(shape)
    extent[axis] = count
    if order == "same":
        places = rng.permutation(shape[axis])[:count]
        indices = np.broadcast_to(np.expand_dims(places, 1 - axis), extent)
        other = 1 - axis
        picks = ((axis,), (other,), (0, 1) if axis == 0 else (1, 0))
        f = places[:, None]
    else:
        indices = rng.integers(0, shape[axis], extent)
        picks = ((0, 1), (1 - axis,), (axis, 1 - axis))
        f = indices[..., None]
    updates = draw(tuple(extent), dtype)
    return case(
        name,
        draw(shape, dtype),
        updates,
        f,
        picks,
        scatter_elements(axis, reduction),
        indices,
        reduction,
    )


def one_hot(name: str, rows: int, classes: int, dtype: str) -> Case:
    """``zeros.scatter_(1, labels[:, None], 1)``"""
    indices = np.random.default_rng(4).integers(0, classes, (rows, 1))
    updates = np.ones((rows, 1), dtype)
    picks = ((0, 1), (0,), (1, 0))
    return case(
        name,
        np.zeros((rows, classes), dtype),
        updates,
        indices[..., None],
        picks,
        scatter_elements(1),
        indices,
    )


def cache(name: str, shape: Shape, count: int, dtype: str, form: str, in_place: bool) -> Case:
    """Write `count` positions from 1000 on into a KV cache (batch, heads, positions, width)."""
    batch, heads, _, width = shape
    updates = draw((batch, heads, count, width), dtype)
    where = 1000 + np.arange(count)
    if form == "TensorScatter":
        node = helper.make_node(form, ["data", "updates", "indices"], ["output"], axis=-2)
        f = np.broadcast_to(where[:, None], (batch, count, 1))
        picks = ((0, 2), (0, 1, 3), (1, 2, 0, 3))
        indices = np.full(batch, 1000)
        return case(
            name,
            draw(shape, dtype),
            updates,
            f,
            picks,
            [node],
            indices,
            opset=24,
            in_place=in_place,
        )
    grid = np.meshgrid(np.arange(batch), np.arange(heads), where, indexing="ij")
    picks = ((2,), (0, 1, 3), (1, 2, 0, 3))
    return case(
        name, draw(shape, dtype), updates, where[:, None], picks, scatter_nd(), np.stack(grid, -1),
        in_place=in_place,
    )  # fmt: skip


def along_axis_by_dynamo(
    name: str, shape: Shape, axis: int, count: int, order: str, dtype: str
) -> Case:
    """``x[..., rows, ...] = y`` as torch.export writes it: the axis goes to the front and back."""
    rows = pick_rows(shape[axis], count, order)[:, None]
    rest = tuple(d for d in range(len(shape)) if d != axis)
    perm = (axis, *rest)
    back = tuple(int(d) for d in np.argsort(perm))
    nodes = [
        helper.make_node("Transpose", ["data"], ["d"], perm=perm),
        helper.make_node("Transpose", ["updates"], ["u"], perm=perm),
        helper.make_node("ScatterND", ["d", "indices", "u"], ["o"]),
        helper.make_node("Transpose", ["o"], ["output"], perm=back),
    ]
    updates = draw((*shape[:axis], count, *shape[axis + 1 :]), dtype)
    picks = ((axis,), rest, back)
    return case(name, draw(shape, dtype), updates, rows, picks, nodes, rows, as_exported=True)


def along_axis_by_expand(
    name: str,
    shape: Shape,
    axis: int,
    count: int,
    order: str,
    dtype: str,
    reduction: str = "none",
) -> Case:
    """``x.index_copy``, ``x.index_add``, ``scatter_add`` of rows as TorchScript writes them: one
    index a row is expanded to one an element.
    """
    rows = pick_rows(shape[axis], count, order)
    size = (*shape[:axis], count, *shape[axis + 1 :])
    rest = tuple(d for d in range(len(shape)) if d != axis)
    back = tuple(int(d) for d in np.argsort((axis, *rest)))
    names = ["data", "expanded", "updates"]
    nodes = [
        helper.make_node("Constant", [], ["size"], value_ints=size),
        helper.make_node("Expand", ["indices", "size"], ["expanded"]),
        helper.make_node("ScatterElements", names, ["output"], axis=axis, reduction=reduction),
    ]
    indices = rows.reshape([count if d == axis else 1 for d in range(len(shape))])
    return case(
        name, draw(shape, dtype), draw(size, dtype), rows[:, None], ((axis,), rest, back), nodes,
        indices, reduction, as_exported=True,
    )  # fmt: skip


def in_a_row(
    name: str, shape: Shape, writes: int, count: int, dtype: str, reduction: str = "none"
) -> Case:
    """``x = x + 1; x[rows_0] = y_0; x[rows_1] = y_1; ...; x[:1]``: into what a model computes."""
    order = np.random.default_rng(5).permutation(shape[0])
    picks = ((0,), tuple(range(1, len(shape))), tuple(range(len(shape))))
    data = draw(shape, dtype)
    inputs: dict[str, Array] = {"data": data, "one": np.ones(1, dtype), "first": np.zeros(1, int)}
    ours, theirs = [], []
    for i in range(writes):
        rows = order[i * count : (i + 1) * count] if reduction == "none" else order[:count]
        inputs[f"f_{i}"] = rows[:, None]
        inputs[f"updates_{i}"] = draw((count, *shape[1:]), dtype)
        names = (f"x_{i}", f"f_{i}", f"updates_{i}")
        output = f"x_{i + 1}"
        theirs.append(helper.make_node("ScatterND", names, [output], reduction=reduction))
        ours.append(scatterx(*picks, reduction, names=(*names, output)))
    before = helper.make_node("Add", ["data", "one"], ["x_0"])
    after = helper.make_node("Gather", [f"x_{writes}", "first"], ["output"], axis=0)
    builtin, own = (
        model([before, *nodes, after], inputs, constants=("one", "first"), output=data[:1])
        for nodes in (theirs, ours)
    )
    read = helper.make_node("Gather", ["x_0", "first"], ["output"], axis=0)
    around = model([before, read], inputs, constants=("one", "first"), output=data[:1])
    return Case(
        name, data, inputs, builtin, own, in_a_row=True, adds=reduction != "none", around=around,
        nodes=writes,
    )  # fmt: skip
