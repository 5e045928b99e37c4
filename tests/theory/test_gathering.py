"""Gatherings against NumPy's own indexing."""

import numpy as np
import pytest

from onnx_scatterx.theory.scattering import Gathering
from onnx_scatterx.theory.transformer import XTransformer


def test_a_gathering_reads_what_its_transformer_says() -> None:
    data = np.arange(12.0).reshape(3, 4)
    provision = np.array([[[0, 3], [2, -1]], [[-3, 0], [0, 3]]])
    output = Gathering(data, XTransformer.from_provision(provision, (3, 4))).run()
    assert output.tolist() == data[provision[..., 0], provision[..., 1]].tolist()


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_an_empty_output_reads_nothing(shape: tuple[int, ...]) -> None:
    provision = np.empty((*shape, 1), np.int64)
    assert Gathering(np.empty(0), XTransformer.from_provision(provision, (0,))).run().shape == shape


def test_a_read_outside_data_is_an_error() -> None:
    transformer = XTransformer.from_provision(np.array([[4]]), (4,))
    with pytest.raises(ValueError, match="out of bounds"):
        Gathering(np.zeros(4), transformer)


def test_data_of_another_shape_is_an_error() -> None:
    transformer = XTransformer.from_provision(np.array([[1]]), (4,))
    with pytest.raises(ValueError, match="shape"):
        Gathering(np.zeros(5), transformer)
