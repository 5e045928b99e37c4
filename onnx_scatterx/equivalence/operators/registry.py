"""The table of operators, and how they read their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx_scatterx.equivalence.core.arithmetic import ONE, ZERO, number
from onnx_scatterx.equivalence.core.logic import equal
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.world import World

Inputs = Sequence[Tensor | None]
Operator = Callable[[Node, Inputs, World], list[Tensor]]

OPERATORS: dict[str, Operator] = {}


def operator(*names: str) -> Callable[[Operator], Operator]:
    """Register a function under the names of its operators."""

    def enter(function: Operator) -> Operator:
        for name in names:
            OPERATORS[name] = function
        return function

    return enter


def given(inputs: Inputs, position: int) -> Tensor | None:
    """Return an input, None if it is absent."""
    return inputs[position] if position < len(inputs) else None


def needed(inputs: Inputs, position: int) -> Tensor:
    """Return a required input."""
    found = given(inputs, position)
    if found is None:
        raise UnsupportedError("an input is missing")
    return found


def scalar(tensor: Tensor, world: World, what: str) -> Term:
    """Return the element of a tensor that must have one only."""
    if tensor.rank > 1:
        raise UnsupportedError(f"{what}, which has rank {tensor.rank}")
    for d in tensor.shape:
        world.need(equal(d, ONE), what)
    return tensor.at(tuple(ZERO for _ in tensor.shape))


def numbers(tensor: Tensor, what: str) -> list[int]:
    """Return the elements of a vector, or the element of a scalar, that must be known."""
    found = [number(t) for t in ([tensor.at(())] if tensor.rank == 0 else tensor.elements())]
    if any(n is None for n in found):
        raise UnsupportedError(f"{what} that are not constant")
    return [n for n in found if n is not None]


def axes_of(node: Node, inputs: Inputs, position: int) -> list[int] | None:
    """Return axes, which are an attribute or, in newer operator sets, an input."""
    if "axes" in node.attributes:
        return [int(a) for a in node.get("axes")]
    tensor = given(inputs, position)
    return None if tensor is None else numbers(tensor, "axes")


def positive(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    if not -rank <= axis < rank:
        raise UnsupportedError(f"axis {axis} of a tensor of rank {rank}")
    return axis % rank
