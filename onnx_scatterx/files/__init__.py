"""Models and other files: read and checked whole, written all or not at all.

Come here for opening a model in any form, for its external data, and for writing files that appear
together and never replace what was read. Not for the graphs inside (``graphs``), and not for a
session that runs a model (``runtime``).
"""
