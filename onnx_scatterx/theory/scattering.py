"""Runs scatterings (Definition 7) and gatherings, and computes the gradients of scatterings.

    output = data
    for I in row-major order of updates:
        output[T(I)] = combine(reduction, output[T(I)], updates[I])

Definition 7 does not define which of two colliding updates wins. Here it is the last one.

    output[I] = data[T(I)]      for every index I of output

The transformer's ``shape`` is that of the output. No two elements of the output collide, so the
order does not matter, and any transformer is valid.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.transformer import XTransformer


class Reduction(enum.StrEnum):
    """How an update is combined with the element that it is written to.

    The first five are ONNX's. The others differ from ``min`` and ``max`` only for floats, if a
    number is NaN or if zeros of both signs are compared. ``minimum`` and ``maximum`` are PyTorch's,
    ``less`` and ``greater`` are TensorFlow's.

        reduction            result              x is NaN    u is NaN    x and u are equal
        min, max             x < u ? x : u       u           u           u
        minimum, maximum     either, if NaN      x           u           x
        less, greater        u < x ? u : x       x           x           x
    """

    NONE = "none"
    ADD = "add"
    MUL = "mul"
    MIN = "min"
    MAX = "max"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    LESS = "less"
    GREATER = "greater"


class Gradients(NamedTuple):
    """The gradients of data and updates, each with the shape of its input."""

    data: NDArray[Any]
    updates: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Scattering:
    """A write of updates into data, by a transformer.

    ``data`` has the transformer's ``data_shape``, and ``updates`` its ``shape``. Both have the same
    element type: a NumPy number, bool, bfloat16, or strings of any NumPy kind, which cannot be
    reduced. Raises ValueError for another element type, or if an update is out of bounds.

    >>> T = XTransformer.from_provision(np.array([[3], [1], [3]]), (4,))
    >>> Scattering(np.zeros(4), np.array([1.0, 2.0, 3.0]), T).run()
    array([0., 2., 0., 3.])
    >>> Scattering(np.zeros(4), np.array([1.0, 2.0, 3.0]), T, Reduction.ADD).run()
    array([0., 2., 0., 4.])
    """

    data: NDArray[Any]
    updates: NDArray[Any]
    transformer: XTransformer
    reduction: Reduction = Reduction.NONE

    def __post_init__(self) -> None:
        for name, shape in (
            ("data", self.transformer.data_shape),
            ("updates", self.transformer.shape),
        ):
            array = np.asarray(getattr(self, name))
            if array.shape != shape:
                raise ValueError(f"{name} has shape {array.shape}, the transformer asks {shape}")
            object.__setattr__(self, name, array)
        object.__setattr__(self, "reduction", Reduction(self.reduction))
        of_data, of_updates = self.data.dtype, self.updates.dtype
        if of_data != of_updates and not (is_string(of_data) and is_string(of_updates)):
            raise ValueError(f"data holds {of_data} and updates {of_updates}: they must agree")
        if not _can_reduce(self.reduction, of_data):
            raise ValueError(f"the reduction {self.reduction} has no meaning for {of_data}")
        self.transformer.check_bounds()

    def run(self) -> NDArray[Any]:
        """Compute the output, a new array.

        The order of updates of different targets does not matter. Updates of the same target keep
        their order: round k writes the k-th update of every target, all at once.
        """
        output = self._copy_of_data()
        flat, updates = output.reshape(-1), self.updates.reshape(-1)
        targets = self.transformer.offsets().reshape(-1)
        for chosen in rounds(targets):
            meets = flat[targets[chosen]]
            flat[targets[chosen]] = combine(self.reduction, meets, updates[chosen])
        return output

    def run_in_order(self) -> NDArray[Any]:
        """Compute the output update by update, as the equation says: slow, to check ``run``."""
        output = self._copy_of_data()
        for index in np.ndindex(self.updates.shape):
            target = self.transformer(index)
            output[target] = combine(self.reduction, output[target], self.updates[index])
        return output

    def adjoint(self, gradient: NDArray[Any], like: Literal["pytorch"] | None = None) -> Gradients:
        """Return the gradients of data and updates, for a gradient of the output's shape.

        For ``none`` and ``add``, the output is a linear map A of data and updates, and the result
        is the adjoint of A: ``<A(x, u), y> = <(x, u), A*(y)>``. An update gets the gradient of its
        target. An overwritten element of data, and an update that a later one overwrites, get 0.
        For ``mul``, ``min`` and ``max``, the result is the adjoint of the derivative. With
        ``like="pytorch"``, overwritten updates get the gradient of their target, too, and equal
        extremes share the gradient evenly.

        Raises ValueError if the gradient has another shape, if the numbers are no floats, or if an
        extreme is reached more than once.

        >>> T = XTransformer.from_provision(np.array([[3], [1], [3]]), (4,))
        >>> Scattering(np.zeros(4), np.ones(3), T).adjoint(np.array([1.0, 2.0, 3.0, 4.0]))
        Gradients(data=array([1., 0., 3., 0.]), updates=array([0., 2., 4.]))
        """
        gradient = np.asarray(gradient)
        if gradient.shape != self.data.shape:
            raise ValueError(f"the gradient has shape {gradient.shape}, not {self.data.shape}")
        if self.data.dtype.kind not in "fc" and not _is_half(self.data.dtype):
            raise ValueError(f"there is no derivative: numbers of {self.data.dtype} are not dense")
        targets = self.transformer.offsets().reshape(-1)
        of_output = gradient.reshape(-1)
        data, updates = of_output.copy(), of_output[targets]
        match self.reduction:
            case Reduction.NONE:
                data[targets] = 0
                if like is None:
                    for overwritten in list(rounds(targets[::-1]))[1:]:
                        updates[targets.size - 1 - overwritten] = 0
            case Reduction.MUL:
                factors, others = self._factors(targets)
                data, updates = data * factors, updates * others
            case Reduction.ADD:
                pass
            case _:
                data, updates = self._extremes(targets, data, updates, like)
        return Gradients(data.reshape(self.data.shape), updates.reshape(self.updates.shape))

    def _factors(self, targets: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the factors by which each element of data, and each update, is multiplied."""
        factors, updates = self.updates.reshape(-1), list(rounds(targets))
        before, after = self.data.reshape(-1).copy(), np.ones(self.data.size, self.data.dtype)
        others = np.ones_like(factors)
        for chosen in updates:
            others[chosen] = before[targets[chosen]]
            before[targets[chosen]] *= factors[chosen]
        for chosen in reversed(updates):
            others[chosen] *= after[targets[chosen]]
            after[targets[chosen]] *= factors[chosen]
        return after, others

    def _extremes(
        self,
        targets: NDArray[np.int64],
        data: NDArray[Any],
        updates: NDArray[Any],
        like: Literal["pytorch"] | None,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the gradients of an extreme: they flow to the element or update that it is."""
        result = self.run().reshape(-1)
        of_data = self.data.reshape(-1) == result
        of_updates = self.updates.reshape(-1) == result[targets]
        count = of_data.astype(data.dtype)
        np.add.at(count, targets, of_updates)
        if like is None and np.any(count[targets] != 1):
            first = np.unravel_index(targets[np.argmax(count[targets] != 1)], self.data.shape)
            where = tuple(map(int, first))
            raise ValueError(f"there is no derivative: the extreme at {where} is not unique")
        touched = np.zeros(data.size, bool)
        touched[targets] = True
        count[~touched] = 1
        return np.where(of_data | ~touched, data / count, 0), np.where(
            of_updates, updates / count[targets], 0
        )

    def _copy_of_data(self) -> NDArray[Any]:
        dtype = self.data.dtype
        if dtype != self.updates.dtype:  # strings of different lengths or kinds
            same_kind = dtype.kind == self.updates.dtype.kind
            dtype = np.promote_types(dtype, self.updates.dtype) if same_kind else np.dtype(object)
        return np.array(self.data, dtype, order="C", copy=True)


def combine(reduction: Reduction, old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Return the result of one step of a reduction, elementwise.

    As in ONNX Runtime, ``min`` and ``max`` are ``x < u ? x : u`` and ``x > u ? x : u``: the update
    wins if either is NaN, or if they are zeros of both signs. ``Reduction`` lists the other
    reductions. Integers wrap. Bools add by "or" and multiply by "and". float16 and bfloat16 are
    computed in float32, and rounded in every step.

    >>> combine(Reduction.MAX, np.array([np.nan, 1.0]), np.array([1.0, np.nan]))
    array([ 1., nan])
    >>> combine(Reduction.MAXIMUM, np.array([np.nan, 1.0]), np.array([1.0, np.nan]))
    array([nan, nan])
    """
    if reduction is Reduction.NONE:
        return new
    old, new = np.asarray(old), np.asarray(new)
    dtype = new.dtype
    exact = np.dtype(np.float32) if _is_half(dtype) else dtype
    x, u = old.astype(exact), new.astype(exact)
    with np.errstate(all="ignore"):
        match reduction:
            case Reduction.ADD:
                result = np.add(x, u)
            case Reduction.MUL:
                result = np.multiply(x, u)
            case Reduction.MIN:
                result = np.where(x < u, old, new)
            case Reduction.MAX:
                result = np.where(x > u, old, new)
            case Reduction.MINIMUM:
                result = np.where((x <= u) | (x != x), old, new)
            case Reduction.MAXIMUM:
                result = np.where((x >= u) | (x != x), old, new)
            case Reduction.LESS:
                result = np.where(u < x, new, old)
            case Reduction.GREATER:
                result = np.where(u > x, new, old)
        return np.asarray(result).astype(dtype)


def rounds(targets: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the positions of updates: round k has the k-th update of every target.

    >>> [chosen.tolist() for chosen in rounds(np.array([5, 3, 5, 5, 3]))]
    [[1, 0], [4, 2], [3]]
    """
    if targets.size == 0:
        return
    by_target = np.argsort(targets, kind="stable")
    first = np.flatnonzero(np.diff(targets[by_target], prepend=-1))
    counts = np.diff(first, append=targets.size)
    turn = np.arange(targets.size) - np.repeat(first, counts)
    by_turn = np.argsort(turn, kind="stable")
    yield from np.split(by_target[by_turn], np.flatnonzero(np.diff(turn[by_turn])) + 1)


def is_string(dtype: np.dtype[Any]) -> bool:
    """Whether the elements of a type are strings, bytes or objects."""
    return dtype.kind in "OUST"


def _is_half(dtype: np.dtype[Any]) -> bool:
    return dtype.name in ("float16", "bfloat16")


def _can_reduce(reduction: Reduction, dtype: np.dtype[Any]) -> bool:
    if reduction is Reduction.NONE:
        return True
    if dtype.kind == "c":
        return reduction in (Reduction.ADD, Reduction.MUL)
    return dtype.kind in "biuf" or _is_half(dtype)


@dataclass(frozen=True, eq=False)
class Gathering:
    """A read of elements of data, by a transformer.

    ``data`` has the transformer's ``data_shape``. Raises ValueError if a read is out of bounds.

    >>> T = XTransformer.from_provision(np.array([[3], [1], [3]]), (4,))
    >>> Gathering(np.array([0.0, 10.0, 20.0, 30.0]), T).run()
    array([30., 10., 30.])
    """

    data: NDArray[Any]
    transformer: XTransformer

    def __post_init__(self) -> None:
        data, expected = np.asarray(self.data), self.transformer.data_shape
        if data.shape != expected:
            raise ValueError(f"data has shape {data.shape}, the transformer asks {expected}")
        object.__setattr__(self, "data", data)
        self.transformer.check_bounds()

    def run(self) -> NDArray[Any]:
        """Compute the output, a new array of the transformer's ``shape``."""
        offsets = self.transformer.offsets()
        # Indexed by a vector: by a number, the result would be an element and not an array.
        return self.data.reshape(-1)[offsets.reshape(-1)].reshape(offsets.shape)
