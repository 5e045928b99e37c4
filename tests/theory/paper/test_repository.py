"""The test cases of the paper's repository (its reference 3), and what the paper's text leaves out.

The repository has two cases of TensorFlow and one of PyTorch, a PyTorch scatter by ScatterX, and an
index of one number without its last axis.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.theory import Pick, pytorch_scatter, scatter_x, tensorflow_scatter
from onnx_scatterx.theory.conventions import pytorch, tensorflow
from tests.helpers.examples import examples
from tests.theory.paper.draws import numbered, shapes

BLOCKS = np.array(
    [
        [[2, 4, 3, 7], [1, 6, 1, 6], [4, 5, 6, 7], [9, 0, 0, 0]],
        [[8, 8, 8, 5], [7, 6, 7, 6], [9, 1, 7, 1], [1, 3, 7, 5]],
    ]
)
SRC = np.array([[0.7654, 0.1543, 0.8820, 0.9940, 0.0098], [0.2314, 0.9098, 0.1102, 0.4785, 0.5746]])


def test_tensorflow_0_elements_of_a_vector() -> None:
    where, updates = np.array([[2], [3], [5], [4]]), np.array([6, 9, 22, 88])
    found = tensorflow_scatter(np.ones(10, int), where, updates)
    assert found.tolist() == [1, 1, 6, 9, 88, 22, 1, 1, 1, 1]


@pytest.mark.parametrize("second", [2, 3])
def test_tensorflow_1_blocks_of_a_cube(second: int) -> None:
    where, cube = np.array([[0], [second]]), np.ones((4, 4, 4), int)
    found = tensorflow_scatter(cube, where, BLOCKS)
    assert found[[0, second]].tolist() == BLOCKS.tolist()
    assert (found[[1, 5 - second]] == 1).all()
    convention = tensorflow.tensor_scatter_nd_update(cube, where, BLOCKS)
    assert found.tolist() == convention.run().tolist()


def test_pytorch_0_an_index_that_is_smaller_than_src() -> None:
    found = pytorch_scatter(np.zeros((3, 5)), 1, np.array([[0], [3]]), SRC)
    expected = np.zeros((3, 5))
    expected[0, 0], expected[1, 3] = 0.7654, 0.2314
    assert found.tolist() == expected.tolist()


@given(st.data())
@examples(100)
def test_pytorch_scatter_is_the_convention(data: st.DataObject) -> None:
    shape = data.draw(shapes(most=3, largest=3).filter(lambda s: len(s) > 0 and 0 not in s))
    dim = data.draw(st.integers(0, len(shape) - 1))
    sizes = tuple(data.draw(st.integers(1, n)) for n in shape)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    index, src = rng.integers(0, shape[dim], sizes), numbered(shape)
    tensor = np.zeros(shape, int)
    expected = pytorch.scatter(tensor, dim, index, src).run()
    assert pytorch_scatter(tensor, dim, index, src).tolist() == expected.tolist()


def test_one_number_without_its_axis() -> None:
    rows, p1, p2 = np.array([2, 0]), Pick((0,)), Pick((1,))
    updates = np.array([[1, 2], [3, 4]])
    wide, single = (
        scatter_x(np.zeros((3, 2), int), updates, f, p1, p2, Pick((0, 1)))
        for f in (rows[:, None], rows)
    )
    assert wide.tolist() == single.tolist() == [[3, 4], [0, 0], [1, 2]]
