"""Where every element of a tensor comes from, and writing that out as a graph.

``strided_interval`` has the positions of a box on one axis and the sources of a box, ``cells`` the
boxes with their sources. ``mosaic`` joins neighbours. ``moves`` has the effect of operators on a
mosaic, ``scattered`` that of scatters and gathers. ``provenance`` finds the mosaic of each value of
a graph.
"""
