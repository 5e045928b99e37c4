"""Transfer functions of Reshape and Flatten: their shapes, and positions in other digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from onnx_scatterx.engine.analysis.domain.call import Call, Result, required
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.analysis.operators.movement import moved
from onnx_scatterx.engine.terms import Atom, Facts, Number, Symbol, Term, coord, equals, term, where


def target_shape(shape: Shape, target: list[Term], call: Call) -> Shape:
    """Return the shape that a Reshape gives a tensor of one shape, from the numbers of its input.

    A size that is not known is a fresh symbol.
    """
    as_written = bool(call.integer("allowzero", 0))
    if not as_written:
        copies = zip(target, shape, strict=False)
        target[: len(shape)] = [_copied(t, n, call.facts) for t, n in copies]
    if all(t.constant != -1 for t in target):
        # A number that may be -1 stands for any size.
        sizes = enumerate(target)
        return tuple(t if call.facts.is_nonnegative(t) else call.unknown_size(d) for d, t in sizes)
    (open_axis,) = (i for i, t in enumerate(target) if t.constant == -1)
    others = target[:open_axis] + target[open_axis + 1 :]
    # If a 0 does not copy, a zero product is not accepted beside a -1.
    infer = _beside_zeros if as_written else _quotient
    inferred = infer(shape, others, call.facts)
    target[open_axis] = call.unknown_size(open_axis) if inferred is None else inferred
    return tuple(target)


def sizes_at_stake(call: Call) -> Iterator[Term]:
    """Yield the sizes at which a Reshape gives another shape if they are 0."""
    shape, target = call.known(0).dims, call.vector(1)
    if not call.integer("allowzero", 0):
        yield from (t for t, n in zip(target, shape, strict=False) if may_copy(t, n, call.facts))
        return
    others = [t for t in target if t.constant != -1]
    if len(others) == len(target):
        return
    if _beside_zeros(shape, others, call.facts) is not _quotient(shape, others):
        doubted = (t for t in others if not call.facts.is_nonnegative(t - 1))
        yield from (term(leaf) for t in doubted for leaf in t.leaves())


def _quotient(sizes: Iterable[Term], others: Iterable[Term], _: Facts | None = None) -> Term:
    return math.prod(sizes, start=term(1)) // math.prod(others, start=term(1))


def _beside_zeros(sizes: Shape, others: Sequence[Term], facts: Facts) -> Term | None:
    """Return the size that a -1 stands for if zeros do not copy; None if it is not known.

    ONNX Runtime ignores the zeros of both shapes if one is requested::

        prod(sizes) / prod(others)               no other is 0
        prod'(sizes) / prod'(others)             one is; prod' is the product of what is not 0

    A size that both shapes have cancels in either.

    >>> from onnx_scatterx.engine.terms import size
    >>> n, m = size("n"), size("m")
    >>> _beside_zeros((n, m, term(4)), (n, m), Facts())
    4
    >>> _beside_zeros((n, term(2), term(4)), (2 * n,), Facts())
    -4*[n - 1 >= 0] + 8
    """
    rest, asked = list(sizes), []
    for t in others:
        if t in rest:
            rest.remove(t)
        else:
            asked.append(t)
    plain = _quotient(rest, asked)
    may_be_0 = [t for t in others if not facts.is_nonnegative(t - 1)]
    if not may_be_0:
        return plain
    open_ = [t for t in asked if t in may_be_0]
    if not open_:
        full = _quotient((_or_one(n, facts) for n in rest), asked)
        none_is_0 = math.prod((1 - equals(t, 0) for t in may_be_0), start=term(1))
        return where(none_is_0, plain, full)
    leaf = _alone(open_[0])
    if len(open_) > 1 or leaf is None:
        return None
    at_0: dict[Atom, Number] = {leaf: 0}
    filled = facts.assuming(term(leaf) - 1)
    sizes_at_0 = [n for n in (n.replace(at_0) for n in rest) if n.constant != 0]
    asked_at_0 = [t.replace(at_0) for t in asked if t is not open_[0]]
    known = all(filled.is_nonnegative(n - 1) for n in rest)
    if not (known and all(facts.is_nonnegative(n - 1) for n in (*sizes_at_0, *asked_at_0))):
        return None
    return where(equals(term(leaf), 0), _quotient(sizes_at_0, asked_at_0), plain)


def _or_one(size: Term, facts: Facts) -> Term:
    """Return a size, or 1 if it is 0."""
    return size if facts.is_nonnegative(size - 1) else size + equals(size, 0)


def _alone(size: Term) -> Symbol | None:
    """Return the leaf that a size is a multiple of."""
    leaf, factor = size.multiple
    return leaf if factor > 0 and isinstance(leaf, Symbol) else None


def _copied(target: Term, extent: Term, facts: Facts) -> Term:
    """``0`` in a Reshape's shape copies the input's dim."""
    if target.constant == 0:
        return extent
    return where(equals(target, 0), extent, target) if may_copy(target, extent, facts) else target


def may_copy(target: Term, extent: Term, facts: Facts) -> bool:
    """Return whether a number of a Reshape's shape may be 0 if the dim that it copies is not."""
    if target is extent or target.constant is not None or target.interval()[0] > 0:
        return False
    if extent.constant is None and (_multiple(target, extent) or _divides(target, extent)):
        return False  # 0 only if the copied dim is 0 too
    return not facts.is_nonnegative(target - 1)


def _multiple(target: Term, extent: Term) -> bool:
    if not extent.items:
        return False
    monomial, c = extent.items[-1]
    times = dict(target.items).get(monomial, 0) // c
    return times > 0 and target is times * extent


def _divides(target: Term, extent: Term) -> bool:
    return target * (extent // target) is extent


def reshape(call: Call) -> Result:
    x, sizes = call.known(0), call.present(1)
    target = sizes.vector()
    if target is None:
        return [TensorValue(x.dtype, call.unknown_shape(required(sizes.static_shape)[0]))]
    return reshaped(x, target_shape(x.dims, target, call))


def flatten(call: Call) -> Result:
    x = call.known(0)
    axis = call.integer("axis", 1)
    axis += len(x.dims) if axis < 0 else 0
    rows = math.prod(x.dims[:axis], start=term(1))
    columns = math.prod(x.dims[axis:], start=term(1))
    return reshaped(x, (rows, columns))


def reshaped(x: TensorValue, shape: Shape) -> list[TensorValue]:
    """Return a tensor with its elements, in row-major order, in another shape."""

    def array(a: np.ndarray) -> np.ndarray | None:
        dims = [d.constant for d in shape]
        if any(d is None for d in dims) or math.prod(d or 0 for d in dims) != a.size:
            return None
        return a.reshape([d for d in dims if d is not None])

    if not isinstance(x.content, np.ndarray) and (x.index_map is None or not x.index_map.coords):
        return moved(x, shape, {}, array)
    coords: dict[int, Number] = {}
    for old, new in axis_groups(x.dims, shape) or [(range(len(x.dims)), range(len(shape)))]:
        flat = term(0)
        for d in new:
            flat = flat * shape[d] + (coord(d) if shape[d].constant != 1 else 0)
        if len(old) == len(new) == 1:
            coords[old[0]] = flat if x.dims[old[0]].constant != 1 else 0
            continue
        facts = Facts({d: shape[d] for d in new})
        live = [d for d in old if x.dims[d].constant != 1]
        coords.update({d: 0 for d in old if x.dims[d].constant == 1})
        for position, d in enumerate(live):
            stride = math.prod((x.dims[e] for e in live[position + 1 :]), start=term(1))
            extent = x.dims[d] if position else None  # the first needs no modulus
            coords[d] = _digit(flat, stride, extent, facts)
    return moved(x, shape, coords, array)


def _digit(flat: Term, stride: Term, extent: Term | None, facts: Facts) -> Term:
    """Return ``(flat // stride) % extent``, as simply as the facts allow."""
    quotient, rest = flat.divided(stride)
    if not (facts.is_nonnegative(rest) and facts.is_nonnegative(stride - 1 - rest)):
        quotient = flat // stride
    if extent is None:
        return quotient
    kept = term(0)
    for monomial, c in quotient.items:
        item = Term.of({monomial: c})
        if (item % extent).constant != 0:
            kept = kept + item
    if facts.is_nonnegative(kept) and facts.is_nonnegative(extent - 1 - kept):
        return kept
    return quotient % extent


def axis_groups(old: Shape, new: Shape) -> list[tuple[range, range]] | None:
    """Return the groups of dims that a Reshape splits or merges, or None if they are not known.

    >>> n = term(5)
    >>> axis_groups((n, term(6)), (n, term(2), term(3)))
    [(range(0, 1), range(0, 1)), (range(1, 2), range(1, 3))]
    """
    groups: list[tuple[range, range]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        start_i, start_j = i, j
        a, b = term(1), term(1)
        if i < len(old):
            a, i = old[i], i + 1
        if j < len(new):
            b, j = new[j], j + 1
        while a is not b:
            numbers = (a.constant, b.constant)
            grow_old = (
                numbers[0] < numbers[1]
                if numbers[0] is not None and numbers[1] is not None
                else len(a.items[-1][0] if a.items else ()) < len(b.items[-1][0] if b.items else ())
                or (numbers[0] is not None and numbers[1] is None)
                or j == len(new)
            )
            if grow_old and i < len(old):
                a, i = a * old[i], i + 1
            elif j < len(new):
                b, j = b * new[j], j + 1
            elif i < len(old):
                a, i = a * old[i], i + 1
            else:
                return None
        groups.append((range(start_i, i), range(start_j, j)))
    return groups
