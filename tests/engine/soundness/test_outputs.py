"""Graph outputs keep their names and values, wherever in a chain they stand."""

import numpy as np
import pytest

from tests.helpers.support import assert_sound, f32

ALL = "int64[4,1] all = {0, 1, 2, 3}"
SOME = "int64[2,1] some = {1, 2}"
NONE = "int64[0,1] none = {}"


OUTPUTS = {
    "a full cover keeps the name": f"""
        g (float[4,3] x, float[4,3] v) => (float[4,3] y) <{ALL}> {{ y = ScatterND (x, all, v) }}""",
    "a full cover by an initializer": f"""
        g (float[4,1] x) => (float[4,1] y) <{ALL}> {{
        y = ScatterND (x, all, float [[1], [2], [3], [4]]) }}""",
    "a scatter of nothing gives the input": f"""
        g (float[4,3] x, float[0,3] e) => (float[4,3] y) <{NONE}> {{
        y = ScatterND (x, none, e) }}""",
    "a scatter of nothing into an initializer": f"""
        g (float[0,1] e) => (float[4,1] y) <{NONE}> {{
        y = ScatterND (float [[1], [2], [3], [4]], none, e) }}""",
    "two outputs are the same updates": f"""
        g (float[4,3] x, float[4,3] v) => (float[4,3] y, float[4,3] z) <{ALL}> {{
        y = ScatterND (x, all, v)
        z = ScatterND (y, all, v) }}""",
    "every link of a chain is an output": f"""g (float[4,3] x, float[2,3] u, float[4,3] v)
        => (float[4,3] a, float[4,3] b, float[4,3] c) <{ALL}, {SOME}> {{
            a = ScatterND (x, some, u)
            b = ScatterND (a, all, v)
            c = ScatterND (b, [[0], [3]], u) }}""",
    "the indices are an output": """
        g (float[4,3] x, float[2,3] u) => (float[4,3] y, int64[2,1] i, int64[2] r) {
            r = Range (1, 3, 1)
            i = Unsqueeze (r, [-1])
            y = ScatterND (x, i, u) }""",
    "the indices are an initializer and an output": f"""
        g (float[4,3] x, float[2,3] u) => (float[4,3] y, int64[2,1] some) <{SOME}> {{
        y = ScatterND (x, some, u) }}""",
    "an input is an output": f"""
        g (float[4,3] x, float[4,3] v) => (float[4,3] y, float[4,3] v) <{ALL}> {{
        y = ScatterND (x, all, v) }}""",
    "an output through identities": f"""
        g (float[4,3] x, float[2,3] u) => (float[4,3] y, float[4,3] z) <{SOME}> {{
        b = ScatterND (Identity (x), some, u)
        y = Identity (b)
        z = Identity (b) }}""",
}


@pytest.mark.parametrize("model", OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_are_kept(model: str) -> None:
    assert_sound(model, left=0)


def test_one_value_is_two_outputs() -> None:
    model = f"""g (float[4,3] x, float[4,3] v) => (float[4,3] y, float[4,3] y) <{ALL}> {{
        y = ScatterND (x, all, v) }}"""
    assert_sound(model)


@pytest.mark.parametrize(
    ("seen", "shape"), [("t", "4,3"), ("w", "2,3"), ("s", "4,3"), ("r", "2,3")]
)
def test_an_output_inside_a_transposed_chain(seen: str, shape: str) -> None:
    # What dynamo writes for x[:, 1:3] = u, with one of its inner values looked at from outside.
    model = f"""g (float[3,4] a, float[3,2] b) => (float[3,4] y, float[{shape}] {seen})
        <{SOME}, int64[1] start = {{1}}, int64[1] end = {{3}}> {{
            t = Transpose <perm = [1, 0]> (a)
            w = Transpose <perm = [1, 0]> (b)
            s = ScatterND (t, some, w)
            r = Slice (s, start, end)
            y = Transpose <perm = [1, 0]> (s) }}"""
    assert_sound(model, left=0)


def test_an_output_that_is_read_again() -> None:
    model = f"""g (float[4,3] x, float[4,3] v, float[2,3] u)
        => (float[4,3] y, float[4,3] z, float[3] r) <{ALL}, {SOME}> {{
            y = ScatterND (x, all, v)
            z = ScatterND (Neg (y), some, u)
            r = ReduceMax <keepdims = 0> (y, [0]) }}"""
    assert_sound(model, {"v": f32(np.arange(12)).reshape(4, 3)}, left=0)


def test_an_output_of_a_branch_is_a_full_cover() -> None:
    model = f"""g (float[4,3] x, float[4,3] v, bool c) => (float[4,3] y) <{ALL}, {NONE}> {{
        s = Constant <value = int64[2] {{0, 3}}> ()
        e = ConstantOfShape (s)
        y = If (c) <
            then_branch = a () => (float[4,3] p) {{ p = ScatterND (x, all, v) }},
            else_branch = b () => (float[4,3] q) {{ q = ScatterND (x, none, e) }}> }}"""
    assert_sound(model, *({"c": np.array(c)} for c in (True, False)), left=0)
