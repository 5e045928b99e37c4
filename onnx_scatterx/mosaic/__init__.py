"""Where every element of a tensor comes from, and writing that out as a graph.

``span`` are the positions of a box on one axis, ``cells`` the boxes with their sources and the
moves that operators make on them, ``writes`` the cells of a scatter, ``melt`` joins neighbours,
``provenance`` finds the mosaic of a value in a graph, ``plan`` chooses how to write it out.
"""
