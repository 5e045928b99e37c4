"""Promises of how many elements of a value are chosen: how they are read, and which are refused."""

import itertools

import numpy as np
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import ScatterXError
from onnx_scatterx.assumptions.assumption import Assumption
from onnx_scatterx.assumptions.clauses import at_sizes, read_clauses
from onnx_scatterx.assumptions.counts import Subject
from onnx_scatterx.assumptions.fixed_sizes import FixedSizes
from tests.helpers.support import parse

MODEL = """g (float[2, S, 4] x, bool[2, S] m, int64[2, S] ids, uint8[8] b)
    => (float[N, 4] y, bool[2, S] e) <bool[3] k = {1, 0, 1}, int64 c = {7}> {
        a = And(m, m) f = Exp(x) e = Equal(ids, c)
        n = NonZero(a) i = Transpose(n) y = GatherND(f, i) }"""


@pytest.mark.parametrize(
    ("text", "name", "condition"),
    [
        ("mask: exactly 576", "mask", "exactly 576"),
        ("a:0:at  most 2*n", "a:0", "at most 2*n"),
        ("mask = one run", "mask", "one run"),
        ("m one run of 3", "m", "one run of 3"),
        ("ids == 7: exactly 3", "ids == 7", "exactly 3"),
        ("-7<=ids: exactly 3", "ids >= -7", "exactly 3"),
        ("x > 5e-1: one run of n", "x > 0.5", "one run of n"),
    ],
)
def test_read(text: str, name: str, condition: str) -> None:
    (clause,) = read_clauses([text])
    assert (clause.name, clause.condition) == (name, condition)
    assert read_clauses([str(clause)]) == (clause,)
    assert read_clauses({name: condition}) == (clause,)


def test_sizes_that_are_fixed() -> None:
    """A name of a size may be the name of a value, too."""
    assumed = read_clauses(["n: exactly 2*n", "ids == 7: at most n", "n <= 8"])
    assert list(map(str, at_sizes(assumed, FixedSizes({"n": 4}, {})))) == [
        "n: exactly 2*4",
        "ids == 7: at most 4",
    ]


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        (["a: exactly 5", "a: at most 3"], "no mask satisfies all of this: a: exactly 5, at most"),
        (["a: exactly -1"], "cannot read how many elements of a there are in 'exactly -1'"),
        (["a: exactly S // 2"], "cannot read how many elements"),
        (["a = 3"], "write for example '== 3', '% 8 == 0'"),
        (["a: exactly"], "cannot read the assumption 'exactly' about a"),
        (["none: exactly 5"], "the model has no such value"),
        (["S: exactly 5"], "cannot count elements of 'S': it is a size"),
        (["x: exactly 5"], "it holds float, neither bools nor integers; compare it with a number"),
        (["f: exactly 5"], "it holds float, neither bools nor integers"),  # of no declared type
        (["a == 1: exactly 5"], "'a' holds bool, not numbers"),
        (["ids == 0.5: exactly 5"], "0.5 is no number of int64"),
        (["b < 256: exactly 5"], "256 is no number of uint8"),
        (["a: exactly Q"], "cannot compare 'a' with 'Q': the model has no such symbol; it has S"),
        (["b: exactly 9"], "b: exactly 9 is assumed, and 'b' has 8 elements"),
        (["k: exactly 1"], "k: exactly 1 is assumed, and 'k' is another constant"),
        (["ids == 7: exactly 3, nonnegative"], "no such input or symbol"),
    ],
)
def test_what_does_not_fit(assume: list[str], message: str) -> None:
    with pytest.raises(ScatterXError, match=message.replace("//", "/")) as raised:
        onnx_scatterx.inspect(parse(MODEL), assume=assume)
    assert "\n" not in str(raised.value)


def test_more_than_there_are_at_fixed_sizes() -> None:
    with pytest.raises(ScatterXError, match="a: exactly 9 is assumed, and 'a' has 8 elements"):
        onnx_scatterx.optimize(parse(MODEL), fix={"S": 4}, assume=["a: exactly 9"])


def test_all_arrays() -> None:
    """A run holds no other element, and none or one element is a run."""
    for chosen in itertools.product([0, 1], repeat=4):
        text = "".join(map(str, chosen))
        runs = len([part for part in text.split("0") if part])
        for words, holds in (
            ("exactly 2", text.count("1") == 2),
            ("at most n", text.count("1") <= 1),
            ("one run", runs <= 1),
            ("one run of 2", runs == 1 and text.count("1") == 2),
        ):
            array = np.array(chosen).reshape(2, 2)
            assert Assumption.parse(words, "m").holds(array, {"n": 1}) is holds, (words, text)


def test_numbers_of_floats() -> None:
    """A number is compared in the type of the value, as in the model; NaN is not equal to it."""
    x = np.array([0.1, np.nan, 7], np.float32)
    assert Subject.of("x == 0.1").chosen(x).tolist() == [True, False, False]
    assert Subject.of("0.1 != x").chosen(x).tolist() == [False, True, True]
    assert Subject.of("x").chosen(x).tolist() == [True, True, True]
    Subject.of("x == 0.1").check({"x": ir.DataType.FLOAT}, ())
