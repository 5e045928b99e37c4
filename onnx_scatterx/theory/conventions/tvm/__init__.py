"""TVM's scatters and reads: the calls of ``tvm.topi``, and what Relay called them.

TVM checks little: an index outside, or a tensor that is too small, reads and writes whatever stands
there. Here these are a ``ValueError``, as is what TVM refuses to build.
"""

from onnx_scatterx.theory.conventions.tvm.reads import gather, gather_nd, take
from onnx_scatterx.theory.conventions.tvm.scatters import (
    scatter,
    scatter_add,
    scatter_elements,
    scatter_nd,
)
from onnx_scatterx.theory.conventions.tvm.slices import slice_scatter, strided_set

__all__ = [
    "gather",
    "gather_nd",
    "scatter",
    "scatter_add",
    "scatter_elements",
    "scatter_nd",
    "slice_scatter",
    "strided_set",
    "take",
]
