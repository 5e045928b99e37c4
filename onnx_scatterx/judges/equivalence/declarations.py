"""What models state of their sizes, and what the user knows of the inputs.

What a model states is not believed: it must follow from the inputs.
ONNX Runtime folds a Shape by a dim that a model states as a number, and reuses memory of values
whose dims have one name. So a wrong dim changes what a model computes, or lets it fail. What the
user states is a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from onnx_scatterx.judges.equivalence.building import Builder, Scope, SizeKey, shown
from onnx_scatterx.judges.equivalence.core.arithmetic import ZERO, integer, modulo
from onnx_scatterx.judges.equivalence.core.logic import TRUE, at_most, below, both, equal, negation
from onnx_scatterx.judges.equivalence.core.reading import Declared, Graph
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


def wrong_dim(
    graph: Graph,
    scope: Scope,
    branches: Iterable[tuple[Declared, Tensor]],
    world: World,
    others: Iterable[Declared] | None = None,
) -> str | None:
    """Return the first dim that a model states and that was not proven to follow from its inputs.

    ``others`` is what the first model states, if the model is the second one. Then dims of one name
    must be one size, too; the inputs give it first. Names do not count on an output that no node
    reads and that is also among the ``others``: ONNX Runtime never gives the memory of such an
    output to another value.
    """
    which = "first" if others is None else "second"
    known: dict[str, Term] = {}
    read = {name for node in graph.nodes for name in (*node.inputs, *node.captured)}
    last = {o.name for o in set(others or ()) & set(graph.declared)} & set(graph.outputs) - read
    stated = [(s, scope[s.name]) for s in (*graph.inputs, *graph.declared) if s.name in scope]
    for one, tensor in (*stated, *branches):
        if one.dims is None:
            continue
        what = f"the {which} model states of {one.name!r}"
        if tensor.dims is None or len(tensor.dims) != len(one.dims):
            # ONNX Runtime's default options also fold by a rank.
            if any(isinstance(d, int) for d in one.dims) or (
                others is not None and one.name not in last
            ):
                return f"{what} a rank that was not proven"
            continue
        for axis, (dim, d) in enumerate(zip(one.dims, tensor.dims, strict=True)):
            expected: Term | None = None
            if isinstance(dim, int):
                expected = integer(dim)
            elif dim and others is not None and one.name not in last:
                expected = known.setdefault(dim, d)
            if expected is not None and not world.same(expected, d):
                return f"{what} that axis {axis} has size {dim}, which was not proven"
    return None


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
