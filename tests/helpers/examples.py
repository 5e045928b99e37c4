"""How much is tried, and what: the same in every run, on every machine.

So a test that fails, fails for everybody. Only the profile `other` lets Hypothesis draw other
examples, by the seed that `--hypothesis-seed` gives, and remembers none either.
"""

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

for name, count in {"daily": 10, "full": 50, "deep": 100, "other": 100}.items():
    settings.register_profile(
        name, max_examples=count, deadline=None, derandomize=name != "other", database=None
    )


def is_full() -> bool:
    """Return whether everything is tried that CI tries: under all profiles but `daily`."""
    return settings().max_examples > settings.get_profile("daily").max_examples


def is_deep() -> bool:
    """Return whether more is tried than CI tries."""
    return settings().max_examples > settings.get_profile("full").max_examples


def scaled(count: int) -> int:
    """Return how many examples are tried of those that the profile `deep` tries."""
    return max(round(count * settings().max_examples / 100), 5)


def examples(count: int, **others: Any) -> settings:
    """Return settings for a test that takes `count` examples under the profile `deep`."""
    return settings(max_examples=scaled(count), deadline=None, **others)


def are_all() -> bool:
    """Return whether every case is tried: under all profiles but `daily`, or with ALL_CASES=1."""
    return is_full() or bool(os.environ.get("ALL_CASES"))


def daily(names: Iterable[str], share: int, test: str) -> set[str]:
    """Return the cases of a test that are tried daily: one in `share`, and at least one.

    A hash of the names decides. So the cases are the same on every day, and other ones for another
    test.

    >>> sorted(daily(map(str, range(12)), 4, "one test")), sorted(daily("ab", 4, "another"))
    (['3', '6', '9'], ['a'])
    """
    by_hash = sorted(
        set(names), key=lambda name: hashlib.sha256(f"{test} {name}".encode()).digest()
    )
    return set(by_hash[: -(-len(by_hash) // share)])


def other_cases(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the cases of tests marked `sampled` that are not tried daily.

    `sampled(4)` has a share of one in four. `sampled(4, each="mode")` has it of each mode. If a
    file is marked as a whole, the tests in it that are not marked themselves share one in four.
    What is marked `full` is not counted.
    """
    tests = defaultdict[tuple[str, str, int], list[pytest.Item]](list)
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None and item.get_closest_marker("full") is None:
            each = mark.kwargs.get("each")
            kind = str(item.callspec.params[each]) if each else ""  # type: ignore[attr-defined]  # pytest
            own = any(own.name == mark.name for own in item.own_markers)
            test = item.nodeid.partition("[" if own else "::")[0]
            tests[test, kind, mark.args[0]].append(item)
    left_out: set[pytest.Item] = set()
    for (test, _, share), cases in tests.items():
        chosen = daily((case.nodeid for case in cases), share, test)
        left_out |= {case for case in cases if case.nodeid not in chosen}
    return left_out
