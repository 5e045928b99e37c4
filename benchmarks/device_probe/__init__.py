"""Models of one node, to find out which operators a consumer of ONNX takes, and computes rightly.

There are two sources. The tests of ONNX's own backends (`onnx_tests`) have some hundred models with
data for all operators. And tables of what onnx-scatterx writes: each element type, rank and
attribute by itself. The first row of an operator is the plainest one. All numbers are fixed: two
runs make the same models. `program` is what `.ci/probe-device` starts.
"""
