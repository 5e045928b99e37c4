"""The ScatterX algorithm (section 8), step by step as in the paper, with its errors corrected.

    traverse(shape, action)          every index of a shape, row-major
    provision_x_transformer(...)     E[I] = p( f(p1(I)) ++ p2(I) )
    scatter(data, updates, E)        output = data;  output[E[I]] = updates[I]
    scatter_x(...)                   the scatter by the E of these picks
    tensorflow_scatter(...)          tf.tensor_scatter_nd_update by scatter_x
    pytorch_scatter(...)             torch.scatter by scatter_x

This code is slow and easy to check. ``XTransformer`` and ``Scattering`` compute the same faster,
and also have reductions. docs/theory/errata.md lists the corrections.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.picks import Index, Pick

Integers = NDArray[np.integer[Any]]


def traverse(shape: Sequence[int], action: Callable[[Index], object]) -> None:
    """Call the action with every index of a shape: once with ``()``, never if an extent is 0.

    >>> traverse((2, 2), print)
    (0, 0)
    (0, 1)
    (1, 0)
    (1, 1)
    """
    for index in np.ndindex(*shape):
        action(index)


def provision_x_transformer(
    shape: Sequence[int], data_shape: Sequence[int], f: Integers, p1: Pick, p2: Pick, p: Pick
) -> NDArray[np.int64]:
    """Compute the provision tensor of the x-transformer with these picks and this f.

    ``f`` has the shape ``p1(shape)`` and one more axis, which holds the numbers of an index. If an
    index has one number, this axis may be absent. p is any pick of the numbers of f and p2, as in
    Definition 10. Raises ValueError if p does not give each axis of data a number, and IndexError
    if f or an index is too short.

    >>> f = np.array([[3], [1]])
    >>> provision_x_transformer((2, 2), (4, 2), f, Pick((0,)), Pick((1,)), Pick((0, 1))).tolist()
    [[[3, 0], [3, 1]], [[1, 0], [1, 1]]]
    """
    if len(p) != len(data_shape):
        raise ValueError(f"p gives {len(p)} numbers, and data has {len(data_shape)} axes")
    provision = np.zeros((*shape, len(data_shape)), np.int64)
    f = f[..., None] if f.ndim == len(p1) else f

    def combine(index: Index) -> None:
        inner = tuple(int(j) for j in f[p1(index)])
        provision[index] = p(inner + p2(index))

    traverse(shape, combine)
    return provision


def scatter(data: NDArray[Any], updates: NDArray[Any], provision: Integers) -> NDArray[Any]:
    """Write updates into a copy of data, at the indices in the provision tensor.

    If updates collide, the last one wins. Negative numbers count from the end. Raises ValueError if
    the shapes do not agree, and IndexError if an update is out of bounds.

    >>> scatter(np.zeros(4), np.array([5.0, 6.0]), np.array([[1], [-1]]))
    array([0., 5., 0., 6.])
    """
    if provision.shape != (expected := (*updates.shape, data.ndim)):
        raise ValueError(f"the provision tensor must have shape {expected}, not {provision.shape}")
    output = np.array(data)

    def write(index: Index) -> None:
        output[tuple(provision[index])] = updates[index]

    traverse(updates.shape, write)
    return output


def scatter_x(
    data: NDArray[Any], updates: NDArray[Any], f: Integers, p1: Pick, p2: Pick, p: Pick
) -> NDArray[Any]:
    """Scatter updates into a copy of data by the x-transformer with these picks and this f.

    >>> rows = np.array([[1.0, 2.0]])
    >>> scatter_x(np.zeros((3, 2)), rows, np.array([[2]]), Pick((0,)), Pick((1,)), Pick((0, 1)))
    array([[0., 0.], [0., 0.], [1., 2.]])
    """
    provision = provision_x_transformer(updates.shape, data.shape, f, p1, p2, p)
    return scatter(data, updates, provision)


def tensorflow_scatter(
    tensor: NDArray[Any], indices: Integers, updates: NDArray[Any]
) -> NDArray[Any]:
    """Compute ``tf.tensor_scatter_nd_update``: updates and tensor have the same last dims.

    >>> tensorflow_scatter(np.zeros(4), np.array([[2], [0]]), np.array([5.0, 6.0]))
    array([6., 0., 5., 0.])
    """
    m = indices.ndim - 1
    p1, p2 = Pick.identity(m), Pick.identity(m, updates.ndim)
    return scatter_x(tensor, updates, indices, p1, p2, Pick.identity(tensor.ndim))


def pytorch_scatter(
    tensor: NDArray[Any], dim: int, index: Integers, src: NDArray[Any]
) -> NDArray[Any]:
    """Compute ``torch.scatter``: ``index`` has the position of each element along ``dim``.

    No position is negative. Elements of ``src`` beyond the shape of ``index`` are not read.

    >>> pytorch_scatter(np.zeros((2, 3)), 1, np.array([[2], [0]]), np.array([[5.0], [6.0]]))
    array([[0., 0., 5.], [6., 0., 0.]])
    """
    others = [d for d in range(index.ndim) if d != dim]
    p1, p2, p = Pick.identity(index.ndim), Pick(others), Pick([dim, *others]).inverse()
    return scatter_x(tensor, src[tuple(map(slice, index.shape))], index, p1, p2, p)
