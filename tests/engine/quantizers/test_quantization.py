"""Quantization: if it is called exact, each integer is the same after both quantizers."""

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from onnx_scatterx.engine.quantizers.quantization import Quantization, operands_of, quantization_of
from tests.helpers.pair import SESSIONS, rejections
from tests.helpers.quantized import LIMITS, SCALES
from tests.helpers.support import parse


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


@pytest.mark.parametrize(
    ("kind", "point"), [("INT8", -128), ("INT8", 127), ("UINT8", 0), ("UINT8", 255)]
)
def test_255_steps_may_be_more_than_a_float16_holds(kind: str, point: int) -> None:
    integers = ir.DataType[kind]
    zero = np.array(point, integers.numpy()).tobytes()
    for step, is_exact in ((256, True), (258, False)):
        scale = np.array(step, np.float16).tobytes()
        found = Quantization(integers, ir.DataType.FLOAT16, scale, zero, None)
        assert found.is_exact == is_exact


@pytest.mark.parametrize(
    ("node", "is_known"),
    [
        ("DequantizeLinear (x, s, z)", True),
        ("DequantizeLinear <output_dtype = 1> (x, s, z)", True),
        ("DequantizeLinear <output_dtype = 10> (x, s, z)", False),  # not the type of the scale
        ("DequantizeLinear (x, s, fed)", False),
        ("DequantizeLinear (x, s, wide)", False),  # not the type of the integers
        ("DequantizeLinear (x, s, two)", False),
        ("DequantizeLinear <block_size = 2> (x, s, z)", False),
        ("DequantizeLinear <saturate: int = @saturate> (x, s, z)", False),
        ("Clip (x, s, z)", False),
    ],
)
def test_parameters_that_are_not_known(node: str, is_known: bool) -> None:
    model = parse(
        f"""g (int8[2] x, int8 fed) => (float[2] y) <float s = {{0.5}}, int8 z = {{3}},
        int16 wide = {{3}}, int8[2] two = {{3, 4}}> {{ y = {node} }}""",
        23,
    )

    def array(value: ir.Value) -> np.ndarray | None:
        return None if value.const_value is None else value.const_value.numpy()

    found = quantization_of(ir.from_proto(model).graph[0], array, ir.DataType.INT8)
    assert (found is not None) == is_known


@pytest.mark.parametrize(
    ("node", "moved"),
    [
        ("Transpose (a)", [0]),
        ("Gather (a, i)", [0]),
        ("Slice (a, i, i)", [0]),
        ("Reshape (a, i)", [0]),
        ("ScatterND (a, i, b)", [0, 2]),
        ("ScatterElements (a, i, b)", [0, 2]),
        ("TensorScatter (a, b, i)", [0, 1]),
        ("Where (c, a, b)", [1, 2]),
        ("Concat <axis = 0> (a, b, a)", [0, 1, 2]),
        ("Add (a, b)", []),
        ("other.Transpose (a)", []),
    ],
)
def test_inputs_whose_elements_are_moved(node: str, moved: list[int]) -> None:
    model = ir.from_onnx_text(f"""<ir_version: 10, opset_import: ["" : 24, "other" : 1]>
        g (float[2] a, float[2] b, int64[2] i, bool[2] c) => (float[?] y) {{ y = {node} }}""")
    assert operands_of(model.graph[0]) == moved
