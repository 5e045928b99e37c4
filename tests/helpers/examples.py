"""How many examples Hypothesis tries: a fifth of the number every day, most of them in CI."""

from typing import Any

from hypothesis import settings

settings.register_profile("daily", max_examples=20, deadline=None)
settings.register_profile("full", max_examples=60, deadline=None)
settings.register_profile("deep", max_examples=100, deadline=None)


def scaled(count: int) -> int:
    """Return how many examples are tried of those that the profile ``deep`` tries."""
    return max(round(count * settings().max_examples / 100), 5)


def examples(count: int, **others: Any) -> settings:
    """Return settings for a test that takes ``count`` examples under the profile ``deep``."""
    return settings(max_examples=scaled(count), deadline=None, **others)
