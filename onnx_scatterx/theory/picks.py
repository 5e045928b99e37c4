"""Picks: which coordinates of an index are taken, and in which order (Definition 2).

p(I)[i] = I[p(i)]
"""

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False)
class Pick:
    """A finite function from places to coordinates, used as an operation on indices and shapes.

    The paper allows negative values in a pick. They would count from the end of an index, whose
    length a pick does not know. So here they are a ``ValueError``.

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
        """First the other, then this: ``(p @ q)(I) == p(q(I))``.

        >>> Pick((1, 0)) @ Pick((4, 6, 7))
        Pick((6, 4))
        """
        return Pick(self(other.coordinates))

    def __add__(self, other: "Pick") -> "Pick":
        """Both, one after the other: ``(p + q)(I) == p(I) + q(I)``."""
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
        """Return which integers of a set are taken.

        >>> sorted(Pick((4, 6, 7)).among(range(5, 9)))
        [6, 7]
        """
        return self.codomain.intersection(numbers)

    @property
    def codomain(self) -> frozenset[int]:
        """The coordinates that are taken."""
        return frozenset(self.coordinates)

    @property
    def is_smooth(self) -> bool:
        """Whether consecutive places take consecutive coordinates, in ascending order."""
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

    def __getitem__(self, place: int) -> int:
        return self.coordinates[place]

    def __repr__(self) -> str:
        return f"Pick({self.coordinates})"
