"""Checks the dims that models state and that a runtime infers, and adds the user's facts.

A dim that a model states is not believed: it must follow from the inputs. ONNX Runtime folds a
Shape by a stated number, and reuses the memory of a value for another value if their dims have the
same names. So a wrong dim changes the results of a model, or lets the model fail.

The dims that ONNX Runtime infers of the second model's values must follow from the inputs, too,
because ONNX Runtime reuses memory by them. ONNX Runtime is asked for these dims, since its
inference is not always right: for example, it takes a Cast of sizes to bool for one that keeps the
sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx

from onnx_scatterx.proof.assumed import INFERRED
from onnx_scatterx.proof.building import MARKED, Builder, Scope, SizeKey, shown
from onnx_scatterx.proof.core.arithmetic import ZERO, integer, modulo
from onnx_scatterx.proof.core.functions import subgraphs_of
from onnx_scatterx.proof.core.logic import (
    COMPARISONS,
    FALSE,
    TRUE,
    at_most,
    both,
    equal,
)
from onnx_scatterx.proof.core.reading import Declared, Graph, declared
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, UnsupportedError, walk
from onnx_scatterx.proof.core.types import sort_of
from onnx_scatterx.proof.core.world import World


def fixed_by(
    first: Sequence[Declared], second: Sequence[Declared], builder: Builder
) -> dict[SizeKey, int]:
    """Return the sizes that are numbers in the second model, and not in the first.

    Raises UnsupportedError if the models take different inputs.
    """
    others = {i.name: i for i in second}
    if sorted(others) != sorted(i.name for i in first):
        raise UnsupportedError("the models declare different inputs")
    fixed: dict[SizeKey, int] = {}
    for one in first:
        other = others[one.name]
        if one.dtype != other.dtype:
            raise UnsupportedError(f"the models declare different types for {one.name!r}")
        if other.dims is None:
            continue
        if one.dims is None or len(one.dims) != len(other.dims):
            raise UnsupportedError(f"the models declare different ranks for {one.name!r}")
        for axis, (mine, theirs) in enumerate(zip(one.dims, other.dims, strict=True)):
            if not isinstance(theirs, int) or mine == theirs:
                continue
            if isinstance(mine, int):
                raise UnsupportedError(f"the models declare different sizes for {one.name!r}")
            if fixed.setdefault(builder.key(mine, one.name, axis), theirs) != theirs:
                raise UnsupportedError(f"the second model declares {mine!r} as two numbers")
    return fixed


def wrong_dim(graph: Graph, scope: Scope, world: World, first: Graph | None = None) -> str | None:
    """Return the first dim that a model states and that does not provably follow from its inputs.

    If ``first`` is given, ``graph`` is the second model. Then all dims of one name must be of the
    same size, too.
    """
    which = "first" if first is None else "second"
    known: dict[str, Term] = {}
    last = unread(graph, first)
    for one, tensor in _stated((*graph.inputs, *graph.declared), scope):
        for doubt, _ in doubts(one, tensor, known, world, first is None or one.name in last):
            return f"the {which} model states of {one.name!r} {doubt}"
    return None


def _stated(values: Iterable[Declared], scope: Scope) -> Iterator[tuple[Declared, Tensor]]:
    yield from ((one, scope[one.name]) for one in values if one.name in scope)
    for _, graph, inner in scope.bodies.values():
        yield from _stated(map(declared, (*graph.value_info, *graph.output)), inner)


def unread(graph: Graph, first: Graph | None) -> set[str]:
    """Return the outputs that no node reads and that both models declare.

    The names of their dims need not be right: ONNX Runtime never reuses the memory of an output.
    """
    read = {name for node in graph.nodes for name in (*node.inputs, *node.captured)}
    alike = set(graph.declared) & set(first.declared if first else ())
    return {one.name for one in alike} & set(graph.outputs) - read


def doubts(
    one: Declared, tensor: Tensor, known: dict[str, Term], world: World, unnamed: bool
) -> Iterator[tuple[str, Term]]:
    """Yield descriptions of the stated rank and dims of a value that were not proven.

    Each comes with the condition that is to be proven, or FALSE if it cannot hold. ``known`` has
    the first size of each name of a dim. If ``unnamed``, names of dims are ignored.
    """
    if one.dims is None:
        return
    if tensor.dims is None or len(tensor.dims) != len(one.dims):
        # ONNX Runtime's default options also fold by a rank.
        if not unnamed or any(isinstance(d, int) for d in one.dims):
            yield "a rank that was not proven", TRUE if tensor.dims is None else FALSE
        return
    for axis, (dim, d) in enumerate(zip(one.dims, tensor.dims, strict=True)):
        expected: Term | None = None
        if isinstance(dim, int):
            expected = integer(dim)
        elif dim and not unnamed:
            expected = known.setdefault(dim, d)
        if expected is not None and not world.same(expected, d):
            what = f"that axis {axis} has size {dim}, which was not proven"
            yield what, equal(expected, d)


Plan = Mapping[str, Any]
"""The plan of a graph: "dims" has the dims by the names of values, and "inner" the subgraphs: the
first output of the node, the name of the attribute, and the plan of the subgraph."""

Planner = Callable[[bytes], "tuple[str, Plan] | None"]
"""Returns the name and version of a runtime, and its plan of a serialized model; None if the
runtime does not load the model."""

NOT_ASKED = "a runtime infers no wrong dims (this was not checked)"


def wrong_plan(
    other: Graph, second: Scope, builder: Builder, one: Graph, planner: Planner | None
) -> str | None:
    """Return the first dim that a runtime infers and that does not provably follow from the inputs.

    If a node is not modelled, the inferred dims of its outputs are assumed to be right, unless the
    facts contradict them. Only the proof of a dim that depends on such a node may use this
    assumption: it may be false for some inputs, and other dims must be right for all inputs.
    """
    world = builder.world
    answer = planner and planner(other.skeleton.SerializeToString(deterministic=True))
    if not answer:
        world.assume(NOT_ASKED)
        return None
    runtime, plan = answer
    world.assume(f"{INFERRED} {runtime}")
    known: dict[str, Term] = {}
    named = {id(t): o.node.op for o in builder.opaque for t in o.outputs}
    last = unread(other, one)
    inputs = ((i, second[i.name]) for i in other.inputs)
    claims: list[tuple[str, Term, str | None]] = []
    for value, tensor in (*inputs, *_inferred(other.skeleton.graph.node, None, plan, second)):
        if tensor is None:
            world.assume(f"{runtime} infers no wrong dims within {value.name}")
            continue
        for doubt, condition in doubts(value, tensor, known, world, value.name in last):
            text, op = f"{runtime} infers of {value.name!r} {doubt}", named.get(id(tensor))
            if op is None and not _names_unknown(condition):  # must follow without assumptions
                return text
            claims.append((text, condition, op))
    for text, condition, op in claims:
        if op is not None:
            if world.decide(condition) is False:
                return text
            world.assume(f"{op} gives the dims that {runtime} infers")
            world.learn(condition)
    return next((text for text, c, op in claims if op is None and not world.known(c)), None)


def _names_unknown(condition: Term) -> bool:
    """Return whether a condition names a size or an element of a node that is not modelled."""
    return any(t.op == "apply" and t.data[0][0] in MARKED for t in walk([condition]))


def _inferred(
    nodes: Iterable[onnx.NodeProto],
    twins: Iterable[onnx.NodeProto] | None,
    plan: Plan,
    scope: Scope,
) -> Iterator[tuple[Declared, Tensor | None]]:
    """Yield the inferred dims of the outputs of nodes, with the tensors of these outputs.

    The scope has the outputs of ``twins``, which are the same nodes with other names. For a
    subgraph that was not built, the operator of its node is yielded without a tensor.
    """
    inner = {(output, attribute): body_plan for output, attribute, body_plan in plan["inner"]}
    for node, twin in zip(nodes, twins or nodes, strict=True):
        for name, own in zip(node.output, twin.output, strict=True):
            dims = plan["dims"].get(name)
            if dims is not None and own in scope:
                yield Declared(name, "", tuple(dims)), scope[own]
        if not subgraphs_of(node):
            continue
        first, own = (next(filter(None, n.output), "") for n in (node, twin))
        attribute, body, within = scope.bodies.get(own, ("", onnx.GraphProto(), scope))
        body_plan = inner.get((first, attribute))
        if body_plan is None:
            yield Declared(node.op_type, "", None), None
            continue
        mine = next(a.g for a in node.attribute if a.name == attribute)
        yield from _inferred(mine.node, body.node, body_plan, within)


@dataclass(frozen=True)
class InputClause:
    """A property of a size, or of every element of an integer input.

    The property is ``value sign bound``, or ``value % modulus sign bound`` if the modulus is not 0.
    The bound is a number or the name of a size. The sign ``contiguous`` says that, along the last
    axis, each element is the previous element plus 1. ``name`` is the name of the input or size, or
    the key of a size.
    """

    name: SizeKey
    sign: str
    bound: int | str = 0
    modulus: int = 0

    def __str__(self) -> str:
        if self.sign == "contiguous":
            return f"{shown(self.name)}: contiguous"
        rest = f" % {self.modulus}" if self.modulus else ""
        return f"{shown(self.name)}{rest} {self.sign} {self.bound}"


def take(
    clauses: Iterable[InputClause],
    sizes: Mapping[SizeKey, Term],
    stated: Iterable[Declared],
    inputs: Mapping[str, Tensor],
    world: World,
) -> None:
    """Add the clauses to the facts; clauses about absent names are ignored.

    ``x[0]`` is the first dim of x only if this dim has no name. If a size and an input have the
    same name, the clause is about the size, unless its sign is ``contiguous``.
    """
    unnamed = [(i.name, axis) for i in stated for axis, d in enumerate(i.dims or ()) if d is None]
    called = {shown(key): sizes[key] for key in unnamed}
    called |= {key: size for key, size in sizes.items() if isinstance(key, str)}
    for one in clauses:
        bound = called.get(one.bound) if isinstance(one.bound, str) else integer(one.bound)
        if bound is None:
            continue
        if isinstance(one.name, str):
            size, tensor = called.get(one.name), inputs.get(one.name)
        else:
            size, tensor = sizes.get(one.name), None
        if size is not None and one.sign != "contiguous":
            world.solver.assume(_condition(one, size, bound))
            world.promised[str(one)] = None
        elif tensor is not None and sort_of(tensor.dtype) == "integer" and tensor.dims is not None:
            world.hold(tensor, _fact_of(one, tensor, bound))
            world.promised[str(one)] = None


def _condition(clause: InputClause, value: Term, bound: Term) -> Term:
    if clause.modulus:
        value = modulo(value, integer(clause.modulus))
    return COMPARISONS[clause.sign](value, bound)


def _fact_of(
    clause: InputClause, tensor: Tensor, bound: Term
) -> Callable[[Coordinates, Term], Term]:
    def fact(at: Coordinates, element: Term) -> Term:
        if clause.sign != "contiguous":
            return _condition(clause, element, bound)
        if not at or at[-1] is ZERO:
            return TRUE
        first = tensor.at((*at[:-1], ZERO))
        # The first and the last element lie within the limits of the type.
        last = first + (tensor.shape[-1] - 1)
        return both(equal(element, first + at[-1]), at_most(last, integer(element.high)))

    return fact
