"""Scatters in the bodies of If, Loop and Scan, with what they capture and what they carry."""

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import agree
from tests.helpers.support import assert_sound, f32, i64, parse, run, sample


@pytest.mark.parametrize("opset", [11, 13, 18, 21])
def test_branches_with_captured_data(opset: int) -> None:
    model = parse(
        """g (float[4,2] x, float[2,2] u, bool c) => (float[4,2] y) {
            i = Constant <value = int64[2,1] {1, 2}> ()
            y = If (c) <
                then_branch = a () => (float[4,2] p) { p = ScatterND (x, i, u) },
                else_branch = b () => (float[4,2] q) {
                    j = Constant <value = int64[2,1] {3, 0}> ()
                    q = ScatterND (x, j, u) }> }""",
        opset,
    )
    assert_sound(model, {"c": True}, {"c": False}, left=0)


def test_branches_use_one_name_for_two_things() -> None:
    model = """g (float[4,2] x, float[2,2] u, bool c) => (float[4,2] y) {
        y = If (c) <
            then_branch = a () => (float[4,2] r) <int64[2,1] i = {1, 2}> {
                t = Neg (x)
                r = ScatterND (t, i, u) },
            else_branch = b () => (float[4,2] r) <int64[2,1] i = {0, 3}> {
                t = Abs (x)
                r = ScatterND (t, i, u) }> }"""
    assert_sound(model, {"c": True}, {"c": False}, left=0)


def test_the_indices_are_chosen_by_a_branch() -> None:
    model = """g (float[4,2] x, float[2,2] u, bool c) => (float[4,2] y) {
        i = If (c) <
            then_branch = a () => (int64[2,1] p) <int64[2,1] k = {0, 1}> { p = Identity (k) },
            else_branch = b () => (int64[2,1] q) <int64[2,1] k = {3, 3}> { q = Identity (k) }>
        y = ScatterND (x, i, u) }"""
    assert_sound(model, {"c": True}, {"c": False})


def test_a_loop_writes_a_row_per_step() -> None:
    model = """g (float[5,2] x, float[1,2] u, int64 n) => (float[5,2] y, float[S,2] seen) {
            y, seen = Loop (n, bool True, x) <body = b (int64 k, bool c, float[5,2] d)
                => (bool more, float[5,2] e, float[2] s) {
                    i = Reshape (k, [1, 1])
                    w = Cast <to = 1> (k)
                    v = Add (u, w)
                    e = ScatterND (d, i, v)
                    s = ReduceSum <keepdims = 0> (v, [0])
                    more = Identity (c) }> }"""
    feed = {"u": [[1, 2]]}
    assert_sound(model, *({**feed, "n": i64(n)} for n in (0, 1, 3, 5)))


def test_a_loop_with_constant_rows() -> None:
    model = """g (float[5,2] x, float[2,2] u, int64 n) => (float[5,2] y) {
            y = Loop (n, bool True, x) <body = b (int64 k, bool c, float[5,2] d)
                => (bool more, float[5,2] e) {
                    w = Cast <to = 1> (k)
                    v = Add (u, w)
                    e = ScatterND (d, [[1], [2]], v)
                    more = Identity (c) }> }"""
    assert_sound(model, *({"n": i64(n)} for n in (0, 1, 4)))


def test_indices_carried_by_a_loop() -> None:
    # The first value is a constant; the value in the body is not.
    model = """g (float[5,2] x, float[1,2] u, int64 n) => (float[5,2] y, int64[1,1] z)
        <bool go = {1}, int64[1,1] first = {0}, int64 one = {1}> {
            y, z = Loop (n, go, x, first) <body = b (int64 k, bool c, float[5,2] d, int64[1,1] i)
                => (bool more, float[5,2] e, int64[1,1] j) {
                    e = ScatterND (d, i, u)
                    j = Add (i, one)
                    more = Identity (c) }> }"""
    assert_sound(model, *({"n": i64(n)} for n in (0, 1, 2, 5)))


def test_data_that_grows_in_a_loop() -> None:
    # Two rows cover the carried tensor in the first step only.
    model = """g (float[2,2] x, float[2,2] u, int64 n) => (float[R,2] y) {
            y = Loop (n, bool True, x) <body = b (int64 k, bool c, float[M,2] d)
                => (bool more, float[P,2] e) {
                    s = ScatterND (d, [[0], [1]], u)
                    e = Concat <axis = 0> (s, x)
                    more = Identity (c) }> }"""
    assert_sound(model, *({"n": i64(n)} for n in (0, 1, 2, 4)))


def test_a_body_that_never_runs_may_be_out_of_bounds() -> None:
    text = """g (float[1,0] x, float[2] u, int64 n) => (float[R,C] y) {
            y = Loop (n, bool True, x) <body = b (int64 k, bool c, float[M,N] d)
                => (bool more, float[P,Q] e) {
                    e = ScatterND (d, [[0, 0], [0, 0]], u)
                    more = Identity (c) }> }"""
    feed = {"x": sample("float32", 1, 0), "u": sample("float32", 2), "n": i64(0)}
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="standard", rules=["dense_reduce"])
    (scatter,) = result.report.scatters
    assert scatter.duplicates is not None
    assert scatter.duplicates.groups == ()
    assert all(map(agree, run(model, feed), run(result.model, feed)))


def test_two_carried_values_change_places() -> None:
    model = """g (float[2,2] x, float[4,2] z, int64 n, float[2,2] u) => (float[A,2] y, float[B,2] w)
        <bool go = {1}, int64[2,1] i = {0, 1}> {
            y, w = Loop (n, go, x, z) <body = b (int64 k, bool c, float[A,2] p, float[B,2] q)
                => (bool more, float[B,2] r, float[A,2] s) {
                    r = ScatterND (q, i, u)
                    s = ScatterND (p, i, u)
                    more = Identity (c) }> }"""
    assert_sound(model, *({"n": i64(n)} for n in (0, 1, 2, 3)))


def test_a_scan_with_a_state() -> None:
    model = """g (float[4,2] x, float[3,1,2] us, int64[3,1,1] at)
        => (float[4,2] y, float[3,4,2] all) {
        y, all = Scan <num_scan_inputs = 2, body = b (float[4,2] d, float[1,2] u, int64[1,1] i)
            => (float[4,2] e, float[4,2] out) <int64[2,1] j = {0, 3}> {
                s = ScatterND (d, i, u)
                t = Concat <axis = 0> (u, u)
                e = ScatterND (s, j, t)
                out = Identity (e) }> (x, us, at) }"""

    rows = ([0, 1, 2], [3, 3, 3], [-1, 0, -4])
    assert_sound(model, *({"at": i64(r).reshape(3, 1, 1)} for r in rows))


def test_a_branch_in_a_loop_captures_from_both() -> None:
    model = """g (float[4,2] x, float[2,2] u, int64 n) => (float[4,2] y)
        <bool go = {1}, int64[2,1] i = {1, 2}, int64 two = {2}, int64 zero = {0}> {
            y = Loop (n, go, x) <body = b (int64 k, bool c, float[4,2] d)
                => (bool more, float[4,2] e) {
                    w = Cast <to = 1> (k)
                    v = Mul (u, w)
                    parity = Mod (k, two)
                    even = Equal (parity, zero)
                    e = If (even) <
                        then_branch = p () => (float[4,2] f) { f = ScatterND (d, i, v) },
                        else_branch = q () => (float[4,2] h) <int64[2,1] j = {0, 3}> {
                            h = ScatterND (d, j, v) }>
                    more = Identity (c) }> }"""
    assert_sound(model, *({"n": i64(n)} for n in (0, 1, 2, 5)))


def test_a_branch_is_the_only_reader() -> None:
    # The outer scatter is read from inside of a branch alone: it is not dead.
    model = """g (float[4,2] x, float[2,2] u, bool c) => (float[4,2] y) {
        s = ScatterND (x, [[1], [2]], u)
        y = If (c) <
            then_branch = a () => (float[4,2] p) { p = Neg (s) },
            else_branch = b () => (float[4,2] q) { q = Abs (x) }> }"""
    assert_sound(model, {"c": True}, {"c": False}, left=0)


def test_the_indices_are_also_read_by_a_branch() -> None:
    # The chain that makes the indices must outlive the scatter.
    model = """g (float[4,2] x, float[2,2] u, bool c) => (float[4,2] y, int64[2,1] z) {
            i = Unsqueeze (Range (1, 3, 1), [-1])
            y = ScatterND (x, i, u)
            z = If (c) <
                then_branch = a () => (int64[2,1] p) { p = Neg (i) },
                else_branch = b () => (int64[2,1] q) { q = Abs (i) }> }"""
    assert_sound(model, {"c": True}, {"c": False}, left=0)


@pytest.mark.parametrize("is_outside", [False, True])
def test_what_a_loop_gathers_where_it_does_not_run(is_outside: bool) -> None:
    # Three elements each time; without any time ONNX Runtime knows of no elements.
    lines = """s = Constant <value = int64[1] {3}> ()
            a = ConstantOfShape <value = int64[1] {1}> (s)
            z = NonZero (a)"""
    outside, inside = (lines, "") if is_outside else ("", lines)
    model = f"""g (float[4] x, float[1] u, bool c) => (float[4] y) <int64 three = {{3}}> {{
        {outside}
        t = Loop (three, c) <body = b (int64 n, bool d) => (bool e, int64[?] o) {{
            e = Identity (d)
            {inside}
            f = Constant <value = int64[1] {{0}}> ()
            o = Squeeze (z, f) }}>
        w = Shape (t)
        l = Constant <value = int64[1,1] {{1}}> ()
        i = Gather <axis = 0> (w, l)
        y = ScatterND (x, i, u) }}"""
    assert_sound(model, *({"x": f32(np.arange(4)), "u": [9], "c": c} for c in (True, False)))
