"""The theory of the paper in NumPy: its definitions, and the names of the functions for them.

Wuming Pan, "Tensor Data Scattering and the Impossibility of Slicing Theorem" (2020). The paper
numbers two definitions as 2, and two as 10. Here the first of each has the letter a.

    Definition 1    tensor, I_S                NumPy arrays; ``indices``
    Definition 2a   tuple <-> tensor           ``index_of``; ``np.array``
    Definition 2    pick, smooth, shuffle,     ``Pick``, its ``is_smooth``, ``is_shuffle``,
                    i_n and i_n:m,             ``identity``,
                    on sets, C(p)              ``among``, ``codomain``
    Definition 3    slice, embedded slice,     ``slice_of``, ``embedded_slice``,
                    subtensor                  ``subtensor``
    Definition 4    slices picked by a pick    ``picked_slices``
    Definition 5    transformer, T(A)          ``XTransformer``, ``outcomes``
    Definition 6    provision tensor           ``XTransformer.from_provision``, ``provision``
    Proposition 1   nondeterminism             ``outcomes``, ``XTransformer.collisions``
    Definition 7    scattering, its results    ``Scattering``, ``outcomes``
    Definition 8    sliceable, end pick        ``XTransformer.verdict``, its ``end_pick``
    Definition 9    weakly sliceable           ``XTransformer.verdict``, its ``picks``
    Definition 10a  x-transformer,             ``XTransformer``,
                    representations            its ``represented``, ``normal``
    Theorem 1       impossibility of slicing   ``disjoint_representation``, ``Impossibility``
    Definition 10   disseminated slice         ``disseminated_slices``
    Section 8       the ScatterX algorithm     ``scatter_x`` and its steps

The paper does not define reads: a ``Gathering`` is a read. ``moves`` writes scatterings and
gatherings as strided copies, which the paper does not have. docs/theory/errata.md lists the
corrections of the paper, with reasons.

Come here for the definitions of the paper, and in its folder conventions for the scatters of other
frameworks. Not for what the optimizer does with a scatter: it has a form of its own, over sizes
that are symbols (engine/lift).
"""

from onnx_scatterx.theory.algorithm import (
    provision_x_transformer,
    pytorch_scatter,
    scatter,
    scatter_x,
    tensorflow_scatter,
    traverse,
)
from onnx_scatterx.theory.drawing import picture
from onnx_scatterx.theory.nondeterminism import Outcomes, outcomes
from onnx_scatterx.theory.picks import (
    Pick,
    embedded_slice,
    index_of,
    indices,
    is_embedded_slice,
    picked_slices,
    slice_of,
    subtensor,
)
from onnx_scatterx.theory.scattering import Gathering, Gradients, Reduction, Scattering
from onnx_scatterx.theory.strided_copies import Move, moves
from onnx_scatterx.theory.theorem import (
    DisseminatedSlice,
    Impossibility,
    disjoint_representation,
    disseminated_slices,
)
from onnx_scatterx.theory.transformer import XTransformer
from onnx_scatterx.theory.verdict import Obstacle, Sliceability, Verdict

__all__ = [
    "DisseminatedSlice",
    "Gathering",
    "Gradients",
    "Impossibility",
    "Move",
    "Obstacle",
    "Outcomes",
    "Pick",
    "Reduction",
    "Scattering",
    "Sliceability",
    "Verdict",
    "XTransformer",
    "disjoint_representation",
    "disseminated_slices",
    "embedded_slice",
    "index_of",
    "indices",
    "is_embedded_slice",
    "moves",
    "outcomes",
    "picked_slices",
    "picture",
    "provision_x_transformer",
    "pytorch_scatter",
    "scatter",
    "scatter_x",
    "slice_of",
    "subtensor",
    "tensorflow_scatter",
    "traverse",
]
