"""Casts to the type that their input has, for targets without Cast."""

from __future__ import annotations

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

ODD = np.array([np.nan, -0.0, np.inf, 1e-40, 3.5], np.float32)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("c = Cast <to = 1> (x)  y = Exp (c)", ["Exp"]),
        ("c = Exp (x)  y = Cast <to = 1> (c)", ["Exp", "Identity"]),
        ("y = Cast <to = 1> (x)", ["Identity"]),
        ("c = Cast <to = 11> (x)  y = Cast <to = 1> (c)", ["Cast", "Cast"]),
    ],
)
def test_a_cast_to_its_own_type_is_left_out(body: str, left: list[str]) -> None:
    model = parse(f"g (float[5] x) => (float[5] y) {{ {body} }}")
    result = onnx_scatterx.optimize(model, target="standard, avoid = ['Cast']")
    assert [node.op_type for node in result.model.graph.node] == left
    assert bool(result.report.violations) == ("Cast" in left)
    assert_same(model, result.model, [{"x": ODD}])
