"""Compilers of devices are asked, and models are timed.

Come here for ``check``, with the program of each compiler, and for ``bench``. Not for the profile
of a device, which a compiler need not be there for (``targets``), and not for the equality of
results (``compare``).
"""
