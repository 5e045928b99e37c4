"""What models state of their sizes, and what the user knows of the inputs.

What a model states is not believed: it must follow from the inputs.
ONNX Runtime folds a Shape by a dim that a model states as a number, and reuses memory of values
whose dims have one name. So a wrong dim changes what a model computes, or lets it fail. What the
user states is a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from onnx_scatterx.judges.equivalence.building import Builder, Scope, SizeKey, shown
from onnx_scatterx.judges.equivalence.core.arithmetic import ZERO, integer, modulo
from onnx_scatterx.judges.equivalence.core.logic import (
    FALSE,
    TRUE,
    at_most,
    below,
    both,
    equal,
    negation,
)
from onnx_scatterx.judges.equivalence.core.reading import Declared, Graph, declared
from onnx_scatterx.judges.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.judges.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.judges.equivalence.core.types import sort_of
from onnx_scatterx.judges.equivalence.core.world import World


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
    """Return the first dim that a model states and that was not proven to follow from its inputs.

    If there is a ``first`` model, this is the second one. Then dims of one name must be one size,
    too; the inputs give it first.
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
    """Return the outputs that no node reads, and of which both models state the same.

    Names of their dims do not count: ONNX Runtime never gives their memory to another value.
    """
    read = {name for node in graph.nodes for name in (*node.inputs, *node.captured)}
    alike = set(graph.declared) & set(first.declared if first else ())
    return {one.name for one in alike} & set(graph.outputs) - read


def doubts(
    one: Declared, tensor: Tensor, known: dict[str, Term], world: World, unnamed: bool
) -> Iterator[tuple[str, Term]]:
    """Yield what is stated of a value's rank and dims, and was not proven, with what it says.

    The condition is FALSE if it cannot hold.
    ``known`` are the sizes of the names so far; if a value is ``unnamed``, names do not count.
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


_SIGNS: dict[str, Callable[[Term, Term], Term]] = {
    "<=": at_most,
    "<": below,
    ">=": lambda a, b: at_most(b, a),
    ">": lambda a, b: below(b, a),
    "==": equal,
    "!=": lambda a, b: negation(equal(a, b)),
}


@dataclass(frozen=True)
class InputClause:
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
    given: Iterable[InputClause],
    sizes: Mapping[SizeKey, Term],
    inputs: Mapping[str, Tensor],
    world: World,
) -> None:
    """Add the givens to the facts; givens about absent names are ignored.

    If a name is that of a size and of an input, only the size is known. Only elements are
    contiguous.
    """
    by_text = {shown(key): size for key, size in sizes.items()}
    by_text |= {key: size for key, size in sizes.items() if isinstance(key, str)}
    for one in given:
        bound = by_text.get(one.bound) if isinstance(one.bound, str) else integer(one.bound)
        if bound is None:
            continue
        size, tensor = by_text.get(one.name), inputs.get(one.name)
        if size is not None and one.sign != "contiguous":
            world.solver.assume(_condition(one, size, bound))
            world.promised[str(one)] = None
        elif tensor is not None and sort_of(tensor.dtype) == "integer" and tensor.dims is not None:
            world.hold(tensor, _fact_of(one, tensor, bound))
            world.promised[str(one)] = None


def _condition(given: InputClause, value: Term, bound: Term) -> Term:
    if given.modulus:
        value = modulo(value, integer(given.modulus))
    return _SIGNS[given.sign](value, bound)


def _fact_of(
    given: InputClause, tensor: Tensor, bound: Term
) -> Callable[[Coordinates, Term], Term]:
    def fact(at: Coordinates, element: Term) -> Term:
        if given.sign != "contiguous":
            return _condition(given, element, bound)
        if not at or at[-1] is ZERO:
            return TRUE
        first = tensor.at((*at[:-1], ZERO))
        # The numbers end at the type's limits.
        last = first + (tensor.shape[-1] - 1)
        return both(equal(element, first + at[-1]), at_most(last, integer(element.high)))

    return fact
