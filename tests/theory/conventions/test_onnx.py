"""ONNX's scatters and gathers: the conventions against ONNX Runtime."""

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions import onnx
from onnx_scatterx.theory.conventions.onnx import (
    gather_nd,
    scatter_elements,
    scatter_nd,
    tensor_scatter,
)
from onnx_scatterx.theory.picks import Pick
from tests.theory.golden.onnx_draws import DRAWS
from tests.theory.golden.replay import COUNT, Arguments, compare
from tests.theory.in_onnxruntime import Array, by_runtime

OPERATORS = {
    "scatter_nd": ("ScatterND", 18),
    "scatter_elements": ("ScatterElements", 18),
    "tensor_scatter": ("TensorScatter", 24),
    "gather": ("Gather", 13),
    "gather_elements": ("GatherElements", 13),
    "gather_nd": ("GatherND", 13),
}


def run(call: str, arguments: Arguments) -> Array | None:
    """Ask ONNX Runtime: arrays are inputs, in order, and all else is an attribute."""
    given = {name: value for name, value in arguments.items() if value is not None}
    inputs = [value for value in given.values() if isinstance(value, np.ndarray)]
    rest = {name: v for name, v in given.items() if not isinstance(v, np.ndarray)}
    return by_runtime(*OPERATORS[call], inputs, **rest)


def test_every_call_is_drawn() -> None:
    functions = inspect.getmembers(onnx, inspect.isfunction)
    own = {name for name, f in functions if f.__module__ == onnx.__name__}
    assert set(DRAWS) == set(OPERATORS) == {name for name in own if not name.startswith("_")}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("call", DRAWS)
def test_onnx_runtime_itself(call: str) -> None:
    seen = compare(call, DRAWS[call], getattr(onnx, call), run, range(COUNT))
    assert seen[True] + seen[False] >= 200
    assert seen[True] >= 100
    assert seen[False] >= 30


def of(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def at(*shape: int) -> NDArray[np.int64]:
    return np.zeros(shape, np.int64)


@pytest.mark.parametrize(
    ("inputs", "because"),
    [
        ([of(2), at(), of()], "rank 1 or more"),
        ([of(2), at(1, 2), of(1)], "names 2 axes of data"),
        ([of(2, 3), at(1, 1), of(1, 2)], r"updates must have shape \(1, 3\)"),
        ([of(2, 3), at(1, 1), of(1, 1)], r"updates must have shape \(1, 3\)"),
        ([of(2, 0), at(1, 1) + 2, of(1, 0)], r"indices\[..., 0\] is 2 at \(0,\)"),
        ([of(0, 0), at(1, 1), of(1, 0)], r"indices\[..., 0\] is 0 at \(0,\)"),
        ([of(2, 3), at(1, 2) - 3, of(1)], r"must be in \[-2, 1\]"),
    ],
)
def test_scatter_nd_refuses_what_onnx_runtime_refuses(inputs: list[Array], because: str) -> None:
    assert by_runtime("ScatterND", 18, inputs) is None
    with pytest.raises(ValueError, match=because):
        scatter_nd(inputs[0], inputs[1], inputs[2])


@pytest.mark.parametrize(
    ("inputs", "axis", "because"),
    [
        ([of(2, 3), at(3), of(3)], 0, "indices must have the rank of data"),
        ([of(2, 3), at(1, 3), of(2, 3)], 0, "updates must have the shape of indices"),
        ([of(2, 3), at(1, 4), of(1, 4)], 0, "dim 1 of indices is 4"),
        ([of(2, 3), at(0, 4), of(0, 4)], 0, "dim 1 of indices is 4"),
        ([of(2, 3), at(1, 3), of(1, 3)], 2, r"axis 2 is none of 0\.\.1"),
        ([of(2, 3), at(1, 3), of(1, 3)], -3, r"axis -3 is none of 0\.\.1"),
        ([of(2, 3), at(1, 3) + 2, of(1, 3)], 0, r"indices is 2 at \(0, 0\)"),
        ([of(0), at(1), of(1)], 0, r"must be in \[0, -1\]"),
    ],
)
def test_scatter_elements_refuses_what_onnx_runtime_refuses(
    inputs: list[Array], axis: int, because: str
) -> None:
    assert by_runtime("ScatterElements", 18, inputs, axis=axis) is None
    with pytest.raises(ValueError, match=because):
        scatter_elements(inputs[0], inputs[1], inputs[2], axis)


@pytest.mark.parametrize(
    ("inputs", "attributes", "because"),
    [
        ([of(2, 4, 2), of(1, 4, 2)], {"axis": 0}, r"axis 0 is none of 1\.\.2"),
        ([of(2, 4, 2), of(1, 4, 2)], {"axis": 3}, r"axis 3 is none"),
        ([of(4), of(2)], {}, r"axis -2 is none"),
        ([of(4, 3), of(2, 3)], {}, r"axis -2 is none of 1\.\.1"),
        ([of(2, 4, 2), of(2, 2)], {}, "rank of past_cache"),
        ([of(2, 4, 2), of(2, 2, 1)], {}, "dim 2 of update is 1"),
        ([of(2, 4, 2), of(1, 2, 2)], {}, "dim 0 of update is 1"),
        ([of(2, 4, 2), of(2, 5, 2)], {"mode": "circular"}, "dim 1 of update is 5"),
        ([of(2, 4, 2), of(2, 2, 2), at(1)], {}, r"write_indices must have shape \(2,\)"),
        ([of(2, 4, 2), of(2, 2, 2), at(2) + 3], {}, r"write_indices is 3 .* \[0, 2\]"),
        ([of(2, 4, 0), of(2, 2, 0), at(2) + 3], {}, r"write_indices is 3 .* \[0, 2\]"),
        ([of(2, 4, 2), of(2, 2, 2), at(2) - 1], {"mode": "circular"}, "write_indices is -1"),
        ([of(2, 4, 2), of(2, 2, 2)], {"mode": "ring"}, "not 'ring'"),
    ],
)
def test_tensor_scatter_refuses_what_onnx_runtime_refuses(
    inputs: list[Array], attributes: dict[str, Any], because: str
) -> None:
    assert by_runtime("TensorScatter", 24, inputs, **attributes) is None
    with pytest.raises(ValueError, match=because):
        tensor_scatter(inputs[0], inputs[1], inputs[2] if inputs[2:] else None, **attributes)


def test_a_ring_that_is_entered_far_out() -> None:
    starts = np.array([np.iinfo(np.int64).max])
    output = tensor_scatter(of(1, 5), of(1, 2) + 1, starts, 1, "circular").run()
    assert output.tolist() == [[0, 0, 1, 1, 0]]  # 2**63 - 1 is 2 modulo 5


def test_strings_in_onnx_runtime() -> None:
    data, updates = np.array(["a", "b"], object), np.array(["long"], object)
    expected = by_runtime("ScatterND", 18, [data, np.array([[1]]), updates])
    assert expected is not None
    assert scatter_nd(data, np.array([[1]]), updates).run().tolist() == expected.tolist()


def test_normal_forms_of_the_conventions() -> None:
    """An expanded index shrinks to what it depends on; a ring is one number for each write."""
    rows = scatter_elements(of(5, 3), np.broadcast_to(np.array([[4], [0]]), (2, 3)), of(2, 3))
    n = rows.transformer.normal()
    assert (n.f.tolist(), n.p1, n.p2, n.p) == ([[4], [0]], Pick((0,)), Pick((1,)), Pick((0, 1)))
    assert rows.transformer == scatter_nd(of(5, 3), np.array([[4], [0]]), of(2, 3)).transformer
    ring = tensor_scatter(of(2, 3, 4), of(2, 2, 4), np.array([2, 1]), mode="circular")
    n = ring.transformer.normal()
    assert (n.p1, n.p2, n.p) == (Pick((0, 1)), Pick((0, 2)), Pick((1, 0, 2)))
    assert n.f.tolist() == [[[2], [0]], [[1], [2]]]


def test_a_batch_is_not_broadcast() -> None:
    """ONNX wants equal batches; ONNX Runtime takes this, and reads past the batch of data."""
    data, indices = of(1, 2), np.array([[1], [0], [1]])
    assert by_runtime("GatherND", 13, [data, indices], batch_dims=1) is not None
    with pytest.raises(ValueError, match=r"indices must have the batch \(1,\)"):
        gather_nd(data, indices, 1)


def test_the_reductions_of_other_frameworks_are_not_those_of_onnx() -> None:
    """ONNX Runtime takes any other word for "none"."""
    for name in ("minimum", "maximum", "less", "greater"):
        with pytest.raises(ValueError, match="reduction must be one of none, add, mul, min, max"):
            scatter_nd(of(2), at(1, 1), of(1), name)
