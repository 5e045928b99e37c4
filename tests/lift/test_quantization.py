"""Quantization: if it is called exact, each integer is the same after both quantizers."""

import numpy as np
import onnx_ir as ir
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from onnx_scatterx.optimizer.lift.quantization import Quantization
from tests.helpers.pair import SESSIONS, rejections
from tests.helpers.quantized import LIMITS, SCALES


@given(
    st.sampled_from(sorted(LIMITS)),
    SCALES,
    st.integers(0, 2**16 - 1),
    st.sampled_from(["float32", "float16"]),
)
def test_what_is_called_exact_is_exact(dtype: str, scale: float, point: int, floats: str) -> None:
    zero = np.array(point, np.uint16).astype(dtype)
    with np.errstate(over="ignore"):
        array = np.array(scale).astype(floats)
    f = helper.np_dtype_to_tensor_dtype(np.dtype(floats))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    found = Quantization(ir.DataType(kind), ir.DataType(f), array.tobytes(), zero.tobytes(), None)
    if not found.is_exact:
        return
    numbers = np.arange(LIMITS[dtype].min, LIMITS[dtype].max + 1).astype(dtype)
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f"]),
            helper.make_node("QuantizeLinear", ["f", "s", "z"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", kind, [len(numbers)])],
        [
            helper.make_tensor_value_info("y", kind, [len(numbers)]),
            helper.make_tensor_value_info("f", f, [len(numbers)]),
        ],
        [numpy_helper.from_array(array, "s"), numpy_helper.from_array(zero, "z")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    for load in SESSIONS:
        try:
            session = load(model)
        except rejections():
            return  # there is no kernel for this type
        assert np.array_equal(session.run(["y"], {"x": numbers})[0], numbers)
