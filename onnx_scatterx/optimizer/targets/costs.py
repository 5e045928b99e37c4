"""The cost of plans: the nodes that they write, or the time that these take on a machine.

    nanoseconds of a node = launch + bytes * byte[op] + runs * run[op]

``bytes`` is the size of the node's output, ``runs`` its number of contiguous pieces. The packaged
constants are those of one core of a server; ``onnx-scatterx calibrate`` measures yours.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.assumptions.expressions import names
from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term
from onnx_scatterx.system.reading import note_read, read_toml

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
                sizes |= {n: n for n in (name, *sorted(names(name)))}
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


def in_terms(model: ir.Model, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return hints by their names in terms, without those on sizes that are numbers now."""
    known = known_sizes(model)
    return {known[name]: size for name, size in sizes.items() if name in known}


class Sizes:
    """Values for symbolic sizes; ``hints`` are the user's, by name.

    >>> from onnx_scatterx.optimizer.symbolic.terms import size
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


VARIABLE = "ONNX_SCATTERX_MACHINE"
KINDS = ("Concat", "Elementwise", "Gather", "Pad", "ScatterX", "Slice", "Transpose")
"""The kinds of work that are distinguished."""
WAYS = ("lines", "turns", "moves", "memcpy", "no-prefetch", "no-blocks", "no-panels")
"""The ways of copying that the ScatterX library has, as words of the variable SCATTERX_COPY."""


@dataclass(frozen=True)
class Machine:
    """A machine's constants, in nanoseconds: per node, per byte and per run of each kind.

    ``kernel`` has the words for the fastest ways of copying in the ScatterX library there.
    """

    launch: float
    byte: Mapping[str, float]
    run: Mapping[str, float]
    kernel: str = ""

    def time(self, kind: str, size: float, runs: float) -> float:
        """Return how long it takes to write ``size`` bytes in so many runs."""
        return size * self.byte[kind] + runs * self.run[kind]

    def to_toml(self) -> str:
        """Return the constants as text, the inverse of ``read``."""
        tables = [
            "\n".join([f"\n[{name}]", *(f"{k} = {v:.4g}" for k, v in sorted(table.items()))])
            for name, table in (("byte", self.byte), ("run", self.run))
        ]
        head = ["# nanoseconds", f'kernel = "{self.kernel}"', f"launch = {self.launch:.4g}"]
        return "\n".join([*head, *tables]) + "\n"

    @classmethod
    def read(cls, path: Path) -> Machine:
        """Return the constants in a file; ScatterXError if it does not hold them."""
        note_read(path, "the file of the machine's times")
        content = read_toml(path)
        again = "measure it again with 'onnx-scatterx calibrate'"
        if set(content) | {"kernel"} != {f.name for f in fields(cls)}:
            raise ScatterXError(f"{path}: must have launch, [byte] and [run]; {again}")
        for table in (content["byte"], content["run"], {"launch": content["launch"]}):
            if not isinstance(table, dict) or not all(map(_is_time, table.values())):
                raise ScatterXError(f"{path}: times are numbers that are not negative; {again}")
        for name in ("byte", "run"):
            if set(content[name]) != set(KINDS):
                raise ScatterXError(f"{path}: [{name}] must have {', '.join(KINDS)}; {again}")
        kernel = content.get("kernel", "")
        if not isinstance(kernel, str) or not set(kernel.split()) <= set(WAYS):
            raise ScatterXError(f"{path}: kernel must be words of {', '.join(WAYS)}; {again}")
        return cls(**content)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12


def calibration_file() -> Path:
    """Return where this user's measured constants are kept."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "onnx-scatterx" / "machine.toml"


def local_machine() -> Machine:
    """Return the constants that were measured here, or those in the package."""
    measured = calibration_file()
    if measured.exists() or os.environ.get(VARIABLE):
        return Machine.read(measured)
    return Machine.read(Path(__file__).with_name("machine.toml"))


@dataclass(frozen=True)
class Work:
    """Elements that a node writes: a box of these extents, in runs.

    A run is contiguous in the input and in the output: it spans the extents from ``outer`` on.
    """

    kind: str
    extents: Shape
    outer: int


_STRING = 32  # bytes that ONNX Runtime moves for one


class Costs(Protocol):
    """A way to compare plans."""

    def weigh(self, nodes: float, work: Sequence[Work], dtype: ir.DataType) -> float:
        """Return the weight of some nodes that do some work."""
        ...


class NodeCosts:
    """Every node weighs one."""

    def weigh(self, nodes: float, work: Sequence[Work], dtype: ir.DataType) -> float:
        """Return the number of nodes."""
        return nodes


class TimeCosts:
    """A node weighs as many nanoseconds as it takes on a machine, at usual sizes."""

    def __init__(self, machine: Machine, sizes: Sizes) -> None:
        self.machine = machine
        self.sizes = sizes

    def weigh(self, nodes: float, work: Sequence[Work], dtype: ir.DataType) -> float:
        """Return the nanoseconds of some nodes that do some work."""
        total = nodes * self.machine.launch
        for w in work:
            size = self.sizes.product(w.extents) * _size(dtype)
            total += self.machine.time(w.kind, size, self.sizes.product(w.extents[: w.outer]))
        return total


def _size(dtype: ir.DataType) -> float:
    """Return how many bytes an element takes."""
    return _STRING if dtype.is_string() else max(dtype.itemsize, 1)
