"""The engine: where every element comes from, and how it is written again.

It has no names of its own to import: its parts have. These are, from below to above: ``budget``,
``terms``, ``analysis``, ``spelling``, ``device``, ``lift``, ``mosaic``, ``write``, ``quantizers``,
``plan``, ``rules`` (what a rule needs), the rules, ``passes``. Come here for what is proven and
written of one graph; not for the order of passes (``pipeline``), nor for the operator set and the
fixed sizes of a whole model (``fitting``).
"""
