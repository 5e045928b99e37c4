"""A scatter or a gather in canonical form: where each point goes, as terms.

Come here for the form of a node, the boxes that it writes or reads (its footprint), what holds
because it ran, and how the theory sees it; not for where the elements of a tensor come from (that
is in ``mosaic``), nor for what indices hold (in ``analysis``).
"""
