"""Writes of rows, and of rows of caches, with inputs."""

from tests.helpers.support import i64, sample

X, Y = sample("float32", 5, 4), sample("float32", 3, 4, seed=1)
I = i64([[4], [0], [-2]])  # noqa: E741 - the theory's own letter
ROWS = """g (float[A, B] x, int64[N, 1] i, float[N, B] y) => (float[A, B] z)
          { z = ScatterND(x, i, y) }"""
FEED = {"x": X, "i": I, "y": Y}

CACHE = """g (float[B, S, D] x, int64[N, 1] i, float[B, N, D] y) => (float[B, S, D] z)
           { xt = Transpose <perm = [1, 0, 2]> (x)  yt = Transpose <perm = [1, 0, 2]> (y)
             zt = ScatterND(xt, i, yt)  z = Transpose <perm = [1, 0, 2]> (zt) }"""
CACHES = sample("float32", 2, 5, 3), sample("float32", 2, 2, 3, seed=3)
