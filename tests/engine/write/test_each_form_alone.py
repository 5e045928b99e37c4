"""Each table, extreme and comparison alone: just inside its conditions, and just outside."""

from __future__ import annotations

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx.engine.write.forms import FORMS
from tests.helpers.pair import Feed, assert_same
from tests.helpers.support import parse

_MORE = ("Abs", "Add", "And", "Cast", "MatMul", "Mul", "Or", "Reshape", "Sub", "TopK", "Transpose")
_TABLE = 1 << 17
_MOST = f"Cast <to = 6> (Mod (r, {2**31 - 1}))"
_SMALL = "Sub (Mod (l, 9), 4)"
_REDUCE = ("ReduceMax", "ReduceMin")
_MIRRORS = [("Less", "Greater"), ("Greater", "Less")]
_MIRRORS += [(f"{a}OrEqual", f"{b}OrEqual") for a, b in _MIRRORS]
_OPPOSITES = [("Less", "GreaterOrEqual"), ("Greater", "LessOrEqual"), ("GreaterOrEqual", "Less")]
_OPPOSITES += [("LessOrEqual", "Greater"), ("Less", "LessOrEqual")]
_INT64 = (-(2**63), 2**63 - 1, -1, 0, 1, 2**31, -(2**32))
_INT32 = (-(2**31), 2**31 - 1, -1, 0, 1)

# m is in [0, 5), n in [-2, 3), o in [0, 5), of 3; the other inputs are any numbers of their types.
TABLES = [
    ("bool", "Equal (m, [2])", "Gather", True),
    ("bool", "Equal (n, [2])", "Gather", True),
    ("bool", "Equal ([2], n)", "Gather", True),
    ("bool", "Less (n, [2])", "Gather", True),
    ("bool", "Equal (r, [2])", "Gather", False),
    ("bool", "Equal (m, n)", "Gather", False),
    ("bool", "Equal (Cast <to = 2> (m), Cast <to = 2> (2))", "Gather Cast", False),
    ("bool", "Equal (Unsqueeze (m, [1]), [1, 2])", "Gather Unsqueeze Squeeze", True),
    ("bool", "Equal (Unsqueeze (n, [0]), [[1], [2]])", "Gather Unsqueeze Squeeze", True),
    ("bool", "Equal (n, [[1], [2]])", "Gather", True),
    (
        "bool",
        "Equal (Unsqueeze (n, [0, 2]), [[[1, 2]], [[2, 3]]])",
        "Gather Unsqueeze Squeeze",
        True,
    ),
    ("bool", "Equal (n, [[1]])", "Gather Squeeze", False),  # an axis more
    ("bool", "Equal (o, [0, 1, 2])", "Gather Squeeze", False),  # both vary along the axis
    ("int64", "Mod (n, 2)", "Gather", True),
    ("int64", "Mod (n, -2)", "Gather", False),
    ("int64", "Mod (2, Add (m, 1))", "Gather", False),
    ("int64", "Mod <fmod = 1> (n, 2)", "Gather", False),
    ("int64", "Mul (n, 4294967295)", "Gather", True),
    ("int64", "Mul (n, 4294967296)", "Gather", False),
    ("int64", "Mul (n, -4294967296)", "Gather", False),
    ("int32", "Mul (Cast <to = 6> (n), Cast <to = 6> (2147483647))", "Gather Cast", True),
    ("bool", f"Equal (Mod (r, {_TABLE}), 3)", "Gather Mod", True),
    ("bool", f"Equal (Mod (r, {_TABLE + 1}), 3)", "Gather Mod", False),
    ("bool", f"Equal (Sub (Mod (r, {_TABLE}), {_TABLE}), -3)", "Gather Mod", True),
    ("bool", f"Equal (Sub (Mod (r, {_TABLE + 1}), {_TABLE}), -3)", "Gather Mod", False),
    ("bool", "Equal (Unsqueeze (m, [1]), [0, 1, 2])", "Unsqueeze Squeeze OneHot Cast", True),
]


EXTREMES = [
    ("int64", "Max (r, m)", "Greater Where", True),
    ("int64", "Min (r, m)", "Less Where", True),
    ("int32", "Max (j, Cast <to = 6> (m))", "Greater Where Cast", True),
    ("int64", "Max (r, m, n)", "Greater Where", False),
    ("int64", "Max (m)", "Greater Where", False),
    ("float", "Max (x, y)", "Greater Where", False),
    *[("int64", f"{op} ({v})", "Clip", True) for op in ("Max", "Min") for v in ("r, 3", "[3], r")],
    *[("int32", f"{op} (j, Cast <to = 6> (3))", "Clip Cast", True) for op in ("Max", "Min")],
    ("int64", "Max (r, Size (x))", "Clip", True),
    ("int64", "Max (r, Shape (x))", "Clip", False),  # of one dim
    ("int64", "Max (r, [[3]])", "Clip", False),  # an axis more
    ("int64", "Max (Unsqueeze (r, [1]), [3, 4])", "Clip Unsqueeze", False),
    ("int64", "Max (r, m, 3)", "Clip", False),
    ("float", "Max (x, float 3)", "Clip", False),
    ("int32", "Clip (j, Cast <to = 6> (-1), Cast <to = 6> (7))", "Max Min Cast", True),
    ("int32", "Clip (j, Cast <to = 6> (7), Cast <to = 6> (-1))", "Max Min Cast", True),
    ("int64", "Clip (n, 0)", "Max", True),
    ("int64", "Clip (Mod (r, 2147483648), 5, 7)", "Max Min Mod", True),
    ("int64", "Clip (r, 0, 7)", "Max Min", False),
    ("int64", "Clip (r, 0, 7)", "Greater Less Where", True),
    ("int64", "Abs (r)", "Less Where", True),
    ("int32", "Abs (j)", "Less Where", True),
    ("float", "Abs (x)", "Less Where", False),
    ("int64", "Sign (r)", "Less Where", True),
    ("int32", "Sign (j)", "Less Where", True),
    ("float", "Sign (x)", "Less Where", False),
    ("int64", "Clip (r, 7, 0)", "Greater Less Where", True),
    ("uint8", "Clip (Cast <to = 2> (m), Cast <to = 2> (3))", "Max Cast", False),
    ("float", "Clip (x, float 0, float 1)", "Max Min", False),
    ("uint8", "Max (Cast <to = 2> (m), Cast <to = 2> (m1))", "Greater Where Cast", False),
    ("int64", "Where (c, m, n)", "Mul Add Cast", True),
    ("float", "Where (c, x, y)", "Mul Add Cast", False),
    ("int64", "Where (c, r, n)", "Mul Add Cast", False),
    ("int64", "Where (c, n, r)", "Mul Add Cast", False),
    ("int64", "Where (c, Mod (r, 2147483648), n)", "Mul Add Cast Mod", True),
    ("int64", "Where (c, Mod (r, 2147483649), n)", "Mul Add Cast Mod", False),
    ("int64", "Where (c, n, Sub (m, 2147483647))", "Mul Add Cast", True),
    ("int64", "Where (c, n, Sub (m, 2147483648))", "Mul Add Cast", False),
    ("int32", f"Where (c, {_MOST}, Cast <to = 6> (Sub (m, 1)))", "Mul Add Cast Mod", True),
    ("int32", f"Where (c, {_MOST}, Cast <to = 6> (n))", "Mul Add Cast Mod", False),
    ("int32", f"Where (c, Cast <to = 6> (Sub (m, 1)), {_MOST})", "Mul Add Cast Mod", True),
    ("int32", f"Where (c, Cast <to = 6> (n), {_MOST})", "Mul Add Cast Mod", False),
    *[
        ("int64", f"{op} <keepdims = 0> ({_SMALL}, [1])", "Mod TopK Squeeze", True)
        for op in _REDUCE
    ],
    ("int32", "ReduceMax <keepdims = 1> (k, [1])", "TopK", True),
    ("int64", "ReduceMax <keepdims = 1> (l, [1])", "TopK", False),
    ("float", "ReduceMax (t, [1])", "TopK", False),
    ("int64", "ReduceMax (Cast <to = 7> (e), [1])", "TopK Cast", False),
    ("int32", "ReduceMax (Cast <to = 6> (t), [0, 1])", "TopK Cast", False),
    ("int64", f"ReduceMax ({_SMALL}, [0])", "Mod TopK", False),
    ("int64", f"ReduceMax ({_SMALL}, [0, 1])", "Mod TopK", False),
    ("int64", f"ReduceMax <noop_with_empty_axes = 1> ({_SMALL}, [1])", "Mod TopK", False),
    *[("int64", f"ReduceM{a} ({_SMALL}, [-1])", f"Mod M{a} Slice", True) for a in ("ax", "in")],
    ("int64", "ReduceMax (l, [1])", "Max Slice", False),
    ("int64", f"ReduceMax ({_SMALL}, [0])", "Mod Max Slice", False),
    ("int64", "ReduceMax <keepdims = 0> (Cast <to = 7> (q), [1])", "ReduceSum Cast", True),
    ("int64", "ReduceMax <keepdims = 0> (Cast <to = 7> (q), [0])", "ReduceSum Cast", False),
    ("int64", "ReduceMax (Cast <to = 7> (e), [1])", "ReduceSum Cast", False),
    ("int64", "ReduceMax (Cast <to = 7> (e), [1])", "Max Slice Cast", False),
    ("int64", "ReduceMin (Cast <to = 7> (q), [1])", "ReduceSum Cast", False),
    ("int64", "ReduceMax (Mod (l, 3), [1])", "ReduceSum Cast Mod", False),
    ("int64", "ReduceMax (Sub (Mod (l, 2), 1), [1])", "ReduceSum Cast Mod", False),
    ("int64", "ReduceSum (Mod (l, 5592406), [1])", "MatMul Cast Mod Transpose", True),
    ("int64", "ReduceSum (Mod (l, 5592407), [1])", "MatMul Cast Mod Transpose", False),
    ("int64", "ReduceSum (Sub (Mod (l, 2), 5592405), [1])", "MatMul Cast Mod Transpose", True),
    ("int64", "ReduceSum (Sub (Mod (l, 2), 5592406), [1])", "MatMul Cast Mod Transpose", False),
    (
        "int64",
        "ReduceSum <keepdims = 0> (Cast <to = 7> (p), [0])",
        "MatMul Cast Transpose Squeeze",
        True,
    ),
    ("int64", "ReduceSum (Cast <to = 7> (p), [1])", "MatMul Cast Transpose", False),
    ("int64", "ReduceSum (o, [0])", "MatMul Cast Transpose", False),
]

COMPARISONS = [
    *[
        ("bool", f"Equal ({operands})", f"{ops} And", True)
        for operands in ("r, n", "x, y")
        for ops in ("LessOrEqual GreaterOrEqual", "LessOrEqual", "GreaterOrEqual")
    ],
    ("bool", "Equal (c, d)", "LessOrEqual And", False),
    ("bool", "Equal (r, n)", "Less Greater Or Not", True),
    ("bool", "Equal (r, n)", "Greater Or Not", True),
    ("bool", "Equal (x, y)", "Less Greater Or Not", False),
    ("bool", "Equal (r, n)", "Cast Not", True),
    ("bool", "Equal (j, Cast <to = 6> (n))", "Cast Not", True),
    ("bool", "Equal (x, y)", "Cast Not", False),
    ("bool", "Equal (Cast <to = 2> (m), Cast <to = 2> (m1))", "Cast Not", False),
    *[("bool", f"{a} ({v})", b, True) for a, b in _MIRRORS for v in ("r, n", "x, y")],
    *[("bool", f"{a} (r, n)", f"{b} Not", True) for a, b in _OPPOSITES],
    *[("bool", f"{a} (x, y)", f"{b} Not", False) for a, b in _OPPOSITES],
    *[
        ("bool", "IsNaN (x)", f"{a} Not", a != "Less")
        for a in ("Equal", "Less", "LessOrEqual", "GreaterOrEqual")
    ],
]


def is_written(kind: str, body: str, allowed: str) -> bool:
    """Return whether a target that has so few operators takes the node, which computes the same."""
    op = body.split(" ", 1)[0]
    avoid = {*FORMS, *_MORE, "Gather", "OneHot"} - {"Sub"} - set(allowed.split()) | {op}
    text = f"""g (float[K,5] s, float[3,5] t, int64[K] r, int32[K] j, int32[K,3] k, int64[K,3] l,
        float[K] x, float[K] y, bool[K] c, bool[K] d, bool[K,3] q, bool[3,K] p, bool[K,0] e)
        => ({kind} z) {{
            m = ArgMax <axis = 1, keepdims = 0> (s)  n = Sub (m, 2)  m1 = Sub (m, 0)
            o = ArgMax <axis = 1, keepdims = 0> (t)
            z = {body} }}"""
    model = parse(text)
    target = f"standard, avoid = {sorted(avoid)}".replace("'", '"')
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    assert_same(model, result.model, [drawn(rows) for rows in (0, 1, 9)])
    return op not in {violation.op for violation in result.report.violations}


def drawn(rows: int) -> Feed:
    """Draw inputs of so many rows."""
    rng = np.random.default_rng(rows)
    small, large = (np.array(numbers, np.int64) for numbers in (_INT32, _INT64))
    floats = np.array([0.0, -0.0, np.nan, np.inf, 1], np.float32)
    feed: dict[str, np.ndarray] = {"s": rng.random((rows, 5), np.float32)}
    feed |= {"t": rng.random((3, 5), np.float32), "r": rng.choice(large, rows)}
    feed |= {"j": rng.choice(small, rows).astype(np.int32)}
    feed |= {"k": rng.choice(small, (rows, 3)).astype(np.int32)}
    feed |= {"l": rng.choice(large, (rows, 3))}
    feed |= {name: rng.choice(floats, rows) for name in "xy"}
    shapes = {"c": (rows,), "d": (rows,), "q": (rows, 3), "p": (3, rows), "e": (rows, 0)}
    return feed | {name: rng.random(shape) < 0.4 for name, shape in shapes.items()}


@pytest.mark.parametrize(
    ("kind", "body", "allowed", "expected"), [*TABLES, *EXTREMES, *COMPARISONS]
)
def test_a_form_alone(kind: str, body: str, allowed: str, expected: bool) -> None:
    assert is_written(kind, body, allowed) is expected
