"""Each listed operator computes the same bits at any place, in the installed ONNX Runtime."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper

from onnx_scatterx.engine.plan.last_bits import computes_alike, listed
from tests.helpers.pair import SESSIONS, agree, rejections

_SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 1e-30, 88.0, 2.0)
_SIZES = (1, 2, 3, 7, 16, 31, 65, 1000)
_TYPES = ("float32", "float16", "float64", "int64", "int32", "int8", "uint8", "bool")
_BINARY = {
    *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal"),
    *("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mod", "Mul", "Or"),
    *("PRelu", "Pow", "Sub", "Where", "Xor"),
}


def cases() -> Iterator[tuple[str, str]]:
    for dtype in _TYPES:
        for op in sorted(listed(ir.DataType.from_numpy(np.dtype(dtype)))):
            yield op, dtype


def numbers(rng: np.random.Generator, size: int, dtype: str) -> np.ndarray:
    """Draw floats with all that is special, or integers of the whole type."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(size) < 0.5
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        whole = rng.integers(limits.min, limits.max, size, kind, endpoint=True)
        return np.where(rng.random(size) < 0.5, whole, rng.integers(0, 5, size).astype(kind))
    plain = rng.standard_normal(size) * 10.0 ** rng.integers(-2, 2)
    return np.where(rng.random(size) < 0.2, rng.choice(_SPECIAL, size), plain).astype(kind)


def operands(op: str, size: int, dtype: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw what an operator reads: sometimes one operand is a number."""
    found = {"a": numbers(rng, size, dtype)}
    if op in _BINARY:
        found["b"] = numbers(rng, 1 if op == "Pow" or rng.random() < 0.3 else size, dtype)
    if op in ("Div", "Mod") and found["b"].dtype.kind in "iu":
        found["b"][(found["b"] == 0) | (found["b"] == np.array(-1).astype(dtype))] = 3
    if op == "BitShift":
        found["b"] %= np.iinfo(dtype).bits
    if op == "Where":
        found = {"m": rng.random(size) < 0.5, **found}
    return found


def model(op: str, feed: dict[str, np.ndarray]) -> onnx.ModelProto:
    attributes: dict[str, Any] = {}
    if op == "Mod" and feed["a"].dtype.kind == "f":
        attributes["fmod"] = 1
    if op == "BitShift":
        attributes["direction"] = "LEFT"
    node = helper.make_node(op, list(feed), ["y"], **attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), [None])
        for name, a in feed.items()
    ]
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("op", "dtype"), cases())
def test_the_same_bits_at_any_place(op: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    try:
        session = SESSIONS[1](model(op, operands(op, 2, dtype, rng)))
    except rejections():
        pytest.skip("ONNX Runtime has no kernel")
    for size in _SIZES:
        feed = operands(op, size, dtype, rng)
        (whole,) = session.run(None, feed)
        for share in (0.0, 0.1, 0.6):
            chosen = rng.random(size) < share
            chosen[rng.integers(size)] = True
            part = {n: a[chosen] if len(a) == size else a for n, a in feed.items()}
            (found,) = session.run(None, part)
            # Min and Max of a number and one element may return either zero.
            zeros = op in ("Min", "Max", "Where")
            assert agree(np.broadcast_to(whole, size)[chosen], found, zeros=zeros)


@pytest.mark.parametrize(
    ("domain", "outputs", "attributes", "is_alike"),
    [
        ("", 1, [ir.AttrFloat32("alpha", 0.1)], True),
        ("own", 1, [], False),
        ("", 2, [], False),
        ("", 1, [ir.RefAttr("alpha", "slope", ir.AttributeType.FLOAT)], False),
    ],
)
def test_nodes_of_which_more_must_be_known(
    domain: str, outputs: int, attributes: list[ir.Attr], is_alike: bool
) -> None:
    """Operators of other domains, and attributes that the callers of a function give."""
    node = ir.Node(domain, "LeakyRelu", [ir.Value(name="x")], attributes, num_outputs=outputs)
    assert computes_alike(node, [ir.DataType.FLOAT]) is is_alike
