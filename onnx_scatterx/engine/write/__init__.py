"""Nodes are written before a node of a graph, as its operator set, ONNX Runtime and a target want.

Come here for the writer, for sizes and positions that are written as nodes, for other forms of a
node that a target does not take, for the element types that ONNX Runtime has kernels of, and for
ScatterX nodes with the functions that they fall back to; not for what to write and what it costs
(that is in ``engine.plan`` and the rules), nor for which target takes what (in ``engine.device``).
"""
