"""Writes what was measured of a device as a profile."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.measured_devices.cases import TYPES, Case, parameters
from benchmarks.measured_devices.learning import Facts, Limits, learnt
from onnx_scatterx.operators import OPERATORS, SCATTERS
from onnx_scatterx.targets import STANDARD, target_from

_WIDTH = 100  # letters in a line


def profile(head: str, measured: Mapping[str, Sequence[Case]]) -> str:
    """Return the text of a profile: its head, the operators, and their limits."""
    limits = {operator: learnt(cases) for operator, cases in sorted(measured.items())}
    limits = {operator: found for operator, found in limits.items() if found.taken}
    highest = target_from(tomllib.loads(head), {"standard": STANDARD}).max_rank
    names = [f'"{operator}",' for operator in sorted({*limits, "Constant"})]
    lines = [head.rstrip(), "operators = [", *_filled(names), "]", ""]
    for operator, found in limits.items():
        keys = [*_keys(operator, found, measured[operator], highest)]
        if keys:
            lines += [f"[limits.{operator}]", *keys]
    return "\n".join(lines) + "\n"


def _filled(words: Sequence[str]) -> Iterator[str]:
    line = "   "
    for word in words:
        if len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = "   "
        line += f" {word}"
    yield line


def _keys(
    operator: str, limits: Limits, cases: Sequence[Case], highest: int | None
) -> Iterator[str]:
    """Yield the keys of an operator: those that say one fact, then the tables of several.

    ``highest`` is the rank that the profile takes of all operators.
    """
    left: list[Facts] = []
    seen = {v for case in cases for key, v in case.atoms if key == "types"}
    ranks = {v for case in cases for key, v in case.atoms if key == "ranks"}
    for facts in limits.facts:
        ((key, values), *more) = facts.items()
        if more:
            left.append(facts)
        elif key == "types":
            taken = [kind for kind in TYPES if kind in seen - values]
            yield f"types = [{', '.join(map(_toml, taken))}]"
        elif key == "ranks":
            lower = [r for r in values if ranks - values and r < max(ranks - values)]
            if len(lower) < len(values) and max(ranks - values) != highest:
                yield f"max_rank = {max(ranks - values)}"
            if lower:
                left.append({key: frozenset(lower)})
        elif key == "attributes.reduction" and operator in SCATTERS:
            others = {v for c in cases for k, v in c.atoms if k == key} - values
            yield f"reductions = [{', '.join(map(_toml, sorted(others)))}]"
        else:
            left.append(facts)
    if not limits.computed and OPERATORS[operator].sizes:
        yield "computed = false"
    elif not limits.computed:
        left.insert(0, {"computed": frozenset(parameters(cases))})
    tables = [*map(_table, left)]
    if len(tables) == 1:
        yield f"refused = [{tables[0]}]"
    elif tables:
        yield "refused = ["
        yield from (f"    {table}," for table in tables)
        yield "]"


def _table(facts: Facts) -> str:
    """Return a use that is refused."""
    told: dict[str, str] = {}
    named: dict[str, list[str]] = {}
    for key, values in sorted(facts.items()):
        given = sorted(values)
        text = f"[{', '.join(map(_toml, given))}]"
        if "." in key:
            outer, inner = key.split(".")
            named.setdefault(outer, []).append(f"{inner} = {text}")
        elif key in ("scalars", "uneven", "last", "zeros"):
            told[key] = "true"
        else:
            told[key] = str(min(given)) if key == "axes" else text
    told |= {key: f"{{{', '.join(texts)}}}" for key, texts in named.items()}
    return f"{{{', '.join(f'{key} = {text}' for key, text in told.items())}}}"


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
