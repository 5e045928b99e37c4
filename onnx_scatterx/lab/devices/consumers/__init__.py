"""The adapters: one file for each consumer of ONNX."""
