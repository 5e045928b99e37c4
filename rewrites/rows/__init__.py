"""Rows that a mask chooses: a function of them becomes the same function of all rows.

    f(x[m])[k] = f(x)[i]        if m[i] is the k-th true element of m

Come here for a write of chosen rows as one of all rows (``whole_write``, ``counted_write``), and
for a scatter of updates that a mask chooses as one of all updates (``chosen_rows``). On the way:

    masks, mask_shares            a scatter is a write by a mask; how often a mask is true
    choice, following             which rows are chosen, and how an axis of a value has them
    whole, dims, among            a tensor of all rows, with dims of a mask, or of two
    whole_rows, reads, counts     a value is followed to the tensors whose rows are read
    functions, part               what an operator is of all rows, kind by kind:
    arithmetic, layers, moves, writes, sizes
    masked_write, chosen          what is written
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.rewrites.rows.chosen import ChosenRows as ChosenRows
    from onnx_scatterx.rewrites.rows.chosen import chosen_rows as chosen_rows
    from onnx_scatterx.rewrites.rows.masked_write import counted_write as counted_write
    from onnx_scatterx.rewrites.rows.masked_write import whole_write as whole_write
    from onnx_scatterx.rewrites.rows.masks import mask_of as mask_of
    from onnx_scatterx.rewrites.rows.masks import masked as masked
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "chosen": "ChosenRows chosen_rows",
            "masked_write": "counted_write whole_write",
            "masks": "mask_of masked",
        },
    )
