"""Sines and cosines of a position of the run are rows of a table for some compilers."""

from collections import Counter

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

FAULTS = "static_only = true, faults = [{form = 'table_of_angles', version = '1'}]"
FAULT = target_of(f"standard, {FAULTS}")
F = "float[4] f = {1, 0.3, 0.1, 0.03}, float[4, 1] g = {1, 0.3, 0.1, 0.03}, int64[1] last = {-1}"
STEP = """a = Cast <to = 1> (at)  b = Mul (a, f)  c = Cos (b)  s = Sin (b)
    y = Mul (c, x)  z = Add (s, x)"""


def made(text: str, kind: str = "int64[1]", promise: str = "0 <= at < 50") -> Counter[str]:
    """Return the operators after the form is written; the results are equal at all positions."""
    model = parse(f"""g ({kind} at, int64[1] to, float[4] x) => (float[] y, float[] z)
        <{F}, int64[3] line = {{0, 1, 2}}, float half = {{0.5}}> {{ {text} }}""")
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    promises = [promise, "0 <= to < 50"] if promise else []
    result = onnx_scatterx.optimize(model, target=FAULT, assume=promises).model
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
    x = np.array([1, -2, 3e-5, np.inf], np.float32)
    feeds = [{"at": np.full(shape, n, dtype), "to": np.array([49 - n]), "x": x} for n in range(50)]
    assert_same(model, result, feeds)
    return Counter(node.op_type for node in result.graph.node)


@pytest.mark.parametrize("kind", ["int64[1]", "int32[1]", "int64[1, 1]", "int64"])
def test_a_position(kind: str) -> None:
    operators = made(STEP, kind)
    assert (operators["Cos"], operators["Sin"], operators["Gather"]) == (0, 0, 2)


TABLES = {
    "a product of matrices": """a = Cast <to = 1> (at)  d = Unsqueeze (a, last)  b = MatMul (g, d)
        t = Transpose (b)  w = Concat <axis = -1> (t, t)  c = Cos (w)  y = Mul (c, half)
        z = Neg (x)""",
    "positions that follow one another": """r = Add (line, at)  a = Cast <to = 1> (r)
        d = Unsqueeze (a, last)  b = Mul (d, f)  c = Cos (b)  y = Mul (c, x)  z = Neg (x)""",
    "a sum of two positions": """p = Add (at, to)  a = Cast <to = 1> (p)  b = Mul (a, f)
        c = Cos (b)  y = Mul (c, x)  z = Neg (x)""",
    "an angle that is an output": """a = Cast <to = 1> (at)  b = Mul (a, f)  y = Cos (b)
        z = Neg (x)""",
}


@pytest.mark.parametrize("how", TABLES)
def test_a_table(how: str) -> None:
    operators = made(TABLES[how])
    assert (operators["Cos"], operators["Gather"]) == (0, 1)


def test_two_positions() -> None:
    operators = made("""a = Cast <to = 1> (at)  b = Mul (a, f)  y = Cos (b)
        d = Cast <to = 1> (to)  e = Mul (d, f)  z = Cos (e)""")
    assert (operators["Cos"], operators["Gather"]) == (0, 2)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        (STEP, ""),
        (STEP, "at: nonnegative"),
        (STEP, "-1 <= at < 50"),
        (STEP, "0 <= at <= 65536"),
        (STEP.replace("Mul (a, f)", "Mul (a, x)"), "0 <= at < 50"),
        ("a = Cast <to = 1> (at)  d = Cast <to = 1> (to)  e = Add (a, d)  b = Mul (e, f)"
         "  y = Cos (b)  z = Sin (b)", "0 <= at < 50"),
    ],
)  # fmt: skip
def test_no_table(text: str, promise: str) -> None:
    operators = made(text, promise=promise)
    assert (operators["Cos"], operators["Sin"], operators["Gather"]) == (1, 1, 0)


@pytest.mark.parametrize("target", ["qnn", "rknn"])
@pytest.mark.parametrize(("promise", "refused"), [("0 <= at < 50", 0), ("at: nonnegative", 2)])
def test_devices_refuse_the_angles_that_are_left(target: str, promise: str, refused: int) -> None:
    model = parse(f"g (int64[1] at, float[4] x) => (float[4] y, float[4] z) <{F}> {{ {STEP} }}")
    report = onnx_scatterx.inspect(model, target=target, assume=[promise])
    assert sum(not violation.is_taken for violation in report.violations) == refused
