"""Operators of any number of operands, for compilers that take two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

_SHAPES = [[6, 7], [1, 7], [6, 1], [7], [], [1, 1], [0, 7]]
_TYPES: dict[str, type[Any]] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "int32": np.int32,
    "int64": np.int64,
}
_ODD = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45)


def written(op: str, count: int, dtype: str = "float", target: str = "ncnn") -> list[str]:
    names = [f"x{i}" for i in range(count)]
    inputs = ", ".join(f"{dtype}[4, 6] {name}" for name in names)
    model = parse(f"g ({inputs}) => ({dtype}[4, 6] y) {{ y = {op} ({', '.join(names)}) }}")
    report = onnx_scatterx.optimize(model, target=target)
    return [node.op_type for node in report.model.graph.node]


def test_what_is_written() -> None:
    assert written("Max", 2) == ["Max"]
    assert written("Max", 3) == ["Max"] * 2
    assert written("Min", 5) == ["Min"] * 4
    assert written("Sum", 3) == ["Sum"]
    assert written("Sum", 3, target="mnn") == ["Add"] * 2
    assert written("Sum", 2, target="tflite") == ["Add"]
    assert written("Mean", 2, target="tract") == ["Add", "Mul"]
    assert written("Mean", 3, target="opencv") == ["Mean"]
    assert written("Mean", 4, target="opencv") == ["Add"] * 3 + ["Mul"]
    assert written("Mean", 3, target="standard") == ["Mean"]


@pytest.mark.parametrize("op", ["Max", "Min", "Sum", "Mean"])
def test_one_operand_is_read_itself(op: str) -> None:
    model = parse(f"g (float[4] x) => (float[4] y) {{ a = {op} (x)  y = Neg (a) }}")
    result = onnx_scatterx.optimize(model, target="standard, avoid = ['Max', 'Min', 'Sum', 'Mean']")
    assert not any(node.op_type == op for node in result.model.graph.node)
    assert_same(model, result.model, [{"x": np.array([0.0, -0.0, np.nan, 1.0], np.float32)}])


@pytest.mark.parametrize("seed", range(40))
def test_drawn_operands(seed: int) -> None:
    rng = np.random.default_rng(seed)
    op = str(rng.choice(["Max", "Min", "Sum", "Mean"]))
    types = {"Mean": ["float"], "Sum": ["float", "double"]}.get(op, list(_TYPES))
    dtype, count = str(rng.choice(types)), int(rng.integers(1, 6))
    shapes = [_SHAPES[i] for i in rng.integers(0, len(_SHAPES) - (seed % 4 > 0), count)]
    if [0, 7] in shapes:
        shapes = [[0 if n == 6 else n for n in shape] for shape in shapes]
    feed = {f"x{i}": _drawn(rng, shape, dtype) for i, shape in enumerate(shapes)}
    inputs = ", ".join(f"{dtype}{[*a.shape]} {name}" for name, a in feed.items())
    model = parse(f"g ({inputs}) => ({dtype}[A] y) {{ y = {op} ({', '.join(feed)}) }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    refused = f"limits = {{{op} = {{refused = [{{more_inputs = 2}}]}}}}"
    result = onnx_scatterx.optimize(model, target=f"standard, {refused}")
    if count > 2:
        assert len(result.model.graph.node) >= count - 1
    assert_same(model, result.model, [feed])


def _drawn(rng: np.random.Generator, shape: list[int], dtype: str) -> np.ndarray:
    """Return any integers of a type, or floats with odd ones among them."""
    kind = _TYPES[dtype]
    if dtype.startswith("int"):
        ends = np.iinfo(kind)
        return rng.integers(ends.min, ends.max, shape, kind, endpoint=True)
    array = np.asarray(rng.standard_normal(shape) * 10.0 ** rng.integers(-4, 4))
    chosen = rng.random(shape) < 0.2
    odd = rng.choice([*_ODD, float(np.finfo(kind).max)], shape)
    return np.where(chosen, odd, array).astype(kind)
