"""Texts for people: the reasons, and names with every character visible.

Come here for a reason why a scatter was kept, for a refusal, and for text that is safe to print,
to raise, or to put on a page. Not for what a report says (that is in ``tell``), and not for the
exceptions (they are in ``errors``).
"""
