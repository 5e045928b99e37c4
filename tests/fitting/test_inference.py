"""Shapes that ONNX infers in a copy of a model."""

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.fitting.inference import inferred
from tests.helpers.support import parse, run


@pytest.mark.parametrize("step", [-(2**63), -(2**40), -2, 2, 2**40, 2**63 - 1])
@pytest.mark.parametrize("ends", ["[0], [7]", "[-1], [-MAX]", "[3], [-MAX]", "[3], [7]"])
def test_a_step_of_64_bits_takes_the_same_elements(ends: str, step: int) -> None:
    model = parse(f"g (float[7] x) => (float[N] y) {{ y = Slice (x, {ends}, [0], [{step}]) }}")
    (taken,) = run(model, {"x": np.zeros(7, np.float32)})
    copy = inferred(ir.from_proto(model))
    (found,) = (node.outputs[0] for node in copy.graph if node.op_type == "Slice")
    assert found.shape == ir.Shape(taken.shape)
