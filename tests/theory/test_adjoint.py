"""The adjoint of a scattering: against the inner product, finite steps, and PyTorch's autograd."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onnx_scatterx.theory import Reduction, Scattering, XTransformer

Numbers = NDArray[np.float64]


@st.composite
def scatterings(draw: st.DrawFn, *reductions: Reduction) -> Scattering:
    """Draw a scattering of small integers in float64, with collisions; sizes may be 0."""
    data_shape = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axes = [seed.integers(-n, n, (*shape, 1)) for n in data_shape]
    data, updates = (seed.integers(-3, 4, size).astype(float) for size in (data_shape, shape))
    transformer = XTransformer.from_provision(np.concatenate(axes, axis=-1), data_shape)
    return Scattering(data, updates, transformer, draw(st.sampled_from(reductions)))


def drawn(shape: tuple[int, ...], seed: int) -> Numbers:
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(float)


@given(scatterings(Reduction.NONE, Reduction.ADD), st.integers(0, 1000))
def test_it_is_the_adjoint_of_a_linear_map(scattering: Scattering, seed: int) -> None:
    y = drawn(scattering.data.shape, seed)
    found = scattering.adjoint(y)
    inner = (scattering.run() * y).sum()
    assert (
        inner == (scattering.data * found.data).sum() + (scattering.updates * found.updates).sum()
    )


@given(scatterings(Reduction.MUL), st.integers(0, 1000))
def test_the_derivative_of_a_product(scattering: Scattering, seed: int) -> None:
    """A product is linear in each of its factors, so a step of 1 in one of them is exact."""
    y = drawn(scattering.data.shape, seed)
    found = scattering.adjoint(y)
    start = (scattering.run() * y).sum()
    for name in ("data", "updates"):
        for at in np.ndindex(getattr(scattering, name).shape):
            moved = {"data": scattering.data.copy(), "updates": scattering.updates.copy()}
            moved[name][at] += 1
            after = Scattering(**moved, transformer=scattering.transformer, reduction=Reduction.MUL)
            assert (after.run() * y).sum() - start == getattr(found, name)[at]


@given(scatterings(Reduction.MIN, Reduction.MAX, Reduction.MINIMUM, Reduction.GREATER))
def test_the_derivative_of_an_extreme(scattering: Scattering) -> None:
    y = drawn(scattering.data.shape, 3)
    try:
        found = scattering.adjoint(y)
    except ValueError:
        assert math.prod(scattering.updates.shape) > 0  # an update and what it meets are equal
        return
    for name in ("data", "updates"):
        for at in np.ndindex(getattr(scattering, name).shape):
            moved = {"data": scattering.data.copy(), "updates": scattering.updates.copy()}
            moved[name][at] += 0.25
            after = Scattering(
                **moved, transformer=scattering.transformer, reduction=scattering.reduction
            )
            assert ((after.run() - scattering.run()) * y).sum() == 0.25 * getattr(found, name)[at]


def test_refusals() -> None:
    transformer = XTransformer.from_provision(np.array([[3], [3]]), (4,))
    with pytest.raises(ValueError, match=r"the gradient has shape \(3,\), not \(4,\)"):
        Scattering(np.zeros(4), np.zeros(2), transformer).adjoint(np.zeros(3))
    with pytest.raises(ValueError, match="no derivative: numbers of int64"):
        Scattering(np.zeros(4, int), np.zeros(2, int), transformer).adjoint(np.zeros(4))
    with pytest.raises(ValueError, match=r"the extreme at \(3,\) is not unique"):
        Scattering(np.zeros(4), np.ones(2), transformer, Reduction.MAX).adjoint(np.zeros(4))


OVERLOADS = {
    Reduction.NONE: "scatter",
    Reduction.ADD: "sum",
    Reduction.MUL: "prod",
    Reduction.MINIMUM: "amin",
    Reduction.MAXIMUM: "amax",
}


@pytest.mark.parametrize("reduction", OVERLOADS)
def test_pytorch(reduction: Reduction) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from onnx_scatterx.theory.conventions import pytorch

    seed = np.random.default_rng(0)
    for _ in range(2000):
        rank = int(seed.integers(1, 4))
        data_shape = tuple(map(int, seed.integers(1, 4, rank)))
        axis = int(seed.integers(0, rank))
        shape = tuple(
            int(seed.integers(0, (4 if d == axis else n) + 1)) for d, n in enumerate(data_shape)
        )
        index = seed.integers(0, data_shape[axis], shape)
        data, updates, y = (
            seed.integers(-3, 4, size).astype(float) for size in (data_shape, shape, data_shape)
        )
        x, u = (torch.tensor(array, requires_grad=True) for array in (data, updates))
        indices = torch.tensor(index)
        if reduction is Reduction.NONE:
            out = x.scatter(axis, indices, u)
        else:
            out = x.scatter_reduce(axis, indices, u, OVERLOADS[reduction])
        out.backward(torch.tensor(y))
        if not index.size:  # the convention drops the shape of empty updates
            continue
        transformer = pytorch.scatter(data, axis, index, updates).transformer
        scattering = Scattering(data, updates, transformer, reduction)
        found = scattering.adjoint(y, like="pytorch")
        for ours, theirs in zip(found, (x.grad, u.grad), strict=True):
            np.testing.assert_array_equal(ours, theirs.numpy() + 0.0)
