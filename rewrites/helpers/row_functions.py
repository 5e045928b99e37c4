"""How each kind of operator treats rows alone, and what it is of tensors of all rows.

    MatMul(x[m], W)            MatMul(x, W)
    Softmax<axis=1>(x[m])      Softmax<axis=2>(x)         if m has two dims
    Transpose(x[m])            Transpose(x)               the dims of m stay together

``Rows``, a column of the table of operators, says along which axes a row may run: the handlers here
have its names. If an operator takes one axis of rows only, as Conv does, several dims of the mask
are flattened before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Reason,
    Refusal,
    RefusedError,
    Rows,
    Shape,
    Term,
    attempt,
    described,
    granted,
    refuse_unless,
    term,
    written,
)
from onnx_scatterx.rewrites.helpers.whole import Has, Whole, same_but_ones

if TYPE_CHECKING:
    from onnx_scatterx.rewrites.helpers.whole_rows import WholeRows

_DIVIDES = ("Div", "Mod")
_ZERO = ("Min", "Max")  # of 0.0 and -0.0 they return either

Attributes = dict[str, Any]


class Part:
    """A node of the model on its way to be a node of whole tensors.

    The rows of its output ``value`` run along ``axis``.
    """

    def __init__(self, rows: WholeRows, node: ir.Node, value: ir.Value, axis: int, has: Has):
        self.rows, self.node, self.value, self.axis, self.has = rows, node, value, axis, has
        self.context, self.facts = rows.context, rows.facts
        self.shape, self.dtype = rows.shape(value), rows.dtype(value)

    @property
    def rank(self) -> int:
        """The rank of the output."""
        return len(self.shape)

    def input(self, i: int) -> ir.Value:
        """Return an input, or refuse."""
        return granted(self.node.inputs[i] if i < len(self.node.inputs) else None)

    def given(self, i: int) -> list[ir.Value]:
        """Return the inputs from i on, which must be the same for all rows, without absent ones."""
        return [v for v in self.node.inputs[i:] if v is not None]

    def numbers(self, i: int) -> list[int]:
        """Return the elements of an input that are known, or refuse."""
        return [int(n) for n in granted(self.context.known(self.input(i)).constant).ravel()]

    def attribute(self, name: str, default: Any) -> Any:
        """Return the value of an attribute, or refuse if only a caller knows it."""
        found = written(self.node, name, default)
        refuse_unless(found is not None or name not in self.node.attributes)
        return found

    def integer(self, name: str, default: int, rank: int) -> int:
        """Return an attribute that is an axis, counted from the start."""
        return int(self.attribute(name, default)) % max(rank, 1)

    @property
    def attributes(self) -> Attributes:
        """The attributes of the node."""
        refuse_unless(not any(a.is_ref() for a in self.node.attributes.values()))
        return {name: a.value for name, a in self.node.attributes.items()}

    def followed(self, i: int, axis: int, has: Has | None = None) -> Whole:
        """Return all rows of an input, along an axis of it."""
        return self.rows.of(self.input(i), axis, has or self.has)

    def of(self, x: Whole, op: str | None = None, **changed: Any) -> Whole:
        """Return the same node of one whole tensor; other inputs are the same for all rows."""
        return self.node_of([x, *self.node.inputs[1:]], x.dims, **changed)

    def node_of(
        self,
        inputs: Sequence[Whole | ir.Value | None],
        dims: Sequence[int],
        *,
        work: Term | None = None,
        **changed: Any,
    ) -> Whole:
        """Return the same node of whole tensors and values, with changed attributes."""
        self.check_bits()
        w, attributes = self.context.writer, {**self.attributes, **changed}
        parts = tuple(v for v in inputs if isinstance(v, Whole))

        def make(made: list[ir.Value]) -> ir.Value:
            rest = iter(made)
            operands = [next(rest) if isinstance(v, Whole) else v for v in inputs]
            return w.spelled_node(self.node.op_type, operands, self.dtype, **attributes)

        return self.whole(make, parts, dims, work=work)

    def whole(
        self,
        make: Callable[[list[ir.Value]], ir.Value],
        parts: Sequence[Whole],
        dims: Sequence[int],
        *,
        work: Term | None = None,
    ) -> Whole:
        """Return all rows of the output, as a function writes them."""
        shape = self.whole_shape(dims)
        each = [p.work for p in parts] + ([] if work is None else [work])
        return Whole(
            make,
            self.dtype,
            self.axis,
            tuple(dims),
            shape,
            tuple(range(len(shape))),
            any(p.is_read for p in parts),
            tuple(parts),
            sum(each, start=term(0)),
        )

    def whole_shape(self, dims: Sequence[int]) -> Shape:
        """Return the shape of all rows of the output."""
        return (*self.shape[: self.axis], *self.rows.sizes(dims), *self.shape[self.axis + 1 :])

    def check_bits(self) -> None:
        """Refuse a function of floats whose bits may depend on the other rows of a tensor."""
        row = described(self.node)
        if row.rows is Rows.BROADCAST or row.rows_alike or self.context.last_bits:
            return
        rounds = self.dtype.is_floating_point() or row.rows is Rows.QUANTIZED
        refuse_unless(row.moved(1) or not rounds)

    def flattened(self, x: Whole) -> Whole:
        """Return a whole tensor with one axis of rows."""
        if len(x.dims) == 1:
            return x
        count = math.prod(self.rows.sizes(x.dims), start=term(1))
        end = x.axis + len(x.dims)
        shape = (*x.sizes[: x.axis], count, *x.sizes[end:])

        def make(made: list[ir.Value]) -> ir.Value:
            numbers = self.context.numbers
            return numbers.reshape(made[0], x.dtype, x.sizes, shape, self.facts)

        order = tuple(range(len(shape)))
        return Whole(make, x.dtype, x.axis, x.dims, shape, order, x.is_read, (x,), x.work)

    def unflattened(self, x: Whole) -> Whole:
        """Return the output of a node of a flattened tensor with its dims of the mask."""
        if len(x.dims) == 1:
            return x
        count = math.prod(self.rows.sizes(x.dims), start=term(1))
        old = (*self.shape[: self.axis], count, *self.shape[self.axis + 1 :])

        def make(made: list[ir.Value]) -> ir.Value:
            return self.context.numbers.reshape(made[0], x.dtype, old, x.shape, self.facts)

        return self.whole(make, [x], x.dims)


def shifted(d: int, x: Whole) -> int:
    """Return the axis of a whole tensor that an axis of the chosen tensor is, not that of rows."""
    return d if d < x.axis else d + len(x.dims) - 1


def whole_of(rows: WholeRows, node: ir.Node, value: ir.Value, axis: int, has: Has) -> Whole:
    """Return all rows of an output of a node, or refuse."""
    handler = _HANDLERS[described(node).rows]
    return granted(handler)(Part(rows, node, value, axis, has))


# Operators that compute


def _broadcast(part: Part) -> Whole:
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
        inputs[1] = _guarded(part, inputs[1], dims, 1, part.rank)
    return part.node_of(inputs, dims)


def _operands(part: Part) -> list[Whole | ir.Value | None]:
    """Return the operands that are broadcast to a rank: all rows of each, or itself.

    If another operand is read by the mask, one that is not may be read by the running count.
    """
    rows, axis, rank = part.rows, part.axis, part.rank
    found: list[Whole | ir.Value | Refusal | None] = []
    for value in part.node.inputs:
        at = -1 if value is None else axis - rank + len(rows.shape(value))
        if value is None or rows.is_fixed(value, at):
            found.append(value)
            continue
        same = part.facts.equal(rows.shape(value)[at], part.shape[axis])
        has = part.has if same else Has.FEWER
        found.append(attempt(partial(rows.of, value, at, has)))
    read = any(isinstance(x, Whole) and x.is_read for x in found)
    for i, x in enumerate(found):
        if isinstance(x, Refusal):
            refuse_unless(read and rows.counts)
            value = part.input(i)
            found[i] = rows.counted(value, axis - rank + len(rows.shape(value)))
    return [None if isinstance(x, Refusal) else x for x in found]


def _fit(part: Part, x: Whole | ir.Value | None, dims: Sequence[int]) -> Whole | ir.Value | None:
    """Return an operand that is broadcast against tensors with these dims of the mask."""
    if x is None or isinstance(x, Whole):
        return None if x is None else x.with_dims(dims)
    own = part.rows.shape(x)
    axis = part.axis - part.rank + len(own)
    if axis < 0 or len(dims) == 1:
        return x
    order = [*range(axis), *[None] * len(dims), *range(axis + 1, len(own))]
    return _value(part, x).moved(order, axis)


def _value(part: Part, x: ir.Value) -> Whole:
    """Return a value that is the same for all rows."""
    shape = part.rows.shape(x)
    return Whole(lambda _: x, part.rows.dtype(x), 0, (), shape, tuple(range(len(shape))))


def _guarded(
    part: Part, x: Whole | ir.Value | None, dims: Sequence[int], number: int, rank: int
) -> Whole:
    """Return an operand that is a harmless number at the rows that are not chosen.

    It is broadcast to the tensor of all rows whose chosen tensor has this rank.
    """
    own = x if isinstance(x, Whole) else _value(part, granted(x))
    full, end = rank - 1 + len(dims), part.axis + len(dims)
    order = [*[None] * (full - len(own.order)), *range(len(own.order))]
    inner = own.moved(order, part.axis)
    sizes = [*inner.sizes]
    sizes[part.axis : end] = part.rows.sizes(dims)

    def make(made: list[ir.Value]) -> ir.Value:
        return part.rows.guarded(made[0], own.dtype, dims, part.axis, number, full)

    places = tuple(range(full))
    shape, parts = tuple(sizes), (inner,)
    return Whole(
        make, own.dtype, part.axis, tuple(dims), shape, places, own.is_read, parts, own.work
    )


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


def _product(part: Part) -> Whole:
    """MatMul: rows run along a batch axis of both, or along M of the first operand."""
    a, b = part.input(0), part.input(1)
    shapes = part.rows.shape(a), part.rows.shape(b)
    ranks = [len(shape) for shape in shapes]
    refuse_unless(min(ranks) >= 1)
    inner = shapes[0][-1]
    if 1 in ranks:  # a vector has no batch axes
        refuse_unless(ranks[1] == 1 and ranks[0] >= 2)
        x = part.followed(0, part.axis)
        return part.node_of([x, b], x.dims, work=_each(part, inner))
    batch = part.axis < part.rank - 2
    if not batch:
        refuse_unless(part.axis == part.rank - 2)
        x = part.followed(0, ranks[0] - 2)
        if ranks[1] > 2 and len(x.dims) != 1:
            flat = part.flattened(x)
            return part.unflattened(part.node_of([flat, b], x.dims, work=_each(part, inner)))
        return part.node_of([x, b], x.dims, work=_each(part, inner))
    operands = _operands(part)
    dims = sorted({r for x in operands if isinstance(x, Whole) for r in x.dims})
    return part.node_of([_fit(part, x, dims) for x in operands], dims, work=_each(part, inner))


def _each(part: Part, inner: Term) -> Term:
    """Return the multiply-adds for each row of an output, each of whose elements takes so many."""
    others = (n for d, n in enumerate(part.shape) if d != part.axis)
    return math.prod(others, start=inner)


def _gemm(part: Part) -> Whole:
    """Gemm: rows run along M of A, and of C."""
    refuse_unless(part.axis == 0)
    is_turned = bool(part.attribute("transA", 0))
    inner = part.rows.shape(part.input(0))[0 if is_turned else 1]
    x = part.flattened(part.followed(0, 1 if is_turned else 0))
    inputs: list[Whole | ir.Value | None] = [x, part.input(1)]
    added = part.node.inputs[2] if len(part.node.inputs) > 2 else None
    if added is not None:
        rank = len(part.rows.shape(added))
        if part.rows.is_fixed(added, rank - 2):
            inputs.append(added)
        else:
            own = part.followed(2, 0)
            refuse_unless(own.dims == x.dims)
            inputs.append(part.flattened(own))
    return part.unflattened(part.node_of(inputs, x.dims, work=_each(part, inner)))


def _einsum(part: Part) -> Whole:
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

    given = [wholes[i].dims if i in wholes else () for i in range(len(terms))]
    texts = ",".join(spelled(t, own) for t, own in zip(terms, given, strict=True))
    summed = dict[str, Term]()
    for i, t in enumerate(terms):
        summed.update(zip(t, part.rows.shape(part.input(i)), strict=True))
    work = math.prod((n for c, n in summed.items() if c != letter), start=term(1))
    operands = [wholes.get(i, part.input(i)) for i in range(len(terms))]
    return part.node_of(operands, dims, work=work, equation=f"{texts}->{spelled(right, dims)}")


def _batch(part: Part) -> Whole:
    """Conv, pools: each element of the batch alone."""
    refuse_unless(part.axis == 0)
    x = part.flattened(part.followed(0, 0))
    work: Term | None = None
    if part.node.op_type == "Conv":
        weights = part.rows.shape(part.input(1))
        work = _each(part, math.prod(weights[1:], start=term(1)))
    return part.unflattened(part.of(x, work=work))


def _regions(part: Part) -> Whole:
    """RoiAlign: each region alone; the maps are the same for all."""
    refuse_unless(part.axis == 0)
    boxes, batch = (part.flattened(part.followed(i, 0)) for i in (1, 2))
    refuse_unless(boxes.dims == batch.dims)
    at = _guarded(part, batch, boxes.dims[:1], 0, 1) if len(boxes.dims) == 1 else batch
    refuse_unless(len(boxes.dims) == 1)
    return part.node_of([part.input(0), boxes, at], boxes.dims)


def _before(part: Part) -> Whole:
    """LayerNormalization: the axes before ``axis``."""
    refuse_unless(part.value is part.node.outputs[0])
    axis = part.integer("axis", -1, part.rank)
    refuse_unless(part.axis < axis)
    x = part.followed(0, part.axis)
    refuse_unless(all(len(part.rows.shape(v)) <= part.rank - axis for v in part.given(1)))
    return part.of(x, axis=axis - part.rank)


def _apart(part: Part) -> Whole:
    """Softmax: any axis but ``axis``."""
    coerces = part.context.writer.version < 13 and part.node.op_type != "LpNormalization"
    axis = part.integer("axis", 1 if coerces else -1, part.rank)
    refuse_unless(part.axis < axis if coerces else part.axis != axis)
    x = part.followed(0, part.axis)
    return part.of(x, axis=shifted(axis, x))


def _running(part: Part) -> Whole:
    """CumSum: any axis but that which is summed."""
    (number,) = part.numbers(1)
    axis = number % part.rank
    refuse_unless(part.axis != axis)
    x = part.followed(0, part.axis)
    return part.node_of([x, _constant(part, np.array(shifted(axis, x)))], x.dims)


def _constant(part: Part, array: np.ndarray) -> Whole:
    """Return a constant of int64, as an operand of a node."""
    w = part.context.writer
    shape = tuple(map(term, array.shape))
    places = tuple(range(len(shape)))
    return Whole(lambda _: w.constant(array), ir.DataType.INT64, 0, (), shape, places)


def _reduced(part: Part) -> Whole:
    """Reductions: the axes that are left."""
    source = part.rows.shape(part.input(0))
    rank, keeps = len(source), bool(part.attribute("keepdims", 1))
    if part.node.op_type in ("ArgMax", "ArgMin"):
        axes, by_input = [part.integer("axis", 0, rank)], False
    else:
        by_input = len(part.node.inputs) > 1 and part.node.inputs[1] is not None
        listed = part.numbers(1) if by_input else part.attribute("axes", ())
        axes = sorted(int(d) % rank for d in listed)
    refuse_unless(axes)
    # A reduction of no elements may fail, if there are rows.
    refuse_unless(all(part.facts.is_nonnegative(source[d] - 1) for d in axes))
    left = [d for d in range(rank) if d not in axes]
    axis = part.axis if keeps else left[part.axis]
    refuse_unless(axis not in axes)
    x = part.followed(0, axis)
    new = [shifted(d, x) for d in axes]
    if part.node.op_type in ("ArgMax", "ArgMin"):
        return part.node_of([x], x.dims, axis=new[0])
    if by_input:
        return part.node_of([x, _constant(part, np.array(new))], x.dims)
    return part.node_of([x], x.dims, axes=new)


def _quantized(part: Part) -> Whole:
    """Quantizers: scales are numbers, or run along another axis."""
    source = part.input(0)
    rank = len(part.rows.shape(source))
    axis = part.integer("axis", 1, rank)
    single = all(part.rows.shape(v) in ((), (term(1),)) for v in part.given(1))
    refuse_unless(not part.attribute("block_size", 0) and (single or axis != part.axis))
    x = part.followed(0, part.axis)
    return part.of(x) if single else part.of(x, axis=shifted(axis, x))


def _one_hot(part: Part) -> Whole:
    """OneHot: a new axis behind or between those of the indices."""
    axis = part.integer("axis", -1, part.rank)
    refuse_unless(part.axis != axis)
    x = part.followed(0, part.axis - (axis < part.axis))
    place = axis if axis < part.axis else axis + len(x.dims) - 1
    return part.of(x, axis=place)


# Operators that move elements


def _in_order(part: Part) -> Whole:
    """Reshape, Flatten, Squeeze, Unsqueeze, Identity: the elements in their order."""
    source, facts = part.input(0), part.facts
    old, new, axis = part.rows.shape(source), part.shape, part.axis
    before, behind = _count(new[:axis]), _count(new[axis + 1 :])
    for at in range(len(old)):
        if not facts.equal(_count(old[:at]), before):
            continue
        if facts.equal(_count(old[at + 1 :]), behind):
            x = attempt(partial(part.followed, 0, at))
            if isinstance(x, Whole):
                return _shaped(part, x)
        repeated = _repeated(part, old, at, behind)
        if repeated:
            x = attempt(partial(part.rows.of_repeated, source, at, repeated, part.has))
            if isinstance(x, Whole):
                dims = (*x.dims, *range(part.rows.depth - repeated, part.rows.depth))
                return _shaped(part, replace(x, dims=dims))
    raise RefusedError(Reason.NO_RULE)


def _count(sizes: Sequence[Term]) -> Term:
    return math.prod(sizes, start=term(1))


def _repeated(part: Part, old: Shape, at: int, behind: Term) -> int:
    """Return how many of the last dims of the mask are axes behind the rows that are merged."""
    depth, equal, mask = part.rows.depth, part.facts.equal, part.rows.mask
    for count in range(1, depth + 1):
        own, dims = old[at + 1 : at + 1 + count], range(depth - count, depth)
        shapes = mask.shape[depth - count : depth], part.rows.sizes(dims)
        fits = len(own) == count and all(all(map(equal, own, shape)) for shape in shapes)
        if fits and equal(_count(old[at + 1 + count :]), behind):
            return count
    return 0


def _shaped(part: Part, x: Whole) -> Whole:
    """Return a whole tensor in the shape of all rows of the output."""
    new = part.whole_shape(x.dims)
    order = same_but_ones(x.sizes, new, part.facts, kept=range(x.axis, x.axis + len(x.dims)))
    if order is not None:
        return x.moved(order, part.axis)

    def make(made: list[ir.Value]) -> ir.Value:
        return part.context.numbers.reshape(made[0], x.dtype, x.sizes, new, part.facts)

    return part.whole(make, [x], x.dims)


def axes_moved(value: ir.Value, context: Context) -> tuple[ir.Value, list[int | None]]:
    """Return what a node moves the axes of, and which axis of it each axis of the value was.

    It is None for a new axis of extent 1. Refuses other nodes.
    """
    node = granted(value.producer())
    moves = node.domain == "" and node.graph is context.graph
    refuse_unless(moves and node.op_type in ("Transpose", "Unsqueeze", "Squeeze", "Identity"))
    source = granted(node.inputs[0])
    old, new = (granted(context.known(v).shape) for v in (source, value))
    if node.op_type == "Transpose":
        perm = written(node, "perm", list(range(len(old)))[::-1])
        return source, [int(d) for d in granted(perm)]
    return source, list(granted(same_but_ones(old, new, context.facts)))


def _transposed(part: Part) -> Whole:
    """Transpose: the dims of the mask stay together."""
    perm = [int(d) for d in part.attribute("perm", list(range(part.rank))[::-1])]
    x = part.followed(0, perm[part.axis])
    order: list[int | None] = []
    for d in perm:
        order += range(x.axis, x.axis + len(x.dims)) if d == x.axis else [shifted(d, x)]
    return x.moved(order, part.axis)


def _expanded(part: Part) -> Whole:
    """Expand: of rows, or of one row that is repeated."""
    source = part.input(0)
    own = part.rows.shape(source)
    at = part.axis - part.rank + len(own)
    if at < 0:
        x = _value(part, source)
    else:
        has = part.has if part.rows.is_fixed(source, at) else Has.FEWER
        x = part.rows.of(source, at, has)
    new = part.whole_shape(x.dims)
    lead = len(new) - len(x.order)
    order = [*[None] * lead, *range(len(x.order))]
    x = x.moved(order, part.axis)
    pairs = zip(x.sizes, new, strict=True)
    if all(part.facts.equal(a, b) for a, b in pairs):
        return x

    def make(made: list[ir.Value]) -> ir.Value:
        w, shape = part.context.writer, part.context.numbers.shape(new)
        return w.node("Expand", [made[0], shape], part.dtype)

    return part.whole(make, [x], x.dims)


def _filled(part: Part) -> Whole:
    """ConstantOfShape: the same number everywhere."""
    number = granted(part.context.constants.splat(part.value))
    w = part.context.writer
    array = np.array(number, part.dtype.numpy())
    one = Whole(lambda _: w.constant(array, part.dtype), part.dtype, 0, (), (), ())
    new = part.whole_shape(())

    def make(made: list[ir.Value]) -> ir.Value:
        return w.node("Expand", [made[0], part.context.numbers.shape(new)], part.dtype)

    return part.whole(make, [one], ())


def _joined(part: Part) -> Whole:
    """Concat: along another axis than that of the rows."""
    axis = part.integer("axis", 0, part.rank)
    refuse_unless(axis != part.axis)
    wholes = [part.followed(i, part.axis) for i in range(len(part.node.inputs))]
    dims = sorted({r for x in wholes for r in x.dims})
    inputs = [_everywhere(part, x, dims) for x in wholes]
    place = axis if axis < part.axis else axis + len(dims) - 1
    return part.node_of(inputs, dims, axis=place)


def _everywhere(part: Part, x: Whole, dims: Sequence[int]) -> Whole:
    """Return a whole tensor with these dims of the mask, each in its size."""
    if x.dims == tuple(dims):
        return x
    x = x.with_dims(dims)
    end = x.axis + len(dims)
    shape = (*x.sizes[: x.axis], *part.rows.sizes(dims), *x.sizes[end:])

    def make(made: list[ir.Value]) -> ir.Value:
        w, sizes = part.context.writer, part.context.numbers.shape(shape)
        return w.node("Expand", [made[0], sizes], x.dtype)

    places = tuple(range(len(shape)))
    return Whole(make, x.dtype, x.axis, tuple(dims), shape, places, x.is_read, (x,), x.work)


def _cut(part: Part) -> Whole:
    """Slice: along other axes; of rows, the first, if there are more than are chosen."""
    source = part.rows.shape(part.input(0))
    rank, known = len(source), part.context.known
    starts = part.numbers(1)
    count = len(starts)
    axes = part.numbers(3) if len(part.node.inputs) > 3 and part.node.inputs[3] else range(count)
    steps = part.numbers(4) if len(part.node.inputs) > 4 and part.node.inputs[4] else [1] * count
    axes = [int(d) % rank for d in axes]
    if part.axis in axes:
        i = axes.index(part.axis)
        refuse_unless(count == 1 and starts[i] == 0 and steps[i] == 1)
        return part.rows.of(part.input(0), part.axis, part.has.of_more())
    x = part.followed(0, part.axis)
    ends = known(part.input(2)).constant
    refuse_unless(ends is not None)
    moved = [shifted(d, x) for d in axes]
    ends_at: list[Whole | ir.Value | None] = [x, part.input(1), part.input(2)]
    inputs = [*ends_at, _constant(part, np.array(moved))]
    if any(s != 1 for s in steps):
        inputs.append(part.input(4))
    return part.node_of(inputs, x.dims)


def _split(part: Part) -> Whole:
    """Split: along another axis than that of the rows, where the sizes are known."""
    axis = part.integer("axis", 0, part.rank)
    refuse_unless(axis != part.axis)
    outputs = list(part.node.outputs)
    sizes = [granted(part.rows.shape(v)[axis].constant) for v in outputs]
    at = outputs.index(part.value)
    x = part.followed(0, part.axis)
    low = sum(sizes[:at])
    w, place = part.context.writer, shifted(axis, x)

    def make(made: list[ir.Value]) -> ir.Value:
        return w.slice(made[0], part.dtype, [place], [low], [low + sizes[at]], [1])

    return part.whole(make, [x], x.dims)


def _padded(part: Part) -> Whole:
    """Pad: other axes than that of the rows."""
    refuse_unless(len(part.node.inputs) < 4 or part.node.inputs[3] is None)
    amounts = part.numbers(1)
    refuse_unless(amounts[part.axis] == amounts[part.axis + part.rank] == 0)
    x = part.followed(0, part.axis)
    more = len(x.dims) - 1

    def side(pads: list[int]) -> list[int]:
        return [*pads[: part.axis], *[0] * (more + 1), *pads[part.axis + 1 :]]

    new = side(amounts[: part.rank]) + side(amounts[part.rank :])
    rest = part.given(2)
    return part.node_of([x, _constant(part, np.array(new)), *rest], x.dims)


def _taken(part: Part) -> Whole:
    """Gather: of rows along another axis, or rows of a table."""
    table, at = part.input(0), part.input(1)
    shape, indices = part.rows.shape(table), part.rows.shape(at)
    axis = part.integer("axis", 0, len(shape))
    if axis <= part.axis < axis + len(indices):
        x = part.followed(1, part.axis - axis)
        refuse_unless(part.facts.is_nonnegative(shape[axis] - 1))
        inner = Part(part.rows, part.node, at, part.axis - axis, part.has)
        safe = _guarded(inner, x, x.dims, 0, len(indices))
        return part.node_of([table, safe], x.dims, axis=axis)
    own = part.axis if part.axis < axis else part.axis - len(indices) + 1
    x = part.followed(0, own)
    return part.node_of([x, at], x.dims, axis=shifted(axis, x))


def _taken_along(part: Part) -> Whole:
    """GatherElements: along another axis than that of the rows, which both have."""
    axis = part.integer("axis", 0, part.rank)
    refuse_unless(axis != part.axis)
    source, at = part.input(0), part.input(1)
    both = [part.rows.shape(v)[part.axis] for v in (source, at)]
    refuse_unless(part.facts.equal(*both))
    refuse_unless(part.facts.is_nonnegative(part.rows.shape(source)[axis] - 1))
    x, i = part.followed(0, part.axis), part.followed(1, part.axis)
    dims = sorted({*x.dims, *i.dims})
    inner = Part(part.rows, part.node, at, part.axis, part.has)
    safe = _guarded(inner, _everywhere(part, i, dims), dims, 0, part.rank)
    place = axis if axis < part.axis else axis + len(dims) - 1
    return part.node_of([_everywhere(part, x, dims), safe], dims, axis=place)


def _sorted(part: Part) -> Whole:
    """TopK: any axis but that which is sorted."""
    axis = part.integer("axis", -1, part.rank)
    refuse_unless(axis != part.axis and bool(part.attribute("sorted", 1)))
    x = part.followed(0, part.axis)
    largest, place = bool(part.attribute("largest", 1)), shifted(axis, x)
    at = list(part.node.outputs).index(part.value)
    count, context = part.input(1), part.context

    def make(made: list[ir.Value]) -> ir.Value:
        return context.numbers.top(made[0], x.dtype, count, place, largest=largest)[at]

    return part.whole(make, [x], x.dims)


_HANDLERS: dict[Rows, Callable[[Part], Whole] | None] = {
    Rows.UNKNOWN: None,
    Rows.BROADCAST: _broadcast,
    Rows.PRODUCT: _product,
    Rows.GEMM: _gemm,
    Rows.EINSUM: _einsum,
    Rows.BATCH: _batch,
    Rows.REGIONS: _regions,
    Rows.BEFORE: _before,
    Rows.APART: _apart,
    Rows.RUNNING: _running,
    Rows.REDUCED: _reduced,
    Rows.QUANTIZED: _quantized,
    Rows.ONE_HOT: _one_hot,
    Rows.IN_ORDER: _in_order,
    Rows.TRANSPOSED: _transposed,
    Rows.EXPANDED: _expanded,
    Rows.FILLED: _filled,
    Rows.JOINED: _joined,
    Rows.CUT: _cut,
    Rows.SPLIT: _split,
    Rows.PADDED: _padded,
    Rows.TAKEN: _taken,
    Rows.TAKEN_ALONG: _taken_along,
    Rows.SORTED: _sorted,
}
