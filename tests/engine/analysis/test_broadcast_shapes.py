"""Sizes that are broadcast against each other have one form, however they are written."""

from onnx_scatterx.engine.analysis.domain.broadcast_shapes import broadcast_dims
from onnx_scatterx.engine.terms import minimum, size, step, term

N, M = size("broadcast.n"), size("broadcast.m")


def test_a_size_against_one_that_is_0_or_1() -> None:
    """The lesser of m and 1 is 1 if m is at least 1, and else 0."""
    wanted = N * step(M - 1)
    for flag in (step(M - 1), minimum(M, 1)):
        assert broadcast_dims([N, flag]) is broadcast_dims([flag, N]) is wanted
        assert broadcast_dims([N, flag, wanted]) is wanted
        assert broadcast_dims([N, flag, term(3)]) is term(3)


def test_a_size_against_one_and_against_itself() -> None:
    assert broadcast_dims([term(1), N]) is broadcast_dims([N, term(1)]) is N
    assert broadcast_dims([N, N, term(3)]) is broadcast_dims([term(3), N]) is term(3)
