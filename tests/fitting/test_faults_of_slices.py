"""Slices of one tensor that cut other numbers of axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

_TARGET = "standard, faults = [{form = 'split_before_slice', version = '1'}]"
_SHAPE = [2, 5, 6, 4]

Bounds = dict[int, tuple[int, int]]


def model_of(*cuts: Bounds, opset: int = 18, chained: bool = False) -> onnx.ModelProto:
    """Return Slices of one tensor, or each of the one before."""
    text, last = "r = Relu (x)", "r"
    for i, cut in enumerate(cuts):
        starts, ends, axes = [a for a, _ in cut.values()], [b for _, b in cut.values()], [*cut]
        text += f"  s{i} = Slice ({last}, {starts}, {ends}, {axes})  y{i} = Neg (s{i})"
        last = f"s{i}" if chained else last
    outputs = ", ".join(f"float[A{i}, B{i}, C{i}, D{i}] y{i}" for i in range(len(cuts)))
    return parse(f"g (float{_SHAPE} x) => ({outputs}) {{ {text} }}", opset=opset)


def splits(model: onnx.ModelProto, *, seed: int = 0) -> int:
    """Write the form, compare, and count the Splits."""
    result = onnx_scatterx.optimize(model, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    assert_same(model, result, [{"x": sample("float32", *_SHAPE, seed=seed)}])
    return sum(node.op_type == "Split" for node in nodes(result))


ONE: Bounds = {1: (1, 3)}
TWO: Bounds = {2: (3, 5), 3: (0, 2)}
THREE: Bounds = {1: (0, 2), 2: (0, 3), 3: (1, 4)}


@pytest.mark.parametrize(
    ("cuts", "count"),
    [
        ([THREE, TWO], 1),
        ([TWO, THREE], 1),
        ([THREE, THREE], 0),
        ([THREE, ONE], 0),  # the compiler broadcasts it
        ([TWO, ONE], 0),
        ([THREE, TWO, {0: (0, 1), **THREE}], 2),
        ([THREE, {**TWO, 1: (0, 5)}], 1),  # a Slice that keeps a whole axis does not cut it
        ([{1: (4, 5), **TWO}, {2: (-3, -1), -1: (1, 99)}], 1),
        ([THREE, {2: (3, 3), 3: (0, 2)}], 0),  # an empty one
    ],
)
def test_which_slices_get_a_split(cuts: Sequence[Bounds], count: int) -> None:
    assert splits(model_of(*cuts)) == count


def test_a_slice_of_a_slice_cuts_the_axes_of_both() -> None:
    model = model_of(TWO, {1: (1, 4)}, chained=True)
    assert splits(model) == 1
    assert splits(model_of(ONE, {2: (0, 3)}, chained=True)) == 0


def test_sizes_that_are_an_attribute_are_not_written() -> None:
    assert splits(model_of(THREE, TWO, opset=11)) == 0


@pytest.mark.parametrize("seed", range(12))
def test_drawn_slices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = []
    for _ in range(int(rng.integers(2, 5))):
        axes = rng.permutation(4)[: int(rng.integers(1, 5))].tolist()
        ends = {axis: sorted(rng.integers(-_SHAPE[axis], _SHAPE[axis] + 2, 2)) for axis in axes}
        cuts.append({axis: (int(a), int(b)) for axis, (a, b) in ends.items()})
    splits(model_of(*cuts, chained=bool(seed % 2)), seed=seed)


@pytest.mark.parametrize("bounds", ["[0, 1], [2], [1, 2]", "[0, 1], [2, 3], [1, 9]"])
def test_a_slice_that_cannot_run_is_left_alone(bounds: str) -> None:
    model = parse(f"""g (float{_SHAPE} x) => (float[] y, float[] z) {{
        y = Slice (x, [0, 0, 0], [1, 1, 1], [1, 2, 3])  z = Slice (x, {bounds}) }}""")
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    result = onnx_scatterx.optimize(model, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    assert [node.op_type for node in nodes(result)] == ["Slice", "Slice"]
