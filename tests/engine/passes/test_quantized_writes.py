"""Random writes between quantizers: on integers exactly if all scales are one."""

import dataclasses
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import onnx
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

import onnx_scatterx
from tests.helpers.pair import Pair
from tests.helpers.quantized import LIMITS, SCALES, quantizers
from tests.helpers.support import optimize, sample


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A model with a write between quantizers, and whether all their scales are one."""

    model: onnx.ModelProto
    feed: dict[str, np.ndarray]
    is_one: bool
    dtype: str


@st.composite
def quantized_writes(draw: st.DrawFn) -> Drawn:
    """Draw a write of rows, elements or single positions, with what may stand around it."""
    dtype = draw(st.sampled_from(["int8", "uint8", "int8", "uint8", "int16", "uint16"]))
    wide = dtype.endswith("16")
    domain = draw(st.sampled_from(["", "com.microsoft"])) if wide else ""
    opsets = [13, 18, 21]
    opset = 21 if wide and not domain else draw(st.sampled_from(opsets))
    rows, columns, count = draw(st.tuples(*[st.integers(1, 4)] * 2, st.integers(0, 3)))
    axis = draw(st.sampled_from([None, None, 0, 1]))
    channels = () if axis is None else ((rows, columns)[axis],)
    number = st.integers(int(LIMITS[dtype].min), int(LIMITS[dtype].max))

    def quantization() -> tuple[np.ndarray, np.ndarray]:
        size = int(np.prod(channels, dtype=int))
        scale = draw(st.lists(SCALES, min_size=size, max_size=size))
        zero = draw(st.lists(number, min_size=size, max_size=size))
        return (
            np.array(scale, np.float32).reshape(channels),
            np.array(zero, dtype).reshape(channels),
        )

    one = quantization()
    other = quantization()
    chosen = draw(st.sampled_from([(one,) * 3] * 3 + [*product((one, other), repeat=3)]))
    pairs = list(chosen)
    op = draw(st.sampled_from(["ScatterND", "ScatterElements"]))
    positions = (
        draw(
            st.lists(
                st.integers(-rows, rows - 1),
                min_size=count,
                max_size=count,
                unique_by=lambda p: p % rows,
            )
        )
        if count <= rows
        else []
    )
    indices = np.array(positions, np.int64).reshape(-1, 1)
    if op == "ScatterElements":
        indices = np.broadcast_to(indices, (len(positions), columns))
    transposed = draw(st.booleans())
    made, constants = [], {"i": np.ascontiguousarray(indices)}

    def quantizer(kind: str, given: str, result: str, which: int, along: int | None) -> None:
        scale, zero = pairs[which]
        constants.update({f"s{which}": scale, f"z{which}": zero})
        attributes: dict[str, Any] = (
            {} if along is None else {"axis": along - 2 * draw(st.booleans())}
        )
        inputs = [given, f"s{which}", f"z{which}"]
        made.append(helper.make_node(kind, inputs, [result], domain=domain, **attributes))

    shape = (columns, rows) if transposed else (rows, columns)
    moved = axis if axis is None or not transposed else 1 - axis
    quantizer("DequantizeLinear", "x", "a", 0, moved)
    quantizer("DequantizeLinear", "u", "b", 1, axis)
    data = "a"
    if transposed:
        made.append(helper.make_node("Transpose", ["a"], ["p"]))
        data = "p"
    made.append(helper.make_node(op, [data, "i", "b"], ["c"]))
    result = "c"
    if transposed:
        made.append(helper.make_node("Transpose", ["c"], ["d"]))
        result = "d"
    quantizer("QuantizeLinear", result, "y", 2, moved)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        made,
        "g",
        [
            helper.make_tensor_value_info("x", kind, shape),
            helper.make_tensor_value_info("u", kind, (len(positions), columns)),
        ],
        [helper.make_tensor_value_info("y", kind, shape)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    seed = draw(st.integers(0, 99))
    feed = {
        "x": sample(dtype, *shape, seed=seed),
        "u": sample(dtype, len(positions), columns, seed=seed),
    }
    same = all(a.tobytes() == b.tobytes() for p in pairs for a, b in zip(p, pairs[0], strict=True))
    return Drawn(model, feed, same, dtype)


@given(quantized_writes())
def test_random_writes(drawn: Drawn) -> None:
    made = optimize(drawn.model)
    pair = Pair(drawn.model, made)
    pair.accepts(drawn.feed)
    before, after = Counter(quantizers(drawn.model)), Counter(quantizers(made))
    assert not after - before  # none is moved or doubled
    (entry,) = onnx_scatterx.inspect(drawn.model, target="standard").scatters
    assert (entry.quantized == f"on {drawn.dtype}") == (not after)
    assert drawn.is_one or after
