"""Gemm by MatMul and Add, if the last bits may differ, and MatMul of operands of one rank."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same, open_session
from tests.helpers.support import parse

LACKS = "standard, avoid = ['Gemm']"


@pytest.mark.parametrize(
    ("attributes", "a", "b", "c", "written"),
    [
        ("alpha = 1.0", "5, 300", "300, 4", "4", "MatMul Add"),
        ("transB = 1", "5, 300", "4, 300", "5, 1", "Transpose MatMul Add"),
        ("transA = 1, transB = 1", "300, 5", "4, 300", "", "Transpose Transpose MatMul Add"),
        ("alpha = -0.5, beta = 0.25", "5, 7", "7, 4", "1, 4", "MatMul Mul Mul Add"),
        ("beta = 0.0", "1, 7", "7, 4", "4", "MatMul"),
        ("alpha = 3.0", "0, 7", "7, 4", None, "MatMul Mul"),
    ],
)
def test_gemm(attributes: str, a: str, b: str, c: str | None, written: str) -> None:
    third = ("", "") if c is None else (f", float[{c}] c" if c else ", float c", ", c")
    model = parse(
        f"g (float[{a}] a, float[{b}] b{third[0]}) => (float[M, N] y) "
        f"{{ y = Gemm <{attributes}> (a, b{third[1]}) }}"
    )
    kept = onnx_scatterx.optimize(model, target=LACKS)
    assert [node.op_type for node in kept.model.graph.node] == ["Gemm"]
    result = onnx_scatterx.optimize(model, target=LACKS, last_bits=True)
    nodes = sorted(node.op_type for node in result.model.graph.node)
    assert nodes == sorted(written.split())
    assert (result.report.defined, result.report.violations) == (("y",), ())
    rng = np.random.default_rng(0)
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input
    }
    feed = {n: np.asarray(rng.standard_normal(s), np.float32) for n, s in shapes.items()}
    for fused in (False, True):
        (x,), (y,) = (open_session(m, fused=fused).run(None, feed) for m in (model, result.model))
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-5 * (1 + np.abs(x).max(initial=0)))


def test_a_constant_is_transposed_and_the_command_is_printed() -> None:
    """A linear layer as it is exported."""
    numbers = ", ".join(map(str, range(6)))
    model = parse(f"""g (float[5, 3] x) => (float[5, 2] y)
        <float[2, 3] w = {{{numbers}}}, float[2] c = {{1, 2}}> {{
            y = Gemm <transB = 1> (x, w, c) }}""")
    (advice,) = onnx_scatterx.advise(model, target=LACKS)
    assert [way.command.rpartition(" ")[2] for way in advice.ways] == ["--last-bits"]
    result = onnx_scatterx.optimize(model, target=LACKS, last_bits=True)
    assert [node.op_type for node in result.model.graph.node] == ["MatMul", "Add"]
    assert onnx_scatterx.verify(model, result.model, samples=3).same


UNLIKE = (
    "standard, limits.MatMul.refused = "
    "[{rank_of = {A = [3], B = [2, 4]}}, {rank_of = {A = [2, 4], B = [3]}}]"
)


@pytest.mark.parametrize(
    ("a", "b", "written"),
    [
        ([1, 4, 5, 33], [4, 33, 6], "Reshape MatMul"),
        ([4, 1, 33], [2, 4, 33, 6], "Reshape MatMul"),
        ([5, 33], [3, 33, 6], "Reshape MatMul"),
        ([3, 5, 33], [33, 6], "Reshape MatMul"),
        ([2, 4, 0, 33], [4, 33, 6], "MatMul"),
        ([2, 4, 5, 33], [33, 6], "MatMul"),
    ],
)
@pytest.mark.parametrize("kind", ["float", "int32"])
@pytest.mark.parametrize("stored", [False, True])
def test_operands_of_one_rank(
    a: list[int], b: list[int], written: str, kind: str, stored: bool
) -> None:
    rng, dtype = np.random.default_rng(0), {"float": np.float32, "int32": np.int32}[kind]
    feed = {n: (9 * rng.standard_normal(s)).astype(dtype) for n, s in (("a", a), ("b", b))}
    model = parse(f"g ({kind}{a} a, {kind}{b} b) => ({kind}[] y) {{ y = MatMul (a, b) }}")
    if stored:
        model.graph.initializer.append(onnx.numpy_helper.from_array(feed.pop("b"), "b"))
        del model.graph.input[1]
        written = written.replace("Reshape ", "") if len(b) < len(a) else written
    result = onnx_scatterx.optimize(model, target=UNLIKE)
    assert [node.op_type for node in result.model.graph.node] == written.split()
    assert bool(result.report.violations) == (0 in a)
    assert_same(model, result.model, [feed])
