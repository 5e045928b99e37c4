"""TensorFlow's calls: the conventions against golden vectors, and against TensorFlow itself."""

import inspect

import numpy as np
import pytest

from onnx_scatterx.theory.conventions import tensorflow
from tests.theory.golden.make_tensorflow import PATH, run
from tests.theory.golden.replay import COUNT, compare, replay
from tests.theory.golden.tensorflow_draws import DRAWS


def test_every_call_is_drawn() -> None:
    functions = inspect.getmembers(tensorflow, inspect.isfunction)
    own = {name for name, f in functions if f.__module__ == tensorflow.__name__}
    assert set(DRAWS) == {name for name in own if not name.startswith("_")}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("call", DRAWS)
def test_golden(call: str) -> None:
    replay(PATH, call, DRAWS[call], getattr(tensorflow, call))


@pytest.mark.parametrize("call", DRAWS)
def test_tensorflow_itself(call: str) -> None:
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    compare(call, DRAWS[call], getattr(tensorflow, call), run, range(COUNT, 2 * COUNT))


def test_seven_axes_at_most() -> None:
    """The golden vectors have fewer axes: TensorFlow has kernels for index tuples of up to 7."""
    data, index = np.zeros([1] * 8), np.zeros((1, 8), np.int32)
    with pytest.raises(ValueError, match="indices names 8 axes"):
        tensorflow.tensor_scatter_nd_update(data, index, np.ones(1))
    with pytest.raises(ValueError, match="indices names 8 axes"):
        tensorflow.gather_nd(data, index)
    assert tensorflow.gather_nd(data, index[:, :7]).run().shape == (1, 1)
