"""Integers that are computed in NumPy are those of ONNX Runtime, over their whole types."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest

from onnx_scatterx.optimizer.transforms import constant_runs
from onnx_scatterx.optimizer.transforms.integer_kernels import KERNELS, compute

Rng = np.random.Generator
Case = tuple[list[np.ndarray], dict[str, Any]]
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
VERSION = 18


def whole(rng: Rng, kind: str, *shape: int) -> np.ndarray:
    """Draw integers of a whole type; many are at its ends, or near zero."""
    if kind == "bool":
        return rng.random(shape) < 0.5
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    drawn = rng.integers(low, high, shape, kind, endpoint=True)
    ends = rng.choice(np.array([low, high, low + 1, 0, 1, 2, high // 2], kind), shape)
    return np.where(rng.random(shape) < 0.5, ends, drawn).astype(kind)


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
    b = np.where(b == 0, np.array(3, kind), b).astype(kind)
    if kind in SIGNED:
        b = np.where(b == -1, np.array(-2, kind), b).astype(kind)
    return [a, b], {}


def modulo(rng: Rng, kind: str) -> Case:
    (a, b), _ = divided(rng, kind)
    fmod = int(rng.integers(0, 2))
    if fmod:
        a, b = (np.clip(x, -1000, 1000) if kind in SIGNED else x for x in (a, b))
    return [a.astype(kind), b.astype(kind)], {"fmod": fmod}


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
    return [rng.integers(-3, 4, (2,) * size).astype(kind), *axes], attributes


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


def padded(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    pads = rng.integers(0, 3, 2 * data.ndim)
    return [data, pads, whole(rng, kind)], {}


def clipped(rng: Rng, kind: str) -> Case:
    return [whole(rng, kind, *shapes(rng)[0]), *map(np.asarray, np.sort(whole(rng, kind, 2)))], {}


def summed(rng: Rng, kind: str) -> Case:
    data = whole(rng, kind, *full(rng))
    flags = {name: int(rng.integers(0, 2)) for name in ("exclusive", "reverse")}
    return [data, np.array(axis_of(rng, data))], flags


def one_hot(rng: Rng, kind: str) -> Case:
    indices = rng.integers(-5, 5, shapes(rng)[0])
    return [indices, np.array(3), whole(rng, kind, 2)], {"axis": int(rng.choice([-1, 0]))}


def shifted(rng: Rng, kind: str) -> Case:
    (a, _), _ = pair(rng, kind)
    by = rng.integers(0, 8 * a.dtype.itemsize, a.shape).astype(kind)
    return [a, by], {"direction": str(rng.choice(["LEFT", "RIGHT"]))}


def cast(rng: Rng, kind: str) -> Case:
    to = str(rng.choice([*SIGNED, *UNSIGNED, "bool"]))
    return single(rng, kind)[0], {"to": ir.DataType.from_numpy(np.dtype(to)).value}


ALL, NUMBERS = (*SIGNED, *UNSIGNED, "bool"), (*SIGNED, *UNSIGNED)
WIDE = ("int32", "int64")
CASES: dict[str, tuple[Callable[[Rng, str], Case], tuple[str, ...]]] = {
    "Abs": (single, NUMBERS),
    **dict.fromkeys(("Add", "Sub", "Mul"), (pair, NUMBERS)),
    **dict.fromkeys(("And", "Or", "Xor"), (pair, ("bool",))),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), (pair, NUMBERS)),
    "BitwiseNot": (single, NUMBERS),
    "BitShift": (shifted, UNSIGNED),
    "Cast": (cast, ALL),
    "CastLike": (lambda r, k: ([*single(r, k)[0], whole(r, "int16", 1)], {}), ALL),
    "Clip": (clipped, ("int8", "uint8", "int32", "uint32", "int64", "uint64")),
    "Concat": (
        lambda r, k: (lambda c: ([c[0][0], c[0][0]], c[1]))(along(r, k)),
        ALL,
    ),
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
    "MatMul": (
        lambda r, k: ([whole(r, k, 2, 3), whole(r, k, 3, 2)], {}),
        ("int32", "uint32", "int64", "uint64"),
    ),
    **dict.fromkeys(("Max", "Min"), (several, ("int8", "uint8", *WIDE, "uint32", "uint64"))),
    "Mod": (modulo, NUMBERS),
    "Neg": (single, ("int8", *WIDE)),
    "Not": (single, ("bool",)),
    "OneHot": (one_hot, WIDE),
    "Pad": (padded, ALL),
    "Range": (
        lambda r, k: ([np.asarray(i) for i in r.integers(-20, 20, (3,)).astype(k) | 1], {}),
        WIDE,
    ),
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


def node_of(op: str, arrays: list[np.ndarray], attributes: dict[str, Any]) -> ir.Node:
    values = [ir.Value(name=f"i{n}") for n in range(len(arrays))]
    outputs = 2 if op == "Split" else 1
    proto = onnx.helper.make_node(op, [], [], **attributes)
    found = [ir.serde.deserialize_attribute(a) for a in proto.attribute]
    return ir.Node("", op, values, found, num_outputs=outputs)


def in_onnx_runtime(op: str, case: Case) -> list[np.ndarray] | None:
    arrays, attributes = case
    names, outputs = [f"i{n}" for n in range(len(arrays))], ["a", "b"][: 1 + (op == "Split")]
    node = onnx.helper.make_node(op, names, outputs, **attributes)
    types = [onnx.helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
    given = [
        onnx.helper.make_tensor_value_info(name, kind, a.shape)
        for name, kind, a in zip(names, types, arrays, strict=True)
    ]
    made = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = onnx.helper.make_graph([node], "g", given, made)
    opsets = [onnx.helper.make_opsetid("", VERSION)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model.SerializeToString(), options)
        return list(session.run(None, dict(zip(names, arrays, strict=True))))
    except Exception:  # its errors have no class of their own
        return None


def draws(op: str, count: int) -> Iterator[Case]:
    draw, kinds = CASES[op]
    for number in range(count):
        yield draw(np.random.default_rng([number, len(op)]), kinds[number % len(kinds)])


@pytest.mark.parametrize("op", sorted(KERNELS))
def test_as_onnx_runtime_computes_it(op: str) -> None:
    compared = 0
    for arrays, attributes in draws(op, 60):
        found = compute(node_of(op, arrays, attributes), {f"i{n}": a for n, a in enumerate(arrays)})
        if found is None:
            continue
        expected = in_onnx_runtime(op, (arrays, attributes))
        if expected is None:
            continue
        compared += 1
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype, (arrays, attributes)
            np.testing.assert_array_equal(one, other, f"{arrays} {attributes}", strict=True)
    assert compared >= 20


@pytest.mark.parametrize("op", ["Div", "Mod"])
def test_what_would_end_the_process_is_not_computed(op: str) -> None:
    least = np.iinfo(np.int32).min
    for a, b in ([1, 2], [1, 0]), ([least, 1], [-1, 1]):
        arrays = [np.array(a, np.int32), np.array(b, np.int32)]
        node = node_of(op, arrays, {})
        assert compute(node, {"i0": arrays[0], "i1": arrays[1]}) is None


def test_floats_are_not_computed() -> None:
    arrays = [np.ones(1, np.float32), np.ones(1, np.float32)]
    assert compute(node_of("Add", arrays, {}), {"i0": arrays[0], "i1": arrays[1]}) is None
    to = {"to": onnx.TensorProto.FLOAT}
    assert compute(node_of("Cast", [i64(1)], to), {"i0": i64(1)}) is None


def test_every_operator_is_drawn() -> None:
    assert CASES.keys() == KERNELS.keys()
    rounding = {"Ceil", "Cos", "Exp", "Floor", "IsInf", "IsNaN", "Log", "Pow", "Reciprocal"}
    rounding |= {"Round", "Sigmoid", "Sin", "Sqrt", "Tan", "Tanh"}
    assert constant_runs.COMPUTED - KERNELS.keys() == rounding
