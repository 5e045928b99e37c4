"""What models state of their sizes. It is no fact: it must follow from the inputs.

ONNX Runtime folds a Shape by a dim that a model states as a number, and reuses memory of values
whose dims have one name. So a wrong dim changes what a model computes, or lets it fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnx_scatterx.equivalence.building import Builder, Scope, SizeKey
from onnx_scatterx.equivalence.core.arithmetic import integer
from onnx_scatterx.equivalence.core.reading import Declared, Graph
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.world import World


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
    which: str,
    names: bool,
) -> str | None:
    """Return the first dim that a model states and that was not proven to follow from its inputs.

    If ``names`` is true, dims of one name must be one size; the inputs give it first.
    """
    known: dict[str, Term] = {}
    stated = [(s, scope[s.name]) for s in (*graph.inputs, *graph.declared) if s.name in scope]
    for one, tensor in (*stated, *branches):
        if one.dims is None:
            continue
        what = f"the {which} model states of {one.name!r}"
        if tensor.dims is None or len(tensor.dims) != len(one.dims):
            if any(isinstance(d, int) for d in one.dims):
                return f"{what} a rank that was not proven"
            continue
        for axis, (dim, d) in enumerate(zip(one.dims, tensor.dims, strict=True)):
            expected: Term | None = None
            if isinstance(dim, int):
                expected = integer(dim)
            elif dim and names:
                expected = known.setdefault(dim, d)
            if expected is not None and not world.same(expected, d):
                return f"{what} that axis {axis} has size {dim}, which was not proven"
    return None
