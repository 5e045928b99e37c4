"""Sizes that a user fixes: by the name of a dim, or the whole shape of an input by its name.

    batch=4        x:1,3,224,224

`--fix` changes the declared inputs of a model. An assumption promises something of the inputs, and
does not change them. A hint (`--size`) only decides which plan is the fastest.
"""

from __future__ import annotations

import difflib
import numbers
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import onnx_ir as ir

from onnx_scatterx.assumptions.expressions import evaluate, names_in
from onnx_scatterx.errors import ScatterXError

Fix: TypeAlias = "Mapping[str, int | Sequence[int]] | None"
"""Sizes as a user gives them: numbers by the name of a dim, shapes by the name of an input."""

_MOST = 2**31 - 1  # no axis is longer
_LISTED = 12


@dataclass(frozen=True)
class FixedSizes:
    """What sizes are fixed at: those of dims by name, and whole shapes of inputs by name.

    ``symbols`` has every name that is known then, ``x[2]`` for a dim without one.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4] x, float[N, M] y) => (float[N, 4] z) { z = Identity(x) }''')
    >>> print(FixedSizes.of(model, {"x": [3, 4]}))
    N = 3
    >>> FixedSizes.of(model, {"x": [3, 4]}).shapes
    {'x': (3, 4), 'y': (3, None)}
    """

    symbols: Mapping[str, int]
    shapes: Mapping[str, tuple[int | None, ...]]
    """The shapes of the inputs that change; None is a dim that is not changed."""

    @classmethod
    def of(cls, model: ir.Model, fix: Fix, *, distrust_dims: bool = False) -> FixedSizes:
        """Return the fixed sizes; ScatterXError if a name is unknown, or if two sizes disagree.

        ``distrust_dims`` says that dims of one name are not one size: then a shape is that of its
        input alone.
        """
        return _Reader(model, distrust_dims).read(dict(fix or {}))

    @staticmethod
    def named(model: ir.Model, fix: Fix) -> frozenset[str]:
        """Return the names of ``fix`` that a model has: as a size, or as an input.

        >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[N, 4] x) => (float[N, 4] y) { y = Identity(x) }''')
        >>> sorted(FixedSizes.named(model, {"N": 2, "x": [2, 4], "batch": 1, "N[0]": 2}))
        ['N', 'x']
        """
        reader = _Reader(model, distrust_dims=False)
        return frozenset(name for name, wanted in (fix or {}).items() if reader.has(name, wanted))

    def __str__(self) -> str:
        return ", ".join(f"{name} = {number}" for name, number in self.symbols.items())

    def value(self, dim: int | str | None) -> int | None:
        """Return the value of a dim (a name or an expression), or None if it is not fixed."""
        return evaluate(dim, self.symbols)

    def concerns(self, dim: str) -> bool:
        """Return whether a dim, or a name in it, is fixed."""
        return dim in self.symbols or not names_in(dim).isdisjoint(self.symbols)


class _Reader:
    """Reads the fixed sizes of one model."""

    def __init__(self, model: ir.Model, distrust_dims: bool) -> None:
        self.inputs = {v.name or "": v for v in model.graph.inputs if is_tensor(v)}
        self.constants = model.graph.initializers
        self.distrust_dims = distrust_dims
        self.dims = {name: dims_of(v) for name, v in self.inputs.items()}
        self.symbols: dict[str, tuple[int, str]] = {}  # each with what fixes it
        self.own: dict[tuple[str, int], int] = {}  # dims of inputs, as a shape says

    def read(self, fix: Mapping[str, Any]) -> FixedSizes:
        for name, wanted in fix.items():
            if isinstance(wanted, numbers.Integral) and not isinstance(wanted, bool):
                self._size(name, _checked(wanted, name))
            elif isinstance(wanted, Sequence) and not isinstance(wanted, str | bytes):
                self._shape(name, [_checked(n, name) for n in wanted])
            else:
                raise ScatterXError(f"the size of {name!r} is a number or a list, not {wanted!r}")
        dims = {name: self._new_dims(name) for name in self.inputs}
        shapes = {name: shape for name, shape in dims.items() if shape is not None}
        sizes = {name: number for name, (number, _) in self.symbols.items()}
        return FixedSizes(sizes, shapes)

    def _size(self, name: str, number: int) -> None:
        """Take a number for a dim by its name, or by its place (``x[2]``)."""
        if (place := self._place(name)) is not None:
            return self._dim(*place, number, f"--fix {name}={number}")
        if name not in sizes_of(self.inputs.values()):
            raise self._unknown(name)
        self._learn(name, number, f"--fix {name}={number}")

    def _place(self, name: str) -> tuple[str, int, int | str | None] | None:
        """Return the input, the axis and the dim that a name such as ``x[2]`` means."""
        for value, dims in self.dims.items():
            for axis, dim in enumerate(dims or ()):
                if name == f"{value}[{axis}]":
                    return value, axis, dim
        return None

    def has(self, name: str, wanted: object) -> bool:
        """Return whether a name is that of an input or, for a number, of a size."""
        if name in self.inputs or isinstance(wanted, Sequence):
            return name in self.inputs
        return name in sizes_of(self.inputs.values()) or self._place(name) is not None

    def _shape(self, name: str, shape: list[int]) -> None:
        """Take a shape for an input, and for every dim that is declared by a name of it."""
        text = ",".join(map(str, shape))
        if name not in self.inputs:
            raise self._unknown(name, shape=True)
        dims = self.dims[name]
        if dims is None:
            dims = (None,) * len(shape)
        if len(dims) != len(shape):
            raise ScatterXError(
                f"the input {name!r} has {len(dims)} dims, and --fix {name}:{text} has {len(shape)}"
            )
        for axis, (dim, number) in enumerate(zip(dims, shape, strict=True)):
            self._dim(name, axis, dim, number, f"--fix {name}:{text}")

    def _dim(self, name: str, axis: int, dim: int | str | None, number: int, why: str) -> None:
        if isinstance(dim, int) and dim != number:
            raise ScatterXError(f"the dim {axis} of the input {name!r} is {dim}: {why} contradicts")
        before = self.own.setdefault((name, axis), number)
        if before != number:
            raise ScatterXError(f"the dim {axis} of the input {name!r} is fixed at {before}: {why}")
        if isinstance(dim, str) and not self.distrust_dims:
            self._learn(dim, number, why)
        elif not isinstance(dim, int):
            self.symbols[f"{name}[{axis}]"] = number, why

    def _learn(self, name: str, number: int, why: str) -> None:
        before, earlier = self.symbols.setdefault(name, (number, why))
        if before != number:
            raise ScatterXError(f"the size {name!r} is {before} by {earlier} and {number} by {why}")

    def _new_dims(self, name: str) -> tuple[int | None, ...] | None:
        """Return the new dims of an input, or None if it has no fixed dim."""
        known = {symbol: number for symbol, (number, _) in self.symbols.items()}
        shape = self.dims[name]
        if shape is None:
            shape = (None,) * sum(value == name for value, _ in self.own)
            if not shape and name not in {value for value, _ in self.own}:
                return None
        dims: list[int | None] = []
        for axis, dim in enumerate(shape):
            number = self.own.get((name, axis))
            if isinstance(dim, str):
                derived = _derived(dim, known)
                if number is None:
                    number = known.get(dim, derived)
                if number is not None and derived is not None and derived != number:
                    raise ScatterXError(
                        f"the dim {axis} of the input {name!r} is {dim}, which is {derived} "
                        f"and not {number} at the sizes that are fixed"
                    )
                if number is not None and number < 0:
                    raise ScatterXError(f"the dim {axis} of the input {name!r} would be {number}")
            dims.append(number)
        default = self.constants.get(name)
        tensor = None if default is None else default.const_value
        if tensor is not None:
            for axis, (number, there) in enumerate(zip(dims, tensor.shape.numpy(), strict=False)):
                if number is not None and number != there:
                    raise ScatterXError(
                        f"the dim {axis} of {name!r} cannot be {number}: "
                        f"its initializer has {there}"
                    )
        changes = any(
            n is not None and not isinstance(d, int) for n, d in zip(dims, shape, strict=False)
        )
        return tuple(dims) if changes else None

    def _unknown(self, name: str, shape: bool = False) -> ScatterXError:
        """Return the error for an unknown name, with the name that may have been meant."""
        what = "input" if shape else "size"
        there = list(self.inputs) if shape else sizes_of(self.inputs.values())
        if not shape and name in self.inputs:
            dims = self.dims[name]
            form = ",".join("N" if not isinstance(d, int) else str(d) for d in dims or ())
            return ScatterXError(f"{name!r} is an input, not a size: --fix {name}:{form}")
        near = difflib.get_close_matches(name, there, 1)
        if near:
            return ScatterXError(f"the model has no {what} {name!r}; did you mean {near[0]!r}?")
        shown = ", ".join(there[:_LISTED]) + (", ..." if len(there) > _LISTED else "")
        rest = f"it has {shown}" if there else "all sizes of its inputs are numbers"
        return ScatterXError(f"the model has no {what} {name!r}; {rest}")


def is_tensor(value: ir.Value) -> bool:
    """Return whether a value is a tensor, as far as is declared."""
    return value.type is None or isinstance(value.type, ir.TensorType)


def dims_of(value: ir.Value) -> tuple[int | str | None, ...] | None:
    """Return the declared dims of a value: numbers, names, None for those without a name."""
    if value.shape is None:
        return None
    return tuple(
        (d if d >= 0 else None) if isinstance(d, int) else (d.value or None) for d in value.shape
    )


def sizes_of(inputs: Iterable[ir.Value]) -> list[str]:
    """Return by which names the sizes of inputs can be fixed, in order.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4, ?] x) => (float[N, 4, M] y) { y = Identity(x) }''')
    >>> sizes_of(model.graph.inputs)
    ['N', 'x[2]']
    """
    sizes: dict[str, None] = {}
    for value in inputs:
        for axis, dim in enumerate(dims_of(value) or ()):
            if dim is None:
                sizes[f"{value.name}[{axis}]"] = None
            elif isinstance(dim, str):
                sizes |= dict.fromkeys((*sorted(names_in(dim)), dim))
    return list(sizes)


def _checked(number: object, name: str) -> int:
    if not isinstance(number, numbers.Integral) or isinstance(number, bool):
        raise ScatterXError(f"a size of {name!r} is {number!r}, and must be a whole number")
    if not 0 <= int(number) <= _MOST:
        raise ScatterXError(f"a size of {name!r} is {number}, and must be from 0 to {_MOST}")
    return int(number)


def _derived(dim: str, known: Mapping[str, int]) -> int | None:
    """Return the value of a dim as an expression of other names."""
    if names_in(dim) == {dim}:
        return None
    return evaluate(dim, {name: number for name, number in known.items() if name != dim})


def fix_template(model: ir.Model, known: Mapping[str, int] | None = None) -> str:
    """Return the options that give every size of a model a number, "" if they all have one.

    ``known`` has the numbers of some sizes; the others are N.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[b, 4, ?] x) => (float[b, 4, M] y) { y = Identity(x) }''')
    >>> fix_template(model, {"b": 4})
    "--fix b=4 --fix 'x[2]=N'"
    """
    options: dict[str, None] = {}
    for value, sizes in open_sizes(model):
        numbered = [f"{name}={(known or {}).get(name, 'N')}" for name in sizes]
        options |= dict.fromkeys([f"{value.name}:N,N"] if value.shape is None else numbered)
    return " ".join(f"--fix {shlex.quote(option)}" for option in options)


def places_of(model: ir.Model, sizes: Collection[str]) -> str:
    """Return in words which axis of which input has each of some sizes, in the order of the axes.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[b, 4, s9, ?] x, float[b, M] u) => (float[b, 4, s9, K] y)
    ...     { y = Identity(x) }''')
    >>> model.graph.inputs[1].shape = ir.Shape(["b", "s1+1"])
    >>> places_of(model, ["b", "s1", "s9", "x[3]"])
    'b = axis 0 of x, s9 = axis 2 of x, s1 in axis 1 of u'
    """
    found: dict[str, str] = {}
    for value, _ in open_sizes(model):
        for axis, dim in enumerate(dims_of(value) or ()):
            own = sorted(names_in(dim)) if isinstance(dim, str) else []
            for name in (name for name in own if name in sizes):
                place = f"{name} {'=' if name == dim else 'in'} axis {axis} of {value.name}"
                if name not in found or (name == dim and " in axis " in found[name]):
                    found[name] = place
    told = list(found.values())
    more = f" and {len(told) - _LISTED} more" if len(told) > _LISTED + 1 else ""
    return ", ".join(told[:_LISTED] if more else told) + more


def open_sizes(model: ir.Model) -> Iterator[tuple[ir.Value, list[str]]]:
    """Yield each input without a default, and the names of its symbolic sizes.

    A size without a name is called by its place: ``x[2]``.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[batch, 4, ?] x) => (float[batch, 4, M] y) { y = Identity(x) }''')
    >>> [sizes for _, sizes in open_sizes(model)]
    [['batch', 'x[2]']]
    """
    for value in model.graph.inputs:
        if is_tensor(value) and value.name not in model.graph.initializers:
            dims = [(a, d) for a, d in enumerate(dims_of(value) or ()) if not isinstance(d, int)]
            called = [[f"{value.name}[{a}]"] if d is None else sorted(names_in(d)) for a, d in dims]
            yield value, [name for part in called for name in part]
