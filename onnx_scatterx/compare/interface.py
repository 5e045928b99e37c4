"""The inputs and outputs of a model, and whether and at which sizes two models can be compared.

A model with fixed sizes takes only inputs of these sizes, so it can be compared only at them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.assumptions import FixedSizes, dims_of
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.fitting import declare_fixed
from onnx_scatterx.graphs import all_nodes, cloned, constant, overridable
from onnx_scatterx.operators import RANDOM

Dim = int | str | None

_OVERRIDABLE_SINCE = 4  # from this IR version on, a caller may override initializers


@dataclass(frozen=True)
class Input:
    """A graph input: its type (None if not a tensor) and its declared dims (None: any rank).

    `default` is the initializer of the same name, which a caller may override; None without one.
    """

    name: str
    dtype: ir.DataType | None
    dims: tuple[Dim, ...] | None
    default: ir.TensorProtocol | None = None

    @property
    def symbols(self) -> tuple[str, ...]:
        """A name for every dim: the name of the dim, or `input[axis]` if the dim has no name."""
        return tuple(
            dim if isinstance(dim, str) else f"{self.name}[{axis}]"
            for axis, dim in enumerate(self.dims or ())
        )


@dataclass(frozen=True)
class Interface:
    """The inputs that a caller must give, the inputs that it may override, and the outputs."""

    inputs: tuple[Input, ...]
    overridable: tuple[Input, ...]
    outputs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, model: ir.Model) -> Interface:
        """Read the interface of a model."""
        inputs = [_input(v, model.graph.initializers.get(v.name or "")) for v in model.graph.inputs]
        can_override = (model.ir_version or 0) >= _OVERRIDABLE_SINCE
        return cls(
            tuple(i for i in inputs if i.default is None),
            tuple(i for i in inputs if i.default is not None and can_override),
            tuple((v.name or "", str(v.type or "")) for v in model.graph.outputs),
        )


def _input(value: ir.Value, default: ir.Value | None) -> Input:
    dtype = value.dtype if isinstance(value.type, ir.TensorType) else None
    dims = None if value.shape is None else dims_of(value)
    return Input(value.name or "", dtype, dims, None if default is None else default.const_value)


def differences(before: Interface, after: Interface) -> tuple[str, ...]:
    """Return how two interfaces differ, beyond what `require_same_names` checks."""
    lines = []
    for what, one, other in (
        ("inputs", before.inputs, after.inputs),
        ("overridable inputs", before.overridable, after.overridable),
    ):
        if [i.name for i in one] != [i.name for i in other]:
            lines.append(f"{what}: {[i.name for i in one]} became {[i.name for i in other]}")
        types = {i.name: i.dtype for i in other}
        lines += [
            f"input {i.name}: {i.dtype} became {types[i.name]}"
            for i in one
            if i.name in types and types[i.name] != i.dtype
        ]
    if [name for name, _ in before.outputs] != [name for name, _ in after.outputs]:
        lines.append(
            f"outputs: {[n for n, _ in before.outputs]} became {[n for n, _ in after.outputs]}"
        )
    else:
        lines += [
            f"output {name}: {kind} became {other}"
            for (name, kind), (_, other) in zip(before.outputs, after.outputs, strict=True)
            if kind and other and kind != other
        ]
    return tuple(lines)


def require_same_names(before: Interface, after: Interface) -> None:
    """Raise `VerifyError` if the two models cannot run on the same inputs."""
    one = {i.name for i in (*before.inputs, *before.overridable)}
    other = {i.name for i in (*after.inputs, *after.overridable)}
    if {i.name for i in before.inputs} - other or {i.name for i in after.inputs} - one:
        raise VerifyError(
            f"the two models take different inputs: {sorted(one)} and {sorted(other)}"
        )


def require_deterministic(model: ir.Model, what: str) -> None:
    """Raise `VerifyError` if a node of the model draws random numbers."""
    for node in all_nodes(model):
        if node.domain == "" and (node.op_type in RANDOM or _trains(node, overridable(model))):
            raise VerifyError(
                f"{what} cannot be compared: node {node.name or node.outputs[0].name!r} "
                f"({node.op_type}) draws random numbers"
            )


def _trains(node: ir.Node, overridable: Collection[ir.Value]) -> bool:
    """Return whether a Dropout, of operator set 7 or newer, may be in training mode."""
    if node.op_type != "Dropout" or len(node.inputs) < 3 or node.inputs[2] is None:
        return False
    mode = constant(node.inputs[2], overridable)
    return mode is None or bool(mode.numpy())


def narrowing(first: ir.Model, second: ir.Model, distrust_dims: bool = False) -> FixedSizes:
    """Return the sizes that are numbers in the inputs of the second model, and not in the first.

    If the second model has a number for a dim's name in one input, this number is for all inputs
    with this name, unless ``distrust_dims``.

    >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, ?] x) => (float[N, M] y) { y = Neg (x) }'''
    >>> fixed = ir.from_onnx_text(text.replace("N, ?", "3, 4"))
    >>> print(narrowing(ir.from_onnx_text(text), fixed))
    N = 3, x[1] = 4
    """
    others = {v.name: dims_of(v) for v in second.graph.inputs}
    symbols: dict[str, int] = {}
    both: dict[str, list[tuple[int | str | None, int | None]]] = {}
    for value in first.graph.inputs:
        name, theirs, mine = value.name or "", others.get(value.name), dims_of(value)
        if theirs is None or not isinstance(value.type, ir.TensorType):
            continue
        if mine is None and all(isinstance(d, int) for d in theirs):
            mine = (None,) * len(theirs)
        if mine is None or len(mine) != len(theirs):
            continue
        numbers = [n if isinstance(n, int) else None for n in theirs]
        both[name] = list(zip(mine, numbers, strict=True))
        for axis, (dim, number) in enumerate(both[name]):
            if number is not None and not isinstance(dim, int):
                symbols.setdefault(dim or f"{name}[{axis}]", number)
    shapes: dict[str, tuple[int | None, ...]] = {}
    for name, pairs in both.items():
        known = {} if distrust_dims else symbols
        dims = [
            d if isinstance(d, int) else n if n is not None else known.get(d or "")
            for d, n in pairs
        ]
        if any(
            n is not None and not isinstance(d, int) for (d, _), n in zip(pairs, dims, strict=True)
        ):
            shapes[name] = tuple(dims)
    return FixedSizes(symbols, shapes)


def narrowed(first: ir.Model, fixed: FixedSizes) -> ir.Model:
    """Return a copy of a model with fixed sizes; the model itself if no sizes are fixed."""
    if not fixed.shapes:
        return first
    copy = cloned(first)
    declare_fixed(copy, fixed)
    return copy
