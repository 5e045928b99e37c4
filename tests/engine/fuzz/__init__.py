"""Fuzzing with mutants of real exports: an optimized mutant must give the same results.

``mutations`` changes a model a little (``inner``, ``nesting``, ``interface``). ``trial`` runs a
mutant before and after ``optimize`` in ONNX Runtime, with its own optimizations off and with its
default options. ``campaign`` does so in processes of their own, since a mutant may end or hang ONNX
Runtime. From the command line, for a minute, keeping what was found:

    python -m tests.engine.fuzz --seconds 60 --seed 7 --keep found

Random models (``tests.helpers.drawing``) are compared likewise: whole graphs, nested and of all
kinds (``shapes``), and special ones (``masked``, ``rows``, ``float16``, ``quantized``):

    python -m tests.engine.fuzz.shapes --count 1000 --seed 7 --keep found
"""
