"""Daily, a share of the cases of a test that is marked `sampled` runs; in CI all of them run."""

from typing import Any, NamedTuple

import pytest

from tests.helpers.examples import are_all, daily, is_full, other_cases

MODES = ("add", "none", "mul")


class Item:
    """Stands for a case of a test."""

    def __init__(self, name: str, params: dict[str, Any], mark: Any, own: bool) -> None:
        self.nodeid, self.callspec, self.marks = name, Call(params), {"sampled": mark}
        self.own_markers = [mark] if own else []

    def get_closest_marker(self, name: str) -> Any:
        return self.marks.get(name)


class Call(NamedTuple):
    """The parameters of a case."""

    params: dict[str, Any]


def cases(test: str, *share: int, own: bool = True, **each: str) -> list[Any]:
    """Return what stands for the cases of a test: ten numbers for each of three modes."""
    mark = pytest.mark.sampled(*share, **each).mark if share else None
    return [
        Item(f"{test}[{mode}-{number}]", {"mode": mode, "number": number}, mark, own)
        for mode in MODES
        for number in range(10)
    ]


@pytest.mark.parametrize(("count", "kept"), [(1, 1), (3, 1), (4, 1), (5, 2), (9, 3)])
def test_a_share_is_at_least_one(count: int, kept: int) -> None:
    names = [f"case {number}" for number in range(count)]
    chosen = daily(names, 4, "test")
    assert len(chosen) == kept
    assert chosen == daily(names[::-1], 4, "test") <= set(names)


def test_tests_have_different_cases() -> None:
    models = [f"model {number}" for number in range(60)]
    assert set().union(*(daily(models, 4, f"test {number}") for number in range(30))) == set(models)


def test_each_value_of_a_parameter_has_its_share() -> None:
    items = cases("marked", 5, each="mode")
    left_out = other_cases([*cases("not marked"), *items])
    run = [item.callspec.params["mode"] for item in items if item not in left_out]
    assert len(left_out) == 24
    assert sorted(run) == sorted(2 * MODES)
    assert len(other_cases(cases("another", 5))) == 24


def test_the_tests_of_a_file_have_one_share() -> None:
    files = [*cases("a.py::first", 20, own=False), *cases("a.py::second", 20, own=False)]
    others = cases("a.py::third", 30)
    left_out = other_cases([*files, *others])
    assert len([item for item in files if item not in left_out]) == 3
    assert len([item for item in others if item not in left_out]) == 1


def test_what_does_not_run_daily_is_no_part_of_the_share() -> None:
    items = cases("marked", 10)
    for item in items[3:]:
        item.marks["full"] = pytest.mark.full
    assert len(other_cases(items)) == 2


def test_who_tries_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALL_CASES", raising=False)
    assert are_all() == is_full()
    monkeypatch.setenv("ALL_CASES", "1")
    assert are_all()
