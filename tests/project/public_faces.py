"""The public faces as a table: each name, argument, option, exit status and key, with what it is.

    python -m tests.project.public_faces            what differs from the stored table
    python -m tests.project.public_faces --write    stores the table

docs/stability.md says which of them may change with which version.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import onnx_scatterx
from onnx_scatterx.doors.cli import output, program, verify
from onnx_scatterx.options import OPTIONS
from tests.helpers.schemas import NAMES, schema, tables

STORED = Path(__file__).with_name("public_0_1_0.json")
MODULES = ("export", "passes", "rewrites", "theory", "torch")
BUILT = ("RemoveScatters", "Target")  # others are results: their constructors are not public
PLANS = ("RegionRule", "ScatterRule")  # of a rule, the arguments of plan
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "by place",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "by place or name",
    inspect.Parameter.KEYWORD_ONLY: "by name",
    inspect.Parameter.VAR_POSITIONAL: "any more by place",
    inspect.Parameter.VAR_KEYWORD: "any more by name",
}


class Difference(NamedTuple):
    """What differs from a stored table: ``broken`` may only change with the version."""

    broken: list[str]
    new: list[str]


def difference(stored: Mapping[str, str], found: Mapping[str, str]) -> Difference:
    """Return what is gone, changed, or required of old callers; and what else is new.

    >>> difference({"f": "a function"}, {"f": "a function", "f(x)": "by name, required"})
    Difference(broken=['f(x) is new: by name, required'], new=[])
    """
    broken = [f"{name} is gone: {what}" for name, what in stored.items() if name not in found]
    new = []
    for name, what in found.items():
        if name in stored:
            if stored[name] != what:
                broken.append(f"{name} was {stored[name]}, and is {what}")
        elif what.endswith("required") and any(name.startswith((f"{k}(", f"{k} ")) for k in stored):
            broken.append(f"{name} is new: {what}")
        else:
            new.append(name)
    return Difference(broken, new)


def faces() -> dict[str, str]:
    """Return the table."""
    found = dict(_python())
    found.update(_commands())
    found.update(_statuses())
    for name in NAMES:
        found.update(_keys(name))
    return dict(sorted(found.items()))


def _python() -> Iterator[tuple[str, str]]:
    """Yield the public names of modules; of those of the package, all that they have."""
    for name in sorted({*onnx_scatterx.__all__} - {"__version__"}):
        yield from _named(f"onnx_scatterx.{name}", getattr(onnx_scatterx, name), whole=True)
    for option in OPTIONS:
        yield f"options of functions, {option.name}", f"by default {_shown(option.default)}"
    for name in MODULES:
        module = importlib.import_module(f"onnx_scatterx.{name}")
        for each in sorted(module.__all__):
            place = f"onnx_scatterx.{name}.{each}"
            yield from _named(place, getattr(module, each), whole=False)
            if each in PLANS:
                yield from _arguments(f"{place}.plan", getattr(module, each).plan, skip=1)


def _named(place: str, thing: Any, *, whole: bool) -> Iterator[tuple[str, str]]:
    if not inspect.isclass(thing):
        yield place, "a function" if callable(thing) else "a value"
        if callable(thing):
            yield from _arguments(place, thing)
        return
    yield place, "an error" if issubclass(thing, BaseException) else "a class"
    if thing.__name__ in BUILT:
        yield from _arguments(place, thing)
    if issubclass(thing, enum.Enum):
        yield from ((f"{place}.{member.name}", "a member") for member in thing)
    elif whole:
        yield from _attributes(place, thing)


def _attributes(place: str, thing: type) -> Iterator[tuple[str, str]]:
    """Yield the fields, the properties and the methods of a class; of a base, if it is ours."""
    ours = [base for base in thing.__mro__ if base.__module__.startswith("onnx_scatterx")]
    own = {name for base in ours for name in (*vars(base), *base.__annotations__)}
    for name in sorted(own):
        if name.startswith("_"):
            continue
        found = inspect.getattr_static(thing, name, None)
        if isinstance(found, staticmethod | classmethod) or inspect.isfunction(found):
            yield f"{place}.{name}", "a method"
            skip = int(inspect.isfunction(found))
            yield from _arguments(f"{place}.{name}", getattr(thing, name), skip)
        else:
            yield f"{place}.{name}", "an attribute"


def _arguments(
    place: str, function: Callable[..., Any], skip: int = 0
) -> Iterator[tuple[str, str]]:
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        text = KINDS[parameter.kind]
        if parameter.default is not parameter.empty:
            text += f", by default {_shown(parameter.default)}"
        elif not text.startswith("any"):
            text += ", required"
        yield f"{place}({parameter.name})", text


def _shown(value: Any) -> str:
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    text = repr(value)
    return type(value).__name__ if " at 0x" in text or len(text) > 80 else text


def _commands() -> Iterator[tuple[str, str]]:
    """Yield the commands, their arguments and options."""
    parser = program._parser()
    yield from _options("onnx-scatterx", parser)
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        yield f"onnx-scatterx {name}", "a command"
        yield from _options(f"onnx-scatterx {name}", command)


def _options(place: str, command: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            continue
        text = {0: "a flag", "?": "perhaps a value", "+": "values", "*": "any values"}
        what = text.get(action.nargs if action.nargs is not None else 1, "a value")
        if action.choices is not None:
            what += f" of {', '.join(map(str, action.choices))}"
        if action.default not in (None, False, [], argparse.SUPPRESS):
            what += f", by default {action.default}"
        needed = action.required if action.option_strings else action.nargs not in ("?", "*")
        what += ", required" * needed
        for name in action.option_strings or [str(action.metavar or action.dest)]:
            yield f"{place} {name}", what


def _statuses() -> Iterator[tuple[str, str]]:
    for name in ("DONE", "NO", "FAILED", "SIGNAL"):
        yield f"exit status {name}", str(getattr(output, name))
    for name, status in verify._STATUS.items():
        yield f"exit status of verify, {name}", str(status)


def _keys(name: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a document by its schema, and the words that a key may have."""
    for at, table in tables(schema(name)):
        for key, found in table["properties"].items():
            place = f"{name}.json {at}{'.' * bool(at)}{key}"
            often = "always" if key in table.get("required", ()) else "perhaps"
            yield place, f"{_kind(found)}, {often}"
            for word in found.get("enum", ()):
                yield f"{place} = {json.dumps(word)}", "a word"


def _kind(found: Any) -> str:
    """Return in words which values a schema takes."""
    if "$ref" in found:
        return str(found["$ref"]).rpartition("/")[2]
    if "anyOf" in found:
        return " or ".join(map(_kind, found["anyOf"]))
    if "const" in found:
        return json.dumps(found["const"])
    if "enum" in found:
        return "a word"
    kinds = found["type"] if isinstance(found["type"], list) else [found["type"]]
    if "items" in found:
        kinds = [k if k != "array" else f"list of {_kind(found['items'])}" for k in kinds]
    if isinstance(found.get("additionalProperties"), dict):
        kinds = [f"table of {_kind(found['additionalProperties'])}"]
    return " or ".join(kinds)


def main() -> int:
    """Compare the table with the stored one, or store it."""
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    found = faces()
    broken, new = difference(stored, found)
    if "--write" in sys.argv[1:]:
        STORED.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    print(*(f"gone or changed: {line}" for line in broken), sep="\n", end="\n" * bool(broken))
    print(*(f"new: {name}" for name in new), sep="\n", end="\n" * bool(new))
    print(f"{len(found)} entries; {len(broken)} gone or changed, {len(new)} new")
    return int(bool(broken or new) and "--write" not in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
