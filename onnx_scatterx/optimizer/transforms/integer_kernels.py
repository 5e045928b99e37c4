"""Nodes on integers and booleans, computed in NumPy as ONNX Runtime computes them.

    sums and products wrap          2^63 - 1 + 1 = -2^63
    a / b                           rounded towards zero
    a mod b                         has the sign of b; with fmod = 1 that of a

What ends ONNX Runtime or is undefined in C++ is not computed: a division by zero, and by -1 of the
least number. A float is never computed here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

Arrays = list[np.ndarray]


class _Node:
    """A node with the arrays that it reads; an absent one is None."""

    def __init__(self, node: ir.Node, inputs: Sequence[np.ndarray | None]) -> None:
        self.node = node
        self.inputs = inputs

    def input(self, place: int) -> np.ndarray | None:
        return self.inputs[place] if place < len(self.inputs) else None

    def given(self) -> Arrays:
        return [array for array in self.inputs if array is not None]

    def integer(self, name: str, default: int) -> int:
        attribute = self.node.attributes.get(name)
        return default if attribute is None else int(attribute.as_int())

    def numbers(self, place: int, name: str) -> list[int] | None:
        """Return integers that are an input, or an attribute in older operator sets."""
        array, attribute = self.input(place), self.node.attributes.get(name)
        if array is not None:
            return [int(i) for i in array.ravel()]
        return None if attribute is None else [int(i) for i in attribute.as_ints()]


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    _check_divisor(a, b)
    floor = a // b
    up = (floor < 0) & (floor * b != a)
    return np.asarray(floor + up.astype(floor.dtype))


def _check_divisor(a: np.ndarray, b: np.ndarray) -> None:
    a, b = np.broadcast_arrays(a, b)
    if (b == 0).any():
        raise ValueError("a division by zero")
    if a.dtype.kind == "i" and ((a == np.iinfo(a.dtype).min) & (b == -1)).any():
        raise ValueError("a quotient that does not fit")


def _mod(n: _Node) -> Arrays:
    a, b = n.given()
    _check_divisor(a, b)
    if not n.integer("fmod", 0):
        return [np.mod(a, b)]
    if max(_largest(a), _largest(b)) > _EXACT:  # computed by doubles
        raise ValueError("not exact")
    return [np.fmod(a, b)]


_EXACT = 1 << 53


def _largest(array: np.ndarray) -> int:
    return max((abs(int(i)) for i in array.ravel()), default=0)


def _range(n: _Node) -> Arrays:
    start, limit, delta = (int(array.reshape(())) for array in n.given())
    if delta == 0 or max(map(abs, (start, limit, delta))) > _EXACT:
        raise ValueError("not exact")
    return [np.arange(start, limit, delta).astype(n.given()[0].dtype)]


def _constant_of_shape(n: _Node) -> Arrays:
    value = n.node.attributes.get("value")
    (shape,) = n.given()
    if value is None:
        raise ValueError("a float")
    return [np.full(shape.tolist(), value.as_tensor().numpy().reshape(()))]


def _reshape(n: _Node) -> Arrays:
    data, shape = n.given()
    sizes = [int(i) for i in shape]
    if not n.integer("allowzero", 0):
        sizes = [data.shape[d] if size == 0 else size for d, size in enumerate(sizes)]
    return [data.reshape(sizes)]


def _flatten(n: _Node) -> Arrays:
    (data,) = n.given()
    axis = n.integer("axis", 1)
    rows = int(np.prod(data.shape[: axis + data.ndim if axis < 0 else axis], dtype=np.int64))
    return [data.reshape(rows, data.size // rows if rows else 0)] if data.size else []


def _squeeze(n: _Node) -> Arrays:
    axes = n.numbers(1, "axes")
    return [np.squeeze(n.given()[0], None if axes is None else tuple(axes))]


def _unsqueeze(n: _Node) -> Arrays:
    return [np.expand_dims(n.given()[0], tuple(n.numbers(1, "axes") or ()))]


def _transpose(n: _Node) -> Arrays:
    return [np.transpose(n.given()[0], n.numbers(1, "perm"))]


def _expand(n: _Node) -> Arrays:
    data, shape = n.given()
    return [np.broadcast_to(data, np.broadcast_shapes(data.shape, tuple(shape.tolist())))]


def _slice(n: _Node) -> Arrays:
    data = n.given()[0]
    starts, ends = n.numbers(1, "starts") or [], n.numbers(2, "ends") or []
    axes = n.numbers(3, "axes") or list(range(len(starts)))
    steps = n.numbers(4, "steps") or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step < 0 and end >= data.shape[axis]:
            raise ValueError("read in two ways")
        place: list[slice] = [slice(None)] * data.ndim
        if step < 0:  # a start before the first element is the first
            start = max(start, -data.shape[axis])
        place[axis] = slice(start, end, step)
        data = data[tuple(place)]
    return [data]


def _split(n: _Node) -> Arrays:
    data, axis = n.given()[0], n.integer("axis", 0)
    sizes, count = n.numbers(1, "split"), len(n.node.outputs)
    if sizes is None:
        part = -(-data.shape[axis] // count)
        sizes = [min(part, data.shape[axis] - i * part) for i in range(count)]
    if min(sizes, default=0) < 0 or sum(sizes) != data.shape[axis]:
        raise ValueError("sizes that do not fit")
    return np.split(data, np.cumsum(sizes)[:-1], axis)


def _cumsum(n: _Node) -> Arrays:
    data, axis = n.given()
    reverse, d = n.integer("reverse", 0), int(axis.reshape(()))
    data = np.flip(data, d) if reverse else data
    total = np.cumsum(data, d, data.dtype)
    total = total - data if n.integer("exclusive", 0) else total
    return [np.flip(total, d) if reverse else total]


def _reduced(function: np.ufunc, n: _Node) -> Arrays:
    data, axes = n.given()[0], n.numbers(1, "axes")
    if not data.size:
        raise ValueError("of nothing")
    if not axes and n.integer("noop_with_empty_axes", 0):
        return [data]
    if function is np.multiply and math.prod(abs(int(i)) or 1 for i in data.flat) > _EXACT:
        raise ValueError("too large")  # ONNX Runtime does not always wrap here
    keepdims = bool(n.integer("keepdims", 1))
    along = tuple(axes) if axes else None
    return [function.reduce(data, along, data.dtype, keepdims=keepdims)]


def _clip(n: _Node) -> Arrays:
    data, low, high = n.inputs[0], n.input(1), n.input(2)
    assert data is not None
    if {"min", "max"} & set(n.node.attributes) or (
        low is not None and high is not None and (low > high).any()
    ):
        raise ValueError("not a range")
    data = data if low is None else np.maximum(data, low)
    return [data if high is None else np.minimum(data, high)]


def _gather(n: _Node) -> Arrays:
    data, indices = n.given()
    return [np.take(data, indices, n.integer("axis", 0))]


def _gather_elements(n: _Node) -> Arrays:
    data, indices = n.given()
    return [np.take_along_axis(data, indices, n.integer("axis", 0))]


def _gather_nd(n: _Node) -> Arrays:
    data, indices = n.given()
    if n.integer("batch_dims", 0):
        raise ValueError("not needed so far")
    return [data[tuple(np.moveaxis(indices, -1, 0))]]


def _one_hot(n: _Node) -> Arrays:
    indices, depth, values = n.given()
    size, axis = int(depth.reshape(())), n.integer("axis", -1)
    places = np.where(indices < 0, indices + size, indices)
    hot = np.expand_dims(places, -1) == np.arange(size)
    return [np.moveaxis(np.where(hot, values[1], values[0]), -1, axis)]


def _pad(n: _Node) -> Arrays:
    data, pads, value = n.given()[0], n.numbers(1, "pads") or [], n.input(2)
    axes = n.numbers(3, "") or list(range(data.ndim))
    mode = n.node.attributes.get("mode")
    if (mode is not None and mode.as_string() != "constant") or min(pads, default=0) < 0:
        raise ValueError("not needed so far")
    widths = [(0, 0)] * data.ndim
    for axis, before, after in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        widths[axis] = (before, after)
    fill = 0 if value is None else value.reshape(())
    return [np.pad(data, widths, constant_values=fill)]


def _bit_shift(n: _Node) -> Arrays:
    data, by = n.given()
    if by.dtype.kind != "u" or (by >= 8 * by.dtype.itemsize).any():
        raise ValueError("undefined")
    left = n.node.attributes["direction"].as_string() == "LEFT"
    return [np.left_shift(data, by) if left else np.right_shift(data, by)]


def _trilu(n: _Node) -> Arrays:
    k = n.input(1)
    cut = np.triu if n.integer("upper", 1) else np.tril
    data = n.given()[0]
    return [cut(data, 0 if k is None else int(k.reshape(()))).astype(data.dtype)]


def _cast(n: _Node) -> Arrays:
    dtype = ir.DataType(n.integer("to", 0)).numpy()
    return [n.given()[0].astype(dtype)]


def _by(function: Callable[..., np.ndarray]) -> Callable[[_Node], Arrays]:
    return lambda n: [function(*n.given())]


def _of_all(function: Callable[..., np.ndarray]) -> Callable[[_Node], Arrays]:
    return lambda n: [functools.reduce(function, n.given())]


KERNELS: Mapping[str, Callable[[_Node], Arrays]] = {
    "Abs": _by(np.abs),
    "Add": _by(np.add),
    "And": _by(np.logical_and),
    "BitShift": _bit_shift,
    "BitwiseAnd": _by(np.bitwise_and),
    "BitwiseNot": _by(np.bitwise_not),
    "BitwiseOr": _by(np.bitwise_or),
    "BitwiseXor": _by(np.bitwise_xor),
    "Cast": _cast,
    "CastLike": lambda n: [n.given()[0].astype(n.given()[1].dtype)],
    "Clip": _clip,
    "Concat": lambda n: [np.concatenate(n.given(), n.integer("axis", 0))],
    "ConstantOfShape": _constant_of_shape,
    "CumSum": _cumsum,
    "Div": _by(_quotient),
    "Equal": _by(np.equal),
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Greater": _by(np.greater),
    "GreaterOrEqual": _by(np.greater_equal),
    "Identity": _by(np.array),
    "Less": _by(np.less),
    "LessOrEqual": _by(np.less_equal),
    "MatMul": _by(np.matmul),
    "Max": _of_all(np.maximum),
    "Min": _of_all(np.minimum),
    "Mod": _mod,
    "Mul": _by(np.multiply),
    "Neg": _by(np.negative),
    "Not": _by(np.logical_not),
    "OneHot": _one_hot,
    "Or": _by(np.logical_or),
    "Pad": _pad,
    "Range": _range,
    "ReduceMax": functools.partial(_reduced, np.maximum),
    "ReduceMin": functools.partial(_reduced, np.minimum),
    "ReduceProd": functools.partial(_reduced, np.multiply),
    "Reshape": _reshape,
    "Sign": _by(np.sign),
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Sub": _by(np.subtract),
    "Tile": lambda n: [np.tile(n.given()[0], n.given()[1].tolist())],
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
    "Where": _by(np.where),
    "Xor": _by(np.logical_xor),
}
"""What computes the outputs of an operator; ValueError or IndexError if it is not computed."""


def compute(node: ir.Node, inputs: Mapping[str, np.ndarray]) -> Arrays | None:
    """Return the outputs of a node on integers and booleans, by the names of its inputs.

    Returns None if there is no kernel, or if the numbers are not to be computed.

    >>> node = ir.node("Div", [ir.Value(name="a"), ir.Value(name="b")])
    >>> compute(node, {"a": np.int64([-7]), "b": np.int64([2])})
    [array([-3])]
    >>> compute(node, {"a": np.int64([-7]), "b": np.int64([0])}) is None
    True
    """
    kernel = KERNELS.get(node.op_type)
    arrays = [None if v is None else inputs[v.name or ""] for v in node.inputs]
    if kernel is None or any(a is not None and a.dtype.kind not in "iub" for a in arrays):
        return None
    try:
        with np.errstate(all="ignore"):
            found = [np.array(array, order="C") for array in kernel(_Node(node, arrays))]
    except (ValueError, IndexError, OverflowError, TypeError):
        return None
    if len(found) != len(node.outputs) or any(array.dtype.kind not in "iub" for array in found):
        return None
    return found
