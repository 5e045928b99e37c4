"""The answers of device compilers about a model: each runs it in a process of its own.

`check` decides whether a consumer takes a model and computes what ONNX Runtime computes.
"""
