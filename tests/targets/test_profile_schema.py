"""The JSON Schema of a profile: it takes what is read, and refuses what is refused."""

import datetime
import itertools
import math
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import onnx.defs
import pytest

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.targets import profile_checks
from onnx_scatterx.targets.catalogue import BASES, profile_names
from onnx_scatterx.targets.faults import FORMS, Fault
from onnx_scatterx.targets.profile import target_from
from onnx_scatterx.targets.target import NEW, Target
from tests.helpers.schemas import faults, schema, validator

TAPLO = shutil.which("taplo")
PROFILES = files("onnx_scatterx.targets").joinpath("profiles")
EXTENDED = Target("extended", dense_limit=1.0)

# What a schema cannot say: a date has no quotes, and ONNX names the inputs of each operator.
NOT_SAID = (
    "a date such as",
    "not datetime.date",
    "which is not an attribute of",
    "which is not an input",
    "add and remove both have",
)
VALUES: tuple[Any, ...] = (
    *(True, -1, 0, 1, 8, 9, math.inf, 1.5, "", "standard", datetime.date(2026, 11, 22)),
    *([], [0], [1], [True], ["float"], ["Float"], ["add"], ["Mod"], ["Mood"], [{}]),
    *(["ScatterX"], ["com.acme.Fancy"], ["fmod"], ["A"], [["float"]]),
    *({}, {"types": ["float"]}, {"types": ["Mod"]}, {"reductions": ["add"]}, {"reductions": "add"}),
    *({"type": ["float"]}, {"Mod": {}}, {"Mood": {}}, {"com.acme.Fancy": {}}, {"Mod": []}),
    *({"A": [2]}, {"A": ["x"]}, {"A": 2}, {"fmod": ["x", 1]}, {"fmod": [[1.5]]}),
    *([{"form": "relu_behind_softmax", "version": "1"}], [{"form": "other", "version": "1"}]),
)


def as_json(value: Any) -> Any:
    """Return a value of TOML as an editor gives it to a schema."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_json(inner) for inner in value]
    return None if value == math.inf else value


def keys(*path: str) -> set[str]:
    found = schema("profile")
    for name in path:
        found = found[name]
    return set(found["properties"])


def test_it_is_a_schema() -> None:
    validator("profile").check_schema(schema("profile"))
    assert "allOf" not in schema("profile")  # with it, editors complete no key


def test_all_keys_that_are_read_are_in_it_and_no_others() -> None:
    assert keys() == set(profile_checks.PROFILE_KEYS)
    assert keys("$defs", "limits") == set(profile_checks._LIMITS)
    assert keys("$defs", "slow") == set(profile_checks._SLOW)
    assert keys("$defs", "refused") == set(profile_checks._REFUSED)
    assert keys("$defs", "fault") == set(Fault._fields)


def test_its_words_are_those_of_the_tables() -> None:
    definitions = schema("profile")["$defs"]
    assert set(definitions["type"]["enum"]) == set(profile_checks._TYPES)
    assert set(definitions["reduction"]["enum"]) == set(profile_checks._REDUCTIONS)
    assert set(definitions["fault"]["properties"]["form"]["enum"]) == set(FORMS)
    assert set(schema("profile")["properties"]["base"]["enum"]) == set(BASES)
    operators = {s.name for s in onnx.defs.get_all_schemas() if not s.domain} | NEW
    assert operators - set(definitions["operator"]["anyOf"][0]["enum"]) == set()


@pytest.mark.parametrize("name", profile_names())
def test_it_takes_the_profiles_of_the_package(name: str) -> None:
    content = tomllib.loads(PROFILES.joinpath(f"{name}.toml").read_text("utf-8"))
    assert faults("profile", as_json(content)) == []


def changed() -> Iterator[dict[str, Any]]:
    """Yield profiles with each key of each table, known or not, and each value."""
    for value in VALUES:
        for key in (*profile_checks.PROFILE_KEYS, "max_ranks"):
            yield {"name": "x", key: value}
        for key in (*profile_checks._LIMITS, "type"):
            yield {"name": "x", "limits": {"Mod": {key: value}}}
        for key in (*profile_checks._SLOW, "type"):
            yield {"name": "x", "limits": {"Mod": {"slow": {key: value}}}}
        for key in (*profile_checks._REFUSED, "type"):
            yield {"name": "x", "limits": {"Mod": {"refused": [{key: value}]}}}
        for key in (*Fault._fields, "forms"):
            fault = {"form": "relu_behind_softmax", "version": "1", key: value}
            yield {"name": "x", "faults": [fault]}
    yield from ({}, {"avoid": []}, {"name": "x", "limits": {"Mod": {"refused": [{}]}}})


def together() -> Iterator[dict[str, Any]]:
    """Yield profiles with keys that need or exclude each other."""
    needed = {"extends": "extended", "dense_limit": 4, "add": ["Mod"], "remove": ["Add"]}
    others: list[list[dict[str, Any]]] = [
        [{}, {"dense": True}, {"dense": False}],
        [{}, {"operators": []}, {"avoid": []}, {"operators": [], "avoid": []}],
    ]
    choices = [[{}, {key: value}] for key, value in needed.items()]
    for given in itertools.product(*choices, *others):
        yield {"name": "x"} | {key: value for one in given for key, value in one.items()}


def refusal(content: dict[str, Any]) -> str:
    """Return why a profile is refused; empty if it is read."""
    try:
        target_from(content, BASES, lambda _: EXTENDED)
    except ScatterXError as error:
        return str(error)
    return ""


def test_it_refuses_what_is_refused() -> None:
    taken = refused = 0
    for content in (*changed(), *together()):
        why, found = refusal(content), faults("profile", as_json(content))
        assert not found or why, (content, found)
        assert found or not why or any(text in why for text in NOT_SAID), (content, why)
        taken, refused = taken + (not why), refused + bool(why)
    assert (taken > 150, refused > 1800) == (True, True)


@pytest.mark.skipif(TAPLO is None, reason="taplo is not installed")
def test_a_linter_of_toml_reads_it(tmp_path: Path) -> None:
    """As an editor does: a line of a profile names the schema."""
    place = files("onnx_scatterx").joinpath("schemas", "profile.json")
    (tmp_path / "profile.json").write_text(place.read_text("utf-8"), "utf-8")
    profile = PROFILES.joinpath("qnn.toml").read_text("utf-8")
    for name, text in {"right": profile, "wrong": f"max_ranks = 4\n{profile}"}.items():
        path = tmp_path / f"{name}.toml"
        path.write_text(f"#:schema ./profile.json\n{text}", "utf-8")
        done = subprocess.run([str(TAPLO), "lint", path], capture_output=True, text=True)
        assert (done.returncode == 0) == (name == "right"), done.stderr
        assert ("'max_ranks' was unexpected" in done.stderr) == (name == "wrong")
