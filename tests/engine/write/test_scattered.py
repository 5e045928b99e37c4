"""Scatters of elements for a target that wants axes from the front, and few indices."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.profiles import HEAD
from tests.helpers.support import parse

_REDUCTIONS = ("none", "add", "mul", "max", "min")
_TARGET = "standard, limits.ScatterElements.refused = [{from_end = true}, {longer = true}]"


def scattered(
    shape: list[int], count: int, axis: int, reduction: str, kind: str
) -> onnx.ModelProto:
    listed = [count if d == axis % len(shape) else n for d, n in enumerate(shape)]
    dims, many = (", ".join(map(str, sizes)) for sizes in (shape, listed))
    return parse(f"""{HEAD} g ({kind}[{dims}] x, int64[{many}] i, {kind}[{many}] u)
        => ({kind}[{dims}] y) {{
            y = ScatterElements <axis = {axis}, reduction = "{reduction}"> (x, i, u) }}""")


def drawn(model: onnx.ModelProto, axis: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    shapes = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input]
    kind = onnx.helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
    x, u = (rng.integers(-9, 9, shape).astype(kind) for shape in (shapes[0], shapes[2]))
    if kind == np.float32 and u.size > 1:
        u.flat[:2] = np.nan, -0.0
    size = shapes[0][axis]
    return {"x": x, "i": rng.integers(-size, size, shapes[1]), "u": u}


@pytest.mark.parametrize("reduction", _REDUCTIONS)
@pytest.mark.parametrize("kind", ["float", "int64", "int32"])
@pytest.mark.parametrize(
    ("shape", "count", "axis"),
    [
        ([3], 9, 0),
        ([1], 5, -1),
        ([2, 3], 8, -1),
        ([3, 2], 4, 0),
        ([4, 1, 3], 2, -3),
        ([2, 3], 3, 1),
    ],
)
def test_axes_and_lengths(
    shape: list[int], count: int, axis: int, reduction: str, kind: str
) -> None:
    model = scattered(shape, count, axis, reduction, kind)
    passes = ["WriteOtherForms"]
    result = onnx_scatterx.optimize(model, target=_TARGET, passes=passes)
    made = [n for n in result.model.graph.node if n.op_type == "ScatterElements"]
    assert [a.i for n in made for a in n.attribute if a.name == "axis"] == [axis % len(shape)]
    longer = count > shape[axis]
    assert {"Concat", "Slice", "Where"}.isdisjoint(n.op_type for n in result.model.graph.node) is (
        not longer
    )
    assert not result.report.violations
    rng = np.random.default_rng(0)
    feeds = [drawn(model, axis, rng) for _ in range(4)]
    if reduction == "none":  # of equal positions, ONNX leaves open which update is written
        for feed in feeds:
            places = np.arange(count).reshape(
                [-1 if d == axis % len(shape) else 1 for d in range(len(shape))]
            )
            feed["u"] = (feed["i"] % shape[axis] + 0 * places).astype(feed["u"].dtype)
    assert_same(model, result.model, feeds)


@pytest.mark.parametrize("rows", ["K", "0"])
def test_lengths_that_have_no_other_form(rows: str) -> None:
    """Sizes that are not numbers, and data without an element."""
    model = parse(f"""{HEAD} g (float[{rows}] x, int64[4] i, float[4] u) => (float[{rows}] y) {{
        y = ScatterElements <reduction = "add"> (x, i, u) }}""")
    result = onnx_scatterx.optimize(model, target=_TARGET, passes=["WriteOtherForms"])
    assert [n.op_type for n in result.model.graph.node] == ["ScatterElements"]
    (violation,) = result.report.violations
    assert violation.why.endswith("takes no ScatterElements with more indices than data")


@pytest.mark.parametrize("reduction", _REDUCTIONS)
@pytest.mark.parametrize("kind", ["float", "int64", "int32"])
@pytest.mark.parametrize(
    ("shape", "listed", "axis"),
    [
        ([3], [9], 0),
        ([1], [5], -1),
        ([2, 3], [2, 8], -1),
        ([3, 2], [4, 1], 0),
        ([4, 1, 3], [2, 1, 2], -3),
        ([2, 3, 4], [1, 3, 2], 1),
    ],
)
def test_points(shape: list[int], listed: list[int], axis: int, reduction: str, kind: str) -> None:
    """A target that takes a reduction in ScatterND only; indices may be fewer along any axis."""
    dims, many = (", ".join(map(str, sizes)) for sizes in (shape, listed))
    model = parse(f"""{HEAD} g ({kind}[{dims}] x, int64[{many}] i, {kind}[{many}] u)
        => ({kind}[{dims}] y) {{
            y = ScatterElements <axis = {axis}, reduction = "{reduction}"> (x, i, u) }}""")
    target = 'standard, limits.ScatterElements.reductions = ["none"]'
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    made = [n.op_type for n in result.model.graph.node if "Scatter" in n.op_type]
    assert made == ["ScatterElements" if reduction == "none" else "ScatterND"]
    assert not result.report.violations
    rng = np.random.default_rng(0)
    feeds = [drawn(model, axis, rng) for _ in range(4)] if reduction != "none" else []
    assert_same(model, result.model, feeds)


def test_points_that_have_no_other_form() -> None:
    """A target that takes no reduction at all, and sizes that are not numbers."""
    for rows, limit in (("4", 'limits.ScatterND.reductions = ["none"]'), ("K", "dense = false")):
        model = parse(f"""{HEAD} g (float[9] x, int64[{rows}] i, float[{rows}] u) => (float[9] y) {{
            y = ScatterElements <reduction = "max"> (x, i, u) }}""")
        target = f'standard, limits.ScatterElements.reductions = ["none"], {limit}'
        result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
        assert [n.op_type for n in result.model.graph.node] == ["ScatterElements"]
        assert len(result.report.violations) == 1
