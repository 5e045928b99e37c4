"""All rows of element-wise operators and products.

    MatMul(x[m], W)         MatMul(x, W)
    x[m] * w[top, idx]      x * w           each operand has the dims of the mask that it needs

Operands are broadcast; one that is the same for all rows stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Refusal,
    Term,
    attempt,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.rows.following import Has
from onnx_scatterx.rewrites.rows.part import (
    Part,
    value_of,
)
from onnx_scatterx.rewrites.rows.whole import Whole

_DIVIDES = ("Div", "Mod")
_ZERO = ("Min", "Max")  # of 0.0 and -0.0 they return either


def broadcast(part: Part) -> Whole:
    """Element by element: operands are broadcast against each other."""
    known = part.context.known
    dtypes = [None if v is None else known(v).dtype for v in part.node.inputs]
    refuse_unless(part.context.computes_alike(part.node, dtypes))
    refuse_unless(_is_alike_alone(part))
    operands = _operands(part)
    wholes = [x for x in operands if isinstance(x, Whole)]
    dims = sorted({r for x in wholes for r in x.dims})
    inputs = [_fit(part, x, dims) for x in operands]
    if part.node.op_type in _DIVIDES and part.dtype.is_integer() and _may_end_the_run(part):
        own = inputs[1] if isinstance(inputs[1], Whole) else value_of(part, part.input(1))
        own = own.of_rank(part.rank - 1 + len(dims), part.axis)
        inputs[1] = part.guarded(replace(own, dims=tuple(dims)), 1)
    return part.node_of(inputs, dims)


def _operands(part: Part) -> list[Whole | ir.Value | None]:
    """Return the operands that are broadcast to a rank: all rows of each, or itself.

    If another operand is read by the mask, one that is not may be read by the running count.
    """
    choice, axis, rank = part.choice, part.axis, part.rank
    found: list[Whole | ir.Value | Refusal | None] = []
    for value in part.node.inputs:
        at = -1 if value is None else axis - rank + len(choice.shape(value))
        if value is None or choice.is_fixed(value, at):
            found.append(value)
            continue
        same = part.facts.equal(choice.shape(value)[at], part.shape[axis])
        has = part.following.has if same else Has.FEWER
        found.append(attempt(partial(part.rows_of, value, at, has)))
    read = any(isinstance(x, Whole) and x.is_read for x in found)
    for i, x in enumerate(found):
        if isinstance(x, Refusal):
            refuse_unless(read and part.rows.counts)
            value = part.input(i)
            at = axis - rank + len(choice.shape(value))
            has = _how_many(part, value, at)
            found[i] = part.rows.counted(value, at, replace(part.following, has=has))
    return [None if isinstance(x, Refusal) else x for x in found]


def _how_many(part: Part, value: ir.Value, axis: int) -> Has:
    """Return how many rows an operand has that has the chosen ones, or one for all.

    If it surely has two or more, the output has as many, and so has what is written.
    """
    size = part.choice.shape_as_is(value)[axis]
    if part.facts.equal(size, part.choice.count(part.following)):
        return Has.ALL
    if not part.facts.is_nonnegative(size - 2):
        return Has.FEWER
    return Has.MORE if part.following.has is Has.MORE else Has.ALL


def _fit(part: Part, x: Whole | ir.Value | None, dims: Sequence[int]) -> Whole | ir.Value | None:
    """Return an operand that is broadcast against tensors with these dims of the mask."""
    if x is None or isinstance(x, Whole):
        return None if x is None else x.with_dims(dims)
    own = part.choice.shape(x)
    axis = part.axis - part.rank + len(own)
    if axis < 0 or len(dims) == 1:
        return x
    order = [*range(axis), *[None] * len(dims), *range(axis + 1, len(own))]
    return value_of(part, x).moved(order, axis)


def _is_alike_alone(part: Part) -> bool:
    """Return whether a node computes the same bits if only one row is chosen.

    ONNX Runtime takes an operand of one element for a scalar. Pow then squares, and Min and Max
    take the zero of the other operand.
    """
    node = part.node
    if node.op_type == "Pow":
        return _is_one(part.input(1), part)
    if node.op_type in _ZERO:
        first = node.inputs[0]
        if len(node.inputs) != 2 or first is None:
            return False
        number = part.context.constants.splat(first)
        return not _is_one(first, part) or (number is not None and bool(abs(number) > 0))
    return True


def _is_one(value: ir.Value, part: Part) -> bool:
    shape = part.context.known(value).static_shape
    return shape is not None and math.prod(shape) == 1


def _may_end_the_run(part: Part) -> bool:
    """Return whether a division of integers may fail at a row that is not chosen: by 0, or -1."""
    number = part.context.constants.splat(part.input(1))
    return number is None or number in (0, -1)


def product(part: Part) -> Whole:
    """MatMul: rows run along a batch axis of both, or along M of the first operand."""
    a, b = part.input(0), part.input(1)
    shapes = part.choice.shape(a), part.choice.shape(b)
    ranks = [len(shape) for shape in shapes]
    refuse_unless(min(ranks) >= 1)
    part.check_packed(1)
    inner = shapes[0][-1]
    if 1 in ranks:  # a vector has no batch axes
        refuse_unless(ranks[1] == 1 and ranks[0] >= 2)
        x = part.followed(0, part.axis)
        return part.node_of([x, b], x.dims, work=work_of_row(part, inner))
    batch = part.axis < part.rank - 2
    if not batch:
        refuse_unless(part.axis == part.rank - 2)
        x = part.followed(0, ranks[0] - 2)
        if ranks[1] > 2 and len(x.dims) != 1:
            flat = part.flattened(x)
            return part.unflattened(part.node_of([flat, b], x.dims, work=work_of_row(part, inner)))
        return part.node_of([x, b], x.dims, work=work_of_row(part, inner))
    operands = _operands(part)
    dims = sorted({r for x in operands if isinstance(x, Whole) for r in x.dims})
    return part.node_of(
        [_fit(part, x, dims) for x in operands], dims, work=work_of_row(part, inner)
    )


def work_of_row(part: Part, inner: Term) -> Term:
    """Return the multiply-adds for each row of an output, each of whose elements takes so many."""
    others = (n for d, n in enumerate(part.shape) if d != part.axis)
    return math.prod(others, start=inner)


def gemm(part: Part) -> Whole:
    """Gemm: rows run along M of A, and of C."""
    refuse_unless(part.axis == 0)
    part.check_packed(1)
    is_turned = bool(part.attribute("transA", 0))
    inner = part.choice.shape(part.input(0))[0 if is_turned else 1]
    x = part.flattened(part.followed(0, 1 if is_turned else 0))
    inputs: list[Whole | ir.Value | None] = [x, part.input(1)]
    added = part.node.inputs[2] if len(part.node.inputs) > 2 else None
    if added is not None:
        rank = len(part.choice.shape(added))
        if part.choice.is_fixed(added, rank - 2):
            inputs.append(added)
        else:
            own = part.followed(2, 0)
            refuse_unless(own.dims == x.dims)
            inputs.append(part.flattened(own))
    return part.unflattened(part.node_of(inputs, x.dims, work=work_of_row(part, inner)))


def einsum(part: Part) -> Whole:
    """Einsum: the letter of the rows becomes one for each dim of the mask."""
    equation = str(part.attribute("equation", b"")).replace(" ", "")
    refuse_unless("." not in equation and equation.count("->") == 1)
    left, right = equation.split("->")
    terms, letter = left.split(","), right[part.axis]
    refuse_unless(all(t.count(letter) <= 1 for t in [*terms, right]))
    places = [(i, t.index(letter)) for i, t in enumerate(terms) if letter in t]
    wholes = {i: part.followed(i, at) for i, at in places}
    dims = sorted({r for x in wholes.values() for r in x.dims})
    free = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in left]
    refuse_unless(len(free) >= len(dims))
    letters = dict(zip(dims, free, strict=False))

    def spelled(text: str, own: Sequence[int]) -> str:
        return text.replace(letter, "".join(letters[r] for r in own))

    axes = [wholes[i].dims if i in wholes else () for i in range(len(terms))]
    texts = ",".join(spelled(t, own) for t, own in zip(terms, axes, strict=True))
    summed = dict[str, Term]()
    for i, t in enumerate(terms):
        summed.update(zip(t, part.choice.shape(part.input(i)), strict=True))
    work = math.prod((n for c, n in summed.items() if c != letter), start=term(1))
    operands = [wholes.get(i, part.input(i)) for i in range(len(terms))]
    return part.node_of(operands, dims, work=work, equation=f"{texts}->{spelled(right, dims)}")
