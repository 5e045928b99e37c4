"""Where every element of a tensor comes from, as boxes with their sources.

Come here for the mosaic of a value, for the cells and regions that it consists of, and for values
that are constants or views of others; not for how a mosaic is written as nodes (that is in
``plan`` and the rules), nor for what a scatter writes alone (in ``lift``).

``strided_interval`` has the positions of a box on one axis and the sources of a box, ``cells`` the
boxes with their sources. ``mosaic`` joins neighbours. ``moves`` has the effect of operators on a
mosaic, ``scattered`` that of scatters and gathers. ``provenance`` finds the mosaic of each value of
a graph.
"""
