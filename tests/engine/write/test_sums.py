"""Sums and means by an Einsum, for a compiler that misreads axes as an input."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same, open_session
from tests.helpers.support import parse

_SIZES = [1, 2, 3, 7, 16, 33]


def model_of(op: str, shape: list[int], axes: list[int] | None, more: str = "") -> onnx.ModelProto:
    """Return a sum behind a Gelu, which the older set lacks that has axes as an attribute."""
    sizes = ", ".join(map(str, shape))
    named = "" if axes is None else f", {axes}"
    model = parse(
        f"g (float[{sizes}] x) => (float[A] y) {{ q = Gelu (x)  y = {op} <{more}> (q{named}) }}",
        opset=20,
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


def operators(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in model.graph.node} - {"Gelu"}


@pytest.mark.parametrize(
    ("op", "shape", "axes", "more", "written"),
    [
        ("ReduceMean", [1, 4, 8], [-1], "keepdims = 1", "Einsum Reshape Div"),
        ("ReduceMean", [2, 4, 5], [2], "keepdims = 0", "Einsum Div"),
        ("ReduceMean", [2, 4, 5], [1, 2], "keepdims = 0", "ReduceMean"),
        ("ReduceMean", [2, 4, 5], [0], "keepdims = 0", "Reshape ReduceMean"),
        ("ReduceMean", [2, 4, 5], [0, 1], "keepdims = 0", "ReduceMean"),
        ("ReduceSum", [1, 4, 5, 6], [3], "keepdims = 0", "Einsum"),
        ("ReduceSum", [1, 4, 5, 6], [2, 3], "keepdims = 0", "ReduceSum"),
        ("ReduceL2", [1, 4, 5, 6], [-1], "keepdims = 1", "Reshape ReduceL2"),
        ("ReduceL2", [1, 4, 5, 6, 7], [1], "keepdims = 1", "Reshape ReduceL2"),
        ("ReduceSum", [2, 1, 3], [0, 2], "keepdims = 1", "ReduceSum"),
        ("ReduceSum", [2, 3], None, "keepdims = 1", "ReduceSum"),
        ("ReduceSum", [2, 3], [], "keepdims = 1, noop_with_empty_axes = 1", "ReduceSum"),
    ],
)
def test_what_is_written(
    op: str, shape: list[int], axes: list[int] | None, more: str, written: str
) -> None:
    model = model_of(op, shape, axes, more)
    result = onnx_scatterx.optimize(model, target="ncnn")
    assert operators(result.model) == set(written.split())
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    assert_same(model, result.model, [{"x": x}])


@pytest.mark.parametrize("seed", range(12))
def test_drawn_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 6))
    shape = [int(n) for n in rng.choice(_SIZES, rank)]
    axes = [rank - 1]
    op, keeps = str(rng.choice(["ReduceSum", "ReduceMean"])), int(rng.integers(2))
    model = model_of(op, shape, axes, f"keepdims = {keeps}")
    result = onnx_scatterx.optimize(model, target="ncnn")
    assert ("Einsum" in operators(result.model)) == (rank > 1 or bool(keeps))
    feeds = []
    for odd in (None, np.inf, np.nan, -0.0, -np.inf):
        x = (rng.standard_normal(shape) * 10 ** rng.uniform(-4, 4)).astype(np.float32)
        if odd is not None:
            x.ravel()[rng.integers(x.size)] = odd
        feeds.append({"x": x})
    assert_same(model, result.model, feeds)


OPS = ["ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMean", "ReduceSum"]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("seed", range(6))
def test_an_axis_of_one_element_beside_another(op: str, seed: int) -> None:
    """Also if the first or the last axes are joined, since the compiler takes 4 dims."""
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.choice(_SIZES, int(rng.integers(1, 5)))]
    axis, keeps = int(rng.integers(len(shape))), int(rng.integers(2))
    model = model_of(op, shape, [axis - int(rng.integers(2)) * len(shape)], f"keepdims = {keeps}")
    target = f"standard, max_rank = 4, limits.{op}.axes_input = 'several', avoid = ['Einsum']"
    result = onnx_scatterx.optimize(model, target=target)
    assert operators(result.model) == {"Reshape", op}
    assert not result.report.violations
    x = (rng.standard_normal(shape) * 10 ** rng.uniform(-2, 2)).astype(np.float32)
    odd = x.copy()
    odd.ravel()[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -0.0])
    assert_same(model, result.model, [{"x": x}, {"x": odd}])


@pytest.mark.parametrize("seed", range(16))
def test_a_norm_as_a_root_of_squares(seed: int) -> None:
    """The bits are the same for any sizes, so no option is needed."""
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.choice([0, 1, 2, 7, 33, 256], int(rng.integers(1, 5)))]
    rank, keeps = len(shape), int(rng.integers(2))
    axes = [int(a) - rank * int(rng.integers(2)) for a in rng.permutation(rank)[: 1 + seed % rank]]
    model = model_of("ReduceL2", shape, axes, f"keepdims = {keeps}")
    target = "standard, limits.ReduceL2.axes_input = false"
    result = onnx_scatterx.optimize(model, target=target)
    assert operators(result.model) == {"ReduceSumSquare", "Sqrt"}
    assert not result.report.violations
    x = (rng.standard_normal(shape) * 10 ** rng.uniform(-20, 20)).astype(np.float32)
    odd = x.copy()
    odd.ravel()[: x.size // 2] = rng.choice([np.nan, np.inf, -0.0, 1e-45])
    assert_same(model, result.model, [{"x": x}, {"x": odd}])


def test_a_norm_of_no_axis_is_no_root() -> None:
    """It gives what it reads, with its sign."""
    model = model_of("ReduceL2", [2, 3], [], "noop_with_empty_axes = 1")
    target = "standard, limits.ReduceL2.axes_input = false"
    assert operators(onnx_scatterx.optimize(model, target=target).model) == {"ReduceL2"}


@pytest.mark.parametrize("op", ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare"])
def test_norms_as_sums(op: str) -> None:
    """Last bits differ, so the option is needed, and the report names the node."""
    model = model_of(op, [2, 5, 6], [1], "keepdims = 1")
    model.graph.node[1].name = "norm"
    kept = onnx_scatterx.optimize(model, target="mnn")
    assert op in operators(kept.model)
    assert len(kept.report.violations) == 1
    done = onnx_scatterx.optimize(model, target="mnn", last_bits=True)
    assert op not in operators(done.model)
    assert not done.report.violations
    assert done.report.defined == ("norm",)
    x = np.abs(np.random.default_rng(0).standard_normal((2, 5, 6))).astype(np.float32)
    before, after = (open_session(m).run(None, {"x": x})[0] for m in (model, done.model))
    np.testing.assert_allclose(before, after, rtol=1e-5)
