"""Two sums or products with constants, one behind the other, for a compiler that merges them."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse


def written(form: str, kind: str, text: str, ends: str = "") -> list[str]:
    """Return the operators that are written; the results have the same bits."""
    numbers = ", ".join(map(str, range(1, 17)))
    model = parse(f"""g ({kind}[1, 4, 4] x) => ({kind}[] y{ends})
        <{kind}[4, 4] c = {{{numbers}}}, {kind}[4] k = {{3, 0, -7, 5}}> {{ {text} }}""")
    target = f"standard, static_only = true, faults = [{{form = '{form}', version = '1'}}]"
    made = onnx_scatterx.optimize(model, target=target).model
    rng = np.random.default_rng(0)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
    if dtype.kind == "f":
        drawn = [rng.standard_normal((1, 4, 4)) * 10.0**power for power in (-30, 0, 4, 38)]
        drawn[0][0, 0] = [np.nan, -0.0, np.inf, -np.inf]
        drawn[1][0, 0] = [3, 0, -7, 5]
    else:
        drawn = [rng.integers(-n, n, (1, 4, 4)).astype(float) for n in (9, 1 << 20)]
    assert_same(model, made, [{"x": x.astype(dtype)} for x in drawn])
    return [node.op_type for node in made.graph.node]


@pytest.mark.parametrize(
    ("kind", "text", "operators"),
    [
        ("float", "d = Sub (x, k)  y = Sub (c, d)", ["Add", "Sub"]),
        ("int64", "d = Sub (x, k)  y = Sub (c, d)", ["Add", "Sub"]),
        ("float", "d = Sub (x, k)  y = Sub (d, c)", ["Sub", "Sub"]),
        ("float", "d = Sub (k, x)  y = Sub (c, d)", ["Sub", "Sub"]),
        ("float", "d = Sub (x, k)  y = Sub (x, d)", ["Sub", "Sub"]),
        ("float", "d = Sub (x, k)  e = Sub (c, d)  y = Mul (d, e)", ["Sub", "Sub", "Mul"]),
        ("float", "d = Add (x, k)  y = Sub (c, d)", ["Add", "Sub"]),
    ],
)
def test_a_sum_with_a_negative_constant(kind: str, text: str, operators: list[str]) -> None:
    assert written("sum_for_difference", kind, text) == operators


def test_a_difference_that_is_an_output() -> None:
    text = "d = Sub (x, k)  y = Sub (c, d)"
    assert written("sum_for_difference", "float", text, ", float[] d") == ["Sub", "Sub"]


@pytest.mark.parametrize(
    ("kind", "text", "operators"),
    [
        ("float", "s = Add (x, k)  y = Add (s, c)", ["Add", "Max", "Add"]),
        ("float", "s = Add (k, x)  y = Sub (c, s)", ["Add", "Max", "Sub"]),
        ("float", "s = Div (x, c)  y = Mul (k, s)", ["Div", "Max", "Mul"]),
        ("float", "s = Mul (x, c)  y = Add (s, k)", ["Mul", "Add"]),
        ("float", "s = Add (x, k)  y = Add (s, x)", ["Add", "Add"]),
        ("float", "s = Add (x, x)  y = Add (s, c)", ["Add", "Add"]),
        ("int64", "s = Add (x, k)  y = Add (s, c)", ["Add", "Add"]),
        ("float", "s = Add (x, k)  t = Add (s, c)  y = Mul (s, t)", ["Add", "Add", "Mul"]),
        ("float", "f = ReduceSum <keepdims = 0> (x)  s = Add (f, k)  y = Add (s, k)",
         ["ReduceSum", "Add", "Add"]),
    ],
)  # fmt: skip
def test_a_maximum_between_two_constants(kind: str, text: str, operators: list[str]) -> None:
    """It is written only if two axes are equally long: the compiler then looks at all orders."""
    assert written("apart_from_constant", kind, text) == operators
