"""The JSON Schemas of the package: what they refuse of a document, and what of them it fills."""

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

NAMES = ("profile", "report", "verify", "check")


@cache
def schema(name: str) -> Any:
    """Return a schema of the package."""
    text = files("onnx_scatterx").joinpath("schemas", f"{name}.json").read_text("utf-8")
    return json.loads(text)


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what validates documents by a schema, which may refer to the schemas beside it."""
    return Draft202012Validator(schema(name), registry=_registry())


def faults(name: str, document: Any) -> list[str]:
    """Return what a schema refuses of a document."""
    return [f"{e.json_path}: {e.message}" for e in validator(name).iter_errors(document)]


def unfilled(name: str, documents: list[Any]) -> set[str]:
    """Return the properties of a schema, as `table.key`, that are empty in all documents."""
    filled = set()

    def properties(self: Any, given: Any, instance: Any, parent: Any) -> Iterator[Any]:
        for key, value in instance.items() if isinstance(instance, dict) else ():
            if key in given and value not in (None, [], {}, ""):
                filled.add(id(given[key]))
        yield from standard(self, given, instance, parent)

    standard = Draft202012Validator.VALIDATORS["properties"]
    recorder = extend(Draft202012Validator, {"properties": properties})
    for document in documents:
        assert recorder(schema(name), registry=_registry()).is_valid(document)
    return {place for place, found in properties_of(schema(name)) if id(found) not in filled}


def tables(found: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each object of a schema whose keys are fixed, by the key at which it stands."""
    if isinstance(found, list):
        for inner in found:
            yield from tables(inner, place)
    elif isinstance(found, dict):
        if isinstance(found.get("properties"), dict):
            yield place, found
        for key, inner in found.items():
            for name, one in inner.items() if key in ("properties", "$defs") else ():
                yield from tables(one, name)
            if key in ("items", "additionalProperties", "anyOf"):
                yield from tables(inner, place)


def properties_of(found: Any) -> Iterator[tuple[str, Any]]:
    """Yield each property of a schema, by its table and its key."""
    for place, table in tables(found):
        yield from ((f"{place}.{key}", one) for key, one in table["properties"].items())


@cache
def _registry() -> Any:
    named = [DRAFT202012.create_resource(schema(n)) for n in NAMES if "$id" in schema(n)]
    return named @ Registry()
