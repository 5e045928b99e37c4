"""What a target takes of a node whose shapes and elements are known, and what a node costs.

Come here for the uses of an operator that a target refuses, for the parts of a model that it does
not take, and for the nodes or nanoseconds by which plans are compared; not for the profiles of
targets (they are in ``targets``), nor for another form of what is refused (in ``engine.write``).
"""
