"""Compilers of devices are asked, and models are timed.

Come here for ``check``, with the program of each compiler, and for ``bench``. Not for what is known
of a device without its compiler (``targets``), and not for the comparison of two models
(``compare``).
"""
