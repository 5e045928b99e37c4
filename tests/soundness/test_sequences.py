"""Sequences that are cut from a tensor and read again: the rows of a NonZero, and other pieces."""

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.analysis.interpreter import interpret
from tests.helpers.support import assert_sound, parse, run, sample


def test_the_coordinates_of_true_elements() -> None:
    # As TorchScript writes a, b = m.nonzero(as_tuple=True); x[a, b] = y[a, b].
    model = parse("""
        g (float[M, N] x, float[M, N] y, bool[M, N] m) => (float[M, N] z)
        <int64 one = {1}, int64 zero = {0}, int64[1] last = {-1}> {
            found = NonZero(m)
            turned = Transpose<perm=[1, 0]>(found)
            both = SplitToSequence<axis=1, keepdims=0>(turned, one)
            a = SequenceAt(both, zero)
            b = SequenceAt(both, one)
            c = Unsqueeze(a, last)
            d = Unsqueeze(b, last)
            rows = Concat<axis=-1>(c, d)
            u = GatherND(y, rows)
            z = ScatterND(x, rows, u)
        }""")
    feeds = [
        {"x": sample("float32", *s), "y": sample("float32", *s, seed=1), "m": np.full(s, True)}
        for s in ((3, 4), (1, 1), (0, 4), (3, 0))
    ]
    for share, feed in zip((0.5, 0, 1, 1), feeds, strict=True):
        feed["m"] = np.random.default_rng(0).random(feed["m"].shape) < share
    assert_sound(model, *feeds, left=0)


_PIECES = {
    "of length 1": ("SplitToSequence<axis=1>(x)", 1),
    "without the dim": ("SplitToSequence<axis=1, keepdims=0>(x)", -5),
    "length given, without the dim": ("SplitToSequence<axis=1, keepdims=0>(x, one)", 2),
    "the last is shorter": ("SplitToSequence<axis=-1>(x, two)", 2),
    "given lengths": ("SplitToSequence<axis=1, keepdims=0>(x, cut)", -1),
    "put together": ("SequenceConstruct(x, x)", 1),
}


@pytest.mark.parametrize("name", _PIECES)
def test_pieces(name: str) -> None:
    sequence, at = _PIECES[name]
    given = parse(f"""
        g () => (y)
        <int64 one = {{1}}, int64 two = {{2}}, int64[2] cut = {{2, 3}}> {{
            x = Constant<value = int64[2, 5] {{0, 1, 2, 3, 4, 10, 11, 12, 13, 14}}>()
            s = {sequence}
            at = Constant<value_int={at}>()
            y = SequenceAt(s, at)
        }}""")
    model = ir.from_proto(given)
    known = interpret(model).values[model.graph.outputs[0]].constant
    (expected,) = run(given, {})
    np.testing.assert_array_equal(known, expected)


@pytest.mark.parametrize(
    ("sequence", "at"),
    [
        ("SplitToSequence<axis=0>(x)", "zero"),  # as many as the run has rows
        ("SplitToSequence<axis=1>(x, n)", "zero"),
        ("SplitToSequence<axis=1>(x)", "n"),
        ("SplitToSequence<axis=1>(x)", "four"),
        ("SplitToSequence<axis=1>(x, uneven)", "zero"),
        ("SplitToSequence<axis=1>(x, zero)", "zero"),
        ("SplitToSequence<axis=1, keepdims=0>(x, two)", "zero"),  # ONNX and runtimes differ
        ("SplitToSequence<axis=1>(many)", "zero"),
    ],
)
def test_what_is_not_known_of_a_sequence_is_not_said(sequence: str, at: str) -> None:
    model = ir.from_proto(
        parse(f"""
        g (float[N, 4] x, float[N, 65] many, int64 n) => (y)
        <int64 zero = {{0}}, int64 two = {{2}}, int64 four = {{4}}, int64[2] uneven = {{1, 2}}> {{
            s = {sequence}
            y = SequenceAt(s, {at})
        }}""")
    )
    assert interpret(model).values[model.graph.outputs[0]].shape is None


def test_a_write_at_a_piece_of_constant_rows() -> None:
    model = parse("""
        g (float[N, 4] x, float[N, 2] u) => (float[N, 4] y) <int64 one = {1}, int64 zero = {0}> {
            columns = Constant<value = int64[2, 2] {0, 3, 2, 1}>()
            s = SplitToSequence<axis=0, keepdims=0>(columns, one)
            at = SequenceAt(s, one)
            like = Shape(u)
            index = Expand(at, like)
            y = ScatterElements<axis=1>(x, index, u)
        }""")
    feeds = [{"x": sample("float32", n, 4), "u": sample("float32", n, 2)} for n in (3, 1, 0)]
    assert_sound(model, *feeds, left=0)
