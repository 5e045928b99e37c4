"""What a proof knows of floats: integers that they stand for, numbers, and NaN."""

import numpy as np
import pytest

from tests.helpers.equivalence_support import proof_of
from tests.helpers.proving import prove
from tests.helpers.support import parse, run


def test_quantized_values_that_moved_are_proven() -> None:
    """The integers are written in the place of the numbers that they stand for."""
    one = """g (uint8[4, 3] x, uint8[2, 3] u) => (uint8[4, 3] y)
        <float s = {0.1}, uint8 z = {7}, int64[2, 1] rows = {2, 0}> {
        a = DequantizeLinear(x, s, z)
        b = DequantizeLinear(u, s, z)
        c = ScatterND(a, rows, b)
        y = QuantizeLinear(c, s, z) }"""
    other = """g (uint8[4, 3] x, uint8[2, 3] u) => (uint8[4, 3] y)
        <int64[2, 1] rows = {2, 0}> { y = ScatterND(x, rows, u) }"""
    assert proof_of(one, other).proven
    for old, new in (
        ("b = DequantizeLinear(u, s, z)", "b = DequantizeLinear(u, s)"),
        ("y = QuantizeLinear(c, s, z)", "y = QuantizeLinear(c, a_third, z)"),
    ):
        wrong = one.replace(old, new).replace("{0.1}", "{0.1}, float a_third = {0.3}")
        assert not proof_of(wrong, other).proven
    assert not prove(parse(one.replace("{0.1}", "{1e-44}")), parse(other)).proven


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
def test_a_number_that_stands_for_an_integer_is_quantized_to_it(kind: type[np.integer]) -> None:
    """The identity that a proof uses, run for integers of a type and scales of all sizes."""
    limits = np.iinfo(kind)
    numbers = np.arange(limits.min, limits.max + 1, max(1, 2 ** (limits.bits - 12))).astype(kind)
    rng = np.random.default_rng(0)
    name = {"i": "int", "u": "uint"}[np.dtype(kind).kind] + str(limits.bits)
    text = f"""g ({name}[N] x, float s, {name} z) => ({name}[M] y) {{
        a = DequantizeLinear(x, s, z) y = QuantizeLinear(a, s, z) }}"""
    model = parse(text, 21)
    for power in (-30, -20, -7, -2, -1, 0, 1, 5, 20, 29):
        s = np.array(rng.uniform(1, 9.9) * 10.0**power, np.float32)
        for z in (limits.min, limits.max, int(numbers[len(numbers) // 3])):
            (y,) = run(model, {"x": numbers, "s": s, "z": np.array(z, kind)})
            assert np.array_equal(y, numbers), (s, z)


def test_numbers_are_computed() -> None:
    one = """g (float[N] x) => (float[N] y) <float a = {0.1}, float b = {0.2}, float zero = {0}> {
        d = Sub(a, b) e = Equal(d, zero) y = Where(e, zero, x) }"""
    assert proof_of(one, "g (float[N] x) => (float[N] y) { y = Identity(x) }").proven
    nan = one.replace("d = Sub(a, b)", "c = Div(zero, zero) d = Sub(c, b)")
    nan = nan.replace("e = Equal(d, zero)", "e = Equal(d, d)")
    assert not proof_of(
        nan, "g (float[N] x) => (float[N] y) <float z = {0}> { y = Mul(x, z) }"
    ).proven


def test_only_nan_is_not_equal_to_itself() -> None:
    one = "g (float[N] x) => (bool[N] y) { y = IsNaN(x) }"
    other = "g (float[N] x) => (bool[N] y) { e = Equal(x, x) y = Not(e) }"
    assert proof_of(one, other).proven
    assert not proof_of(one, other.replace("y = Not(e)", "y = Identity(e)")).proven
