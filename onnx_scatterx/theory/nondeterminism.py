"""Finds all possible results of applying a transformer (Definitions 5 and 7).

    for every K in T(I):     B[K] = A[J] for some J with T(J) = K
    for every other K:       B[K] = X[K], or any value without X

Only updates with the same target allow several results (Proposition 1). With a reduction, the
results come from the orders in which these updates are combined.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.grouping import grouped
from onnx_scatterx.theory.picks import Index, indices
from onnx_scatterx.theory.scattering import Reduction, Scattering, combine, is_string
from onnx_scatterx.theory.transformer import XTransformer


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A set of tensors, with iteration, ``in`` and ``count``.

    ``choices`` has the possible values of each target, bit for bit, in the order of the updates.
    Every other element is the element of ``rest``. If an element of ``rest`` is masked, it may have
    any value.
    """

    rest: NDArray[Any]
    choices: Mapping[Index, tuple[Any, ...]]

    @property
    def count(self) -> int:
        """The number of results, if every element is determined or has finitely many values."""
        return prod(map(len, self.choices.values()))

    @property
    def is_deterministic(self) -> bool:
        """Whether every element of the result is determined."""
        free = np.ma.getmaskarray(self.rest).copy()
        for target in self.choices:
            free[target] = False
        return self.count == 1 and not free.any()

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for chosen in itertools.product(*self.choices.values()):
            result = self.rest.copy()
            for target, value in zip(self.choices, chosen, strict=True):
                result[target] = value
            yield result

    def __contains__(self, tensor: object) -> bool:
        if not isinstance(tensor, np.ndarray) or tensor.shape != self.rest.shape:
            return False
        own, other = self.rest.dtype, tensor.dtype
        if own != other and not (is_string(own) and is_string(other)):
            return False
        free = np.ma.getmaskarray(self.rest)
        return all(
            bits(tensor[k]) in map(bits, self.choices.get(k, (self.rest[k],)))
            for k in indices(self.rest.shape)
            if k in self.choices or not free[k]
        )


def outcomes(
    transformer: XTransformer,
    updates: NDArray[Any],
    data: NDArray[Any] | None = None,
    reduction: Reduction | str = Reduction.NONE,
) -> Outcomes:
    """Find every result of applying a transformer to updates, or to updates and data.

    Without data, a result is T(A) of Definition 5: it has the transformer's ``data_shape``, and is
    masked where no update determines it. With data, a result is that of a scattering (Definition
    7). If only one of ``updates`` and the transformer has an index, the index is ignored. Raises
    ValueError if an update is out of bounds, if data has another shape or element type, or if a
    reduction is given without data.

    >>> T = XTransformer.from_provision(np.array([[2], [0], [2]]), (4,))
    >>> results = outcomes(T, np.array([1, 2, 3]))
    >>> results.count, next(iter(results)).tolist()
    (2, [2, None, 1, None])
    >>> [B.tolist() for B in outcomes(T, np.array([1, 2, 3]), np.zeros(4, int))]
    [[2, 0, 1, 0], [2, 0, 3, 0]]
    >>> outcomes(T, np.array([1, 2, 3]), np.zeros(4, int), "add").count
    1
    """
    updates, reduction = np.asarray(updates), Reduction(reduction)
    transformer.check_bounds()
    if data is None:
        if reduction is not Reduction.NONE:
            raise ValueError(f"the reduction {reduction} needs data to meet")
        unknown = np.zeros(transformer.data_shape, updates.dtype)
        rest: NDArray[Any] = np.ma.MaskedArray(unknown, mask=True)
    else:
        # A scattering without updates checks the data, the types and the reduction.
        none = np.empty((0, len(transformer.data_shape)), np.int64)
        nothing = XTransformer.from_provision(none, transformer.data_shape)
        rest = Scattering(data, np.empty(0, updates.dtype), nothing, reduction).run()
    common = _common(transformer.shape, updates.shape)
    meeting = grouped((transformer(index), updates[index]) for index in common)
    choices = {k: _reachable(reduction, rest[k], met) for k, met in meeting.items()}
    return Outcomes(rest, choices)


def bits(value: Any) -> object:
    """Return a key that is equal for equal bits: NaN equals NaN, and -0.0 differs from 0.0."""
    array = np.asarray(value)
    return array.item() if is_string(array.dtype) else array.tobytes()


def _common(shape: Sequence[int], other: Sequence[int]) -> tuple[Index, ...]:
    if len(shape) != len(other):
        return ()
    return indices([min(n, m) for n, m in zip(shape, other, strict=True)])


def _reachable(reduction: Reduction, old: Any, met: list[Any]) -> tuple[Any, ...]:
    """Return the different values of an element over all orders of its updates."""
    if reduction is Reduction.NONE:
        return tuple({bits(u): u for u in met}.values())
    # A state is the value so far, and the remaining updates. Equal states have equal results.
    states = {(bits(old), frozenset(range(len(met)))): old}
    for _ in met:
        states = {
            (bits(value := combine(reduction, x, met[u])[()]), left - {u}): value
            for (_, left), x in states.items()
            for u in left
        }
    return tuple(states.values())
