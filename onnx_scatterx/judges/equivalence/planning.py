"""The dims that ONNX Runtime infers of the second model's values must follow from the inputs.

It gives the memory of one value to another by them. If they are wrong, the model fails, or gives
other elements. What it infers is asked, not followed: for instance, it takes a Cast of sizes to
bool for one that keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import onnx

from onnx_scatterx.judges.equivalence.building import MARKED, Builder, Scope
from onnx_scatterx.judges.equivalence.core.functions import subgraphs_of
from onnx_scatterx.judges.equivalence.core.reading import Declared, Graph
from onnx_scatterx.judges.equivalence.core.tensor import Tensor
from onnx_scatterx.judges.equivalence.core.terms import Term, walk
from onnx_scatterx.judges.equivalence.declarations import doubts, unread

Plan = Mapping[str, Any]
"""Dims by the names of values ("dims"), and plans of subgraphs ("inner"), each after the first
output of its node and the name of its attribute."""

Planner = Callable[[bytes], "tuple[str, Plan] | None"]
"""Returns the runtime's name with its version, and its plan of a serialized model; None if it does
not load it."""

NOT_ASKED = "a runtime infers no wrong dims (none was asked)"


def wrong_plan(
    other: Graph, second: Scope, builder: Builder, one: Graph, planner: Planner | None
) -> str | None:
    """Return the first dim that a runtime infers and that was not proven to follow from the inputs.

    If a node is not modelled, its dims are assumed to be those that the runtime infers, unless the
    facts say that they are not. Only what depends on them may rest on that: an assumption may be
    false for some inputs, and other dims must follow for all.
    """
    world = builder.world
    answer = planner and planner(other.skeleton.SerializeToString(deterministic=True))
    if not answer:
        world.assume(NOT_ASKED)
        return None
    runtime, plan = answer
    world.assume(f"dims are inferred as by {runtime}")
    known: dict[str, Term] = {}
    named = {id(t): o.node.op for o in builder.opaque for t in o.outputs}
    last = unread(other, one)
    inputs = ((i, second[i.name]) for i in other.inputs)
    found: list[tuple[str, Term, str | None]] = []
    for value, tensor in (*inputs, *_inferred(other.skeleton.graph.node, None, plan, second)):
        if tensor is None:
            world.assume(f"{runtime} infers no wrong dims within {value.name}")
            continue
        for doubt, condition in doubts(value, tensor, known, world, value.name in last):
            text, op = f"{runtime} infers of {value.name!r} {doubt}", named.get(id(tensor))
            if op is None and not _names_unknown(condition):  # no assumption may prove it
                return text
            found.append((text, condition, op))
    for text, condition, op in found:
        if op is not None:
            if world.decide(condition) is False:
                return text
            world.assume(f"{op} gives the dims that {runtime} infers")
            world.learn(condition)
    return next((text for text, c, op in found if op is None and not world.known(c)), None)


def _names_unknown(condition: Term) -> bool:
    """Return whether a condition speaks of a size or an element of a node that is not modelled."""
    return any(t.op == "apply" and t.data[0][0] in MARKED for t in walk([condition]))


def _inferred(
    nodes: Iterable[onnx.NodeProto],
    twins: Iterable[onnx.NodeProto] | None,
    plan: Plan,
    scope: Scope,
) -> Iterator[tuple[Declared, Tensor | None]]:
    """Yield what is inferred of the outputs of nodes, with their tensors.

    The scope has the outputs of ``twins``, which are the same nodes with other names. A node with
    subgraphs that were not followed comes by its operator, without a tensor.
    """
    inner = {(output, attribute): found for output, attribute, found in plan["inner"]}
    for node, twin in zip(nodes, twins or nodes, strict=True):
        for name, own in zip(node.output, twin.output, strict=True):
            dims = plan["dims"].get(name)
            if dims is not None and own in scope:
                yield Declared(name, "", tuple(dims)), scope[own]
        if not subgraphs_of(node):
            continue
        first, own = (next(filter(None, n.output), "") for n in (node, twin))
        attribute, body, within = scope.bodies.get(own, ("", onnx.GraphProto(), scope))
        found = inner.get((first, attribute))
        if found is None:
            yield Declared(node.op_type, "", None), None
            continue
        mine = next(a.g for a in node.attribute if a.name == attribute)
        yield from _inferred(mine.node, body.node, found, within)
