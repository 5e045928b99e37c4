"""TIM-VX's calls, by its words: tensors of W, H, C, N, index tuples of W first, and ONNX's calls.

There is no TIM-VX for this machine. An array lies in memory as its tensor does: `a[n, c, h, w]` is
the element w, h, c, n.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnx_scatterx.theory.conventions import onnx, timvx


def drawn(seed: int) -> tuple[np.random.Generator, np.ndarray, tuple[int, ...], int, np.ndarray]:
    """Draw data, the leading shape of indices, how many axes they name, and the tuples."""
    random = np.random.default_rng(seed)
    data = random.integers(-9, 10, random.integers(1, 5, random.integers(1, 5))).astype(np.float32)
    lead = tuple(random.integers(1, 4, random.integers(0, 3)).tolist())
    k = int(random.integers(1, data.ndim + 1))
    whcn = data.shape[::-1]
    # The tuples name the last k of the axes W, H, C, N, in that order.
    tuples = random.integers(0, whcn[data.ndim - k :], (*lead, k))
    return random, data, lead, k, tuples


def gather_nd_is_the_loop(seed: int) -> None:
    _, data, lead, _, tuples = drawn(seed)
    output = timvx.gather_nd(data, tuples).run()
    whcn, out = data.T, output.T
    for i in np.ndindex(lead):
        block = whcn[(Ellipsis, *tuples[i])]
        np.testing.assert_array_equal(out[(Ellipsis, *i[::-1])], block)
    assert output.tobytes() == onnx_gather_nd(data, tuples[..., ::-1]).tobytes()


def onnx_gather_nd(data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(data[tuple(np.moveaxis(indices, -1, 0))])


def scatter_nd_is_the_loop(seed: int) -> None:
    random, data, lead, k, tuples = drawn(seed)
    updates = random.integers(-9, 10, lead + data.shape[k:]).astype(np.float32)
    scattering = timvx.scatter_nd(tuples, updates, data.shape[::-1])
    expected = np.zeros_like(data)
    whcn = expected.T
    for i in np.ndindex(lead):
        whcn[(Ellipsis, *tuples[i])] += updates[i].T
    np.testing.assert_array_equal(scattering.run(), expected)
    other = onnx.scatter_nd(np.zeros_like(data), tuples[..., ::-1], updates, "add")
    assert scattering.transformer == other.transformer


def gather_is_the_loop(seed: int) -> None:
    random = np.random.default_rng(seed)
    data = random.integers(-9, 10, random.integers(1, 5, random.integers(1, 5)))
    axis = int(random.integers(data.ndim))
    own = data.ndim - 1 - axis
    batch = int(random.integers(0, own + 1)) if seed % 2 else 0
    lead = tuple(random.integers(1, 4, random.integers(0, 3)).tolist())
    indices = random.integers(0, data.shape[own], data.shape[:batch] + lead)
    output = timvx.gather(data, indices, axis, batch).run()
    for b in np.ndindex(data.shape[:batch]):
        np.testing.assert_array_equal(output[b], data[b].take(indices[b], own - batch))


@pytest.mark.parametrize(
    "check", [gather_nd_is_the_loop, scatter_nd_is_the_loop, gather_is_the_loop]
)
def test_200_cases(check: Callable[[int], None]) -> None:
    for seed in range(200):
        check(seed)


def test_an_example_of_each() -> None:
    """A tensor of W = 3, H = 2: its element (w, h) is a[h, w]."""
    a = np.array([[1, 2, 3], [4, 5, 6]])
    for w, h in itertools.product(range(3), range(2)):
        assert timvx.gather_nd(a, np.array([w, h])).run() == a[h, w]
        written = timvx.scatter_nd(np.array([w, h]), np.array(7), (3, 2)).run()
        assert (written != 0).nonzero() == ([h], [w])
    assert timvx.gather(a, np.array([2]), 0).run().tolist() == [[3], [6]]
    assert timvx.gather(a, np.array([1]), 1).run().tolist() == [[4, 5, 6]]


def test_updates_that_meet_add_up() -> None:
    assert timvx.scatter_nd(np.array([[1], [1]]), np.array([2, 3]), (3,)).run().tolist() == [
        0,
        5,
        0,
    ]


A, I = np.zeros((2, 3)), np.zeros((1, 2), int)  # noqa: E741 - the theory's own letter


@pytest.mark.parametrize(
    ("call", "arguments", "because"),
    [
        ("scatter_nd", (I, np.zeros(2), (3, 2)), r"updates must have shape \(1,\)"),
        ("scatter_nd", (np.array([[3, 0]]), np.zeros(1), (3, 2)), r"indices\[..., 0\] is 3"),
        ("scatter_nd", (np.array([[0, 2]]), np.zeros(1), (3, 2)), r"indices\[..., 1\] is 2"),
        ("scatter_nd", (I - 1, np.zeros(1), (3, 2)), r"indices\[..., 0\] is -1"),
        ("scatter_nd", (I, np.zeros(1), (3,)), "indices names 2 axes of shape, which has only 1"),
        ("scatter_nd", (I, np.zeros(1), (3, -2)), "must not have negative extents"),
        ("scatter_nd", (I * 1.0, np.zeros(1), (3, 2)), "indices must hold integers"),
        ("gather_nd", (A, np.array(1)), "indices must have rank 1 or more"),
        ("gather_nd", (A, np.array([[3, 0]])), r"indices\[..., 0\] is 3"),
        ("gather_nd", (A, np.zeros((1, 3), int)), "indices names 3 axes of input"),
        ("gather", (A, I + 3, 0), "indices is 3"),
        ("gather", (A, I, 2), "axis is 2"),
        ("gather", (A, I, -1), "axis is -1"),
        ("gather", (A, I, 0, 2), "batch_dims is 2"),
        ("gather", (A, I, 0, 1), r"indices must have the batch \(2,\) of input"),
    ],
)
def test_what_is_refused(call: str, arguments: tuple[Any, ...], because: str) -> None:
    with pytest.raises(ValueError, match=because):
        getattr(timvx, call)(*arguments)


def test_gather_elements_counts_its_axis_from_w() -> None:
    """The cases of TIM-VX's own tests, and ONNX's call on the other axis."""
    data, where = np.array([[[1, 2, 3], [4, 5, 6]]]), np.array([[[1, 2], [0, 2]]])
    assert timvx.gather_elements(data, where, 0).run().tolist() == [[[2, 3], [4, 6]]]
    below = np.array([[[1, 1], [0, 1]]])
    assert timvx.gather_elements(data, below, 1).run().tolist() == [[[4, 5], [1, 5]]]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        data = rng.integers(-9, 10, rng.integers(1, 4, rng.integers(1, 5)))
        axis = int(rng.integers(data.ndim))
        own = data.ndim - 1 - axis
        shape = [int(rng.integers(1, n + 1 + 2 * (d == own))) for d, n in enumerate(data.shape)]
        where = rng.integers(-data.shape[own], data.shape[own], shape)
        found = timvx.gather_elements(data, where, axis)
        assert found.run().tolist() == onnx.gather_elements(data, where, own).run().tolist()
    with pytest.raises(ValueError, match="axis is 1"):
        timvx.gather_elements(np.zeros(2), np.array([0]), 1)
    with pytest.raises(ValueError, match="dim 0 of indices"):
        timvx.gather_elements(np.zeros((1, 2)), np.zeros((2, 2), int), 0)


def test_scatter_nd_onnx_v16_is_onnx_without_collisions_and_negative_indices() -> None:
    for seed in range(60):
        random, data, lead, k, tuples = drawn(seed)
        where = tuples[..., ::-1]
        updates = random.integers(-9, 10, lead + data.shape[k:]).astype(np.float32)
        reduction = ("none", "add", "mul", "max", "min")[seed % 5]
        expected = onnx.scatter_nd(data, where, updates, reduction)
        if reduction == "none" and not expected.transformer.is_injective():
            with pytest.raises(ValueError, match="indices let updates collide"):
                timvx.scatter_nd_onnx_v16(data, where, updates, reduction)
            continue
        found = timvx.scatter_nd_onnx_v16(data, where, updates, reduction).run()
        np.testing.assert_array_equal(found, expected.run())
    with pytest.raises(ValueError, match="indices"):
        timvx.scatter_nd_onnx_v16(np.zeros(3), np.array([[-1]]), np.zeros(1))
