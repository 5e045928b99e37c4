"""What a user knows of the inputs, as facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from onnx_scatterx.equivalence.core.arithmetic import ONE, ZERO, add, integer, subtract
from onnx_scatterx.equivalence.core.division import modulo
from onnx_scatterx.equivalence.core.logic import TRUE, at_most, below, both, equal, negation
from onnx_scatterx.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.equivalence.core.terms import Term
from onnx_scatterx.equivalence.core.types import sort_of
from onnx_scatterx.equivalence.core.world import World

_SIGNS: dict[str, Callable[[Term, Term], Term]] = {
    "<=": at_most,
    "<": below,
    ">=": lambda a, b: at_most(b, a),
    ">": lambda a, b: below(b, a),
    "==": equal,
    "!=": lambda a, b: negation(equal(a, b)),
}


SizeKey = str | tuple[str, int]
"""A size: by the name of a dim, or by an input and an axis, which no name of a file is."""


def shown(key: SizeKey) -> str:
    """Return how a size is printed."""
    return key if isinstance(key, str) else f"{key[0]}[{key[1]}]"


@dataclass(frozen=True)
class Given:
    """A property of a size, or of every element of an integer input.

    ``value sign bound``, or ``value % modulus sign bound`` if the modulus is not 0. The bound is a
    number or the name of a size. The sign ``contiguous`` says that along the last axis each
    element is the one before it plus 1.
    """

    name: str
    sign: str
    bound: int | str = 0
    modulus: int = 0

    def __str__(self) -> str:
        if self.sign == "contiguous":
            return f"{self.name}: contiguous"
        rest = f" % {self.modulus}" if self.modulus else ""
        return f"{self.name}{rest} {self.sign} {self.bound}"


def take(
    given: Iterable[Given],
    sizes: Mapping[SizeKey, Term],
    inputs: Mapping[str, Tensor],
    world: World,
) -> None:
    """Add the givens to the facts; givens about absent names are ignored."""
    by_text = {shown(key): size for key, size in sizes.items()}
    by_text |= {key: size for key, size in sizes.items() if isinstance(key, str)}
    for one in given:
        bound = by_text.get(one.bound) if isinstance(one.bound, str) else integer(one.bound)
        if bound is None:
            continue
        size, tensor = by_text.get(one.name), inputs.get(one.name)
        if size is not None:
            world.solver.assume(_condition(one, size, bound))
            world.promised[str(one)] = None
        elif tensor is not None and sort_of(tensor.dtype) == "integer" and tensor.dims is not None:
            world.hold(tensor, _fact_of(one, tensor, bound))
            world.promised[str(one)] = None


def _condition(given: Given, value: Term, bound: Term) -> Term:
    if given.modulus:
        value = modulo(value, integer(given.modulus))
    return _SIGNS[given.sign](value, bound)


def _fact_of(given: Given, tensor: Tensor, bound: Term) -> Callable[[Coordinates, Term], Term]:
    def fact(at: Coordinates, element: Term) -> Term:
        if given.sign != "contiguous":
            return _condition(given, element, bound)
        if not at or at[-1] is ZERO:
            return TRUE
        first = tensor.at((*at[:-1], ZERO))
        # The numbers end at the type's limits.
        last = add(first, subtract(tensor.shape[-1], ONE))
        return both(equal(element, add(first, at[-1])), at_most(last, integer(element.high)))

    return fact
