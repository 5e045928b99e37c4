"""Nodes on integers of whole types, as they are drawn, and what ONNX Runtime computes of them.

A case is the operands of one node, and no graph that grows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from tests.helpers.pair import open_session, rejections

Rng = np.random.Generator
Case = tuple[list[np.ndarray], dict[str, Any]]
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
VERSION = 18


def whole(rng: Rng, kind: str, *shape: int) -> np.ndarray:
    """Draw integers of a whole type; many are at its ends, or near zero."""
    if kind == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    drawn = rng.integers(low, high, shape, kind, endpoint=True)
    ends = rng.choice(np.array([low, high, low + 1, 0, 1, 2, high // 2], kind), shape)
    return np.asarray(np.where(rng.random(shape) < 0.5, ends, drawn), kind)


def shapes(rng: Rng) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Draw two shapes that broadcast, of which dims may be 0 or 1."""
    one = tuple(rng.choice([0, 1, 2, 3], int(rng.integers(0, 4))))
    other = tuple(1 if rng.random() < 0.3 else d for d in one)
    return one, other[int(rng.integers(0, len(other) + 1)) :]


def full(rng: Rng, least: int = 1, most: int = 3) -> tuple[int, ...]:
    return tuple(rng.integers(1, 4, int(rng.integers(least, most + 1))))


def i64(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def pair(rng: Rng, kind: str) -> Case:
    one, other = shapes(rng)
    return [whole(rng, kind, *one), whole(rng, kind, *other)], {}


def single(rng: Rng, kind: str) -> Case:
    return [whole(rng, kind, *shapes(rng)[0])], {}


def divided(rng: Rng, kind: str) -> Case:
    (a, b), _ = pair(rng, kind)
    b = np.where(b == 0, np.array(3, kind), b)
    return [a, np.asarray(np.where(~b == 0, np.array(2, kind), b), kind)], {}


def modulo(rng: Rng, kind: str) -> Case:
    (a, b), _ = divided(rng, kind)
    return [a, b], {"fmod": int(rng.integers(0, 2))}


def several(rng: Rng, kind: str) -> Case:
    one, other = shapes(rng)
    return [whole(rng, kind, *s) for s in (one, other, one)[: int(rng.integers(1, 4))]], {}


def axis_of(rng: Rng, data: np.ndarray) -> int:
    return int(rng.integers(-data.ndim, data.ndim))


def along(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    return [data], {"axis": axis_of(rng, data)}


def multiplied(rng: Rng, kind: str) -> Case:
    (_, *axes), attributes = reduced(rng, kind)
    size = int(max(axes[0], default=0)) + 1 if axes else 2
    least, most = (-3, 4) if rng.random() < 0.7 else (-(2**31), 2**31)
    return [rng.integers(least, most, (2,) * size).astype(kind), *axes], attributes


def reduced(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    noop = int(rng.integers(0, 2))
    attributes = {"keepdims": int(rng.integers(0, 2)), "noop_with_empty_axes": noop}
    if rng.random() < 0.4:
        return [data], attributes
    axes = rng.permutation(data.ndim)[: int(rng.integers(1, data.ndim + 1))]
    return [data, i64(*axes)], attributes


def gathered(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    axis = axis_of(rng, data)
    size = data.shape[axis]
    return [data, rng.integers(-size, size, shapes(rng)[0])], {"axis": axis}


def gathered_elements(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    axis = axis_of(rng, data)
    return [data, rng.integers(-data.shape[axis], data.shape[axis], data.shape)], {"axis": axis}


def gathered_nd(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    depth = int(rng.integers(1, data.ndim + 1))
    columns = [rng.integers(-n, n, 2) for n in data.shape[:depth]]
    return [data, np.stack(columns, -1)], {}


def sliced(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    axes = rng.permutation(data.ndim)[: int(rng.integers(1, data.ndim + 1))]
    ends = [-(2**63), 2**63 - 1, -5, -1, 0, 1, 2, 9]
    starts, stops = rng.choice(ends, len(axes)), rng.choice(ends, len(axes))
    steps = rng.choice([1, 2, -1, -2, 2**63 - 1], len(axes))
    return [data, *(i64(*numbers) for numbers in (starts, stops, axes, steps))], {}


def split(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    axis = axis_of(rng, data)
    first = int(rng.integers(0, data.shape[axis] + 1))
    return [data, i64(first, data.shape[axis] - first)], {"axis": axis}


def clipped(rng: Rng, kind: str) -> Case:
    return [whole(rng, kind, *shapes(rng)[0]), whole(rng, kind), whole(rng, kind)], {}


def summed(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    flags = {name: int(rng.integers(0, 2)) for name in ("exclusive", "reverse")}
    return [data, np.array(axis_of(rng, data))], flags


def one_hot(rng: Rng, kind: str) -> Case:
    indices = rng.integers(-5, 5, shapes(rng)[0])
    return [indices, np.array(3), whole(rng, kind, 2)], {"axis": int(rng.choice([-1, 0]))}


def ranged(rng: Rng, kind: str) -> Case:
    """Draw a few numbers: near zero, or at the ends of the type."""
    step = int(rng.choice([-(2**40), -3, -1, 1, 2, 2**31 - 1])) % np.iinfo(kind).max or 1
    start = int(whole(rng, kind)) if rng.random() < 0.5 else int(rng.integers(-20, 20))
    limit = min(max(start + step * int(rng.integers(-2, 9)), -(2**31)), np.iinfo(kind).max)
    return [np.array(number, kind) for number in (start, limit, step)], {}


def cast(rng: Rng, kind: str) -> Case:
    to = str(rng.choice([*SIGNED, *UNSIGNED, "bool"]))
    return single(rng, kind)[0], {"to": ir.DataType.from_numpy(np.dtype(to)).value}


ALL, NUMBERS = (*SIGNED, *UNSIGNED, "bool"), (*SIGNED, *UNSIGNED)
WIDE = ("int32", "int64")
CASES: dict[str, tuple[Callable[[Rng, str], Case], tuple[str, ...]]] = {
    "Abs": (single, NUMBERS),
    **dict.fromkeys(("Add", "Sub", "Mul"), (pair, NUMBERS)),
    **dict.fromkeys(("And", "Or", "Xor"), (pair, ("bool",))),
    "Cast": (cast, ALL),
    "CastLike": (lambda r, k: ([*single(r, k)[0], whole(r, "int16", 1)], {}), ALL),
    "Clip": (clipped, ("int8", "uint8", "int32", "uint32", "int64", "uint64")),
    "Concat": (lambda r, k: (lambda c: ([c[0][0], c[0][0]], c[1]))(along(r, k)), ALL),
    "ConstantOfShape": (
        lambda r, k: ([i64(*full(r))], {"value": onnx.numpy_helper.from_array(whole(r, k, 1))}),
        ALL,
    ),
    "CumSum": (summed, WIDE),
    "Div": (divided, NUMBERS),
    **dict.fromkeys(("Equal", "Less", "Greater"), (pair, NUMBERS)),
    **dict.fromkeys(("GreaterOrEqual", "LessOrEqual"), (pair, NUMBERS)),
    "Expand": (lambda r, k: ([whole(r, k, 1, 2), i64(3, 1)], {}), ALL),
    "Flatten": (along, ALL),
    "Gather": (gathered, ALL),
    "GatherElements": (gathered_elements, ALL),
    "GatherND": (gathered_nd, ALL),
    "Identity": (single, ALL),
    **dict.fromkeys(("Max", "Min"), (several, ("int8", "uint8", *WIDE, "uint32", "uint64"))),
    "Mod": (modulo, NUMBERS),
    "Neg": (single, ("int8", *WIDE)),
    "Not": (single, ("bool",)),
    "OneHot": (one_hot, WIDE),
    "Range": (ranged, WIDE),
    **dict.fromkeys(("ReduceMax", "ReduceMin"), (reduced, ("int8", "uint8", *WIDE))),
    "ReduceProd": (multiplied, WIDE),
    "Reshape": (lambda r, k: ([whole(r, k, 2, 3, 2), i64(3, 0, -1)[[1, 0, 2]]], {}), ALL),
    "Sign": (single, NUMBERS),
    "Slice": (sliced, ALL),
    "Split": (split, ALL),
    "Squeeze": (lambda r, k: ([whole(r, k, 1, 3, 1), i64(0, -1)], {}), ALL),
    "Tile": (lambda r, k: ([whole(r, k, 2, 2), i64(2, int(r.integers(0, 3)))], {}), ALL),
    "Transpose": (lambda r, k: ([whole(r, k, 2, 1, 3)], {"perm": r.permutation(3).tolist()}), ALL),
    "Trilu": (
        lambda r, k: (
            [whole(r, k, 3, 4), np.array(int(r.integers(-5, 6)))],
            {"upper": int(r.integers(0, 2))},
        ),
        (*WIDE, "bool"),
    ),
    "Unsqueeze": (lambda r, k: ([whole(r, k, 2, 3), i64(-1, 1)], {}), ALL),
    "Where": (
        lambda r, k: (
            [whole(r, "bool", 2, 1), *pair(r, k)[0][:0], *(whole(r, k, 2, 3), whole(r, k, 1, 3))],
            {},
        ),
        ALL,
    ),
}


def in_onnx_runtime(op: str, cases: list[Case], optimize: bool) -> list[list[np.ndarray] | None]:
    """Run cases of an operator, each as a node of one model; None is a case that is rejected.

    If the model is rejected, its halves are run.
    """
    nodes, given, feed, outputs = [], [], dict[str, np.ndarray](), list[str]()
    for n, (arrays, attributes) in enumerate(cases):
        named = {f"i{n}_{place}": array for place, array in enumerate(arrays)}
        made = [f"o{n}_{place}" for place in range(1 + (op == "Split"))]
        nodes.append(onnx.helper.make_node(op, list(named), made, **attributes))
        for name, array in named.items():
            kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            given.append(onnx.helper.make_tensor_value_info(name, kind, array.shape))
        feed |= named
        outputs += made
    named_outputs = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = onnx.helper.make_graph(nodes, "g", given, named_outputs)
    opsets = [onnx.helper.make_opsetid("", VERSION)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    try:
        found = open_session(model, fused=optimize).run(None, feed)
    except rejections():
        if len(cases) == 1:
            return [None]
        half = len(cases) // 2
        halves = (cases[:half], cases[half:])
        return [case for part in halves for case in in_onnx_runtime(op, part, optimize)]
    each = len(outputs) // len(cases)
    return [found[each * n : each * (n + 1)] for n in range(len(cases))]


def draws(op: str, count: int) -> Iterator[Case]:
    draw, kinds = CASES[op]
    for number in range(count):
        yield draw(np.random.default_rng([number, len(op)]), kinds[number % len(kinds)])
