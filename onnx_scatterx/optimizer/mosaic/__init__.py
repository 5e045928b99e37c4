"""Where every element of a tensor comes from, and writing that out as a graph.

A ``strided_interval`` holds the positions of a box on one axis, ``regions`` has the sources of a
box, and ``cells`` the boxes with their sources. ``moves`` has the effect of operators on a
``mosaic``, ``scattered`` and ``gathered`` that of scatters and gathers. ``coalesce`` joins
neighbours. ``provenance`` finds the mosaic of each value of a graph.
"""
