"""How near outputs are: the grades, and what any drawn array must keep to."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

from onnx_scatterx.lab.devices.nearness import CLOSE, FEW, LARGE, RIGHT, nearness

SHAPES = drawn.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)
FLOATS = drawn.arrays(
    st.sampled_from([np.float16, np.float32, np.float64]),
    SHAPES,
    elements=st.floats(width=16) | st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0]),
)
INTEGERS = drawn.arrays(
    st.sampled_from([np.int64, np.uint64, np.int32, np.uint8, np.bool_]), SHAPES
)
LINE = np.linspace(-1, 1, 64)


def grade(truth: Any, output: Any) -> str:
    return nearness({"y": np.asarray(truth)}, [np.asarray(output)]).grade


@given(FLOATS | INTEGERS)
def test_an_array_is_right_itself(truth: np.ndarray) -> None:
    near = nearness({"y": truth}, {"y": truth.copy()})
    assert (near.grade, near.error, near.what) == ("right", 0.0, "")
    assert near.cosine is None or near.cosine > 1 - 1e-9


@given(FLOATS)
def test_dims_of_size_one_and_wider_types_do_not_matter(truth: np.ndarray) -> None:
    assert grade(truth, truth[None].astype(np.float64)) == "right"


@given(FLOATS | INTEGERS, st.data())
def test_one_element_that_is_far_off_is_wrong(truth: np.ndarray, data: Any) -> None:
    if not truth.size:
        return
    place = data.draw(st.integers(0, truth.size - 1))
    output = truth.copy()
    if truth.dtype.kind == "f":
        finite = np.abs(truth[np.isfinite(truth)].astype(np.float64)).max(initial=0) or 1.0
        output = output.astype(np.float64)
        output.flat[place] = 3 * finite if np.isfinite(truth.flat[place]) else 0.0
        if output.flat[place] == truth.flat[place]:
            output.flat[place] = -3 * finite
    else:
        output.flat[place] = (
            not truth.flat[place] if truth.dtype == np.bool_ else output.flat[place] ^ 1
        )
    near = nearness({"y": truth}, {"y": output})
    assert near.grade == "wrong"
    assert near.what.startswith("1 of ")


@given(FLOATS)
def test_nan_and_infinities_stand_at_the_same_places(truth: np.ndarray) -> None:
    output = np.where(np.isfinite(truth), truth, 0).astype(truth.dtype)
    assert grade(truth, output) == ("right" if np.isfinite(truth).all() else "wrong")
    assert grade(output, truth) == grade(truth, output)


@given(st.floats(0.0, 2 * CLOSE), st.integers(FEW, 64))
def test_the_grade_follows_from_the_error(error: float, size: int) -> None:
    truth = np.linspace(-1, 1, size)
    near = nearness({"y": truth}, {"y": truth * (1 + error)})
    assert near.error == pytest.approx(error, abs=1e-12)
    grades = [near.error <= RIGHT, near.error <= CLOSE]
    assert near.grade == ("right" if grades[0] else "close" if grades[1] else "wrong")


def test_a_cosine_counts_from_sixteen_elements_on() -> None:
    """All elements are off by 0.8 %, up and down: the error alone would be close."""
    flat = np.full(32, 1.0) + 0.05 * np.tile([1, -1], 16)
    off = flat + 0.008 * np.tile([1, 1, -1, -1], 8)
    assert (grade(flat, off), grade(flat[:15], off[:15])) == ("wrong", "close")
    assert nearness({"y": flat[:15]}, {"y": off[:15]}).cosine is None


def test_the_mean_is_subtracted() -> None:
    """Numbers about 100 have a cosine of 1 with each other, whatever their small parts are."""
    truth = 100 + 0.1 * LINE
    near = nearness({"y": truth}, {"y": 100 - 0.1 * LINE})
    assert near.cosine is not None
    assert (near.grade, near.cosine < 0) == ("wrong", True)


def test_of_a_constant_only_the_error_counts() -> None:
    ones = np.ones(64)
    assert nearness({"y": ones}, {"y": ones + 0.009 * LINE}).grade == "close"
    assert grade(ones, ones + 0.011 * LINE) == "wrong"
    assert grade(np.zeros(64), np.zeros(64)) == "right"
    assert grade(np.zeros(64), np.full(64, 0.02)) == "wrong"


def test_a_large_element_is_compared_by_itself() -> None:
    """It hides no error of the others, and is no part of the scale."""
    truth = np.append(LINE, -3.4e38)
    assert grade(truth, np.append(LINE, -3.4e38 * 1.009)) == "close"
    assert grade(truth, np.append(LINE, -3.4e38 * 1.011)) == "wrong"
    assert grade(truth, np.append(LINE + 0.02, -3.4e38)) == "wrong"
    assert grade(truth, np.append(LINE, -65504.0)) == "wrong"
    assert grade([LARGE, 1.0], [LARGE * 1.00005, 1.0]) == "right"


@pytest.mark.parametrize("number", [2**53, 2**63 - 1, -(2**63)])
def test_integers_are_equal_or_wrong(number: int) -> None:
    truth = np.array([number], np.int64)
    assert grade(truth, truth.astype(object).astype(np.int64)) == "right"
    assert grade(truth, np.array([number ^ 1], np.int64)) == "wrong"
    assert grade(np.array([2**53 + 1]), np.array([2.0**53])) == "wrong"
    assert grade([True, False], np.array([1.0, 0.0])) == "right"


def test_other_outputs() -> None:
    x = np.ones(2)
    assert nearness({}, []).grade == "right"
    assert nearness({"y": x}, []).what == "0 outputs for 1"
    assert nearness({"y": x}, {"z": x}).what == "missing; the outputs are: z"
    assert nearness({"y": x}, [np.ones(3)]).what == "shape [3] for [2]"
    assert grade(np.array(["a", "b"]), np.array(["a", "c"])) == "wrong"
    assert grade(np.array([1 + 2j]), np.array([1 + 2j])) == "right"
    assert grade(np.array(1 + 2j), np.array(1 - 2j)) == "wrong"


def test_the_worst_output_is_told() -> None:
    truth = {"a": LINE, "b": LINE, "n": np.array([3])}
    near = nearness(truth, {"a": LINE * 1.001, "b": LINE * 1.005, "n": np.array([3])})
    assert (near.grade, near.output) == ("close", "b")
    assert near.error == pytest.approx(0.005)
    assert near.cosine == pytest.approx(1)
    assert near.what.startswith("62 of 64 elements: -1.005 for -1.0 at (0,)")
