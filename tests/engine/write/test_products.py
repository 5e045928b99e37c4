"""Gemm by MatMul and Add, if the last bits may differ."""

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import open_session
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
