"""Arrays are compared bit for bit, and survive the journey to a worker and back."""

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from onnx_scatterx.compare.array_diff import Tolerance, compare
from onnx_scatterx.runtime.worker_client import from_raw, to_raw
from tests.helpers.examples import examples

INF, NAN = np.inf, np.nan
LOOSE = Tolerance(rtol=0.5, atol=0.25)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (1.0, 1.75, True),  # 0.75 = atol + rtol * 1
        (1.0, 1.875, False),
        (-4.0, -6.25, True),
        (4.0, 1.75, True),
        (1.75, 4.0, False),  # relative to the first
        (0.0, 0.25, True),
        (0.0, -0.0, True),
        (NAN, NAN, True),
        (INF, INF, True),
        (INF, -INF, False),
        (INF, 1.0, False),
        (1.0, INF, False),
        (1.0, NAN, False),
        (NAN, 1.0, False),
    ],
)
def test_a_tolerance_of_floats(dtype: str, before: float, after: float, same: bool) -> None:
    kind = ir.DataType.BFLOAT16.numpy() if dtype == "bfloat16" else np.dtype(dtype)
    one, other = np.array([[before]]).astype(kind), np.array([[after]]).astype(kind)
    assert (compare(one, other, tolerance=LOOSE) is None) == same


def test_a_tolerance_is_for_floats_only() -> None:
    huge = Tolerance(atol=1e300)
    for one, other in (
        (np.array([1]), np.array([2])),
        (np.array([True]), np.array([False])),
        (np.array(["a"], object), np.array(["b"], object)),
        (np.ones(1, np.float32), np.ones(1)),
        (np.ones(1), np.ones(2)),
    ):
        assert compare(one, one, tolerance=huge) is None
        assert compare(one, other, tolerance=huge) is not None


@examples(100)
@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    ),
    st.data(),
)
def test_compare_sees_one_changed_element(array: np.ndarray, data: st.DataObject) -> None:
    assert compare(array, array.copy()) is None
    if array.size == 0:
        return
    place = data.draw(st.integers(0, array.size - 1))
    other = array.copy()
    flat = other.reshape(-1)
    old = flat[place]
    with np.errstate(all="ignore"):
        flat[place] = not old if array.dtype == bool else old + 1
    changed = not (old == flat[place] or (old != old and flat[place] != flat[place]))
    found = compare(array, other)
    assert (found is not None) == changed
    if found is not None:
        assert found.index == tuple(int(i) for i in np.unravel_index(place, array.shape))
        assert (found.count, found.size) == (1, array.size)


def test_compare_counts_what_is_far_apart() -> None:
    big = np.array([2**63 - 1, 0], np.int64)
    found = compare(big, np.array([-(2**63), 0], np.int64))
    assert found is not None
    assert found.max_absolute == float(2**64 - 1)
    found = compare(np.array([np.inf, 1.0]), np.array([1.0, 1.0]))
    assert found is not None
    assert (found.kind, found.max_absolute) == ("values", None)


@pytest.mark.parametrize("name", ["BFLOAT16", "FLOAT8E5M2", "INT4", "UINT4", "BOOL", "DOUBLE"])
def test_tensors_survive_the_journey(name: str) -> None:
    array = np.array([1, 0, 1]).astype(ir.DataType[name].numpy())
    again = from_raw(to_raw("x", array))
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again.astype(float), array.astype(float))
    assert compare(array, again) is None
