"""The collector's threshold while a model is optimized, and afterwards."""

import gc
from collections.abc import Iterator

import pytest

from onnx_scatterx import optimize
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.processes.collection import raised_gc_threshold


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_threshold_is_raised_once_and_put_back_by_the_last() -> None:
    with raised_gc_threshold():
        with raised_gc_threshold():
            raised = gc.get_threshold()
        assert gc.get_threshold() == raised
        assert raised[0] > 700
        assert raised[1:] == (10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_it_is_put_back_after_an_error() -> None:
    with pytest.raises(KeyError), raised_gc_threshold():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)
    with pytest.raises(ScatterXError):
        optimize("no such file.onnx")
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [(0, 10, 10), (10**6, 5, 5)])
def test_thresholds_of_the_user_are_kept(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    with raised_gc_threshold():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_thresholds_that_are_set_meanwhile_are_kept() -> None:
    with raised_gc_threshold():
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold() == (123, 4, 5)
