"""Statistics of times: medians, quartiles, and the confidence of a median."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """The median of some numbers, the quartiles around it, and its confidence interval."""

    median: float
    quartiles: tuple[float, float]
    interval: tuple[float, float]

    @classmethod
    def of(cls, values: np.ndarray) -> Spread:
        """Return the spread of at least six numbers.

        >>> Spread.of(np.arange(1.0, 10.0))
        Spread(median=5.0, quartiles=(3.0, 7.0), interval=(2.0, 8.0))
        """
        low, middle, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
        ordered = np.sort(values)
        place = median_place(len(ordered))
        return cls(middle, (low, high), (float(ordered[place]), float(ordered[-1 - place])))


def median_place(count: int, confidence: float = 0.95) -> int:
    """Return k so that the median of what `count` numbers were drawn from lies in [x_k, x_-1-k].

    That is the interval of the sign test, which assumes nothing about the distribution: fewer than
    k + 1 of the numbers are below the median with the probability of so many heads. Raises
    ValueError if so few numbers cannot give that confidence.

    >>> median_place(6), median_place(9), median_place(40)
    (0, 1, 13)
    """
    tail, place = 0.0, -1
    for k in range(count):
        tail += math.comb(count, k) / 2**count
        if tail > (1 - confidence) / 2:
            break
        place = k
    if place < 0:
        raise ValueError(f"{count} numbers cannot tell their median with confidence {confidence}")
    return place
