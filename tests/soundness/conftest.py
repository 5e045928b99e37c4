"""What the soundness tests share: the second judge, and numbers that no other test changes."""

import pytest

from tests.helpers.masks import RNG
from tests.helpers.second_judge import second_judge as second_judge

_START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """Let each test draw the same numbers, whichever ran before it in this process."""
    RNG.bit_generator.state = _START
