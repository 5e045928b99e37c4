"""Integers and bools as floats, for a compiler that computes floats only."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse

COMPARES = ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]


@st.composite
def bools(draw: st.DrawFn, depth: int = 2) -> str:
    """Draw a node that gives bools of 3 x 4, as the tests read nested nodes."""
    kinds = ["compare", "cast", "constant"]
    kind = draw(st.sampled_from([*kinds, "and", "or", "not"] if depth else kinds))
    if kind == "compare":
        a, b = draw(integers(depth)), draw(integers(depth))
        return f"{draw(st.sampled_from(COMPARES))} ({a}, {b})"
    if kind == "cast":
        return f"Cast <to = 9> ({draw(integers(depth))})"
    if kind == "constant":
        return "Identity (mask)"
    if kind == "not":
        return f"Not ({draw(bools(depth - 1))})"
    return f"{kind.title()} ({draw(bools(depth - 1))}, {draw(bools(depth - 1))})"


@st.composite
def integers(draw: st.DrawFn, depth: int = 2) -> str:
    kinds = ["m", "n", "column", "three"]
    kind = draw(st.sampled_from([*kinds, "sum", "difference", "where", "cast"] if depth else kinds))
    if kind in ("sum", "difference"):
        op = "Add" if kind == "sum" else "Sub"
        return f"{op} ({draw(integers(depth - 1))}, {draw(integers(depth - 1))})"
    if kind == "where":
        a, b = draw(integers(depth - 1)), draw(integers(depth - 1))
        return f"Where ({draw(bools(depth - 1))}, {a}, {b})"
    if kind == "cast":
        return f"Cast <to = 7> ({draw(bools(depth - 1))})"
    return "Unsqueeze (v, one)" if kind == "column" else kind


SINKS = [
    "y = Cast <to = 1> (r)",
    "b = Cast <to = 9> (r)  y = Where (b, zero, low)",
    "b = Cast <to = 9> (r)  y = Where (b, low, ones)",
    "b = Cast <to = 9> (r)  y = Where (b, ones, lowest)",
    "b = Cast <to = 9> (r)  y = Where (b, lowest, zero)",
]
HEAD = """g (int64[3, 4] m, int64[1, 4] n, int64[3] v) => (float[A, B] y)
    <int64[1] one = {1}, int64 three = {3}, float zero = {0}, float low = {-1e9},
     float[3, 4] ones = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12},
     bool[1, 4] mask = {1, 0, 1, 1}>"""
PROMISE = ["0 <= m < 2", "0 <= n <= 9", "0 <= v < 5"]


@examples(60)
@given(st.one_of(bools(), integers()), st.sampled_from(SINKS), st.integers(0, 99))
def test_drawn_numbers(text: str, sink: str, seed: int) -> None:
    model = parse(f"{HEAD} {{ r = Identity ({text})  {sink} }}")
    lowest = np.array(-np.inf, np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(lowest, "lowest"))
    result = onnx_scatterx.optimize(model, target="ncnn", assume=PROMISE)
    rng = np.random.default_rng(seed)
    feeds = [
        {
            "m": rng.integers(0, 2, (3, 4)),
            "n": rng.integers(0, 10, (1, 4)),
            "v": rng.integers(0, 5, 3),
        }
        for _ in range(3)
    ]
    assert_same(model, result.model, feeds)


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        ("f = Cast <to = 1> (m)  y = Sub (zero, f)", True),
        ("b = Cast <to = 9> (m)  n1 = Not (b)  y = Where (n1, zero, low)", True),
        ("b = Equal (m, n)  c = And (b, mask)  y = Where (c, zero, low)", True),
        ("b = Equal (m, n)  y = Where (b, ones, low)", True),
        ("b = Equal (m, free)  y = Where (b, ones, low)", False),  # of no known numbers
        ("b = Equal (m, n)  y = Where (b, x, low)", False),  # not with NaNs in x
        ("y = Cast <to = 1> (far)", False),
    ],
)
def test_what_is_written(body: str, taken: bool) -> None:
    head = HEAD.replace("int64[3] v", "int64[3] v, int64 free, int64[2] far, float[3, 4] x")
    model = parse(f"{head} {{ {body} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    promise = [*PROMISE, "0 <= far < 70000"]
    result = onnx_scatterx.optimize(model, target="ncnn", assume=promise)
    kinds = {node.op_type for node in nodes(result.model)}
    assert ("Gather" in kinds) == taken
    assert (not result.report.violations) == taken
