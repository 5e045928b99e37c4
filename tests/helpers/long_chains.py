"""Long chains of writes of mixed kinds to one tensor, as exporters write them.

``dynamo`` has initializers and few nodes for an index; TorchScript has a Constant node for each
number, and expands and reshapes the updates. If sizes are symbolic, both compute rows from a Range.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

KINDS = (
    "rows",
    "last",
    "strided",
    "row",
    "column",
    "box",
    "mask",
    "place",
    "sum",
    "added",
    "copied",
    "turned",
)
"""The kinds of writes: see the methods of these names."""

STYLES = ("torchscript", "dynamo")

H, W = 24, 16


class LongChain:
    """A model in the making: its text, and the value at its end (``value``)."""

    def __init__(self, seed: int, style: str, *, dynamic: bool) -> None:
        self.draw = random.Random(seed)
        self.style, self.dynamic = style, dynamic
        self.lines: list[str] = []
        self.initializers: dict[str, str] = {}
        self.value = "x"
        self.turned_round = False

    def new(self, text: str) -> str:
        """Append a node and return the name of its output."""
        self.lines.append(f"v{len(self.lines)} = {text}")
        return f"v{len(self.lines) - 1}"

    def numbers(self, *values: int, dims: str | None = None) -> str:
        """Return a constant: a node, or an initializer that equal ones share."""
        shape = f"[{len(values)}]" if dims is None else f"[{dims}]" if dims else ""
        text = f"int64{shape} {{{', '.join(map(str, values))}}}"
        if self.style == "torchscript":
            return self.new(f"Constant <value = {text}> ()")
        name = f"c{len(self.initializers)}"
        return self.initializers.setdefault(text, name)

    def scalar(self, value: int) -> str:
        return self.numbers(value, dims="")

    def slice(self, value: str, axis: int, start: int, end: int, step: int = 1) -> str:
        bounds = ", ".join(self.numbers(n) for n in (start, end, axis, step))
        return self.new(f"Slice ({value}, {bounds})")

    @property
    def size(self) -> int:
        """How many rows the value has, if sizes are known."""
        return W if self.turned_round else H

    def source(self) -> str:
        """Return the tensor that updates are computed from, in the present order of axes."""
        return "ut" if self.turned_round else "u"

    def fresh(self, part: str) -> str:
        """Return new elements that an elementwise operator computes."""
        return self.new(f"{self.draw.choice(['Neg', 'Sin', 'Abs'])} ({part})")

    def span(self, start: int, end: int, step: int = 1, axis: int = 0) -> str:
        """Return the positions of a slice of an axis: a constant, or a slice of a Range."""
        extent = self.size if axis == 0 else H + W - self.size
        if not self.dynamic:
            found = range(extent)[start:end:step]
            return self.numbers(*found)
        shape = self.new(f"Shape ({self.value})")
        size = self.new(f"Gather <axis = 0> ({shape}, {self.scalar(axis)})")
        every = self.new(f"Range ({self.scalar(0)}, {size}, {self.scalar(1)})")
        return self.slice(every, 0, start, end, step)

    def scatter(self, indices: str, updates: str, reduction: str = "none") -> None:
        """Write, with the shape that TorchScript gives to updates."""
        if self.style == "torchscript":
            shape = self.new(f"Shape ({updates})")
            updates = self.new(f"Reshape ({self.new(f'Expand ({updates}, {shape})')}, {shape})")
        how = "" if reduction == "none" else f' <reduction: string = "{reduction}">'
        self.value = self.new(f"ScatterND{how} ({self.value}, {indices}, {updates})")

    def _slice(self, start: int, end: int, step: int = 1, reduction: str = "none") -> None:
        rows = self.new(f"Unsqueeze ({self.span(start, end, step)}, {self.numbers(-1)})")
        new = self.fresh(self.slice(self.source(), 0, start, end, step))
        self.scatter(rows, new, reduction)

    def rows(self) -> None:
        """``y[a:b] = u[a:b]``."""
        start = self.draw.randrange(10)
        self._slice(start, start + self.draw.randint(1, 5))

    def last(self) -> None:
        """``y[-a:-b] = u[-a:-b]``."""
        end = self.draw.randint(1, 5)
        self._slice(-end - self.draw.randint(1, 3), -end)

    def strided(self) -> None:
        """``y[a::2] = u[a::2]``."""
        self._slice(self.draw.randrange(2), 1 << 40, 2)

    def sum(self) -> None:
        """``y[a:b] += u[a:b]`` by a scatter that adds."""
        start = self.draw.randrange(10)
        self._slice(start, start + self.draw.randint(1, 4), reduction="add")

    def row(self) -> None:
        """``y[a] = u[b]``, also counted from the end."""
        row, other = self.draw.randrange(-4, 8), self.draw.randrange(8)
        new = self.fresh(self.new(f"Gather <axis = 0> ({self.source()}, {self.numbers(other)})"))
        self.scatter(self.numbers(row, dims="1, 1"), new)

    def column(self) -> None:
        """``y[:, a] = u[:, b]`` by a ScatterElements."""
        column, other = self.draw.randrange(-4, 8), self.draw.randrange(8)
        new = self.fresh(self.new(f"Gather <axis = 1> ({self.source()}, {self.numbers(other)})"))
        indices = self.new(f"Expand ({self.scalar(column)}, {self.new(f'Shape ({new})')})")
        self.value = self.new(f"ScatterElements <axis = 1> ({self.value}, {indices}, {new})")

    def box(self) -> None:
        """``y[a:b, c:-d] = u[a:b, c:-d]``."""
        start, left, right = (self.draw.randrange(4) for _ in range(3))
        end = start + self.draw.randint(1, 5)
        bounds = (left, -right - 1)
        new = self.slice(self.slice(self.source(), 0, start, end), 1, *bounds)
        upright = self.new(f"Unsqueeze ({self.span(start, end)}, {self.numbers(-1)})")
        columns = self.span(*bounds, axis=1)
        shape = self.new(f"Shape ({self.new(f'Add ({upright}, {columns})')})")
        parts = [
            self.new(f"Unsqueeze ({self.new(f'Expand ({p}, {shape})')}, {self.numbers(-1)})")
            for p in (upright, columns)
        ]
        self.scatter(self.new(f"Concat <axis = -1> ({', '.join(parts)})"), self.fresh(new))

    def mask(self) -> None:
        """``y[m] = number``."""
        mask = "mt" if self.turned_round else "m"
        points = self.new(f"Transpose <perm = [1, 0]> ({self.new(f'NonZero ({mask})')})")
        flat = self.new(f"Reshape ({mask}, {self.numbers(-1)})")
        count = self.new(f"ReduceSum ({self.new(f'Cast <to = 7> ({flat})')})")
        number = self.new(f"Constant <value_float = {self.draw.randint(1, 9)}.0> ()")
        self.scatter(points, self.new(f"Expand ({number}, {count})"))

    def place(self) -> None:
        """``y[argmax(...)] = u[a]``."""
        column, row = self.draw.randrange(6), self.draw.randrange(6)
        line = self.new(f"Gather <axis = 1> ({self.source()}, {self.scalar(column)})")
        place = self.new(f"ArgMax <axis = 0, keepdims = 1> ({line})")
        new = self.fresh(self.new(f"Gather <axis = 0> ({self.source()}, {self.numbers(row)})"))
        self.scatter(self.new(f"Unsqueeze ({place}, {self.numbers(-1)})"), new)

    def added(self) -> None:
        """``y[a:b] += u[c:d]`` by a read, an Add and a write."""
        start, other = self.draw.randrange(8), self.draw.randrange(8)
        end = start + self.draw.randint(1, 3)
        part = self.slice(self.source(), 0, other, other + end - start)
        total = self.new(f"Add ({self.slice(self.value, 0, start, end)}, {part})")
        rows = self.new(f"Unsqueeze ({self.span(start, end)}, {self.numbers(-1)})")
        self.scatter(rows, total)

    def copied(self) -> None:
        """``y[a:b] = y[c:d]``."""
        start, other = self.draw.randrange(8), self.draw.randrange(8)
        count = self.draw.randint(1, 3)
        part = self.slice(self.value, 0, other, other + count)
        rows = self.new(f"Unsqueeze ({self.span(start, start + count)}, {self.numbers(-1)})")
        self.scatter(rows, part)

    def turned(self) -> None:
        """Go on with the transposed tensor."""
        self.value = self.new(f"Transpose <perm = [1, 0]> ({self.value})")
        self.turned_round = not self.turned_round
        self.rows()

    def text(self) -> str:
        """Return the model."""
        h, w = ("H", "W") if self.dynamic else (H, W)
        held = ", ".join(
            text.replace(" {", f" {name} = {{") for text, name in self.initializers.items()
        )
        body = "\n".join(self.lines)
        return (
            f"chain (float[{h},{w}] x, float[{h},{w}] u, bool[{h},{w}] m) => (float[?,?] y)"
            f" <{held}> {{\nut = Transpose <perm = [1, 0]> (u)\n"
            f"mt = Transpose <perm = [1, 0]> (m)\n{body}\ny = Identity ({self.value}) }}"
        )


def long_chain(
    count: int, seed: int, style: str, *, dynamic: bool, kinds: Iterable[str] = KINDS
) -> str:
    """Return the text of a model with so many writes, of kinds that are drawn."""
    chain = LongChain(seed, style, dynamic=dynamic)
    among = list(kinds)
    for _ in range(count):
        write: Callable[[], None] = getattr(chain, chain.draw.choice(among))
        write()
    return chain.text()
