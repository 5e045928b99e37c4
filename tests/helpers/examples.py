"""How much is tried, and what: the same in every run, on every machine.

So a test that fails, fails for everybody. Only the profile `other` lets Hypothesis draw other
examples, by the seed that `--hypothesis-seed` gives, and remembers none either.
"""

import hashlib
import os
from collections.abc import Iterable
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


def are_all() -> bool:
    """Return whether every case is tried: under all profiles but `daily`, and with ALL_CASES."""
    return is_full() or bool(os.environ.get("ALL_CASES"))


def daily(names: Iterable[str], share: int, test: str) -> set[str]:
    """Return the cases of a test that are tried daily: one in `share`, and at least one.

    A hash of the names decides. So the cases are the same on every day, and other ones for another
    test.

    >>> sorted(daily(map(str, range(12)), 4, "one test")), sorted(daily("ab", 4, "another"))
    (['10', '3', '6'], ['b'])
    """
    by_hash = sorted(
        set(names), key=lambda name: hashlib.sha256(f"{test} {name}".encode()).digest()
    )
    return set(by_hash[: -(-len(by_hash) // share)])
