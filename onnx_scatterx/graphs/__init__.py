"""Graphs of onnx_ir: what they hold, and small changes of them."""
