"""Axes that move together are one axis, for a target that takes fewer dims than a tensor has.

    Transpose<[0, 1, 3, 2]>(x[a, b, c, d])   =   Reshape(Transpose<[0, 2, 1]>(x[a * b, c, d]))
    Slice(x[a, b, c, d], axis 1)             =   Reshape(Slice(x[a, b, c * d], axis 1))

Concat, Einsum, Expand, Gather, MatMul, Tile, element-wise operators, extremes, and norms and
Softmax of the last axis, too. A Reshape of a Reshape is one Reshape, so a tensor of many dims is
not needed if only such nodes read it. Holds if the sizes are known numbers. A Transpose of too many
axes that move apart is written in steps (``steps``). If sizes are not known, element-wise nodes
lose axes of one element:

    Where(m[a, 1, b], x, u)   =   Unsqueeze(Where(Squeeze(m), Squeeze(x), Squeeze(u)))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, require, required
from onnx_scatterx.engine.write.forms.equations import equation_of
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.engine.write.forms.steps import in_steps, is_picked
from onnx_scatterx.operators import OPERATORS, Kinds, Rows, described, those

RESHAPES = those(lambda row: row.keeps_order)
_SMALL = 1 << 10  # elements of a constant that gets its new shape here
_LARGE = 1 << 20  # the same, if the target does not take its dims


class _Merged(NamedTuple):
    """A node on merged axes: the shapes of the inputs that change, other inputs, and attributes."""

    shapes: Sequence[Sequence[int]]
    others: Sequence[ir.Value | None] = ()
    attributes: Mapping[str, int | str | Sequence[int]] = {}


_Merge: TypeAlias = Callable[[Request, "tuple[int, ...]"], _Merged]


def merged(request: Request, *, through: bool = False) -> ir.Value:
    """Write a node on merged axes, if it has too many; ``through`` Reshapes, its inputs are read.

    Reshapes of other plans may be gone, so those alone are read through that stand in the graph.
    """
    most, w = request.most_dims, request.writer
    require(request.has_too_many_dims)
    result = request.sizes
    require(0 not in result, request.takes("Reshape"))

    def shaped(x: ir.Value | None, shape: Sequence[int]) -> ir.Value:
        assert x is not None
        tensor = request.constant(x)
        large = tensor is not None and len(tensor.shape) > most
        if tensor is not None and math.prod(shape) <= (_LARGE if large else _SMALL):
            return w.constant(np.ascontiguousarray(tensor.numpy().reshape(shape)), w.dtype_of(x))
        source = _source(x) if through else x
        maker = source.producer() if through else None
        # Of a Transpose that is left, a view may be written where fewer dims are read.
        require(maker is None or maker.op_type != "Transpose" or _rank(request, source) <= most)
        if request.of(source).static_shape == tuple(shape):
            return source
        return w.node("Reshape", [source, w.constant(list(shape))], w.dtype_of(x))

    if request.op in RESHAPES:
        x = request.input(0)
        require(through and len(result) <= most and _source(x) is not x)
        return shaped(x, result)
    merge, data, x = required(MERGES.get(request.op)), request.shape(0), request.input(0)
    require(data or merge is _elementwise)
    turned = through and merge is _transpose
    require(not turned or not is_picked(request))
    form = merge(request, data)
    if turned and len(form.shapes[0]) > most:
        (sizes,), order = form.shapes, form.attributes["perm"]
        assert not isinstance(order, (int, str))
        return request.reshape(in_steps(request, _source(x), sizes, order), result)
    require(max(map(len, form.shapes)) <= most)
    require(not any(0 in s for s in form.shapes))  # of a Reshape, 0 is the size that is there
    inputs = list(map(shaped, request.inputs, form.shapes))
    moved = w.spelled_node(request.op, [*inputs, *form.others], request.dtype, **form.attributes)
    return request.reshape(moved, result)


def without_ones(request: Request) -> ir.Value:
    """Leave axes of one element out of an element-wise node of sizes that are not all known."""
    require(MERGES.get(request.op) is _elementwise, request.result.static_shape is None)
    w, dims, dtype = request.writer, required(request.result.shape), required(request.dtype)
    alone = [d - len(dims) for d, size in enumerate(dims) if size.constant == 1]
    most = request.most_dims
    require(most < len(dims) <= most + len(alone), _is_alike(request))
    left_out = alone[: len(dims) - int(most)]

    def narrow(i: int, x: ir.Value | None) -> ir.Value:
        rank, value = required(request.known_of(i).rank), required(x)
        axes = [d + rank for d in left_out if d + rank >= 0]
        return w.axes("Squeeze", value, required(w.dtype_of(value)), axes)

    inputs = [narrow(i, x) for i, x in enumerate(request.inputs)]
    y = w.spelled_node(request.op, inputs, dtype, **request.attributes)
    return w.axes("Unsqueeze", y, dtype, [d + len(dims) for d in left_out])


def _rank(request: Request, x: ir.Value) -> int:
    return required(request.of(x).rank)


def _source(x: ir.Value) -> ir.Value:
    """Return the tensor that has the same elements in the same order, before all Reshapes."""
    node = x.producer()
    while node is not None and described(node).keeps_order and node.inputs[0]:
        x = node.inputs[0]
        node = x.producer()
    return x


def _apart(rank: int, alone: Iterable[int]) -> list[list[int]]:
    """Return runs of axes: those that stand alone, and those between them."""
    names = set(alone)
    return [list(run) for _, run in groupby(range(rank), lambda d: d if d in names else -1)]


def _images_apart(request: Request, shape: Sequence[int], runs: list[list[int]]) -> list[list[int]]:
    """Leave a first axis of one image alone, if there is room: it stays the axis of images."""
    (first, *rest), room = runs, len(runs) < request.most_dims
    return [first[:1], first[1:], *rest] if room and len(first) > 1 and shape[0] == 1 else runs


def _sizes(shape: Sequence[int], runs: Iterable[Sequence[int]]) -> list[int]:
    return [math.prod(shape[d] for d in run) for run in runs]


def _transpose(request: Request, shape: tuple[int, ...]) -> _Merged:
    perm = request.attributes.get("perm", range(len(shape))[::-1])
    kept = [d for d, n in enumerate(shape) if n != 1]
    runs: list[list[int]] = []
    for d in (d for d in perm if shape[d] != 1):
        if runs and kept.index(d) == kept.index(runs[-1][-1]) + 1:
            runs[-1].append(d)
        else:
            runs.append([d])
    require(runs)
    ordered = sorted(runs)
    order = [ordered.index(run) for run in runs]
    return _Merged([_sizes(shape, ordered)], attributes={"perm": order})


def _slice(request: Request, shape: tuple[int, ...]) -> _Merged:
    starts, count = request.inputs[1], request.shape(1)
    named = (request.numbers(3) if len(request.inputs) > 3 else None) or range(*count)
    axes = [d % len(shape) for d in named]
    runs = _images_apart(request, shape, _apart(len(shape), axes))
    alone = request.writer.constant([runs.index([d]) for d in axes])
    return _Merged([_sizes(shape, runs)], [starts, request.inputs[2], alone, *request.inputs[4:]])


def _concat(request: Request, shape: tuple[int, ...]) -> _Merged:
    axis = request.axis(len(shape))
    runs = _images_apart(request, shape, _apart(len(shape), [axis]))
    sizes = [_sizes(request.shape(i), runs) for i in range(len(request.inputs))]
    return _Merged(sizes, attributes={"axis": runs.index([axis])})


def _gather(request: Request, shape: tuple[int, ...]) -> _Merged:
    axis, indices, w = request.axis(len(shape)), request.shape(1), request.writer
    dtype, at = required(request.known_of(1).dtype), request.input(1)
    runs = _images_apart(request, shape, _apart(len(shape), [axis]))
    flat = [math.prod(indices)]
    if axis == 0 and len(indices) > 1 and indices[0] == 1 and len(runs) < request.most_dims:
        flat = [1, *flat]  # one image stays one
    if list(indices) != flat:
        at = w.node("Reshape", [at, w.constant(flat)], dtype)
    return _Merged([_sizes(shape, runs)], [at], {"axis": runs.index([axis])})


def _expand(request: Request, shape: tuple[int, ...]) -> _Merged:
    result = request.sizes
    own = (*(1,) * (len(result) - len(shape)), *shape)
    pairs = list(zip(own, result, strict=True))
    axes = (d for d, (_, n) in enumerate(pairs) if n != 1)
    runs = [list(run) for _, run in groupby(axes, lambda d: pairs[d][0] == pairs[d][1])]
    require(runs)
    if result[0] == 1 and len(runs) < request.most_dims:
        runs = [[0], *runs]  # one image stays one
    return _Merged([_sizes(own, runs)], [request.writer.constant(_sizes(result, runs))])


def _matmul(request: Request, shape: tuple[int, ...]) -> _Merged:
    """Merge the axes of the matrices, if both operands have the same, or one is one matrix."""
    others = request.shape(1)
    require(len(shape) > 2, len(others) == 2 or shape[:-2] == others[:-2])
    lead = math.prod(shape[:-2])
    second = others if len(others) == 2 else [lead, *others[-2:]]
    return _Merged([[lead, *shape[-2:]], second])


def _tile(request: Request, shape: tuple[int, ...]) -> _Merged:
    counts = request.numbers(1)
    runs = _apart(len(shape), [d for d, n in enumerate(counts) if n != 1])
    runs = _images_apart(request, shape, runs)
    return _Merged([_sizes(shape, runs)], [request.writer.constant(_sizes(counts, runs))])


def _elementwise(request: Request, _: tuple[int, ...]) -> _Merged:
    """Leave axes of one element out; if that is not enough, merge those that all inputs share.

    x[1, 4, 2, 9, 9] + m[1, 4, 1, 9, 9]   =   x[4, 2, 9, 9] + m[4, 1, 9, 9]

    If no input is broadcast, every element stays at its place in memory.
    """
    result = request.sizes
    count = range(len(request.inputs))
    own = [(*(1,) * (len(result) - len(request.shape(i))), *request.shape(i)) for i in count]
    require(set(own) == {result} or _is_alike(request))
    axes = [d for d, n in enumerate(result) if n != 1]
    runs = [[d] for d in axes] or [[0]]
    if len(axes) > request.most_dims:
        runs = [list(run) for _, run in groupby(axes, lambda d: [shape[d] == 1 for shape in own])]
    return _Merged([_sizes(shape, runs) for shape in own], attributes=request.attributes)


def _is_alike(request: Request) -> bool:
    """Return whether an element has the same bits wherever it stands."""
    return _kind_of(required(request.use.dtype)) in OPERATORS[request.op].alike


def _last_axis(request: Request, shape: tuple[int, ...]) -> _Merged:
    """Merge the axes before the last two, or the last one, along which each row is computed alone.

    A node with a weight that differs between rows, which ONNX Runtime takes, stays as it is.
    """
    attributes = {**request.attributes, "axis": -1}
    require(request.attributes.get("axis", -1) % len(shape) == len(shape) - 1)
    require(request.writer.version >= _OF_ONE_AXIS)
    weights = [request.shape(i) for i in range(1, len(request.inputs)) if request.has(i)]
    require(all(len(sizes) <= 1 for sizes in weights))
    lead = shape[:-2] if request.most_dims > 2 else shape[:-1]
    return _Merged([[math.prod(lead), *shape[len(lead) :]]], request.inputs[1:], attributes)


_OF_ONE_AXIS = 13  # the first operator set in which Softmax normalizes one axis


def _place(request: Request, shape: tuple[int, ...]) -> _Merged:
    """Merge the axes before the axis of an ArgMax, and those behind it."""
    axis = request.axis(len(shape))
    runs = _apart(len(shape), [axis])
    attributes = {**request.attributes, "axis": runs.index([axis])}
    return _Merged([_sizes(shape, runs)], attributes=attributes)


def _extreme(request: Request, shape: tuple[int, ...]) -> _Merged:
    """Merge neighbouring axes that are reduced, and neighbouring axes that stay."""
    axes = {d % len(shape) for d in request.numbers(1)}
    require(axes)
    runs = [list(run) for _, run in groupby(range(len(shape)), axes.__contains__)]
    found = request.writer.constant([i for i, run in enumerate(runs) if run[0] in axes])
    return _Merged([_sizes(shape, runs)], [found], request.attributes)


def _einsum(request: Request, _: tuple[int, ...]) -> _Merged:
    """Join letters that are neighbours wherever one of them stands."""
    found = equation_of(request)
    joined = found.joined(found.joints())
    return _Merged(joined.shapes, attributes={"equation": joined.text})


def _kind_of(dtype: ir.DataType) -> Kinds:
    if dtype == ir.DataType.BOOL:
        return Kinds.BOOL
    if dtype in (ir.DataType.FLOAT, ir.DataType.FLOAT16):
        return Kinds.FLOAT
    if dtype == ir.DataType.DOUBLE:
        return Kinds.DOUBLE
    return Kinds.INTEGER if dtype.is_integer() else Kinds.NONE


_ELEMENTWISE = those(lambda row: row.rows == Rows.BROADCAST) - {"CastLike", "Clip"}

MERGES: Mapping[str, _Merge] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(("ArgMax", "ArgMin"), _place),
    **dict.fromkeys(("ReduceMax", "ReduceMin"), _extreme),
    **dict.fromkeys(("LayerNormalization", "LogSoftmax", "Softmax"), _last_axis),
    "Concat": _concat,
    "Einsum": _einsum,
    "Expand": _expand,
    "Gather": _gather,
    "MatMul": _matmul,
    "Slice": _slice,
    "Tile": _tile,
    "Transpose": _transpose,
}
"""How the axes of an operator are merged."""


_MOVES = RESHAPES.union(MERGES, ["Split"])  # a view reads through a Split
_MOST = 64  # values that are looked at behind one


def ends(value: ir.Value, scope: Scope, most: int | None) -> bool:
    """Return whether a tensor is not needed with all its dims, if those that read it are moves."""
    stack, seen = [value], {value}
    while stack and most is not None:
        here = stack.pop()
        rank = scope.of(here).rank
        if rank is None or rank > most:
            nodes = [use.node for use in here.uses()]
            moves = all(n.domain == "" and n.op_type in _MOVES for n in nodes)
            if not moves or here.is_graph_output() or len(seen) > _MOST:
                return False
            near = dict.fromkeys(v for n in nodes for v in n.outputs if v not in seen)
            stack += near
            seen.update(near)
    return most is not None
