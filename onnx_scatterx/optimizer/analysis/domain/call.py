"""One node as a transfer function sees it: attributes, and abstract values of the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.origins import DimOf
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term, size


class Versions(Enum):
    """The versions of ONNX Runtime that a visit of a model is about."""

    OLDER = auto()  # up to 1.31
    NEWER = auto()  # from 1.32
    ALL = auto()


Result: TypeAlias = "list[TensorValue] | None"
"""A transfer function's result for the outputs; None if it cannot handle the operator's case."""


class UnknownAttributeError(Exception):
    """An attribute refers to one of the function's own, and its callers differ."""


class Call(NamedTuple):
    """A node with the abstract values of its inputs.

    ``version`` is the version of the node's operator set. ``bound`` has the attributes of the
    surrounding function, for attributes that refer to them. ``scope`` distinguishes this visit of
    the node from others (a function's body is visited once for each caller). ``older`` are terms
    that are never negative in the older versions of ONNX Runtime.
    """

    node: ir.Node
    inputs: Sequence[TensorValue | None]
    version: int
    facts: Facts
    bound: Mapping[str, ir.Attr | None] = MappingProxyType({})
    scope: object = None
    versions: Versions = Versions.ALL
    older: tuple[Term, ...] = ()

    @property
    def older_facts(self) -> Facts:
        """Return the result in the older versions of ONNX Runtime."""
        return self.facts.assuming(*self.older) if self.older else self.facts

    def unknown_shape(self, rank: int, output: int = 0) -> Shape:
        """Return unknown sizes for an output of this visit of the node."""
        return tuple([self.unknown_size(d, output) for d in range(rank)])

    def unknown_size(self, dim: int, output: int = 0) -> Term:
        """Return one of them."""
        value = self.node.outputs[output]
        return size(f"{value.name}.{dim}", DimOf(self.scope, value, dim))

    def attribute(self, name: str) -> ir.Attr | None:
        """Return an attribute, through a reference if it is one; None if it is absent."""
        found = self.node.attributes.get(name)
        if found is None or not found.is_ref():
            return found
        reference = found.ref_attr_name
        if reference is None or reference not in self.bound:
            raise UnknownAttributeError(name)
        return self.bound[reference]

    def integer(self, name: str, default: int) -> int:
        """Return an integer attribute or its default."""
        found = self.attribute(name)
        return default if found is None else int(found.as_int())

    def integers(self, name: str) -> list[int] | None:
        """Return a list-of-integers attribute, or None if it is absent."""
        found = self.attribute(name)
        return None if found is None else [int(i) for i in found.as_ints()]

    def string(self, name: str, default: str) -> str:
        """Return a string attribute or its default."""
        found = self.attribute(name)
        return default if found is None else found.as_string()

    def input(self, i: int) -> TensorValue | None:
        """Return the abstract value of an input, or None if it is absent."""
        return self.inputs[i] if i < len(self.inputs) else None

    def known(self, i: int) -> TensorValue:
        """Return an input of known rank; raises LookupError if there is none."""
        found = self.input(i)
        if found is None or found.shape is None:
            raise LookupError(i)
        return found

    def numbers(self, i: int, attribute: str) -> list[int] | None:
        """Return integers that older versions took as an attribute and newer ones as an input.

        None if both are absent; raises LookupError if the input is not known.
        """
        given = self.input(i)
        if given is None:
            return self.integers(attribute)
        if given.constant is None:
            raise LookupError(attribute)
        return [int(v) for v in given.constant.ravel()]
