"""Conditions that are stored as another number than 0 or 1: a proof says so and believes none."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import outcome


@pytest.mark.parametrize("count", [40, 1 << 21])  # of more than 1 MB, the bytes are not kept
def test_a_condition_that_is_a_byte_of_two(count: int, tmp_path: Path) -> None:
    """ONNX Runtime keeps the bytes of external data: a Cast gives 2."""
    paths = []
    for byte in (2, 1):
        made = parse(
            f"g (int64[N, {count}] x) => (int64[M, K] y) {{ c = Cast<to = 7> (w) y = Add (x, c) }}"
        )
        tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.BOOL, dims=[count])
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=f"{byte}.bin")
        made.graph.initializer.append(tensor)
        (tmp_path / f"{byte}.bin").write_bytes(bytes([1, byte]) * (count // 2))
        (tmp_path / f"{byte}.onnx").write_bytes(made.SerializeToString())
        paths.append(tmp_path / f"{byte}.onnx")
    assert "has an element that is neither 0 nor 1" in str(prove(paths[0], paths[0]))
    assert "has an element that is neither 0 nor 1" in str(prove(*paths))
    assert prove(paths[1], paths[1]).proven


@pytest.mark.parametrize("filled", [False, True])
def test_a_condition_that_is_256(filled: bool) -> None:
    """For onnx it is false, as its last byte is 0, and for ONNX Runtime it is true."""
    nodes = "s = Shape (x) w = ConstantOfShape (s) " if filled else ""
    text = f"g (bool[N] x) => (bool[M] y) {{ {nodes} y = And (x, w) }}"
    one, other = parse(text), parse(text)
    for made, number in ((one, 256), (other, 0)):
        tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.BOOL, dims=[1])
        tensor.int32_data.append(number)
        if filled:
            made.graph.node[1].attribute.append(onnx.helper.make_attribute("value", tensor))
        else:
            made.graph.initializer.append(tensor)
    assert outcome(one, {"x": np.ones(1, bool)}) != outcome(other, {"x": np.ones(1, bool)})
    assert "has an element that is neither 0 nor 1" in str(prove(one, other))
    assert prove(other, other).proven
