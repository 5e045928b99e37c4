"""Removes scatters from the programs of PyTorch, before these are exported."""

from onnx_scatterx.torch.removing import remove_scatters

__all__ = ["remove_scatters"]
