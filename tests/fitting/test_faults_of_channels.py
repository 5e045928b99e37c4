"""Gathers of many floats along the axis of channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.fitting.faults import channels
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse

_TARGET = "standard, faults = [{form = 'gather_as_rows', version = '1'}]"


def model_of(
    shape: Sequence[int],
    axis: int,
    *terms: np.ndarray,
    dtype: str = "float",
    before: Sequence[int] | None = None,
) -> onnx.ModelProto:
    """Return a Gather at a constant, or at a sum of two."""
    text = f"r = Reshape (x, {[*shape]})" if before is not None else ""
    text += "  i = Add (i0, i1)" if len(terms) > 1 else ""
    x, i = "x" if before is None else "r", "i0" if len(terms) == 1 else "i"
    model = parse(f"""g ({dtype}{[*(before or shape)]} x) => ({dtype}[] y) {{
        {text}  y = Gather <axis = {axis}> ({x}, {i}) }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    for k, array in enumerate(terms):
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, f"i{k}"))
    return model


def written(model: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch, most: int = 0) -> list[int]:
    """Write the form, compare, and return the shape of what is gathered."""
    monkeypatch.setattr(channels, "_MOST", most)
    made = onnx_scatterx.optimize(model, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    (x,) = model.graph.input
    shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
    kind = onnx.helper.tensor_dtype_to_np_dtype(x.type.tensor_type.elem_type)
    array = (9 * np.random.default_rng(0).standard_normal(shape)).astype(kind)
    odd = array.copy()
    if kind.kind == "f":
        odd.ravel()[:3] = np.array([np.nan, -np.inf, -0.0])[: odd.size]
    assert_same(model, made, [{"x": array}, {"x": odd}])
    (gather,) = (n for n in nodes(made) if n.op_type == "Gather")
    inferred = onnx.shape_inference.infer_shapes(made, data_prop=True).graph
    values = {v.name: v for v in (*inferred.value_info, *inferred.input)}
    return [d.dim_value for d in values[gather.input[0]].type.tensor_type.shape.dim]


LINE = np.array([[4, 5, 6, 7], [0, 1, 2, 3], [2, 3, -4, -3]])


@pytest.mark.parametrize(
    ("shape", "axis", "read"),
    [
        ([8], 0, [1, 1, 4, 2]),
        ([8, 3], 0, [1, 1, 4, 6]),
        ([8, 8], 1, [8, 8]),
        ([5, 8, 3], 1, [1, 5, 4, 6]),
        ([8, 8, 3], 0, [8, 8, 3]),
        ([2, 8, 8, 3], 1, [1, 2, 4, 48]),
        ([2, 8, 8, 3], 2, [2, 8, 8, 3]),
        ([1, 2, 8, 3, 1], 2, [1, 2, 4, 6]),
        ([2, 1, 8, 3, 1], 2, [2, 1, 8, 3, 1]),
        ([0, 8, 3], 1, [0, 8, 3]),
    ],
)
def test_which_axes(
    shape: list[int], axis: int, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(model_of(shape, axis, LINE), monkeypatch) == read


def test_few_weights_are_left_to_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(model_of([8], 0, LINE), monkeypatch, most=8 * LINE.size) == [8]
    assert written(model_of([8], 0, LINE), monkeypatch, most=8 * LINE.size - 1) == [1, 1, 4, 2]


@pytest.mark.parametrize("dtype", ["int64", "bool", "double"])
def test_other_types_are_left_alone(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(model_of([8], 0, LINE, dtype=dtype), monkeypatch) == [8]


def test_a_reshape_before_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of([8], 0, LINE, before=[2, 2, 2])
    monkeypatch.setattr(channels, "_MOST", 0)
    made = onnx_scatterx.optimize(model, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    assert [n.op_type for n in nodes(made)] == ["Reshape", "Gather", "Reshape"]
    assert written(model, monkeypatch) == [1, 1, 4, 2]


@pytest.mark.parametrize(
    ("starts", "steps", "read"),
    [
        ([[4], [0], [-8]], [0, 1, 2, 3], [1, 1, 2, 4]),
        ([[[4]], [[0]]], [[0, 1]], [1, 1, 4, 2]),
        ([[4], [1]], [0, 1, 2, 3], [8]),  # not from the first position of a row
        ([[2], [4]], [0, 2], [8]),
        ([2, 4], [0, 1], [8]),  # no sum of all starts with all steps
        ([[4, 0]], [[0, 1]], [8]),
    ],
)
def test_positions_that_are_a_sum(
    starts: list[object], steps: list[object], read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of([8], 0, np.array(starts), np.array(steps))
    assert written(model, monkeypatch) == read


@pytest.mark.parametrize("seed", range(20))
def test_drawn_positions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    run, rows, count = (int(n) for n in rng.integers(1, 6, 3))
    n, order = run * rows, rng.integers(-rows, rows, count)
    line = (order[:, None] * run + np.arange(run)).astype(np.int32 if rng.integers(2) else np.int64)
    shape = [[n], [n, 2], [3, n, 2], [2, n, 1, 2]][seed % 4]
    terms = [line[:, :1], line[0] - line[0, 0]] if seed % 3 == 0 else [line]
    read = written(model_of(shape, int(len(shape) > 2), *terms), monkeypatch)
    assert len(read) == 4


@pytest.mark.parametrize("line", [[0, 1, 8], [-9, 1, 2]])
def test_a_gather_that_cannot_run_is_left_alone(
    line: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channels, "_MOST", 0)
    model = model_of([8], 0, np.array(line))
    made = onnx_scatterx.optimize(model, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    assert [n.op_type for n in nodes(made)] == ["Gather"]


def test_the_profile_has_the_fault() -> None:
    (fault,) = (f for f in target_of("rknn").faults if f.form == "gather_as_rows")
    assert "gather_to_conv" in fault.switch
