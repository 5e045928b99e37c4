"""Plans for one graph: rounds of plans, the selection among them, and the change of the graph.

Come here for the interface of a rule, for the cheapest plan of a region or a scatter, and for what
became of each scatter; not for the rules (these are in ``rewrites``, and what they import is
``engine.rules``), nor for the order of the passes (in ``pipeline``).
"""
