"""One node as a transfer function sees it, and the values and facts of one visit of a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause
from onnx_scatterx.engine.analysis.domain.flags import FLAGS
from onnx_scatterx.engine.analysis.domain.tensor import DimOf, Shape, TensorValue
from onnx_scatterx.engine.terms import Facts, Term, size
from onnx_scatterx.graphs import is_scatterx_domain


class Versions(Enum):
    """The versions of ONNX Runtime that a visit of a model is about."""

    OLDER = auto()  # up to 1.31
    NEWER = auto()  # from 1.32
    ALL = auto()


Result: TypeAlias = "list[TensorValue] | None"
"""A transfer function's result for the outputs; None if it cannot handle the operator's case."""


class NotKnownError(LookupError):
    """What a transfer function, or another form of a node, needs is not known or does not hold."""


class UnknownAttributeError(NotKnownError):
    """The callers of a function give different attributes, or a flag is neither 0 nor 1."""


T = TypeVar("T")


def required(known: T | None) -> T:
    """Return what is known; if it is None, raise NotKnownError.

    >>> required(0)
    0
    """
    if known is None:
        raise NotKnownError
    return known


def require(*conditions: object) -> None:
    """Raise NotKnownError unless all conditions hold."""
    if not all(conditions):
        raise NotKnownError


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
        """The facts in the older versions of ONNX Runtime: these, and ``older``."""
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
        attribute = self.node.attributes.get(name)
        if attribute is not None and attribute.is_ref():
            reference = attribute.ref_attr_name
            if reference is None or reference not in self.bound:
                raise UnknownAttributeError(name)
            attribute = self.bound[reference]
        if name in FLAGS and attribute is not None and attribute.value not in (0, 1):
            raise UnknownAttributeError(name)
        return attribute

    def integer(self, name: str, default: int) -> int:
        """Return an integer attribute or its default."""
        attribute = self.attribute(name)
        return default if attribute is None else int(attribute.as_int())

    def integers(self, name: str) -> list[int] | None:
        """Return a list-of-integers attribute, or None if it is absent."""
        attribute = self.attribute(name)
        return None if attribute is None else [int(i) for i in attribute.as_ints()]

    def string(self, name: str, default: str) -> str:
        """Return a string attribute or its default."""
        attribute = self.attribute(name)
        return default if attribute is None else attribute.as_string()

    def input(self, i: int) -> TensorValue | None:
        """Return the abstract value of an input, or None if it is absent."""
        return self.inputs[i] if i < len(self.inputs) else None

    def present(self, i: int) -> TensorValue:
        """Return an input; raises NotKnownError if it is absent."""
        return required(self.input(i))

    def known(self, i: int, least: int = 0) -> TensorValue:
        """Return an input of known rank, the ``least`` or more; raises NotKnownError if none is."""
        tensor = self.input(i)
        if tensor is None or tensor.shape is None or len(tensor.shape) < least:
            raise NotKnownError
        return tensor

    def vector(self, i: int) -> list[Term]:
        """Return the elements of a small input; raises NotKnownError if they are not known."""
        return required(self.present(i).vector())

    def numbers(self, i: int, attribute: str) -> list[int] | None:
        """Return integers that older versions took as an attribute and newer ones as an input.

        None if both are absent; raises NotKnownError if the input is not known.
        """
        tensor = self.input(i)
        if tensor is None:
            return self.integers(attribute)
        return [int(v) for v in required(tensor.constant).ravel().tolist()]


@dataclasses.dataclass
class Scope:
    """One visit of a graph: the operator sets that hold in it, its attributes and its facts.

    ``visit_id`` distinguishes this visit from others. ``values`` has the abstract value of every
    visible value, including those of outer graphs. ``overridable`` are the initializers that are
    inputs of the model, too. ``also_read_as`` is the operator set of the model for a function of
    another one: ONNX Runtime inlines the function, and reads its nodes so.
    ``running`` are the nodes whose checks hold, since they run whenever the graph does.
    ``noted`` are ranges of integers that whoever added a value to the graph has proven: they hold
    whenever the original model runs.
    """

    opsets: Mapping[str, int]
    facts: Facts
    values: dict[ir.Value, TensorValue]
    attributes: Mapping[str, ir.Attr | None] = dataclasses.field(default_factory=dict)
    function: ir.Function | None = None
    visit_id: object = dataclasses.field(default_factory=object)
    overridable: frozenset[ir.Value] = frozenset()
    also_read_as: int | None = None
    running: set[ir.Node] = dataclasses.field(default_factory=set)
    noted: dict[ir.Value, tuple[float, float]] = dataclasses.field(default_factory=dict)

    def of(self, value: ir.Value | None) -> TensorValue:
        """Return the abstract value of a value: of one that is not known here, the type alone."""
        known = None if value is None else self.values.get(value)
        return known or TensorValue(None if value is None else value.dtype, None)

    def call(
        self,
        node: ir.Node,
        inputs: Sequence[TensorValue | None] | None = None,
        versions: Versions = Versions.ALL,
        older: tuple[Term, ...] = (),
    ) -> Call:
        """Return a node as a transfer function sees it, by default with the inputs known here."""
        if inputs is None:
            inputs = [None if v is None else self.values.get(v) for v in node.inputs]
        version = self.opsets.get(node.domain, 0)
        attributes, visit = self.attributes, self.visit_id
        return Call(node, inputs, version, self.facts, attributes, visit, versions, older)

    def inner(self) -> Scope:
        """Return the scope of a subgraph: facts from outside hold in it, but not the reverse."""
        return dataclasses.replace(self, facts=self.facts.assuming(), visit_id=object())


@dataclasses.dataclass(frozen=True)
class Knowledge:
    """What the interpreter found: for every value, and the facts that hold in every graph."""

    values: Mapping[ir.Value, TensorValue]
    scopes: Mapping[ir.Graph, Scope]
    shared: Mapping[Term, str]
    """Sizes that several graph inputs declare under one name (the assumption declared-dims)."""
    suspected: tuple[Clause, ...] = ()
    """Facts about declared sizes that would make more shapes known: ``N >= 1``."""

    def own_graphs(self) -> list[tuple[ir.Graph, Scope]]:
        """Return the graphs of the model with their scopes, without the fallbacks of ScatterX."""
        functions = ((g, s, s.function) for g, s in self.scopes.items())
        return [(g, s) for g, s, f in functions if f is None or not is_scatterx_domain(f.domain)]


def operator_sets(imports: Mapping[str, int]) -> dict[str, int]:
    """Return the operator sets with the default domain under both of its names.

    ONNX Runtime's own domain, which has one version, is there without an import.
    """
    standard = imports.get("", imports.get("ai.onnx", 0))
    return {"com.microsoft": 1, **imports, "": standard, "ai.onnx": standard}
