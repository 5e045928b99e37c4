"""PyTorch's scatters and gathers as the equation of the paper, with PyTorch's checks on the CPU.

    file           calls                                             one number of f for
    elements.py    scatter, scatter_add, scatter_reduce,             each element
                   gather, take_along_dim, take
    rows.py        index_copy, index_add, index_fill, index_select   each slice along a dim
    indexing.py    index_put, setitem (``x[index] = value``)         each place that tensors give
    slices.py      slice_scatter, select_scatter, diagonal_scatter   nothing, or a line
                   masked_scatter, masked_fill                       each true element of a mask

The arguments are those of PyTorch, as NumPy arrays (bfloat16 is that of ml_dtypes). If PyTorch
refuses a call, the call raises a ValueError that names the argument. If updates collide, PyTorch
does not define which one wins. Here the last one in row-major order wins, as on PyTorch's CPU with
one thread.
"""

from onnx_scatterx.theory.conventions.pytorch.elements import (
    gather,
    scatter,
    scatter_add,
    scatter_reduce,
    take,
    take_along_dim,
)
from onnx_scatterx.theory.conventions.pytorch.indexing import index_put, setitem
from onnx_scatterx.theory.conventions.pytorch.rows import (
    index_add,
    index_copy,
    index_fill,
    index_select,
)
from onnx_scatterx.theory.conventions.pytorch.slices import (
    diagonal_scatter,
    masked_fill,
    masked_scatter,
    select_scatter,
    slice_scatter,
)

__all__ = [
    "diagonal_scatter",
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_select",
    "masked_fill",
    "masked_scatter",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "setitem",
    "slice_scatter",
    "take",
    "take_along_dim",
]
