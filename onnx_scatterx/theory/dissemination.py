"""Disseminated slices: the slices that move as one piece (section 7.1).

If p1 and p2 are disjoint, f is constant on each slice that p1 picks (Definition 4):

    for K in I_S / p1 (I):      T(K) = p( f(p1(I)) ++ p2(K) )

so the slice moves to its place in data unchanged, and f decides where.
"""

from dataclasses import dataclass

from onnx_scatterx.theory.slices import Index, index_of, picked_slices
from onnx_scatterx.theory.transformer import XTransformer


@dataclass(frozen=True, slots=True)
class DisseminatedSlice:
    """One piece: the updates ``source[i]`` go to the data indices ``target[i]``.

    ``taken`` is ``p1(I)``, the same for every index I of the piece.
    """

    taken: Index
    source: tuple[Index, ...]
    target: tuple[Index, ...]


def disseminated_slices(transformer: XTransformer) -> tuple[DisseminatedSlice, ...]:
    """Return the pieces of updates, in row-major order, and the target of each.

    The transformer must be represented by disjoint p1 and p2, and p2 must not be empty; otherwise
    this is a ``ValueError``. ``disjoint_representation`` finds such a representation.

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
