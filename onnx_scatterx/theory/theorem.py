"""Theorem 1, the impossibility of slicing: finds a disjoint representation, or a witness.

    T(I) = p( f(p1(I)) ++ p2(I) )      p a permutation, p2 nonempty, p1 and p2 disjoint

If p2 takes dim d, some component of T is I_d. Then any component that depends on I_d is I_d, too:
f does not see I_d, so the component comes from p2. An *obstacle* to d is a proof of the contrary:
indices where no component is I_d, or where a component that is not I_d changes with I_d alone. If
every dim has an obstacle, p2 cannot take a dim. Conversely, p2 can take each dim without an
obstacle, and f gets the dims on which the other components depend.

A disseminated slice is a slice that moves as one piece (section 7.1). If p1 and p2 are disjoint, f
is constant on each slice that p1 picks (Definition 4):

    for K in I_S / p1 (I):      T(K) = p( f(p1(I)) ++ p2(K) )

so the slice moves to its place in data unchanged, and f decides where.
"""

from dataclasses import dataclass

from onnx_scatterx.text.visible_text import in_lines
from onnx_scatterx.theory.picks import Index, index_of, picked_slices
from onnx_scatterx.theory.transformer import XTransformer
from onnx_scatterx.theory.verdict import Obstacle


@dataclass(frozen=True, slots=True)
class Impossibility:
    """A proof that no representation has disjoint picks: an obstacle for each dim."""

    witness: tuple[Obstacle, ...]

    def holds(self, transformer: XTransformer) -> bool:
        """Whether the witness is a proof for this transformer: checks only the indices in it."""
        dims = range(len(transformer.shape))
        return tuple(o.dim for o in self.witness) == tuple(dims) and all(
            _stands(o, transformer) for o in self.witness
        )

    def __str__(self) -> str:
        return in_lines(self.witness) or "updates has no dim"


def disjoint_representation(transformer: XTransformer) -> XTransformer | Impossibility:
    """Return the transformer with a nonempty p2 disjoint from p1, or the proof that none exists.

    If the transformer is sliceable, p2 is its largest sliceable end pick, and p is the identity.

    >>> import numpy as np
    >>> i, j = np.indices((2, 2))
    >>> T = XTransformer.from_provision(np.stack([j, i ^ 1], -1), (2, 2))
    >>> form = disjoint_representation(T)
    >>> form.p1, form.p2, form.p, form.f.ravel()
    (Pick((0,)), Pick((1,)), Pick((1, 0)), array([1, 0]))
    >>> T = XTransformer.from_provision(np.stack([i, i ^ j], -1), (2, 2))
    >>> print(disjoint_representation(T))
    dim 0: component 1 depends on I_0 and is not I_0, see update (0, 1),
           and updates (0, 0) and (1, 0) differ in it
    dim 1: no component is I_1, see update (1, 0)
    """
    verdict = transformer.verdict()
    if verdict.picks is None:
        return Impossibility(verdict.witness)
    form = transformer.represented(*verdict.picks)
    assert form is not None
    return form


def _stands(o: Obstacle, transformer: XTransformer) -> bool:
    try:
        if o.component is None:
            axes = range(len(transformer.data_shape))
            at = dict(zip(axes, o.at, strict=True))
            return all(transformer(at[c])[c] != at[c][o.dim] for c in axes)
        if o.apart is None or len(o.at) != 1:
            return False
        (index,), (before, after) = o.at, o.apart
        return (
            transformer(index)[o.component] != index[o.dim]
            and {d for d, i in enumerate(before) if i != after[d]} == {o.dim}
            and transformer(before)[o.component] != transformer(after)[o.component]
        )
    except (IndexError, ValueError):  # not an index of this transformer's updates
        return False


@dataclass(frozen=True, slots=True)
class DisseminatedSlice:
    """One piece: the updates ``source[i]`` go to the data indices ``target[i]``.

    ``taken`` is ``p1(I)``, the same for every index I of the piece.
    """

    taken: Index
    source: tuple[Index, ...]
    target: tuple[Index, ...]


def disseminated_slices(transformer: XTransformer) -> tuple[DisseminatedSlice, ...]:
    """Return the slices of updates, in row-major order, each with its target.

    Raises ValueError if p1 and p2 of the transformer are not disjoint, or if p2 is empty.
    ``disjoint_representation`` finds a representation without these faults.

    >>> from onnx_scatterx.theory.picks import Pick
    >>> rows = XTransformer((2, 2), (4, 2), [[3], [1]], Pick((0,)), Pick((1,)), Pick.identity(2))
    >>> for piece in disseminated_slices(rows):
    ...     print(piece.source, piece.target)
    ((0, 0), (0, 1)) ((3, 0), (3, 1))
    ((1, 0), (1, 1)) ((1, 0), (1, 1))
    """
    both = transformer.p1.codomain & transformer.p2.codomain
    if both or not len(transformer.p2):
        fault = f"both take dim {min(both)}" if both else "p2 takes nothing"
        raise ValueError(f"a slice needs p1 and p2 apart: {fault}")
    provision = transformer.provision()
    return tuple(
        DisseminatedSlice(taken, source, tuple(index_of(provision[i]) for i in source))
        for taken, source in picked_slices(transformer.shape, transformer.p1).items()
    )
