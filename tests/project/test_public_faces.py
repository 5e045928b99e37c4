"""The public faces are those of the stored table: names, arguments, options, statuses and keys."""

import json

import pytest

from tests.project.public_faces import STORED, difference, faces

SAYS = """
docs/stability.md says what may change with which version. If this change is meant:
    python -m tests.project.public_faces --write"""


def test_nothing_public_is_gone_or_changed() -> None:
    found = difference(json.loads(STORED.read_text("utf-8")), faces())
    assert not found.broken, "\n".join((*found.broken, SAYS))
    assert not found.new, "\n".join((*found.new, "These are new.", SAYS))


@pytest.mark.parametrize(
    ("stored", "found", "broken", "new"),
    [
        ({"f": "a function"}, {"f": "a function"}, [], []),
        ({"f": "a function"}, {}, ["f is gone: a function"], []),
        ({"f(x)": "by name"}, {"f(x)": "by place"}, ["f(x) was by name, and is by place"], []),
        ({}, {"f": "a function", "f(x)": "by name, required"}, [], ["f", "f(x)"]),
        ({"f": "a function"}, {"f": "a function", "f(x)": "by default 1"}, [], ["f(x)"]),
        (
            {"tool run": "a command"},
            {"tool run": "a command", "tool run --in": "a value, required"},
            ["tool run --in is new: a value, required"],
            [],
        ),
    ],
)
def test_what_counts_as_broken(
    stored: dict[str, str], found: dict[str, str], broken: list[str], new: list[str]
) -> None:
    assert difference(stored, found) == (broken, new)


def test_the_table_has_every_kind() -> None:
    known = faces()
    assert len(known) > 900
    for name, what in {
        "onnx_scatterx.verify(atol)": "by name, by default None",
        "onnx_scatterx.Report.removed": "an attribute",
        "onnx_scatterx.rewrites.RegionRule.plan(region)": "by place or name, required",
        "options of functions, target": "by default 'scatterx'",
        "onnx-scatterx verify --prove": "a flag",
        "exit status of verify, not proven": "3",
        "profile.json max_rank": "integer, perhaps",
        "report.json entry.rules": "list of string, always",
    }.items():
        assert known[name] == what
