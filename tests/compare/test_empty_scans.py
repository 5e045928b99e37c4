"""If a Loop runs no iteration, the dims of its empty scan outputs may differ, and nothing else."""

import numpy as np
import onnx
import pytest

from onnx_scatterx.compare.result import Verification
from onnx_scatterx.compare.verifying import verify

HEAD = '<ir_version: 8, opset_import: ["": 18, "local": 1]>'
LOOP = """{f}, {z} = Loop (n, , x) <body = b_{z} (int64 i_{z}, bool on_{z}, float[4] s_{z})
    => (bool go_{z}, float[4] t_{z}, float[?,?] w_{z}) {{
    go_{z} = Identity (on_{z})  t_{z} = Neg (s_{z})  k_{z} = Constant <value_ints = {shape}> ()
    w_{z} = Reshape (s_{z}, k_{z}) }}>"""
PLACES = {
    "graph": "LOOP",
    "Identity": "LOOP_W  z = Identity (w)",
    "If": "z = If (p) <then_branch = yes () => (float[?,?,?] w) { LOOP_W },"
    " else_branch = no () => (float[?,?,?] w2) { LOOP_W2 }>",
    "function": "z = local.held (n, x)",
    "Loop": "h, z = Loop (two, , x) <body = outer (int64 j, bool more, float[4] o)"
    " => (bool still, float[4] same, float[?,?] w) {"
    " still = Identity (more)  same = Identity (o)  LOOP_W }>",
    "Scan": "z = Scan <num_scan_inputs = 1, body = outer (float r) => (float[?,?,?] w) { LOOP_W }>"
    " (x)",
}


def model(place: str, shape: list[int]) -> onnx.ModelProto:
    """A model whose output z has the scan output of a Loop, of this shape, in some place."""

    def loop(name: str) -> str:
        return LOOP.format(f=f"f_{name}", z=name, shape=shape)

    text = PLACES[place]
    for name in ("w2", "w", "z"):
        text = text.replace("LOOP" if name == "z" else f"LOOP_{name.upper()}", loop(name))
    graph = f"""{HEAD} g (float[4] x, int64 n, bool p) => (z) <int64 two = {{2}}> {{ {text} }}
        <domain: "local", opset_import: ["": 18]> held (n, x) => (z) {{ {loop("z")} }}"""
    parsed = onnx.parser.parse_model(graph)
    parsed.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    if place != "function":
        del parsed.functions[:]
    return parsed


def compared(before: onnx.ModelProto, after: onnx.ModelProto, *counts: int) -> Verification:
    feeds = [
        {"x": np.arange(4, dtype=np.float32), "n": np.array(n), "p": np.array(True)} for n in counts
    ]
    return verify(before, after, samples=0, feeds=feeds)


@pytest.mark.parametrize("place", PLACES)
def test_other_dims_of_an_empty_scan_output_are_the_exception(place: str) -> None:
    found = compared(model(place, [4, 1]), model(place, [2, 2]), 0)
    assert found
    assert (found.empty_scans, found.differences) == (1, ())
    assert found.to_dict()["empty_scans"] == 1
    assert "on 1, empty scan outputs have other dims: a Loop ran no iteration" in str(found)


@pytest.mark.parametrize("place", PLACES)
def test_other_dims_are_a_difference_if_the_loop_runs(place: str) -> None:
    found = compared(model(place, [4, 1]), model(place, [2, 2]), 0, 3)
    assert not found
    assert [d.found.kind for d in found.differences] == ["shape"]
    assert found.differences[0].draw.number == -2


CUT = """g (float[4] x, int64[1] n) => (float[?] z) <int64[1] o = {0}, int64[1] a = {A}> {
    y = Slice (x, o, n, o)  w = Unsqueeze (y, a)  z = Identity (w) }"""


def test_other_empty_tensors_are_different() -> None:
    """Neither of a Loop's states nor of other nodes: (0, 1) and (1, 0)."""
    one, other = (onnx.parser.parse_model(HEAD + CUT.replace("A", a)) for a in "01")
    for each in (one, other):
        each.graph.output[0].type.tensor_type.ClearField("shape")
    feeds = [{"x": np.zeros(4, np.float32), "n": np.array([0])}]
    found = verify(one, other, samples=0, feeds=feeds)
    assert not found
    assert found.empty_scans == 0
