"""The passes over a graph, each in a file of its name, and the job that they share.

Come here for a pass that works on any model, for the job (one model, its settings and what is known
of it), and for what passes note at nodes; not for the order of the passes (that is in
``pipeline``), nor for passes that fit a model to sizes, an operator set or a target (in
``fitting``).
"""
