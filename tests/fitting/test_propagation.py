"""Shape inference that follows values: no declared length costs memory, and no shape is lost."""

import multiprocessing
import resource
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.fitting.inference import inferred
from onnx_scatterx.fitting.propagation import MOST, let_onnx_infer

HEAD = '<ir_version: 8, opset_import: ["" : 18, "f" : 1]> '
LONG = 1 << 62
_STATM = Path("/proc/self/statm")
DOUBLED = " ".join(f"c{i + 1} = Concat <axis = 0> (c{i}, c{i})" for i in range(45))
CASES = {
    "an input": (
        f"(float[{LONG}] x) => (float[?] y) <int64[1] a = {{0}}, int64[1] b = {{2}}> "
        "{ y = Slice (x, a, b) }",
        [2],
    ),
    "casts": (
        f"(int64[{LONG}] x) => (int64[?] y) {{ a = Cast <to = 6> (x) y = Cast <to = 7> (a) }}",
        [LONG],
    ),
    "indices": (f"(float[9] x, int64[{LONG}] i) => (float[?] y) {{ y = Gather (x, i) }}", [LONG]),
    "a size": (f"(float[{LONG}] x) => (int64 y) {{ y = Size (x) }}", []),
    "a range": (
        f"(float[2] x) => (int64[?] y) <int64 z = {{0}}, int64 n = {{{LONG}}}, int64 o = {{1}}> "
        "{ r = Range (z, n, o) y = Add (r, r) }",
        [LONG],
    ),
    "a size that follows from values": (
        "(float[1073741824, 1073741824] x) => (float[?] y) <int64[1] k = {1}, float one = {1}> "
        "{ s = Shape (x) t = Gather (s, k) n = Mul (t, k) c = ConstantOfShape (n)"
        " y = Add (c, one) }",
        [1 << 30],
    ),
    "a flattened tensor": (
        "(float[1073741824, 1073741824] x, float[1] u) => (float[?] y) <int64[1] m = {-1}> "
        "{ s = Shape (x) e = Expand (u, s) r = Reshape (e, m) y = Concat <axis = 0> (r, r) }",
        [1 << 61],
    ),
    "a row": (f"(float[1, {LONG}] x) => (float[?] y) {{ r = Squeeze (x) y = Mul (r, r) }}", [LONG]),
    "doublings": (
        f"(int64[2] x) => (int32[?] y) {{ c0 = Identity (x) {DOUBLED} y = Cast <to = 6> (c45) }}",
        [1 << 46],
    ),
    "doubled rows": (
        "(float[3, 4] x) => (int32[?, 2] y) <int64[1] k = {0}> "
        f"{{ s = Shape (x) c0 = Unsqueeze (s, k) {DOUBLED} y = Cast <to = 6> (c45) }}",
        [1 << 45, 2],
    ),
    "branches": (
        f"(bool c, float[{LONG}] x) => (float[?] y) {{ y = If (c) <"
        "then_branch = t () => (float[?] p) { p = Add (x, x) }, "
        "else_branch = e () => (float[?] q) { q = Mul (x, x) }> }",
        [LONG],
    ),
    "a function": (
        f"(float[{LONG}] x) => (float[?] y) {{ y = f.twice (x) }} "
        '<domain: "f", opset_import: ["" : 18]> twice (a) => (b) { b = Add (a, a) }',
        [LONG],
    ),
}


def _within_memory(text: str, dims: list[int]) -> None:
    """Infer shapes with 1 GB more than the process has; a crash ends the process."""
    model = ir.from_onnx_text(HEAD + "g " + text)
    used = int(_STATM.read_text(encoding="ascii").split()[0])
    limit = used * resource.getpagesize() + (1 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    (output,) = inferred(model).graph.outputs
    shape = [] if output.shape is None else list(output.shape)
    raise SystemExit(0 if shape == dims else f"{shape}, not {dims}")


@pytest.mark.skipif(not _STATM.exists(), reason="needs a fork, and Linux to count memory")
@pytest.mark.parametrize("name", CASES)
def test_long_tensors_cost_no_memory_and_keep_their_shape(name: str) -> None:
    child = multiprocessing.get_context("fork").Process(target=_within_memory, args=CASES[name])
    child.start()
    child.join()
    assert child.exitcode == 0


def test_values_are_followed_past_tensors_of_unknown_length() -> None:
    """What is computed from values that are known is as ONNX infers it."""
    text = """(float[N, 6, 4] x, int64[M] i, float[1] u) => (float[?, ?] y, float[?, ?, ?] z)
        <int64[1] k = {1}, int64[1] m = {-1}, int64[2] t = {0, -1}, int64[3] f = {1, 2, 3}> {
        s = Shape (x)  n = Gather (s, k)  j = Add (i, n)  c = ConstantOfShape (n)
        d = Concat <axis = 0> (c, c)  e = Shape (d)  w = Concat <axis = 0> (e, n)
        y = Expand (u, w)  h = Mul (s, f)  q = Concat <axis = 0> (n, n, m)  z = Reshape (x, q) }"""
    model = ir.from_onnx_text(HEAD + "g " + text)
    expected = onnx.shape_inference.infer_shapes(ir.to_proto(model), data_prop=True)
    let_onnx_infer(model, follow=True)
    found = {v.name: list(v.shape) for v in model.graph.outputs if v.shape is not None}
    for value in expected.graph.output:
        dims = value.type.tensor_type.shape.dim
        assert [n if isinstance(n, int) else 0 for n in found[value.name]] == [
            dim.dim_value for dim in dims
        ]
    assert found["y"] == [12, 6]
    assert found["z"][:2] == [6, 6]


@pytest.mark.parametrize("count", [1, MOST, MOST + 1])
def test_a_long_constant_keeps_its_length(count: int) -> None:
    made = f"c = Constant <value_ints = {[1] * count}> ()"
    text = f"(float[2] x) => (int64[?] y) {{ {made} y = Add (c, c) }}"
    model = ir.from_onnx_text(HEAD + "g " + text)
    let_onnx_infer(model, follow=True)
    assert list(model.graph.outputs[0].shape or ()) == [count]
    assert {node.domain for node in model.graph} == {""}
    assert list(model.opset_imports) == ["", "f"]
