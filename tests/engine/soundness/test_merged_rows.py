"""Writes of chosen rows whose axis is merged with the axes of a window, in the order of either.

Each model is one form of text, whose words are drawn, and no graph that grows.
"""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.helpers.examples import scaled
from tests.helpers.pair import Pair
from tests.helpers.support import nodes, optimize, parse, sample, scatters

TARGET = "standard, avoid = ['ScatterND', 'ScatterElements'], dense = true, dense_limit = inf"
ENDS = (-(2**63), 2**63 - 1, -1, 2**31, -(2**31) - 1)
REDUCTIONS = ("none", "add", "max", "min", "mul")
NUMPY = {"float": "float32", "double": "float64", "int32": "int32", "int64": "int64"}


class Drawn:
    """A random write of windows at chosen positions, as text, and feeds for it.

    The window runs along axes of its own, or from the position on.
    """

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.reduction = rng.choice(REDUCTIONS)
        self.kind = rng.choice(["float", "float", "double", "int32", "int64"])
        self.rank = rng.choice([1, 1, 1, 2])  # of the mask
        self.is_symbolic = rng.random() < 0.4 and self.reduction != "mul"
        self.count = (rng.choice([3, 1, 4]),) if self.rank == 1 else rng.choice([(2, 2), (1, 4)])
        self.window = rng.choice([(3,), (2, 2), (1,), (2, 1)])
        self.is_along = len(self.window) == 1 and rng.random() < 0.3
        self.size = rng.choice([3, 4, 5])
        self.at = rng.randrange(len(self.window) + 1)  # the axis of the positions
        self.rest = rng.choice([(), (2,)])
        self.first = rng.choice(["rows", "places"])
        self.is_merged = rng.random() < 0.75
        self.updates_are_merged = self.is_merged or rng.random() < 0.5
        self.checks = rng.random() < 0.6
        self.before, self.after = (rng.choice(["", "Neg", "Mul"]) for _ in range(2))
        self.is_turned = rng.random() < 0.3 and self.rank == 1  # the updates, before the choice

    @property
    def data(self) -> tuple[str | int, ...]:
        size = "P" if self.is_symbolic else self.size
        others = () if self.is_along else self.window
        at = 0 if self.is_along else self.at
        return (*others[:at], size, *others[at:], *self.rest)

    @property
    def rows(self) -> tuple[str | int, ...]:
        return tuple(f"M{d}" for d in range(self.rank)) if self.is_symbolic else self.count

    @property
    def text(self) -> str:
        tail = (*self.window, *self.rest)
        u = (*tail, *self.rows) if self.is_turned else (*self.rows, *tail)
        types = {"x": (self.kind, self.data), "i": ("int64", (*self.rows, 1)), "u": (self.kind, u)}
        if not self.checks:
            types["m"] = "bool", self.rows
        listed = (f"{k}[{','.join(map(str, d))}] {name}" for name, (k, d) in types.items())
        out = ",".join(map(str, self.data))
        return f"""g ({", ".join(listed)}) => ({self.kind}[{out}] y) {{
            {self._mask()}
            {self._updates()}
            {self._indices()}
            y = ScatterND <reduction = "{self.reduction}"> (x, places, more) }}"""

    def _mask(self) -> str:
        given = "at = NonZero (m)  tuples = Transpose (at)\n"
        if not self.checks:
            return given
        axis, more = (0, self.window[0] - 1) if self.is_along else (self.at, 0)
        return f"""s = Shape (x)  n = Slice (s, [{axis}], [{axis + 1}])
            last = Sub (n, [{more + 1}])  over = GreaterOrEqual (i, 0)
            under = LessOrEqual (i, last)  both = And (over, under)
            m = Squeeze (both, [{self.rank}])
            {given}"""

    def _updates(self) -> str:
        lines, tail, w = "", (*self.window, *self.rest), len(self.window)
        source = "u"
        if self.is_turned:
            perm = [len(tail), *range(len(tail))]
            lines, source = f"turned = Transpose <perm = {perm}> (u)\n", "turned"
        lines += f"read = GatherND ({source}, tuples)\n{self._applied(self.before, 'read', 'a')}"
        if self.first == "places":
            perm = [*range(1, w + 1), 0, *range(w + 1, len(tail) + 1)]
            lines += f"placed = Transpose <perm = {perm}> (a)\n"
        else:
            lines += "placed = Identity (a)\n"
        if self.updates_are_merged:
            shape = [-1, *self.rest]
            if not self.is_merged:  # the window alone is merged, and split again
                flat = int(np.prod(self.window))
                shape = [flat, -1, *self.rest] if self.first == "places" else [-1, flat, *self.rest]
            lines += f"b = Reshape (placed, {shape})\n"
        else:
            lines += "b = Identity (placed)\n"
        return lines + self._applied(self.after, "b", "c") + self._split()

    def _split(self) -> str:
        """Return the lines that give updates the dims of the indices, which are not merged."""
        if self.is_merged:
            return "more = Identity (c)"
        flat = int(np.prod(self.window))
        shape = [flat, -1, *self.rest] if self.first == "places" else [-1, flat, *self.rest]
        return f"more = Reshape (c, {shape})"

    def _applied(self, op: str, x: str, y: str) -> str:
        if op == "Mul":
            number = "3" if self.kind.startswith("int") else "3.0"
            return f"{y} = Mul ({x}, {self.kind} {number})\n"
        return f"{y} = {op or 'Identity'} ({x})\n"

    def _indices(self) -> str:
        flat = int(np.prod(self.window))
        lines = "kept = GatherND (i, tuples)  wide = Unsqueeze (kept, [1])\n"
        if self.is_along:
            lines += f"all = Add (wide, {[[[step] for step in range(flat)]]})\n"
            columns = 1
        else:
            lines += f"none = Sub (wide, wide)  rep = Expand (wide, [1,{flat},1])\n"
            names, columns = [], len(self.window) + 1
            for d, places in enumerate(np.indices(self.window).reshape(len(self.window), -1)):
                lines += f"q{d} = Add (none, {[[[int(place)] for place in places]]})\n"
                names.append(f"q{d}")
            names.insert(self.at, "rep")
            lines += f"all = Concat <axis = 2> ({', '.join(names)})\n"
        lines += "turn = Transpose <perm = [1, 0, 2]> (all)\n" * (self.first == "places")
        made = "turn" if self.first == "places" else "all"
        shape = f"[-1, {columns}]"
        return lines + (
            f"places = Reshape ({made}, {shape})"
            if self.is_merged
            else f"places = Identity ({made})"
        )

    def feeds(self) -> list[Mapping[str, Any]]:
        draw = np.random.default_rng(self.rng.randrange(2**32))
        found: list[Mapping[str, Any]] = []
        for share in (0.0, 1.0, 0.6, 0.6, 0.8):
            size = int(draw.integers(3, 6)) if self.is_symbolic else self.size
            count = tuple(draw.integers(0, 5, self.rank)) if self.is_symbolic else self.count
            m = draw.random(count) < share
            most = size - (self.window[0] - 1 if self.is_along else 0)
            good = draw.integers(0, most, (*count, 1))
            bad = draw.choice([*ENDS, size, most], (*count, 1))
            tail = (*self.window, *self.rest)
            u = (*tail, *count) if self.is_turned else (*count, *tail)
            x = [size if d == "P" else int(d) for d in self.data]
            feed = {
                "x": sample(NUMPY[self.kind], *map(int, x), seed=len(found)),
                "i": np.where(m[..., None], good, bad),
                "u": sample(NUMPY[self.kind], *map(int, u), seed=9 + len(found)),
            }
            found.append(feed if self.checks else {**feed, "m": m})
        return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(4))
def test_random_windows(part: int) -> None:
    """All of what is drawn is written without the choice."""
    for seed in range(scaled(4)):
        drawn = Drawn(4 * seed + part)
        model = parse(drawn.text)
        pair = Pair(model, result := optimize(model, TARGET))
        for feed in drawn.feeds():
            assert pair.accepts(feed), "the original rejects a feed"
        assert scatters(result) == 0, drawn.text
        left = {node.op_type for node in nodes(result)}
        assert left.isdisjoint({"NonZero", "GatherND"}), drawn.text
