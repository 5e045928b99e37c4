"""From a model to the same model with fewer scatters, and the report on it.

``pipeline`` has the order of the passes, and ``transforms`` the passes. ``symbolic``,
``assumptions`` and ``analysis`` know what holds; ``lift`` and ``mosaic`` say where each element
comes from; ``targets`` says what a device takes; ``lowering``, with the rules, ``emit`` and
``native`` write nodes; ``reports`` say what was done.
"""
