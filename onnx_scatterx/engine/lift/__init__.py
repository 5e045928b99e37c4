"""A scatter or a gather in canonical form: where each point goes, as terms.

Come here for the form of a node, the boxes that it writes or reads (its footprint), the bounds of
indices that hold because it ran, and how the theory sees it; not for where the elements of a
tensor come from (that is in ``mosaic``), nor for what indices hold (in ``analysis``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.lift.access import Access as Access
    from onnx_scatterx.engine.lift.affine import AffineAxis as AffineAxis
    from onnx_scatterx.engine.lift.affine import affine_along as affine_along
    from onnx_scatterx.engine.lift.affine import modulus_of as modulus_of
    from onnx_scatterx.engine.lift.bounds import bounded as bounded
    from onnx_scatterx.engine.lift.bounds import learn_bounds as learn_bounds
    from onnx_scatterx.engine.lift.footprint import Piece as Piece
    from onnx_scatterx.engine.lift.footprint import pieces as pieces
    from onnx_scatterx.engine.lift.in_theory import InTheory as InTheory
    from onnx_scatterx.engine.lift.lifting import Gather as Gather
    from onnx_scatterx.engine.lift.lifting import Scatter as Scatter
    from onnx_scatterx.engine.lift.lifting import is_gather as is_gather
    from onnx_scatterx.engine.lift.lifting import is_scatter as is_scatter
    from onnx_scatterx.engine.lift.lifting import lift_gather as lift_gather
    from onnx_scatterx.engine.lift.lifting import lift_scatter as lift_scatter
    from onnx_scatterx.engine.lift.node_names import NodeNames as NodeNames
    from onnx_scatterx.engine.lift.unflatten import unflattened as unflattened
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "access": "Access",
            "affine": "AffineAxis affine_along modulus_of",
            "bounds": "bounded learn_bounds",
            "footprint": "Piece pieces",
            "in_theory": "InTheory",
            "lifting": "Gather Scatter is_gather is_scatter lift_gather lift_scatter",
            "node_names": "NodeNames",
            "unflatten": "unflattened",
        },
    )
