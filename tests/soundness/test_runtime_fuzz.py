"""Random models are the same under both session options: quantized, float16, and masked writes."""

import os

import pytest

from tests.fuzz import float16, masked
from tests.fuzz.quantized import trial

_FIRST = 10**6
_COUNT = int(os.environ.get("EXAMPLES", "40"))


@pytest.mark.parametrize("part", range(4))
def test_random_quantized_models(part: int) -> None:
    seeds = range(_FIRST + part, _FIRST + _COUNT, 4)
    told = {seed: trial(seed)[0] for seed in seeds}
    assert not {seed: what for seed, what in told.items() if what.startswith("DIFFERENT")}
    assert any(what.endswith(" removed") and " 0 " not in what for what in told.values())


@pytest.mark.parametrize("part", range(4))
def test_random_float16_models(part: int) -> None:
    seeds = range(_FIRST + part, _FIRST + _COUNT, 4)
    told = {seed: float16.trial(seed)[0] for seed in seeds}
    assert not {seed: what for seed, what in told.items() if what.startswith("DIFFERENT")}
    assert any(what.endswith(" removed") and " 0 " not in what for what in told.values())


@pytest.mark.parametrize("part", range(4))
def test_random_functions_of_what_a_mask_reads(part: int) -> None:
    seeds = range(_FIRST + part, _FIRST + _COUNT, 4)
    told = {seed: masked.trial(seed)[0] for seed in seeds}
    assert not {seed: what for seed, what in told.items() if what.startswith("DIFFERENT")}
    assert "no reads" in told.values()


def test_a_constant_that_is_packed() -> None:
    """Writes of constants become a constant, which a product reads."""
    assert not float16.trial(11598)[0].startswith("DIFFERENT")


def test_a_model_that_was_different() -> None:
    """A Concat puts a write and a DequantizeLinear of int32 together."""
    assert not trial(2191)[0].startswith("DIFFERENT")
