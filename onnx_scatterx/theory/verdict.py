"""Decides whether slices of updates move as one piece (Definitions 8, 9 and Theorem 1).

- *sliceable*: T(I) = T'(first dims of I) ++ (last dims of I), Definition 8 with a nonempty end
  pick.
- *weakly sliceable*: T(I) = p(T'(p1(I)) ++ p2(I)) with p a permutation and a nonempty p2 that is
  disjoint from p1, Definition 9. (With an empty p2, everything would be weakly sliceable.) p2 can
  take a dim d exactly if some component is I_d, and only such components depend on d.
- *not sliceable*: not sliceable in either sense (Theorem 1). Every dim has an obstacle.

Components are compared as functions: on a dim of extent 1, I_d is the constant 0. An empty tensor
of updates is judged as if all its extents were 1, because every statement about all of its indices
is true.
"""

import enum
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.components import (
    Component,
    Constant,
    N,
    coordinate,
    evaluate,
    split_picks,
)
from onnx_scatterx.theory.picks import Index, Pick


class Sliceability(enum.Enum):
    """How far updates move as slices, strongest first."""

    SLICEABLE = "sliceable"
    WEAKLY_SLICEABLE = "weakly sliceable"
    NOT_SLICEABLE = "not sliceable"

    @property
    def text(self) -> str:
        """The meaning of this sliceability, in one sentence."""
        return _TEXTS[self]


_TEXTS = {
    Sliceability.SLICEABLE: "the last dims of updates move as they are to the last axes of "
    "data, and no other axis depends on them (Definition 8)",
    Sliceability.WEAKLY_SLICEABLE: "some dims of updates move as they are to axes of data, and "
    "no other axis depends on them (Definition 9)",
    Sliceability.NOT_SLICEABLE: "another axis depends on every dim of updates that moves to an "
    "axis of data (Theorem 1)",
}


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why no slice lies along a dim. If the components are numbers, indices prove the reason.

    If ``component`` is None, no component is I_dim: at the index ``at[c]``, component c is not
    I_dim. Otherwise, this component depends on I_dim but is not I_dim: at the index ``at[0]``, it
    is not I_dim. ``apart`` are two indices that differ only in this dim, and at which the component
    has different values.
    """

    dim: int
    component: int | None
    at: tuple[Index, ...] = ()
    apart: tuple[Index, Index] | None = None

    def __str__(self) -> str:
        if self.component is None:
            where = " or ".join(str(index) for index in dict.fromkeys(self.at))
            proof = f", see update {where}" if where else ""
            return f"dim {self.dim}: no component is I_{self.dim}{proof}"
        proof = f", see update {self.at[0]}" if self.at else ""
        if self.apart is not None:
            proof += f", and updates {self.apart[0]} and {self.apart[1]} differ in it"
        return (
            f"dim {self.dim}: component {self.component} depends on I_{self.dim} "
            f"and is not I_{self.dim}{proof}"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The sliceability with its proof.

    ``end_pick`` is the largest sliceable end pick; it may be empty. ``picks`` are p1, p2, p of a
    representation with disjoint p1 and p2, if there is one; for a sliceable transformer, that of
    Definition 8. If the transformer is not sliceable, ``witness`` has an obstacle for each dim.
    """

    sliceability: Sliceability
    end_pick: Pick
    picks: tuple[Pick, Pick, Pick] | None
    witness: tuple[Obstacle, ...]


def judge(components: Sequence[Component[N]], rank: int, wide: Set[int]) -> Verdict:
    """Judge a transformer by its components, and the rank of its updates.

    ``wide`` are the dims whose extent may be 2 or more. The obstacles do not have indices. If the
    components are numbers, ``prove`` adds the indices.

    >>> from onnx_scatterx.theory.components import Affine
    >>> judge([Constant(3), Affine(0, 1, 0)], 1, {0}).end_pick
    Pick((0,))
    >>> print(*judge([Affine(1, 2, 0)], 1, {0}).witness)
    dim 0: no component is I_0
    """
    end = _end_pick(components, rank, wide)
    if end:
        picks = Pick.identity(rank - len(end)), end, Pick.identity(len(components))
        return Verdict(Sliceability.SLICEABLE, end, picks, ())
    obstacles = [_obstacle(components, d, wide) for d in range(rank)]
    free = [d for d, obstacle in enumerate(obstacles) if obstacle is None]
    if free:
        taken = [_taken(t, free, wide) for t in components]
        return Verdict(Sliceability.WEAKLY_SLICEABLE, end, split_picks(taken, components), ())
    witness = tuple(o for o in obstacles if o is not None)
    return Verdict(Sliceability.NOT_SLICEABLE, end, None, witness)


def equals_coordinate(component: Component[N], dim: int, wide: Set[int]) -> bool:
    """Whether the component is I_dim as a function; if the extent of dim is 1, I_dim is 0."""
    if coordinate(component) == dim:
        return True
    return dim not in wide and isinstance(component, Constant) and bool(component.value == 0)


def _end_pick(components: Sequence[Component[N]], rank: int, wide: Set[int]) -> Pick:
    d, c = rank, len(components)
    while d > 0 and c > 0 and equals_coordinate(components[c - 1], d - 1, wide):
        if any(d - 1 in t.dims for t in components[: c - 1]):
            break
        d, c = d - 1, c - 1
    return Pick.identity(d, rank)


def _taken(t: Component[N], free: Sequence[int], wide: Set[int]) -> int | None:
    return next((d for d in free if equals_coordinate(t, d, wide)), None)


def _obstacle(components: Sequence[Component[N]], d: int, wide: Set[int]) -> Obstacle | None:
    if not any(equals_coordinate(t, d, wide) for t in components):
        return Obstacle(d, None)
    entangled = (c for c, t in enumerate(components) if d in t.dims and coordinate(t) != d)
    return next((Obstacle(d, c) for c in entangled), None)


def prove(verdict: Verdict, components: Sequence[Component[int]], shape: Sequence[int]) -> Verdict:
    """Add indices to the obstacles of a verdict. The components are canonical, and have numbers.

    >>> from onnx_scatterx.theory.components import Affine
    >>> components = [Affine(0, 2, 0)]
    >>> print(*prove(judge(components, 1, {0}), components, (3,)).witness)
    dim 0: no component is I_0, see update (1,)
    """
    values = [evaluate(t, shape) for t in components]
    return replace(verdict, witness=tuple(_proven(o, values, shape) for o in verdict.witness))


def _proven(o: Obstacle, values: list[NDArray[np.int64]], shape: Sequence[int]) -> Obstacle:
    along = np.arange(shape[o.dim]).reshape([-1 if d == o.dim else 1 for d in range(len(shape))])
    if o.component is None:
        at = tuple(_first(t != along) for t in values)
        # If one index serves all components, the proof is easier to read.
        one = (i for i in at if all(t[_within(i, t)] != i[o.dim] for t in values))
        index = next(one, None)
        return replace(o, at=at if index is None else (index,) * len(at))
    t = values[o.component]
    before = _first(np.diff(t, axis=o.dim) != 0)
    after = (*before[: o.dim], before[o.dim] + 1, *before[o.dim + 1 :])
    return replace(o, at=(_first(t != along),), apart=(before, after))


def _first(mask: NDArray[np.bool_]) -> Index:
    return tuple(int(i) for i in np.unravel_index(int(mask.argmax()), mask.shape))


def _within(index: Index, values: NDArray[np.int64]) -> Index:
    return tuple(min(i, n - 1) for i, n in zip(index, values.shape, strict=True))
