"""A node as it is written in an operator set: its operator, its inputs and its attributes.

Spelling("ReduceMax", (x, array([1])), {})    ReduceMax (x, Constant <value = [1]> ())
Spelling("Not", (Spelling("Less", ...),), {}) Not (Less (...))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.graphs import constant


class Known:
    """What is known of the values that nodes read, by which they are written otherwise.

    This one knows constants alone. ``overridable`` are the initializers that are inputs of the
    model, too.
    """

    def __init__(self, overridable: Collection[ir.Value] = ()) -> None:
        self.overridable = overridable

    def types(self, value: ir.Value) -> Collection[str]:
        """Return the types that a value may have, as schemas write them; () if not known."""
        tensor = constant(value, self.overridable)
        return () if tensor is None else {type_text(tensor.dtype)}

    def shape(self, value: object) -> Sequence[int | None] | None:
        """Return the dims of a value or an array (None: an unknown dim); None if not known."""
        return list(value.shape) if isinstance(value, np.ndarray) else None

    def array(self, value: object) -> np.ndarray | None:
        """Return the constant that an input is in every run; None if it is not constant."""
        if isinstance(value, np.ndarray):
            return value
        known = value if isinstance(value, ir.Value) else None
        tensor = constant(known, self.overridable)
        return None if tensor is None else tensor.numpy()


def type_text(dtype: ir.DataType) -> str:
    """Return the type of a tensor as schemas write it.

    >>> type_text(ir.DataType.FLOAT)
    'tensor(float)'
    """
    return f"tensor({onnx.TensorProto.DataType.Name(dtype.value).lower()})"


Operand: TypeAlias = "ir.Value | np.ndarray | Spelling | None"
"""An input: a value, a constant, the result of another spelling, or None if absent."""


@dataclass(frozen=True, eq=False)
class Spelling:
    """A spelling of a node: its operator, inputs and attributes, and the number of its outputs.

    An input that is an array becomes a Constant. ``others`` are outputs of the node that other
    nodes compute, by their positions. With ``last_bits``, ONNX Runtime computes the node by another
    kernel, so the last bits of floats may differ. ``dtype`` is the element type of its first
    output, if the spelling has any.
    """

    op_type: str
    inputs: tuple[Operand, ...]
    attributes: Mapping[str, ir.Attr] = field(default_factory=dict)
    outputs: int = 1
    others: Mapping[int, Spelling] = field(default_factory=dict)
    last_bits: bool = False
    dtype: ir.DataType | None = None

    @classmethod
    def of(cls, node: ir.Node) -> Spelling:
        """Return a node as it is written."""
        return cls(node.op_type, tuple(node.inputs), dict(node.attributes), len(node.outputs))

    def changed(self, inputs: Sequence[Operand], **attributes: ir.Attr | None) -> Spelling:
        """Return the spelling with other inputs and changed attributes; None removes one."""
        merged = {**self.attributes, **attributes}
        kept = {name: attribute for name, attribute in merged.items() if attribute is not None}
        return replace(self, inputs=tuple(inputs), attributes=kept)

    def without(self, *names: str) -> Spelling:
        """Return the spelling without some attributes."""
        return self.changed(self.inputs, **dict.fromkeys(names))

    def value(self, name: str, default: Any) -> Any:
        """Return the value of an attribute; None if it refers to an attribute of a function."""
        attribute = self.attributes.get(name)
        return default if attribute is None else None if attribute.is_ref() else attribute.value

    def input(self, index: int) -> Operand:
        """Return an input; None if it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def is_same(self, other: Spelling) -> bool:
        """Return whether a node of this spelling is written as one of another spelling."""
        same = self.op_type == other.op_type and len(self.inputs) == len(other.inputs)
        same = same and all(a is b for a, b in zip(self.inputs, other.inputs, strict=True))
        return same and not self.others and self.attributes == other.attributes

    @property
    def nodes(self) -> int:
        """How many nodes it takes, without Constants."""
        parts = (*self.inputs, *self.others.values())
        return 1 + sum(part.nodes for part in parts if isinstance(part, Spelling))


Respell: TypeAlias = Callable[[Spelling, Known], Spelling | str]
"""Returns a node in the spelling of the next older or newer version, or a reason against it."""


def ints(name: str, values: Iterable[int]) -> ir.Attr:
    """Return an attribute of integers."""
    return ir.AttrInt64s(name, [int(value) for value in values])


def i64(values: Any) -> np.ndarray:
    """Return an array of int64."""
    return np.asarray(values, np.int64)
