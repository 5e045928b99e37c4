"""Runs models in ONNX Runtime: sessions with the library, worker processes, and arrays.

Come here for a session, for a process that runs models and cannot crash this one, and for files of
arrays. Not for the comparison of two models (``compare``), not for how long a model takes
(``lab``), and not for constants that the optimizer computes (``fitting``, which asks here).
"""
