"""Sequences that are cut from a tensor and read again: the rows of a NonZero, and other pieces."""

from itertools import product

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.graphs import graphs_of
from tests.helpers.judged import Judged
from tests.helpers.support import assert_sound, parse, run, sample


def test_the_coordinates_of_true_elements() -> None:
    # As TorchScript writes a, b = m.nonzero(as_tuple=True); x[a, b] = y[a, b].
    model = parse("""
        g (float[M, N] x, float[M, N] y, bool[M, N] m) => (float[M, N] z) {
            both = SplitToSequence<axis=1, keepdims=0>(Transpose<perm=[1, 0]>(NonZero(m)), 1)
            a = SequenceAt(both, 0)
            b = SequenceAt(both, 1)
            rows = Concat<axis=-1>(Unsqueeze(a, [-1]), Unsqueeze(b, [-1]))
            z = ScatterND(x, rows, GatherND(y, rows)) }""")
    rng, cases = np.random.default_rng(0), (((3, 4), 0.5), ((1, 1), 0), ((0, 4), 1), ((3, 0), 1))
    assert_sound(model, *({"m": rng.random(shape) < share} for shape, share in cases), left=0)


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
        g () => (y) <int64 one = {{1}}, int64 two = {{2}}, int64[2] cut = {{2, 3}}> {{
            x = Constant<value = int64[2, 5] {{0, 1, 2, 3, 4, 10, 11, 12, 13, 14}}>()
            s = {sequence}
            at = Constant<value_int={at}>()
            y = SequenceAt(s, at) }}""")
    model = ir.from_proto(given)
    known = interpret(model).values[model.graph.outputs[0]].constant
    (expected,) = run(given, {})
    np.testing.assert_array_equal(known, expected)


@pytest.mark.parametrize(
    ("sequence", "at", "shape"),
    [
        ("SplitToSequence<axis=0>(x)", "zero", "(1, 4)"),  # as many as the run has rows
        ("SplitToSequence<axis=0, keepdims=0>(x)", "zero", "(4,)"),
        ("SplitToSequence<axis=1>(x, n)", "zero", "(N, y.1)"),
        ("SplitToSequence<axis=1>(x)", "n", "(N, 1)"),
        ("SplitToSequence<axis=1>(x)", "four", "None"),
        ("SplitToSequence<axis=1>(x, uneven)", "zero", "None"),
        ("SplitToSequence<axis=1>(x, zero)", "zero", "None"),
        ("SplitToSequence<axis=1, keepdims=0>(x, two)", "zero", "None"),  # runtimes differ
        ("SplitToSequence<axis=1, keepdims=0>(x, n)", "zero", "None"),
        ("SplitToSequence<axis=1, keepdims=0>(x, cuts)", "zero", "(N, y.1)"),
        ("SplitToSequence<axis=1>(many)", "zero", "(N, 1)"),
        ("SequenceConstruct(x, many)", "n", "(N, y.1)"),
        ("SequenceConstruct(x, n)", "n", "None"),
    ],
)
def test_what_is_known_of_any_tensor_of_a_sequence(sequence: str, at: str, shape: str) -> None:
    proto = parse(f"""
        g (float[N, 4] x, float[N, 65] many, int64 n, int64[K] cuts) => (y)
        <int64 zero = {{0}}, int64 two = {{2}}, int64 four = {{4}}, int64[2] uneven = {{1, 2}}> {{
            s = {sequence}
            y = SequenceAt(s, {at}) }}""")
    model = ir.from_proto(proto)
    assert str(interpret(model).values[model.graph.outputs[0]].shape) == shape
    judged = Judged(proto)
    for rows, n in product((0, 1, 3), (0, 1, 2)):
        x, many = sample("float32", rows, 4), sample("float32", rows, 65)
        cuts = np.array([n, 4 - n])
        judged.accepts({"x": x, "many": many, "n": np.array(n), "cuts": cuts})


LISTS = {  # what a body does, and what is known of a tensor, at first or of a list that had one
    "rows of one length": ("SequenceInsert (q, row)", "(4,)", "(4,)"),
    "rows of lengths of their own": ("SequenceInsert (q, part)", "(a.0,)", "(a.0,)"),
    "in front": ("SequenceInsert (q, row, zero)", "(4,)", "(4,)"),
    "what was there goes": ("SequenceErase (q)", "None", "(4,)"),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("start", ["SequenceEmpty ()", "SequenceConstruct (first)"])
def test_a_list_that_a_loop_fills(name: str, start: str) -> None:
    insert, *shapes = LISTS[name]
    proto = parse(f"""
        g (float[N, 4] x, int64 n, float[4] first) => (a, z, t)
        <bool yes = {{1}}, int64 zero = {{0}}, int64[1] none = {{0}}, int64[1] one = {{1}}> {{
            s0 = {start}
            s = Loop (n, yes, s0) <body = b (int64 i, bool c, q) => (c2, q2) {{
                c2 = Identity (c)
                row = Gather <axis = 0> (x, i)
                j = Unsqueeze (i, none)
                part = Slice (row, none, j)
                q2 = {insert}
            }}>
            a = SequenceAt (s, zero)
            z = ConcatFromSequence <axis = 0> (s)
            length = SequenceLength (s)
            t = Identity (length) }}""")
    model = ir.from_proto(proto)
    known = {v.name: str(found.shape) for v, found in interpret(model).values.items()}
    assert known["a"] == shapes["first" in start]
    judged = Judged(proto)
    for rows, n in product((1, 3), (0, 1, 3)):
        feed = {"x": sample("float32", rows, 4), "n": np.array(n), "first": sample("float32", 4)}
        judged.accepts(feed)


def test_a_write_at_a_piece_of_constant_rows() -> None:
    model = parse("""
        g (float[N, 4] x, float[N, 2] u) => (float[N, 4] y) <int64 zero = {0}> {
            columns = Constant<value = int64[2, 2] {0, 3, 2, 1}>()
            at = SequenceAt(SplitToSequence<axis=0, keepdims=0>(columns, 1), 1)
            y = ScatterElements<axis=1>(x, Expand(at, Shape(u)), u) }""")
    assert_sound(model, *({"N": n} for n in (3, 1, 0)), left=0)


def test_a_map_of_tensors_of_other_ranks() -> None:
    """Nothing is known of what the body computes of one of them but its type."""
    model = ir.from_proto(
        parse("""g (float[N] a, float[N, M] b) => (seq(float) t) {
            s = SequenceConstruct (a, b)
            t = SequenceMap <body = f (float x) => (float z) { z = Neg (x) }> (s) }""")
    )
    (body,) = graphs_of(model.graph[-1])
    body.inputs[0].shape = None
    known = interpret(model).values
    assert (known[body.inputs[0]].dtype, known[body.inputs[0]].shape) == (ir.DataType.FLOAT, None)
