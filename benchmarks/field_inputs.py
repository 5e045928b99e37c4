"""Draws the inputs of ``benchmarks/field.py``: masks of all, none and some, indices at the borders.

An input is a text, a kind and its dims: ``"float batch=2 3 8"``. A dim with a name is symbolic.

- ``float``, ``half``, ``double``: normal numbers
- ``mask``: booleans
- ``index 0:8 5``: numbers from 0 to 7, which may be equal; a bound may be the name of a dim
- ``unique 0:8 5``: the same, but no two of them are equal
- ``cells 4:6 5``: pairs of a number from 0 to 3 and one from 0 to 5, no two of them equal
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Feed = dict[str, NDArray[Any]]

STYLES = ("some", "low", "high", "negative", "other", "more")
RANGED = ("index", "unique", "cells")
FLOATS = {"float": np.float32, "half": np.float16, "double": np.float64}


def words(text: str) -> tuple[str, list[str], list[tuple[str, int]]]:
    """Return the kind, the two bounds, and the dims of an input, each with its name.

    >>> words("index 0:points 2 points=12")
    ('index', ['0', 'points'], [('', 2), ('points', 12)])
    """
    kind, *rest = text.split()
    bounds = rest.pop(0).split(":") if kind in RANGED else []
    pairs = [word.rpartition("=") for word in rest]
    return kind, bounds, [(name, int(size)) for name, _, size in pairs]


def names(inputs: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """Return the symbolic dims of each input, by axis.

    >>> names({"x": "float batch=2 3 8", "i": "index 0:3 2"})
    {'x': {0: 'batch'}, 'i': {}}
    """
    dims = {name: words(text)[2] for name, text in inputs.items()}
    return {n: {i: d for i, (d, _) in enumerate(found) if d} for n, found in dims.items()}


def drawn(
    text: str, style: str, sizes: Mapping[str, int], rng: np.random.Generator
) -> NDArray[Any]:
    """Draw one input in a style: "low" and "high" are the bounds, "some" and others any numbers."""
    kind, bounds, dims = words(text)
    shape = [sizes.get(name, size) for name, size in dims]
    low, high = (sizes[b] if b in sizes else int(b) for b in bounds or ("0", "1"))
    count = int(np.prod(shape))
    if kind in FLOATS:
        return rng.standard_normal(shape).astype(FLOATS[kind])
    if kind == "mask":
        share = {"low": 0.0, "high": 1.0}.get(style, 0.5)
        return rng.random(shape) < share
    if kind == "index":
        ends = {"low": (low, low + 1), "high": (high - 1, high)}.get(style, (low, high))
        found = rng.integers(*ends, shape)
        return found - (high - low) if style == "negative" else found
    all_of = np.arange(low * high) if kind == "cells" else np.arange(low, high)
    chosen = {"low": all_of[:count], "high": all_of[::-1][:count]}.get(style)
    if chosen is None:
        chosen = rng.permutation(all_of)[:count]
    if kind == "cells":
        return np.stack(np.divmod(chosen, high), 1)
    return chosen.reshape(shape)


def draws(inputs: Mapping[str, str], promises: Sequence[str], fixed: bool) -> Iterator[Feed]:
    """Draw sets of inputs; the first one is that of the export.

    If sizes are not ``fixed``, each style is also drawn at larger sizes and at sizes of 1.
    ``promises`` about sizes are kept, and nothing negative is drawn if there is one about indices.
    """
    rng = np.random.default_rng(0)
    own = {name: size for text in inputs.values() for name, size in words(text)[2] if name}
    others = ({n: s + 1 for n, s in own.items()}, {n: 2 * s for n, s in own.items()})
    choices = [own] if fixed or not own else [own, *others, dict.fromkeys(own, 1)]
    about_sizes = [p for p in promises if set(re.findall(r"[a-z]\w*", p)) <= own.keys()]
    for sizes in choices:
        if not all(eval(promise, {}, dict(sizes)) for promise in about_sizes):
            continue
        for style in STYLES:
            if style != "negative" or len(about_sizes) == len(promises):
                yield {n: drawn(text, style, sizes, rng) for n, text in inputs.items()}
