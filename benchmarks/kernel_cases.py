"""The cases of kernel.py: what models write, once as built-in nodes and once as ScatterX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[np.generic]
Shape = tuple[int, ...]


@dataclass
class Case:
    """The same scatter twice; both models read their inputs by name from `inputs` and `data`."""

    name: str
    data: Array
    inputs: dict[str, Array]
    builtin: bytes
    scatterx: bytes
    in_place: bool = False
    exact: bool = field(default=True)  # the built-in result is defined, so the two must agree
    as_exported: bool = False  # the built-in form is a graph that an exporter writes, not one node


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Array],
    opset: int = 18,
    constants: tuple[str, ...] = (),
) -> bytes:
    code = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(k, code[k], list(v.shape))
            for k, v in inputs.items()
            if k not in constants
        ],
        [helper.make_tensor_value_info("output", code["data"], list(inputs["data"].shape))],
        [numpy_helper.from_array(inputs[name], name) for name in constants if name in inputs],
    )
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("onnx_scatterx", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=10).SerializeToString()


def scatterx(
    p1: Shape, p2: Shape, p: Shape, reduction: str = "none", unique: int = 0
) -> onnx.NodeProto:
    node = helper.make_node(
        "ScatterX", ["data", "f", "updates"], ["output"], domain="onnx_scatterx"
    )
    for name, pick in (("p1", p1), ("p2", p2), ("p", p)):
        node.attribute.append(helper.make_attribute(name, pick, attr_type=onnx.AttributeProto.INTS))
    node.attribute.append(helper.make_attribute("reduction", reduction))
    node.attribute.append(helper.make_attribute("unique", unique))
    return node


def case(
    name: str,
    data: Array,
    updates: Array,
    f: Array,
    picks: tuple[Shape, Shape, Shape],
    builtin: list[onnx.NodeProto],
    indices: Array,
    reduction: str = "none",
    unique: int = 0,
    opset: int = 18,
    constant: bool = False,
    **flags: bool,
) -> Case:
    """`constant`: the indices are constants of the model, as they are where shapes are static."""
    constants = ("f", "indices") if constant else ()
    ours = {"data": data, "f": np.ascontiguousarray(f), "updates": updates}
    theirs = {"data": data, "indices": np.ascontiguousarray(indices), "updates": updates}
    return Case(
        name,
        data,
        {"f": ours["f"], "indices": theirs["indices"], "updates": updates},
        model(builtin, theirs, opset, constants),
        model([scatterx(*picks, reduction, unique)], ours, constants=constants),
        **flags,
    )


def draw(shape: Shape, dtype: str) -> Array:
    rng = np.random.default_rng(0)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape, np.float32).astype(dtype)
    return rng.integers(0, 100, shape, np.int8).astype(dtype)


def scatter_nd(reduction: str = "none") -> list[onnx.NodeProto]:
    return [
        helper.make_node(
            "ScatterND", ["data", "indices", "updates"], ["output"], reduction=reduction
        )
    ]


def scatter_elements(axis: int, reduction: str = "none") -> list[onnx.NodeProto]:
    names = ["data", "indices", "updates"]
    return [helper.make_node("ScatterElements", names, ["output"], axis=axis, reduction=reduction)]


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


_ALL: list[Callable[[], Case]] = []


def _add(make: Callable[..., Case], name: str, *rest: object, **named: object) -> None:
    _ALL.append(partial(make, name, *rest, **named))


for _dtype in ("float32", "float16", "int8", "int64"):
    _add(rows_0, f"rows axis 0, random, 1M, {_dtype}", (2048, 128), 512, "random", _dtype)
_add(rows_0, "rows axis 0, random, 4K, float32", (32, 32), 8, "random", "float32")
_add(rows_0, "rows axis 0, random, 64M, float32", (65536, 256), 16384, "random", "float32")
_add(rows_0, "rows axis 0, random, 64M, float16", (65536, 512), 32768, "random", "float16")
_add(rows_0, "rows axis 0, sorted, 64M, int8", (65536, 1024), 32768, "sorted", "int8")
_add(rows_0, "rows axis 0, following, 256M, float32", (65536, 1024), 32768, "following", "float32")
_add(rows_0, "rows axis 0, random, 256M, int64", (65536, 512), 16384, "random", "int64")
_add(rows_1, "rows axis 1, pairs, 1M, float32", (16, 128, 128), 32, "random", "float32", "pairs")
_add(
    rows_1,
    "rows axis 1, pairs, 64M, float32",
    (64, 1024, 256),
    256,
    "following",
    "float32",
    "pairs",
)
_add(
    rows_1,
    "rows axis 1, transposes, 1M, float32",
    (16, 128, 128),
    32,
    "following",
    "float32",
    "chain",
)
_add(
    rows_1,
    "rows axis 1, transposes, 64M, float16",
    (64, 2048, 256),
    512,
    "random",
    "float16",
    "chain",
)
_add(rows_last, "rows last axis, 4K, float32", (8, 128), 16, "following", "float32")
_add(rows_last, "rows last axis, 1M, int64", (32, 32, 128), 32, "following", "int64")
_add(rows_last, "rows last axis, 64M, float32", (256, 256, 256), 64, "random", "float32")
_add(points, "points, 4K, float32", (32, 32), 256, "float32")
_add(points, "points, 1M, float32", (512, 512), 65536, "float32")
_add(points, "points, 1M, int8", (1024, 1024), 262144, "int8")
_add(points, "points, 64M, float32", (256, 256, 256), 2_000_000, "float32")
_add(points, "points, add, 1M, int64", (64, 2048), 500_000, "int64", "add")
_add(points, "points, max, 4M, float32", (1024, 1024), 500_000, "float32", "max")
_add(box, "box by points, 4K, float32", (8, 8, 16), (1, 1, 2), (6, 6, 10), "float32")
_add(box, "box by points, 1M, float32", (16, 128, 128), (2, 10, 20), (8, 64, 100), "float32")
_add(box, "box by points, 64M, float16", (64, 512, 1024), (2, 10, 20), (32, 256, 512), "float16")
_add(elements, "elements axis 0, random, 4K, float32", (32, 32), 0, 32, "float32")
_add(elements, "elements axis 0, random, 1M, float32", (2048, 128), 0, 2048, "float32")
_add(elements, "elements axis 0, random, 20M, float32", (65536, 80), 0, 65536, "float32")
_add(elements, "elements axis 1, random, 1M, int64", (1024, 128), 1, 128, "int64")
_add(elements, "elements axis 1, random, 64M, float32", (16384, 1024), 1, 256, "float32")
_add(elements, "elements axis 1, random, 16M, float16", (8192, 1024), 1, 512, "float16")
_add(elements, "elements axis 1, random, 8M, int8", (8192, 1024), 1, 512, "int8")
_add(elements, "elements axis 0, add, 1M, float32", (2048, 128), 0, 8192, "float32", "add")
_add(elements, "elements axis 1, max, 16M, float16", (8192, 1024), 1, 512, "float16", "max")
_add(
    elements,
    "broadcast indices axis 0, 1M, float32",
    (2048, 128),
    0,
    512,
    "float32",
    "none",
    "same",
)
_add(
    elements,
    "broadcast indices axis 0, 64M, float32",
    (65536, 256),
    0,
    16384,
    "float32",
    "none",
    "same",
)
_add(
    elements, "broadcast indices axis 0, 64M, int8", (65536, 1024), 0, 16384, "int8", "none", "same"
)
_add(
    rows_0, "segment sum, 64 to 1M, float32", (1024, 256), 65536 // 4, "colliding", "float32", "add"
)
_add(
    rows_0,
    "segment sum, 100k edges, width 16, float32",
    (10000, 16),
    100_000,
    "colliding",
    "float32",
    "add",
)
_add(
    elements, "segment sum by elements, width 64, float32", (1000, 64), 0, 50_000, "float32", "add"
)
_add(points, "segment sum, 1M scalars to 1000, int64", (1000,), 1_000_000, "int64", "add")
_add(one_hot, "one-hot, 1000 classes, 4M, int8", 4096, 1000, "int8")
_add(one_hot, "one-hot, 128 classes, 32M, float32", 65536, 128, "float32")
for _dtype, _shape in (("float32", (4, 32, 4096, 128)), ("float16", (4, 32, 4096, 128))):
    _mb = "256M" if _dtype == "float32" else "128M"
    for _form in ("TensorScatter", "ScatterND"):
        _add(cache, f"decode in place, {_form}, {_mb}, {_dtype}", _shape, 1, _dtype, _form, True)
        _add(cache, f"decode copying, {_form}, {_mb}, {_dtype}", _shape, 1, _dtype, _form, False)
_add(
    cache,
    "prefill 512 in place, ScatterND, 64M, float32",
    (1, 32, 4096, 128),
    512,
    "float32",
    "ScatterND",
    True,
)
_add(
    cache,
    "prefill 512 copying, TensorScatter, 64M",
    (1, 32, 4096, 128),
    512,
    "float32",
    "TensorScatter",
    False,
)
_add(
    cache,
    "prefill 2048 in place, TensorScatter, 64M",
    (1, 32, 4096, 128),
    2048,
    "float32",
    "TensorScatter",
    True,
)

_add(box, "box by constant points, 4K, float32", (8, 8, 16), (1, 1, 2), (6, 6, 10), "float32", True)
_add(
    box,
    "box by constant points, 1M, float32",
    (16, 128, 128),
    (2, 10, 20),
    (8, 64, 100),
    "float32",
    True,
)
# What exporters write for one statement, whole: PyTorch's dynamo moves the axis to the front and
# back, TorchScript expands the indices.
_CACHE = (1, 32, 4096, 128)
for _dtype in ("float32", "float16"):
    _mb = "64M" if _dtype == "float32" else "32M"
    for _count, _what in ((1, "decode"), (512, "prefill 512")):
        _add(
            along_axis_by_dynamo,
            f"{_what} by dynamo, {_mb}, {_dtype}",
            _CACHE,
            2,
            _count,
            "following",
            _dtype,
        )
        _add(
            along_axis_by_expand,
            f"{_what} by TorchScript, {_mb}, {_dtype}",
            _CACHE,
            2,
            _count,
            "following",
            _dtype,
        )
_add(
    along_axis_by_dynamo,
    "rows last axis by dynamo, 4K, float32",
    (8, 128),
    1,
    16,
    "random",
    "float32",
)
_add(
    along_axis_by_dynamo,
    "rows last axis by dynamo, 16M, float32",
    (64, 256, 256),
    2,
    64,
    "random",
    "float32",
)
_add(
    along_axis_by_dynamo,
    "pillars onto a canvas by dynamo, 52M",
    (64, 214272),
    1,
    12000,
    "random",
    "float32",
)
_add(
    along_axis_by_expand,
    "index_copy axis 1 by TorchScript, 1M, int8",
    (64, 128, 128),
    1,
    32,
    "random",
    "int8",
)
for _edges, _nodes, _width in ((50_000, 1000, 64), (100_000, 10_000, 16), (500, 64, 8)):
    _add(
        along_axis_by_expand,
        f"scatter_add of {_edges} edges by TorchScript, width {_width}",
        (_nodes, _width),
        0,
        _edges,
        "colliding",
        "float32",
        "add",
    )
_add(
    along_axis_by_expand,
    "index_add of experts by TorchScript, 16M",
    (4096, 1024),
    0,
    2048,
    "random",
    "float32",
    "add",
)

CASES: dict[str, Callable[[], Case]] = {str(make.args[0]): make for make in _ALL}  # type: ignore[attr-defined]
