"""Picks, indices of tensors, slices, and the slices that a pick picks (Definitions 1 to 4).

p(I)[i] = I[p(i)]

    G[I_0, I_1, ...] = E[p_0(I_0), p_1(I_1), ...]        the slice E[p_0, p_1, ...]
    I_S / p1 (I)     = {K in I_S : p1(K) = p1(I)}        the slice of I_S picked by p1

I_S is the set of all indices of shape S. In Definition 3 a pick chooses among the coordinates of
one axis; in Definition 4 among the axes.
"""

import itertools
import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.grouping import grouped

T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False)
class Pick:
    """A finite function from positions to coordinates, used as an operation on indices and shapes.

    The paper allows negative values in a pick. Such a value would count from the end of an index,
    whose length a pick does not know. So a negative value raises ValueError.

    >>> p = Pick((4, 6, 7))
    >>> p((0, 10, 20, 30, 40, 50, 60, 70))
    (40, 60, 70)
    >>> p.is_smooth, Pick.identity(1, 3).is_smooth
    (False, True)
    """

    coordinates: tuple[int, ...]

    def __init__(self, coordinates: Iterable[int] = ()) -> None:
        canonical = tuple(operator.index(c) for c in coordinates)
        if any(c < 0 for c in canonical):
            raise ValueError(f"a pick takes coordinates from 0 on, not {min(canonical)}")
        object.__setattr__(self, "coordinates", canonical)

    @classmethod
    def identity(cls, n: int, m: int | None = None) -> "Pick":
        """Make the identity pick of rank n or, given m, of rank n to m.

        >>> Pick.identity(3), Pick.identity(1, 3)
        (Pick((0, 1, 2)), Pick((1, 2)))
        """
        return cls(range(n) if m is None else range(n, m))

    def __call__(self, index: Sequence[T]) -> tuple[T, ...]:
        """Take the coordinates of an index (or a shape); ``IndexError`` if it is too short."""
        if self.coordinates and max(self.coordinates) >= len(index):
            raise IndexError(f"{self} takes coordinate {max(self)} of an index of {len(index)}")
        return tuple(index[c] for c in self.coordinates)

    def __matmul__(self, other: "Pick") -> "Pick":
        """Return the composition: ``(p @ q)(I) == p(q(I))``.

        >>> Pick((1, 0)) @ Pick((4, 6, 7))
        Pick((6, 4))
        """
        return Pick(self(other.coordinates))

    def __add__(self, other: "Pick") -> "Pick":
        """Return the concatenation: ``(p + q)(I) == p(I) + q(I)``."""
        return Pick(self.coordinates + other.coordinates)

    def inverse(self) -> "Pick":
        """Return the inverse of this shuffle; ``ValueError`` if this is not a shuffle.

        >>> Pick((2, 0, 1)).inverse()
        Pick((1, 2, 0))
        """
        if not self.is_shuffle:
            raise ValueError(f"only a shuffle has an inverse, and {self} is none")
        return Pick(sorted(range(len(self)), key=self.coordinates.__getitem__))

    def among(self, numbers: Iterable[int]) -> frozenset[int]:
        """Return the integers of a set that the pick takes.

        >>> sorted(Pick((4, 6, 7)).among(range(5, 9)))
        [6, 7]
        """
        return self.codomain.intersection(numbers)

    @property
    def codomain(self) -> frozenset[int]:
        """The coordinates that the pick takes."""
        return frozenset(self.coordinates)

    @property
    def is_smooth(self) -> bool:
        """Whether consecutive positions take consecutive coordinates, in ascending order."""
        return all(b == a + 1 for a, b in zip(self, self.coordinates[1:], strict=False))

    @property
    def is_shuffle(self) -> bool:
        """Whether this is a permutation of the coordinates 0..n-1."""
        return self.codomain == frozenset(range(len(self)))

    @property
    def is_identity(self) -> bool:
        """Whether this takes 0..n-1 in order."""
        return self.coordinates == tuple(range(len(self)))

    def __len__(self) -> int:
        return len(self.coordinates)

    def __iter__(self) -> Iterator[int]:
        return iter(self.coordinates)

    def __getitem__(self, position: int) -> int:
        return self.coordinates[position]

    def __repr__(self) -> str:
        return f"Pick({self.coordinates})"


Index = tuple[int, ...]


def indices(shape: Sequence[int]) -> tuple[Index, ...]:
    """Return I_S, the indices of a shape, in row-major order.

    >>> indices((2, 1)), indices(()), indices((2, 0))
    (((0, 0), (1, 0)), ((),), ())
    """
    return tuple(itertools.product(*map(range, shape)))


def index_of(tensor: NDArray[Any]) -> Index:
    """Change a one-dimensional tensor of integers to a tuple: the paper's tau (Definition 2).

    ``np.array`` is the inverse. Raises ValueError for any other tensor.

    >>> index_of(np.array([4, 6, 7]))
    (4, 6, 7)
    """
    if tensor.ndim != 1 or tensor.dtype.kind not in "iu":
        raise ValueError(f"no index is a tensor of {tensor.dtype} of shape {tensor.shape}")
    return tuple(tensor.tolist())


def slice_of(tensor: NDArray[Any], picks: Sequence[Pick]) -> NDArray[Any]:
    """Compute the slice E[p_0, p_1, ...] of a tensor, with one pick for each axis (Definition 3).

    The shape of the slice is the lengths of the picks. Raises ValueError if the number of picks is
    not the rank, and IndexError if a pick takes a coordinate that the axis lacks.

    >>> slice_of(np.arange(12).reshape(3, 4), [Pick((2, 0)), Pick.identity(1, 3)]).tolist()
    [[9, 10], [1, 2]]
    """
    _check_picks(tensor.shape, picks)
    along = (np.array(p.coordinates, np.int64) for p in picks)
    return np.array(tensor[np.ix_(*along)])


def embedded_slice(shape: Sequence[int], picks: Sequence[Pick]) -> frozenset[Index]:
    """Return the indices of a shape to which the picks restrict a tensor (Definition 3).

    >>> sorted(embedded_slice((3, 4), [Pick((2, 0)), Pick((1,))]))
    [(0, 1), (2, 1)]
    """
    _check_picks(shape, picks)
    return frozenset(itertools.product(*picks))


def is_embedded_slice(chosen: Collection[Index]) -> bool:
    """Whether these indices are an embedded slice: a product of sets.

    >>> is_embedded_slice({(0, 1), (2, 1)}), is_embedded_slice({(0, 0), (1, 1)})
    (True, False)
    """
    different = set(chosen)
    axes = [set(axis) for axis in zip(*different, strict=True)]
    return not different or different == set(itertools.product(*axes))


def subtensor(tensor: NDArray[Any], prefix: Sequence[int]) -> NDArray[Any]:
    """Return the subtensor at the first coordinates of an index: E[2] or E[2, 0] (Definition 3).

    Raises IndexError if there are more coordinates than axes, or if one is out of bounds.

    >>> subtensor(np.arange(12).reshape(3, 4), (2,))
    array([ 8,  9, 10, 11])
    """
    if len(prefix) > tensor.ndim or not all(
        0 <= i < n for i, n in zip(prefix, tensor.shape, strict=False)
    ):
        raise IndexError(f"{tuple(prefix)} begins no index of shape {tensor.shape}")
    return np.array(tensor[tuple(prefix)])


def picked_slices(shape: Sequence[int], pick: Pick) -> dict[Index, tuple[Index, ...]]:
    """Divide the indices of a shape into the slices that a pick picks (Definition 4).

    The key of a slice are the coordinates that the pick takes of each of its indices. The keys are
    in row-major order of the first index of each slice. Raises IndexError if the pick takes a
    coordinate that the indices lack.

    >>> picked_slices((2, 2), Pick((1,)))
    {(0,): ((0, 0), (1, 0)), (1,): ((0, 1), (1, 1))}
    """
    pick(shape)
    slices = grouped((pick(index), index) for index in indices(shape))
    return {taken: tuple(members) for taken, members in slices.items()}


def _check_picks(shape: Sequence[int], picks: Sequence[Pick]) -> None:
    if len(picks) != len(shape):
        raise ValueError(f"a slice needs one pick for each of {len(shape)} axes, not {len(picks)}")
    for axis, (pick, size) in enumerate(zip(picks, shape, strict=True)):
        if any(i >= size for i in pick):
            raise IndexError(f"{pick} takes {max(pick)} of axis {axis}, which has size {size}")
