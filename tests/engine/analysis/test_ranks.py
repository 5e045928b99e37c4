"""Ranks that are known although nothing else is: signals, windows, layers of unknown weights."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.helpers.support import parse

RANKS = {
    "STFT (x3, n, window)": 4,
    "MelWeightMatrix (n, n, n, f, f)": 2,
    "HannWindow (n)": 1,
    "DFT (x4, n)": 4,
    'Conv <auto_pad = "SAME_UPPER"> (x4, unknown)': 4,
    "ConvTranspose <output_shape = [3, 3]> (x4, unknown)": 4,
    "MaxPool <kernel_shape = [2, 2], ceil_mode = 1> (x4)": 4,
    "LSTM <hidden_size = 3> (x3, unknown, unknown)": 4,
    "com.microsoft.BiasGelu (x4, unknown)": 4,
    "com.microsoft.FusedMatMul (x4, x4)": 4,
    "com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1> (x3)": 3,
}


@pytest.mark.parametrize(("node", "rank"), RANKS.items(), ids=RANKS)
def test_a_rank_is_known(node: str, rank: int) -> None:
    text = f"""g (float[A,B,C] x3, float[A,B,C,D] x4, int64 n, float f, float[W] window, float y0)
        => (y) {{ unknown = Squeeze (x4)  y = {node} }}"""
    proto = parse(text, 18)
    proto.opset_import.add(domain="com.microsoft", version=1)
    model = ir.from_proto(proto)
    found = interpret(model).values[model.graph.outputs[0]]
    assert found.rank == rank
