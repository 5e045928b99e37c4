"""Where every element of a tensor comes from, and writing that out as a graph.

``span`` are the positions of a box on one axis, ``cells`` the boxes with their sources and the
moves of operators on them, ``writes`` the cells of a scatter, ``coalesce`` joins neighbours,
``provenance`` finds the mosaic of a value in a graph.
"""
