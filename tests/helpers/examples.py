"""How many examples Hypothesis tries, and which: the same ones in every run, on every machine.

So a test that fails, fails for everybody. Only the profile `other` draws others, by the seed that
`--hypothesis-seed` gives, and remembers none either.
"""

from typing import Any

from hypothesis import settings

for name, count in {"daily": 10, "full": 60, "deep": 100, "other": 100}.items():
    settings.register_profile(
        name, max_examples=count, deadline=None, derandomize=name != "other", database=None
    )


def is_full() -> bool:
    """Return whether everything is tried that CI tries: under all profiles but `daily`."""
    return settings().max_examples > settings.get_profile("daily").max_examples


def scaled(count: int) -> int:
    """Return how many examples are tried of those that the profile `deep` tries."""
    return max(round(count * settings().max_examples / 100), 5)


def examples(count: int, **others: Any) -> settings:
    """Return settings for a test that takes `count` examples under the profile `deep`."""
    return settings(max_examples=scaled(count), deadline=None, **others)
