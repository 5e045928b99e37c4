"""TVM's calls: against golden vectors, against TVM itself, and what TVM does not check."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx.theory.conventions import onnx, tvm
from tests.theory.golden.make_tvm import PATH, run
from tests.theory.golden.replay import COUNT, compare, replay
from tests.theory.golden.tvm_draws import DRAWS

D, Z = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((1, 1), np.int64)
I32 = np.zeros(1, np.int32)


def test_every_call_is_drawn() -> None:
    assert sorted(DRAWS) == sorted(tvm.__all__)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("call", DRAWS)
def test_golden(call: str) -> None:
    replay(PATH, call, DRAWS[call], getattr(tvm, call))


@pytest.mark.parametrize("call", DRAWS)
def test_tvm_itself(call: str) -> None:
    pytest.importorskip("tvm", reason="TVM is not installed")
    compare(call, DRAWS[call], getattr(tvm, call), run, range(COUNT, COUNT + 50))


@pytest.mark.parametrize(
    ("call", "arguments", "because"),
    [
        ("scatter_elements", (D, Z + 3, D[:1, :1], 1), "dim 0 of indices is 1, and must be 2"),
        ("scatter_elements", (D, Z.repeat(2, 0) + 3, D[:, :1], 1), "indices is 3"),
        ("scatter_elements", (D, Z.repeat(2, 0), D, 1), "updates must have the shape of indices"),
        ("scatter_elements", (D, Z.repeat(2, 0), D[:, :1].astype(int), 1), "updates holds int64"),
        ("scatter_elements", (D, Z, D[:, :1], -3), "axis is -3"),
        ("scatter_elements", (D, Z.repeat(2, 0), D[:, :1], 1, "mean"), "reduction must be one of"),
        ("scatter_nd", (D, Z - 1, D[:1]), r"indices\[0\] is -1"),
        ("scatter_nd", (D, Z + 2, D[:1]), r"indices\[0\] is 2"),
        ("scatter_nd", (D, Z, D[:1, None]), r"updates must have shape \(1, 3\)"),
        ("gather", (D, 0, Z - 1), "indices is -1"),
        ("gather", (D, 1, Z.repeat(3, 0)), "dim 0 of indices is 3"),
        ("gather_nd", (D, Z - 1), r"indices\[0\] is -1"),
        ("gather_nd", (D, Z.repeat(3, 1), 1), "dim 1 of indices is 3"),
        ("take", (D, Z + 3, 1), "indices is 3"),
        ("take", (D, Z - 1, 1, 0, "nan"), "indices is -1"),
        ("take", (D, Z, 1, 0, "raise"), "mode must be one of"),
        ("take", (D[:, :0], Z, 1, 0, "clip"), "indices is 0"),
        ("slice_scatter", (D, D[:, :1], 0, 2, 1, 1), "src is read at 1 on axis 1"),
        ("slice_scatter", (D, D[:1, :1], -2, 3, 1, 1), "src is read at 2 on axis 1"),
        ("slice_scatter", (D, D[0], 0, 2, 1, 1), "src must have the rank"),
        ("strided_set", (D, D[:, :1], I32, I32 + 2), "v is read at 2 on axis 1"),
        ("strided_set", (D, D, I32, I32 + 2, I32), "strides must not be 0"),
        ("strided_set", (D, D.astype(int), I32, I32 + 2), "v holds int64"),
    ],
)
def test_what_tvm_does_not_check_is_refused(
    call: str, arguments: tuple[Any, ...], because: str
) -> None:
    with pytest.raises(ValueError, match=because):
        getattr(tvm, call)(*arguments)


def test_tuples_on_the_first_axis() -> None:
    """The same write as ONNX's, whose tuples are on the last axis."""
    indices, updates = np.array([[1, 0, 0], [2, 0, 1]]), np.array([7, 8, 9], np.float32)
    assert tvm.scatter_nd(D, indices, updates).transformer == (
        onnx.scatter_nd(D, indices.T, updates).transformer
    )
