"""Gives a model to consumers of ONNX, such as device compilers, and compares their outputs.

`check` decides whether a consumer takes a model and computes what ONNX Runtime computes. Each
consumer runs in a process of its own.
"""
