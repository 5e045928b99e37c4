"""Broadcasting of shapes whose sizes may be symbolic, as NumPy and ONNX define it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnx_scatterx.engine.analysis.domain.tensor import Shape
from onnx_scatterx.engine.terms import Facts, Number, Term, coord, equals, minimum, step, term


def broadcast_dims(dims: Iterable[Term]) -> Term:
    """Return the extent of dims that are broadcast against each other.

    A dim that is 1 is stretched. Dims that are not 1 are equal, or the original does not run.
    """
    result = term(1)
    for dim in dims:
        if dim is result or dim.constant == 1:
            continue
        if dim.constant is None and result.constant is None:
            shorter = _shorter(dim, result) or _shorter(result, dim)
            if shorter is not None:
                result = shorter
                continue
        if result.constant == 1 or (dim.constant is not None and result.constant is None):
            result = dim
        elif result.constant is None and result.interval()[0] < 2:
            result = result + equals(result, 1) * (dim - result)
    return result


def _shorter(flag: Term, dim: Term) -> Term | None:
    """Return the extent of a dim broadcast against one that is 0 or 1; 0 if that is 0.

    ``n`` and ``n * [m >= 1]`` are ``n * [m >= 1]``, and so are ``n`` and ``[m >= 1]``.
    """
    for atom in flag.atoms:
        (part, *_) = atom.parts or (term(0),)
        if flag is minimum(part + 1, 1) and part.interval()[0] >= -1:
            flag = step(part)
    if flag.interval()[1] <= 1:
        return flag * dim
    flags = (term(a) for a in flag.atoms)
    narrow = (f for f in flags if f.interval()[1] <= 1 and f.interval()[0] >= 0)
    return flag if any(dim * f is flag for f in narrow) else None


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """Return the shape that tensors have after broadcasting (NumPy's and ONNX's rule)."""
    rank = max(map(len, shapes), default=0)
    padded = [(term(1),) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(broadcast_dims(dims) for dims in zip(*padded, strict=True))


def broadcast_coords(shape: Shape, result: Shape, facts: Facts) -> dict[int, Number]:
    """Return the place in a tensor of ``shape`` that an element of the broadcast result reads."""
    lead = len(result) - len(shape)
    coords: dict[int, Number] = {}
    for d, (extent, target) in enumerate(zip(shape, result[lead:], strict=True)):
        x = coord(d + lead)
        if extent.constant == 1:
            coords[d] = 0
        elif (
            extent.interval()[0] >= 2
            or facts.equal(extent, target)
            or facts.is_nonnegative(extent - target)
        ):
            coords[d] = x
        else:
            coords[d] = x - equals(extent, 1) * x
    return coords
