"""TVM's scatters and gathers: the calls of ``tvm.topi``, and their names in Relay.

If an index is out of bounds, or a tensor is too small, TVM reads and writes other memory. Here both
raise ValueError. So does every call that TVM refuses.
"""

from onnx_scatterx.theory.conventions.tvm.gathers import gather, gather_nd, take
from onnx_scatterx.theory.conventions.tvm.scatters import (
    scatter,
    scatter_add,
    scatter_elements,
    scatter_nd,
    slice_scatter,
    strided_set,
)

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
