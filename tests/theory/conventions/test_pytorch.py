"""PyTorch's calls: the conventions against golden vectors, and against PyTorch where it is."""

import itertools
from typing import Any

import numpy as np
import pytest

from onnx_scatterx.theory.conventions import pytorch
from onnx_scatterx.theory.verdict import Sliceability
from tests.theory.golden.make_pytorch import PATH, run
from tests.theory.golden.pytorch_draws import DRAWS
from tests.theory.golden.replay import COUNT, compare, replay


def test_every_call_is_drawn() -> None:
    assert sorted(DRAWS) == sorted(pytorch.__all__)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("call", DRAWS)
def test_golden(call: str) -> None:
    replay(PATH, call, DRAWS[call], getattr(pytorch, call))


@pytest.mark.parametrize("call", DRAWS)
def test_pytorch_itself(call: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    compare(call, DRAWS[call], getattr(pytorch, call), run, range(COUNT, 2 * COUNT))


@pytest.mark.parametrize("include_self", [True, False])
def test_a_mean_is_judged_like_its_sum(include_self: bool) -> None:
    data, index, src = np.ones((3, 2)), np.array([[1, 1], [1, 1]]), np.ones((2, 2))
    mean = pytorch.scatter_reduce(data, 0, index, src, "mean", include_self=include_self)
    total = pytorch.scatter_reduce(data, 0, index, src, "sum", include_self=include_self)
    assert mean.transformer == total.transformer
    assert mean.transformer.verdict().sliceability is Sliceability.SLICEABLE


def test_index_put_of_a_box_is_a_box() -> None:
    """``x[1:3, :, [0, 2]]`` has two picked dims and one that moves as it is."""
    x = np.arange(24).reshape(4, 2, 3)
    s = pytorch.setitem(x, (slice(1, 3), slice(None), np.array([0, 2])), np.zeros((2, 2, 2), int))
    n = s.transformer.normal()
    assert (tuple(n.p2), tuple(n.p)) == ((1,), (0, 2, 1))
    expected = x.copy()
    expected[1:3, :, [0, 2]] = 0
    assert s.run().tolist() == expected.tolist()


def test_setitem_is_that_of_numpy() -> None:
    """Where NumPy and PyTorch agree: no index tensors that slices or None stand between."""
    x = np.arange(60).reshape(3, 4, 5)
    items: list[Any] = [1, -1, slice(None), slice(1, None, 2), None, Ellipsis, np.array([0, -2])]
    for pair in itertools.product(items, items):
        if sum(item is Ellipsis for item in pair) > 1:
            continue
        expected = x.copy()
        expected[pair] = -7
        output = pytorch.setitem(x, pair, -7).run()
        np.testing.assert_array_equal(output, expected, str(pair))
