"""Builds the tensors of a model, node by node; equal nodes on equal inputs give one tensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import onnx

from onnx_scatterx.proof.assumed import SAME_NAMES, SAME_ROWS
from onnx_scatterx.proof.core.arithmetic import ZERO, integer
from onnx_scatterx.proof.core.logic import FALSE
from onnx_scatterx.proof.core.lookups import Contents, contents
from onnx_scatterx.proof.core.masks import most
from onnx_scatterx.proof.core.reading import (
    Declared,
    Graph,
    Node,
    constant_of,
    node_of,
)
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor, constant
from onnx_scatterx.proof.core.terms import (
    LARGEST_SIZE,
    Term,
    UnsupportedError,
    WorkSpentError,
    apply,
    variable,
)
from onnx_scatterx.proof.core.types import range_of, sort_of
from onnx_scatterx.proof.core.world import Debt, World
from onnx_scatterx.proof.inference import (
    computed_dims,
    inferred,
    is_tensor,
    pointing,
    positions,
)
from onnx_scatterx.proof.opaque import Equal, Key, Opaque, Read, like
from onnx_scatterx.proof.operators import BY_ROWS, OPERATORS, refused
from onnx_scatterx.proof.operators.elementwise import assumed, unrounded
from onnx_scatterx.proof.operators.scatters import scatterx

INVALID = (ValueError, IndexError, KeyError, TypeError, AttributeError, ZeroDivisionError)
"""The errors of an operator whose attributes or inputs make no sense."""

MARKED = ("opaque", "opaque size")
"""The first parts of the names of unknowns: the elements and sizes that an opaque node gives."""

SizeKey = str | tuple[str, int]
"""The key of a size: the name of a dim, or an input and an axis."""


def shown(key: SizeKey) -> str:
    """Return how a size is printed."""
    return key if isinstance(key, str) else f"{key[0]}[{key[1]}]"


Branch = tuple[str, onnx.GraphProto, "Scope"]


class Scope(dict[str, Tensor]):
    """The values of a model by their names; ``stored`` are the names of its constants.

    ``bodies`` has the known branch of an If, or of an equal If, by the first output of the If: the
    name of the attribute, the branch, and the values of the branch.
    """

    def __init__(self, values: Mapping[str, Tensor], stored: Iterable[str] = ()) -> None:
        super().__init__(values)
        self.stored = set(stored)
        self.bodies: dict[str, Branch] = {}


@dataclass
class Builder:
    """Builds tensors from nodes, for both models in turn.

    ``fixed`` gives sizes by name. If ``trusted``, dims of one name are one size. ``noted`` has the
    assumptions about nodes of the first model, and their outputs. ``kept`` are those of the nodes
    that the second model has, too. ``refused`` says why the models cannot be judged because of a
    node; empty without such a node.
    """

    world: World
    sizes: dict[SizeKey, Term] = field(default_factory=dict)
    made: dict[Key, list[Tensor]] = field(default_factory=dict)
    opaque: list[Opaque] = field(default_factory=list)
    fixed: dict[SizeKey, int] = field(default_factory=dict)
    trusted: bool = True
    noted: dict[Key, tuple[str, list[Tensor]]] = field(default_factory=dict)
    kept: set[Key] = field(default_factory=set)
    _alive: list[Any] = field(default_factory=list)
    refused: str = ""
    _constants: dict[Contents, Tensor] = field(default_factory=dict)
    _stored: set[int] = field(default_factory=set)  # the constants that have elements
    _opaque: dict[int, Opaque] = field(default_factory=dict)
    _branches: dict[int, Branch] = field(default_factory=dict)

    def constant(self, content: Contents) -> Tensor:
        """Return a constant: for the same contents always the same tensor."""
        if content not in self._constants:
            dtype, dims = content.dtype, tuple(map(integer, content.shape))
            name = ("constant", content)
            self._constants[content] = (
                Tensor(dtype, dims, lambda at: apply(name, at, sort_of(dtype), *range_of(dtype)))
                if content.array is None
                else constant(content.array, dtype)
            )
            if all(content.shape):
                self._stored.add(id(self._constants[content]))
        return self._constants[content]

    def input(self, stated: Declared) -> Tensor:
        """Return an input: each element is an unknown, and each dim that is not a number."""
        name, dtype = stated.name, stated.dtype
        low, high = range_of(dtype)
        if not is_tensor(dtype):
            raise UnsupportedError(f"the input {name!r} is not a tensor")

        def define(at: Coordinates) -> Term:
            return apply(("input", name), at, sort_of(dtype), low, high)

        if stated.dims is None:
            return Tensor(dtype, None, define)
        if not stated.dims:  # ONNX Runtime takes any shape for a scalar
            self.world.assume("an input that is stated to be a scalar is one")
        dims = [self._size(d, name, axis) for axis, d in enumerate(stated.dims)]
        return Tensor(dtype, tuple(dims), define)

    def key(self, dim: str | None, name: str, axis: int) -> SizeKey:
        """Return the key of a size that is not a number."""
        return dim if dim and self.trusted else (name, axis)

    def _size(self, dim: int | str | None, name: str, axis: int) -> Term:
        if isinstance(dim, int):
            return integer(dim)
        key = self.key(dim, name, axis)
        if dim and key in self.sizes:
            self.world.assume(SAME_NAMES)
        if key not in self.sizes:
            if key in self.fixed:
                self.sizes[key] = integer(self.fixed[key])
            else:
                self.sizes[key] = variable(("size", key), 0, LARGEST_SIZE)
        return self.sizes[key]

    def scope(self, graph: Graph, inputs: Mapping[str, Tensor]) -> Scope:
        """Return a scope with the inputs and the constants of a graph."""
        stored = {name: self.constant(content) for name, content in graph.constants.items()}
        return Scope({**inputs, **stored}, stored)

    def run(self, node: Node, scope: Scope, equal: Equal | None = None) -> None:
        """Add the outputs of a node to a scope.

        With ``equal``, a node that is not modelled gets the outputs of an equal node whose inputs
        are proven equal.
        """
        content = constant_of(node)
        if content is not None:
            scope[node.outputs[0]] = self.constant(content)
            scope.stored.add(node.outputs[0])
            return
        for name in (*node.inputs, *node.captured):
            if name and name not in scope:
                raise UnsupportedError(f"{name!r} is read before it is computed")
        if node.draws and (node.op != "Dropout" or _trains(node, scope)):
            raise UnsupportedError(f"{node.op}: a model that draws at random")
        inputs = tuple(scope[n] if n else None for n in node.inputs)
        while inputs and inputs[-1] is None:
            inputs = inputs[:-1]
        captured = tuple(scope[n] for n in node.captured)
        key: Key = (node.kind, tuple(map(id, inputs)), tuple(map(id, captured)))
        outputs = self.made.get(key)
        if outputs is None:
            outputs = self._made(node, inputs, scope, equal)
            self.made[key] = outputs
            self._alive.append((inputs, captured))
            self._note(key, node, outputs)
        elif self.world.owing:
            self.kept.add(key)
        opaque = self._opaque.get(id(outputs))
        self.refused = self.refused or unrounded(node, inputs, outputs, opaque is not None)
        if opaque is not None and opaque.stored != _stored(node, scope):
            self.world.assume(f"{node.op} is the same for a constant that is computed")
        for name, tensor in zip(node.outputs, outputs, strict=False):
            if name:
                scope[name] = tensor
        if id(outputs) in self._branches:
            scope.bodies[next(filter(None, node.outputs), "")] = self._branches[id(outputs)]

    def _note(self, key: Key, node: Node, outputs: list[Tensor]) -> None:
        """Note the assumption about a node that the other model may not have."""
        made = self._opaque.get(id(outputs))
        if made is not None and made.node is not node:  # an equal node of the first model
            self.kept.add(made.key)
            return
        text = SAME_ROWS if made is not None and not made.reason else assumed(node, outputs)
        if self.world.owing:
            self.world.assume(text)
        else:
            self.noted[key] = text, outputs

    def assume_noted(self) -> None:
        """Assume what was noted about nodes of the first model.

        If both models have a node, its assumption is needed only if elements of its output were
        read: then it may have been compared with other nodes.
        """
        for key, (text, outputs) in self.noted.items():
            if key not in self.kept or any(t.is_read for t in outputs):
                self.world.assume(text)

    def _made(
        self, node: Node, inputs: tuple[Tensor | None, ...], scope: Scope, equal: Equal | None
    ) -> list[Tensor]:
        captured = tuple(scope[n] for n in node.captured)
        read = (*inputs, *captured)
        by_rows = node.standard and node.op in BY_ROWS
        if by_rows and equal is not None:
            other = like(node, read, self.opaque, equal, self._stored)
            if other is not None:
                return other.outputs
        operator = OPERATORS.get(node.op) if node.standard else None
        if by_rows and not all(_stored(node, scope)[1:2]):
            operator = None
        debts, reason = len(self.world.debts), f"operator {node.op} is not modelled"
        try:
            if node.op == "If" and node.standard:
                branch = self._branch(node, inputs, scope, equal)
                if branch is not None:
                    return branch
            if node.scatterx:
                return scatterx(node, inputs, self.world)
            if operator is not None:
                wrong = refused(node, inputs)
                if wrong:
                    raise UnsupportedError(wrong)
                outputs = operator(node, inputs, self.world)
                if by_rows:
                    self._add(node, read, outputs, "", scope)
                return outputs
        except WorkSpentError:
            raise
        except INVALID as error:
            reason = f"{node.op}, which is not valid: {type(error).__name__}"
            del self.world.debts[debts:]
        except UnsupportedError as error:
            reason = f"{node.op}: {error}" if node.op not in str(error) else str(error)
            del self.world.debts[debts:]
        if equal is not None:
            other = like(node, read, self.opaque, equal, self._stored)
            if other is not None:
                return other.outputs
            if any(o.node.kind == node.kind for o in self.opaque):
                reason = f"{node.op}: its inputs are not proven to be the same in the first model"
        if self.world.owing:
            self.world.debts.append(Debt(FALSE, reason))
        outputs = self._unknown(node, inputs)
        self._add(node, read, outputs, reason, scope)
        return outputs

    def _add(
        self, node: Node, read: Read, outputs: list[Tensor], reason: str, scope: Scope
    ) -> None:
        made = Opaque(node, read, outputs, reason, _stored(node, scope))
        self.opaque.append(made)
        self._opaque[id(outputs)] = made

    def _branch(
        self,
        node: Node,
        inputs: Sequence[Tensor | None],
        scope: Scope,
        equal: Equal | None,
    ) -> list[Tensor] | None:
        """Return the outputs of an If; None if its branch is not known."""
        condition = inputs[0]
        if condition is None or condition.rank:
            return None
        taken = self.world.decide(condition.at(()))
        if taken is None:
            return None
        name = "then_branch" if taken else "else_branch"
        graph: onnx.GraphProto = node.get(name)
        data = {i.name: self.constant(contents(i)) for i in graph.initializer}
        inner = Scope({**scope, **data}, {*scope.stored, *data})
        for proto in graph.node:
            self.run(node_of(proto, node.versions), inner, equal)
        outputs = [inner[o.name] for o in graph.output]
        self._branches[id(outputs)] = (name, graph, inner)
        return outputs

    def _unknown(self, node: Node, inputs: Sequence[Tensor | None]) -> list[Tensor]:
        mark = len(self.opaque)
        types = inferred(node, inputs)
        outputs = []
        for k, name in enumerate(node.outputs):
            dtype, dims = types.get(name, ("unknown", None))
            with suppress(*INVALID):  # a node with wrong inputs raises these errors
                slid = computed_dims(node, inputs, self.world)
                dims = dims if slid is None else list(slid)
            low, high = range_of(dtype)
            along = pointing(node, k, inputs)
            if along is not None:
                dtype, low, high = "int64", 0, most(along)

            def define(
                at: Coordinates, k: int = k, dtype: str = dtype, low: int = low, high: int = high
            ) -> Term:
                return apply((MARKED[0], mark, k), at, sort_of(dtype), low, high)

            known: tuple[Term, ...] | None = None
            if dims is not None:
                known = tuple(
                    d or apply((MARKED[1], mark, k, axis), (), "integer", 0, LARGEST_SIZE)
                    for axis, d in enumerate(dims)
                )
            outputs.append(Tensor(dtype, known, define))
            if along is not None and known is not None:
                self.world.hold(outputs[-1], positions(node, outputs[-1], along))
        return outputs


def _trains(node: Node, scope: Scope) -> bool:
    mode = scope[node.inputs[2]]
    return mode.at(tuple(ZERO for _ in mode.shape)) is not FALSE


def _stored(node: Node, scope: Scope) -> tuple[bool, ...]:
    """Return for each value that a node reads whether it is a constant of the model."""
    return tuple([name in scope.stored for name in (*node.inputs, *node.captured)])
