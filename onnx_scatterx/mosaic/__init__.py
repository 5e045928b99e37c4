"""Where every element of a tensor comes from, and writing that out as a graph.

``span`` are the positions of a box on one axis, ``cells`` the boxes with their sources and the moves
that operators make on them, ``provenance`` finds the mosaic of a value in a graph.
"""
