"""Removes scatters from the programs of PyTorch, before these are exported.

Come here for ``remove_scatters``. Not for ONNX models: it knows none of the other rooms.
"""

from onnx_scatterx.torch.removing import remove_scatters

__all__ = ["remove_scatters"]
