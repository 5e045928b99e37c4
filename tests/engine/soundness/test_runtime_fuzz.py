"""Random models are the same under both session options: whole graphs, and special ones."""

import os
import re

import pytest

from tests.engine.fuzz import float16, masked, quantized, shapes
from tests.engine.fuzz.drawn import Trial

_FIRST = 10**6
_COUNT = int(os.environ.get("EXAMPLES", "40"))


@pytest.mark.sampled(4, each="wanted")
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize(
    ("trial", "wanted"),
    [
        (quantized.trial, r".* [1-9]\d* removed"),
        (float16.trial, r".* [1-9]\d* removed"),
        (masked.trial, "no reads"),
        (shapes.trial, "rewritten"),
    ],
)
def test_random_models(trial: Trial, wanted: str, part: int) -> None:
    told = {seed: trial(seed)[0] for seed in range(_FIRST + part, _FIRST + _COUNT, 4)}
    assert not {seed: what for seed, what in told.items() if what.startswith("DIFFERENT")}
    assert any(re.fullmatch(wanted, what) for what in told.values())


def test_a_constant_that_is_packed() -> None:
    """Writes of constants become a constant, which a product reads."""
    assert not float16.trial(11598)[0].startswith("DIFFERENT")


def test_a_model_that_was_different() -> None:
    """A Concat puts a write and a DequantizeLinear of int32 together."""
    assert not quantized.trial(2191)[0].startswith("DIFFERENT")
