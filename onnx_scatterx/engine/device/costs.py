"""The cost of plans: the nodes that they write, or the time that these take on a machine.

    nanoseconds of a node = launch + bytes * byte[op] + runs * run[op]

``bytes`` is the size of the node's output, ``runs`` its number of contiguous pieces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import onnx_ir as ir

from onnx_scatterx.assumptions import names_in
from onnx_scatterx.engine.analysis import Shape
from onnx_scatterx.engine.terms import Symbol, Term
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.targets import Target

USUAL = (
    (("batch", "b", "n", "bs"), 1),
    (("height", "width", "h", "w"), 640),
    (("seq", "sequence", "time", "length", "len", "t", "s"), 512),
)
"""Words in the names of sizes, and the usual value of such a size."""
OTHER = 256  # any other size
_NUMBER = 1  # any other run-time number


def known_sizes(model: ir.Model) -> dict[str, str]:
    """Return the user's names of the sizes of a model, each with its name in terms.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4, ?] x) => (float[N, 4, M] y) { y = Identity(x) }''')
    >>> known_sizes(model)
    {'N': 'N', 'x[2]': 'x.2'}
    """
    sizes: dict[str, str] = {}
    for value in model.graph.inputs:
        for axis, d in enumerate(value.shape or ()):
            name = None if isinstance(d, int) else d.value
            if name:
                sizes |= {n: n for n in (name, *sorted(names_in(name)))}
            elif not isinstance(d, int) or d < 0:
                sizes[f"{value.name}[{axis}]"] = f"{value.name}.{axis}"
    return sizes


def check_sizes(model: ir.Model, sizes: Mapping[str, int]) -> None:
    """Raise ScatterXError if the model lacks a size that has a hint."""
    known = known_sizes(model)
    for name in sizes:
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "all that it has are numbers"
            raise ScatterXError(f"the model has no size {name!r}; {there}")


def _in_terms(model: ir.Model, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return hints by their names in terms, without those on sizes that are numbers now."""
    known = known_sizes(model)
    return {known[name]: size for name, size in sizes.items() if name in known}


class Sizes:
    """Values for symbolic sizes; ``hints`` are the user's, by name.

    >>> from onnx_scatterx.engine.terms import size
    >>> Sizes({"batch": 8}).value(size("batch") * 4 + 1), Sizes().value(size("seq_len"))
    (33.0, 512.0)
    """

    def __init__(self, hints: Mapping[str, int] | None = None) -> None:
        self.hints = dict(hints or {})
        for name, value in self.hints.items():
            if value < 0:
                raise ScatterXError(f"the size {name} is {value}, and must not be negative")
        self._values: dict[Term, float] = {}

    def value(self, t: Term) -> float:
        """Return about how large a term is."""
        if t.constant is not None:
            return float(t.constant)
        if t not in self._values:
            self._values[t] = float(t.evaluate(self._leaf, lambda _: 0))
        return self._values[t]

    def product(self, terms: tuple[Term, ...]) -> float:
        """Return about how many elements there are between these extents."""
        return math.prod((max(self.value(t), 0.0) for t in terms), start=1.0)

    def _leaf(self, leaf: Symbol, parts: Any) -> int:
        if leaf.name in self.hints:
            return self.hints[leaf.name]
        if parts:
            return _NUMBER
        words = leaf.name.lower().replace(".", "_").split("_")
        return next((n for usual, n in USUAL if any(w in usual for w in words)), OTHER)


KINDS = ("Concat", "Elementwise", "Gather", "Pad", "ScatterX", "Slice", "Transpose")
"""The kinds of traffic that are distinguished."""


@dataclass(frozen=True)
class Machine:
    """A machine's constants, in nanoseconds: per node, per byte and per run of each kind."""

    launch: float
    byte: Mapping[str, float]
    run: Mapping[str, float]

    def time(self, kind: str, size: float, runs: float) -> float:
        """Return how long it takes to write ``size`` bytes in so many runs."""
        return size * self.byte[kind] + runs * self.run[kind]


SERVER = Machine(
    launch=500,
    byte={
        "Concat": 0.022,
        "Elementwise": 0.025,
        "Gather": 0.023,
        "Pad": 0.024,
        "ScatterX": 0.02,
        "Slice": 0.024,
        "Transpose": 0.022,
    },
    run={
        "Concat": 1.7,
        "Elementwise": 0,
        "Gather": 6.5,
        "Pad": 15,
        "ScatterX": 1.8,
        "Slice": 2.4,
        "Transpose": 8,
    },
)
"""One core of a server, measured."""


@dataclass(frozen=True)
class Traffic:
    """Elements that a node writes: a box of these extents, in runs.

    A run is contiguous in the input and in the output: it spans the extents from ``outer`` on.
    """

    kind: str
    extents: Shape
    outer: int

    @classmethod
    def of(cls, op: str, extents: Shape, outer: int) -> Traffic:
        """Return the traffic of an operator; if it has no kind of its own, it is elementwise."""
        return cls(op if op in KINDS else "Elementwise", extents, outer)


_STRING = 32  # bytes that ONNX Runtime moves for one


class Costs(Protocol):
    """A way to compare plans."""

    def weigh(self, nodes: float, traffic: Sequence[Traffic], dtype: ir.DataType) -> float:
        """Return the weight of some nodes, and of what they move."""
        ...


class NodeCosts:
    """Every node weighs one."""

    def weigh(self, nodes: float, traffic: Sequence[Traffic], dtype: ir.DataType) -> float:
        """Return the number of nodes."""
        return nodes


class TimeCosts:
    """A node weighs as many nanoseconds as it takes on a machine, at usual sizes."""

    def __init__(self, machine: Machine, sizes: Sizes) -> None:
        self.machine = machine
        self.sizes = sizes

    def weigh(self, nodes: float, traffic: Sequence[Traffic], dtype: ir.DataType) -> float:
        """Return the nanoseconds of some nodes, and of what they move."""
        total = nodes * self.machine.launch
        for w in traffic:
            size = self.sizes.product(w.extents) * _size(dtype)
            total += self.machine.time(w.kind, size, self.sizes.product(w.extents[: w.outer]))
        return total


def costs_of(target: Target, model: ir.Model, sizes: Mapping[str, int]) -> Costs:
    """Return how plans for a model are compared; ``sizes`` are hints on its symbolic sizes."""
    hints = _in_terms(model, sizes)
    return TimeCosts(SERVER, Sizes(hints)) if target.is_timed else NodeCosts()


def _size(dtype: ir.DataType) -> float:
    """Return how many bytes an element takes."""
    return _STRING if dtype.is_string() else max(dtype.itemsize, 1)
