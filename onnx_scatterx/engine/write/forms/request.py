"""A node that is to be written, as the forms that may replace it see it; a constant if known.

A form asks for what it needs: a size that is not known, or an operator that the target does not
take, ends it (``NotKnownError``). So a form asks before it writes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx.defs
import onnx.helper
import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, Shape, TensorValue, require, required
from onnx_scatterx.engine.budget import LIMITS, LimitError
from onnx_scatterx.engine.device import Use, is_of_positions, is_refused
from onnx_scatterx.engine.terms import Facts, Term
from onnx_scatterx.graphs import constant
from onnx_scatterx.operators import OPERATORS
from onnx_scatterx.text import Refusal

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer

MOST = 1 << 20
"""The most elements of a constant that a form writes out."""


@dataclass(frozen=True)
class Request:
    """An operator with its inputs, and the abstract values of the inputs and of the result."""

    op: str
    inputs: Sequence[ir.Value | None]
    dtype: ir.DataType | None
    attributes: Mapping[str, Any]
    known: Sequence[TensorValue | None]
    result: TensorValue
    writer: Writer = field(repr=False)
    of: Callable[[ir.Value], TensorValue] = field(repr=False)  # what is known of any value
    of_any_sign: bool = False

    @cached_property
    def use(self) -> Use:
        """The node as the limits of the target see it."""
        constant = [self.constant(v) is not None for v in self.inputs]
        facts = self.writer.facts
        known = [self.result], self.attributes, constant, facts, self.of_any_sign
        angles = is_of_positions(self.op, self.inputs, self.of, self.writer.overridable)
        return Use(self.op, self.known, *known, of_positions=angles)

    def input(self, i: int) -> ir.Value:
        """Return an input that is there."""
        return required(self.inputs[i])

    def cast(self, i: int, kind: ir.DataType) -> ir.Value:
        """Write an input in another element type."""
        return self.writer.node("Cast", [self.input(i)], kind, to=kind.value)

    def reshape(self, x: ir.Value, sizes: Sequence[int]) -> ir.Value:
        """Write a Reshape to known sizes."""
        return self.writer.node("Reshape", [x, self.writer.constant(list(sizes))], self.dtype)

    def cut(self, x: ir.Value, axis: int, start: int, end: int) -> ir.Value:
        """Write a Slice of one axis."""
        bounds = [self.writer.constant([n]) for n in (start, end, axis)]
        return self.writer.node("Slice", [x, *bounds], self.dtype)

    def join(self, parts: Sequence[ir.Value], axis: int) -> ir.Value:
        """Write a Concat of parts, or the only part."""
        if len(parts) == 1:
            return parts[0]
        return self.writer.node("Concat", parts, self.dtype, axis=axis)

    def constant(self, value: ir.Value | None) -> ir.TensorProtocol | None:
        """Return the tensor that a value is in every run, or None."""
        return constant(value, self.writer.overridable)

    @property
    def kind(self) -> ir.DataType:
        """The element type of the result."""
        return required(self.dtype)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the result as numbers."""
        return required(self.result.static_shape)

    def known_of(self, i: int) -> TensorValue:
        """Return what is known of an input."""
        return required(self.known[i])

    def shape(self, i: int) -> tuple[int, ...]:
        """Return the shape of an input as numbers."""
        return required(self.known_of(i).static_shape)

    def has(self, i: int) -> bool:
        """Return whether there is an input at a place."""
        return i < len(self.inputs) and self.inputs[i] is not None

    def numbers(self, i: int) -> list[int]:
        """Return the elements of an integer input."""
        require(self.has(i))
        return [int(n) for n in required(self.known_of(i).constant).ravel().tolist()]

    def axis(self, rank: int) -> int:
        """Return the attribute ``axis``, counted from the start."""
        return int(self.attributes.get("axis", 0)) % rank

    def takes(self, op: str, dtype: ir.DataType | None = None) -> bool:
        """Return whether the target takes an operator for an element type, by default its own."""
        if not self.writer.target.has(op):
            return False
        kind = dtype or self.dtype
        return kind is None or self.writer.target.limits_of(op).takes_type(kind)

    def runs(self, op: str, dtype: ir.DataType) -> bool:
        """Return whether ONNX Runtime runs an operator on an element type, or on a wider one."""
        return self.writer.runs(op, dtype)

    @property
    def most_dims(self) -> float:
        """How many dims the target takes of the inputs and the output, infinity if any number."""
        target = self.writer.target
        limits = [
            target.max_rank,
            target.limits_of(self.op).most_dims(self.use.rank, partial(is_refused, self.use)),
        ]
        return min((rank for rank in limits if rank is not None), default=math.inf)

    @property
    def has_too_many_dims(self) -> bool:
        """Whether an input or the output has more dims than the target takes."""
        return self.use.rank > self.most_dims

    def largest_rank(self) -> float:
        """Return how many axes Reshape and Slice may have at the target, infinity if any number."""
        target = self.writer.target
        limits = [target.max_rank, *(target.limits_of(op).max_rank for op in ("Reshape", "Slice"))]
        return min((rank for rank in limits if rank is not None), default=math.inf)


def is_taken(request: Request, write: Callable[[], ir.Value]) -> bool:
    """Return whether the target takes what a function writes."""
    try:
        return not isinstance(request.writer.fragment_of(write), Refusal)
    except NotKnownError:
        return False


def bounds(known: TensorValue | None, request: Request) -> tuple[int, int] | None:
    """Return the least and the largest number that an element may be, or None."""
    return range_of(known, request.writer.facts)


def range_of(known: TensorValue | None, facts: Facts) -> tuple[int, int] | None:
    """Return the least and the largest number that an element may be under facts, or None."""
    if known is None or not known.is_integer:
        return None
    if known.constant is not None:
        return _ends(known.constant)
    if known.shape is None:
        return None
    whole, each = known.index_map, known.element_exprs
    # A promise may be about each element: of all at once, only those of the type are known then.
    told = [[] if whole is None else [whole], [] if each is None else each.ravel().tolist()]
    found = [_bounds_of(terms, known.shape, facts) for terms in told if terms]
    ranges = [ends for ends in found if ends is not None]
    return (max(low for low, _ in ranges), min(high for _, high in ranges)) if ranges else None


def lies(known: TensorValue, low: float, high: float, request: Request) -> bool:
    """Return whether all elements are known to lie between two integers or infinities."""
    terms, shape = required(known.terms), required(known.shape)
    inside = request.writer.facts.assuming(extents=dict(enumerate(shape)))
    return all(
        (math.isinf(low) or inside.is_nonnegative(term - int(low)))
        and (math.isinf(high) or inside.is_nonnegative(int(high) - term))
        for term in terms
    )


def _bounds_of(terms: Sequence[Term], shape: Shape, facts: Facts) -> tuple[int, int] | None:
    """Return the least and the largest number that some terms over coordinates may be, or None."""
    inside = facts.assuming(extents=dict(enumerate(shape)))
    low, high = math.inf, -math.inf
    try:
        for term in terms:
            (least, most), (first, last) = inside.interval(term), term.within_axes()
            low, high = min(low, max(least, first)), max(high, min(most, last))
    except LimitError:
        return None
    return None if math.isinf(low) or math.isinf(high) else (int(low), int(high))


def _ends(array: np.ndarray) -> tuple[int, int]:
    numbers = np.asarray(array).astype(object).ravel()
    return (int(min(numbers)), int(max(numbers))) if numbers.size else (0, 0)


def decided(request: Request) -> np.ndarray:
    """Return the result of a comparison with constants, if it is known of every element."""
    kinds = [known is not None and known.constant is not None for known in request.known]
    require(len(kinds) == 2, OPERATORS[request.op].compares, sum(kinds) == 1)
    tensor, numbers = (request.known_of(kinds.index(which)) for which in (False, True))
    require(tensor.is_integer, numbers.is_integer)
    elements, shape = required(tensor.terms), required(tensor.shape)
    facts, array = request.writer.facts, required(numbers.constant)
    inside = facts.assuming(extents=dict(enumerate(shape)))
    compared = partial(_compared, request.op, turned=kinds[0], facts=inside)
    try:
        return np.full(request.sizes, compared(elements, *_ends(array)))
    except NotKnownError:  # of each element by itself
        each, all_numbers = np.broadcast_arrays(required(tensor.element_exprs), array)
        require(each.size <= LIMITS.listed_terms)
        pairs = zip(each.ravel().tolist(), all_numbers.ravel().tolist(), strict=True)
        found = [compared([one], int(n), int(n)) for one, n in pairs]
        return np.array(found).reshape(request.sizes)


def _compared(
    op: str, elements: Sequence[Term], low: int, high: int, *, turned: bool, facts: Facts
) -> bool:
    """Return what a comparison with numbers between two says of some elements, if it is one thing.

    It is ``turned`` if the numbers are its first operand.
    """

    def are_below(margin: int) -> bool:
        return all(facts.is_nonnegative(low - term - margin) for term in elements)

    def are_above(margin: int) -> bool:
        return all(facts.is_nonnegative(term - high - margin) for term in elements)

    if op == "Equal":
        if low == high and are_below(0) and are_above(0):
            return True
        require(are_above(1) or are_below(1))
        return False
    or_equal = op.endswith("OrEqual")
    if_below = op.startswith("Less") != turned
    if are_below(if_below is not or_equal):
        return if_below
    require(are_above(if_below is or_equal))
    return not if_below


_MOST = 1 << 16  # elements of a constant that replaces a node


def folded(request: Request) -> ir.Value:
    """Write the result as a constant, if every element of it is known."""
    result = request.result
    require(result.is_integer)
    require(math.prod(request.sizes) <= _MOST)
    known = result.constant
    if known is None and OPERATORS[request.op].compares:
        known = decided(request)
    return request.writer.constant(required(known), result.dtype)


def written(request: Request) -> ir.Value:
    """Write the defaults that the target wants to read, and none that it must not read."""
    op, w = request.op, request.writer
    limits = w.target.limits_of(op)
    missing = limits.written.difference(request.attributes)
    unwanted = limits.unwritten.intersection(request.attributes)
    require(missing or unwanted)
    known = onnx.defs.get_schema(op, w.version, "").attributes
    named = sorted(missing | unwanted)
    defaults = {a: _default(known[a]) for a in named}
    defaults = {a: v.decode() if isinstance(v, bytes) else v for a, v in defaults.items()}
    require(*(request.attributes[a] == defaults[a] for a in unwanted))
    left = {a: v for a, v in request.attributes.items() if a not in unwanted}
    added = {a: v for a, v in defaults.items() if a in missing}
    require(not any(replace(request, attributes=left | added).use.objections(w.target)))
    return w.spelled_node(op, request.inputs, request.dtype, **left, **added)


def _default(attribute: onnx.defs.OpSchema.Attribute) -> Any:
    """Return the default of an attribute; that of a ConstantOfShape is told in words only."""
    if attribute.name == "value":
        return ir.tensor(np.zeros(1, np.float32))
    return onnx.helper.get_attribute_value(attribute.default_value)
