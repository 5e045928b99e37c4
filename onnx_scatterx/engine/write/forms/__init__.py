"""Other forms of a node that a target does not take, which compute the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, Scope, required
from onnx_scatterx.engine.device import is_of_any_sign
from onnx_scatterx.engine.write.forms import (
    arithmetic,
    biases,
    casts,
    comparisons,
    einsums,
    extremes,
    joined,
    lookups,
    masks,
    merged,
    movement,
    numbers,
    pads,
    positions,
    products,
    repeated,
    rows,
    sampled,
    scattered,
    several,
    sums,
    views,
)
from onnx_scatterx.engine.write.forms.request import Request, folded, is_taken, written
from onnx_scatterx.operators import those
from onnx_scatterx.text import Missing, Reason, Refusal, RefusedError, granted

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.fragment import Fragment
    from onnx_scatterx.engine.write.writer import Writer

Form: TypeAlias = "Callable[[Request], ir.Value]"
"""Writes another form of a node, or writes nothing and raises ``NotKnownError``."""


class Forms(NamedTuple):
    """The forms of an operator, and what they read: so many inputs, and these attributes.

    A node that has more, as an operator set may add, has no other form. The ``last`` forms are
    tried after the operator itself on another element type. One of them is written if the target
    takes all of its nodes.
    """

    inputs: int
    attributes: frozenset[str]
    forms: tuple[Form, ...]
    last: tuple[Form, ...] = ()

    def know(self, request: Request) -> bool:
        """Return whether a node has only inputs and attributes that the forms read."""
        more = any(v is not None for v in request.inputs[self.inputs :])
        return not more and self.attributes.issuperset(request.attributes)


def _forms(
    inputs: int, *forms: Form, attributes: Iterable[str] = (), last: Iterable[Form] = ()
) -> Forms:
    return Forms(inputs, frozenset(attributes), forms, (*last,))


_ANY = (1 << 31) - 1  # inputs, as ONNX's schema says it
_CONVOLVES = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
_REDUCES = ("axes", "keepdims", "noop_with_empty_axes")

FORMS: dict[str, Forms] = {
    "Abs": _forms(1, last=[arithmetic.absolute]),
    **dict.fromkeys(("And", "Or"), _forms(2, arithmetic.on_numbers)),
    "Cast": _forms(
        1,
        casts.not_cast,
        attributes=["to", "saturate", "round_mode"],
        last=[numbers.cast_numbers, casts.not_zero],
    ),
    "Clip": _forms(3, extremes.clipped_padding, last=[extremes.by_bounds]),
    "ConstantOfShape": _forms(1, attributes=["value"]),
    "Conv": _forms(3, pads.apart_from_conv, attributes=_CONVOLVES),
    "CumSum": _forms(
        2,
        arithmetic.exclusive_sum,
        arithmetic.sum_by_product,
        attributes=("exclusive", "reverse"),
    ),
    "Einsum": _forms(
        2,
        attributes=["equation"],
        last=[
            einsums.moved,
            einsums.lettered,
            einsums.in_fewer_dims,
            einsums.in_fewer_letters,
            einsums.as_product,
            einsums.by_mul,
            einsums.by_matmul,
        ],
    ),
    "Equal": _forms(
        2,
        last=[
            lookups.looked_up,
            lookups.one_hot,
            comparisons.by_order,
            comparisons.by_difference,
        ],
    ),
    "Expand": _forms(2, movement.as_large, movement.tile, last=[movement.added]),
    "Gather": _forms(
        2,
        rows.from_start,
        rows.gathered_slices,
        repeated.repeated_rows,
        attributes=["axis"],
        last=[rows.elements_of_rows, sampled.sampled],
    ),
    "GatherElements": _forms(
        2,
        rows.from_start,
        rows.gathered_line,
        attributes=["axis"],
        last=[rows.listed_elements, rows.flat_elements],
    ),
    "GatherND": _forms(
        2,
        rows.gathered_box,
        rows.gathered_rows,
        rows.listed_rows,
        rows.flat_rows,
        rows.from_start,
        attributes=("batch_dims",),
    ),
    "Gemm": _forms(3, products.by_matmul, attributes=("alpha", "beta", "transA", "transB")),
    **dict.fromkeys(
        ("Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
        _forms(2, comparisons.swapped, last=[lookups.looked_up, comparisons.negated]),
    ),
    "Identity": _forms(1, movement.reshape),
    "IsNaN": _forms(1, comparisons.is_nan),
    "LayerNormalization": _forms(3, biases.with_bias, attributes=("axis", "epsilon", "stash_type")),
    "MatMul": _forms(2, last=[products.of_as_many_dims]),
    **dict.fromkeys(
        ("Max", "Min"),
        _forms(_ANY, several.two_at_a_time, last=[extremes.by_clip, extremes.of_two]),
    ),
    **dict.fromkeys(("Mean", "Sum"), _forms(_ANY, several.two_at_a_time)),
    "Mod": _forms(2, arithmetic.remainder, attributes=("fmod",), last=[lookups.looked_up]),
    "Mul": _forms(2, last=[lookups.looked_up]),
    "Neg": _forms(1, arithmetic.negative),
    "NonZero": _forms(1, positions.all_or_none, positions.of_known_number),
    "Not": _forms(1, arithmetic.not_),
    "OneHot": _forms(3, attributes=("axis",), last=[lookups.hot_rows, lookups.hot_by_comparison]),
    "Pad": _forms(4, pads.cropped, pads.concat, attributes=("mode",)),
    "Range": _forms(3, attributes=["stash_type"], last=[positions.cut_line, positions.summed_line]),
    **dict.fromkeys(
        ("ReduceMax", "ReduceMin"),
        _forms(
            2,
            attributes=_REDUCES,
            last=[extremes.by_top, extremes.by_sum, extremes.by_halves],
        ),
    ),
    **dict.fromkeys(
        ("ReduceL1", "ReduceLogSum", "ReduceSumSquare"),
        _forms(2, attributes=_REDUCES, last=[sums.of_two_axes, sums.by_sum]),
    ),
    "ReduceL2": _forms(
        2, attributes=_REDUCES, last=[sums.of_two_axes, sums.by_squares, sums.by_sum]
    ),
    "ReduceLogSumExp": _forms(2, attributes=_REDUCES, last=[sums.of_two_axes]),
    "ReduceMean": _forms(2, attributes=_REDUCES, last=[sums.by_einsum, sums.of_two_axes]),
    "ReduceSum": _forms(
        2,
        attributes=_REDUCES,
        last=[extremes.sum_by_product, sums.by_einsum, sums.of_two_axes],
    ),
    "Reshape": _forms(2, views.inferred, attributes=("allowzero",)),
    "ScatterElements": _forms(
        3,
        scattered.counted_axis,
        scattered.lengthened,
        rows.from_start,
        attributes=("axis", "reduction"),
        last=[scattered.as_points],
    ),
    "ScatterND": _forms(3, rows.from_start, attributes=("reduction",)),
    "Sign": _forms(1, last=[arithmetic.sign]),
    "Slice": _forms(5, movement.strided_slice, last=[movement.listed_slice]),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _forms(2, movement.reshape, attributes=("axes",))),
    "Where": _forms(
        3,
        masks.softplus,
        masks.chosen,
        movement.expanded_where,
        last=[extremes.on_numbers, numbers.where_numbers],
    ),
}
_IN_FEWER_DIMS: tuple[Form, ...] = (merged.merged, merged.without_ones)
"""The forms of a node of more dims than the target takes."""
_HAVE_FORMS = {
    op_type: onnx.defs.get_schema(op_type).min_input
    for op_type in {*FORMS, *those(lambda row: row.widens), *merged.MERGES, *merged.RESHAPES}
    if onnx.defs.has(op_type)
}
"""The operators that have other forms, and how many inputs each needs."""
_LAST: tuple[Form, ...] = (casts.by_another_type,)


def has_other_forms(node: ir.Node) -> bool:
    """Return whether an operator has other forms, and the node can run."""
    needed = _HAVE_FORMS.get(node.op_type)
    if needed is None or node.domain != "" or len(node.outputs) != 1:
        return False
    inputs = node.inputs
    complete = len(inputs) >= needed and None not in inputs[:needed]
    return complete and not any(a.is_ref() for a in node.attributes.data.values())


def attempted(form: Form, request: Request) -> ir.Value | None:
    """Write a form of a node, or return None if the target takes no such form of it."""
    fragment = request.writer.fragment
    mark = fragment.mark
    with suppress(NotKnownError):
        return form(request)
    fragment.forget(mark)
    return None


def other_form(request: Request) -> ir.Value | None:
    """Write the first form of a node that the target takes; None if it takes no form.

    Also None if this is for another form of such a node.
    """
    op, within = request.op, request.writer.in_other_form
    if op in within:
        return None
    entry = FORMS.get(op)
    own, last = (entry.forms, entry.last) if entry and entry.know(request) else ((), ())
    within.add(op)
    try:
        others = (form for form in last if is_taken(request, partial(form, request)))
        fewer = _IN_FEWER_DIMS if request.has_too_many_dims else ()
        forms = (folded, *fewer, written, *own, *_LAST, *others)
        results = (attempted(form, request) for form in forms)
        return next((result for result in results if result is not None), None)
    finally:
        within.discard(op)


def chosen_positions(w: Writer, mask: ir.Value) -> ir.Value:
    """Write the flat positions of a known number of elements of a mask that are not 0, or refuse.

    The target takes no NonZero of them.
    """
    request = w.request("NonZero", [mask], ir.DataType.INT64, {})
    flat = None if request is None else attempted(positions.flat_positions, request)
    return granted(flat)


READERS: dict[str, Form] = {"Gather": joined.joined_rows}
"""The forms of an operator that do not read a node that the target does not take."""


def _refused(
    w: Writer, node: ir.Node, scope: Scope, refused: set[ir.Value]
) -> tuple[Request | None, bool]:
    """Return a node that needs another form, and whether the target objects to it as it is."""
    value = node.outputs[0]
    known, merges = scope.of(value), merged.ends(value, scope, w.target.max_rank)
    attributes = {name: attribute.value for name, attribute in node.attributes.items()}
    inputs, of_any_sign = list(node.inputs), is_of_any_sign(node)
    request = w.request(
        node.op_type, inputs, known.dtype, attributes, known=known, of_any_sign=of_any_sign
    )
    if request is None:
        return None, False
    use, target = request.use, w.target
    objected = any(use.objections(target)) or (target.static_only and use.counts_promised)
    around = not refused.isdisjoint(inputs) and node.op_type in READERS
    is_taken = not (objected or around or (merges and request.has_too_many_dims))
    return (None if is_taken else request), objected


def instead_of(
    w: Writer,
    node: ir.Node,
    scope: Scope,
    *,
    may: Callable[[Fragment], bool],
    refused: set[ir.Value],
) -> Fragment | None:
    """Return another form that the target takes instead of a node of the graph, before it.

    Returns None if the target takes the node, or no other form of it, or if
    the form ``may`` not be written. A node of too many dims is written on merged axes, if nothing
    needs its result with all its dims. ``scope`` has what is known of the graph. The results of
    nodes that have no other form are added to those that are ``refused``; a node that reads one
    may be written in a form that does not read it.
    """
    request, objected = _refused(w, node, scope, refused)
    if request is None:
        return None
    op, inputs, dtype, attributes = request.op, request.inputs, request.dtype, request.attributes
    value, rank = node.outputs[0], request.use.rank
    around = None if refused.isdisjoint(inputs) else READERS.get(op)

    def write() -> ir.Value:
        result = None if around is None else attempted(around, request)
        if result is None and request.has_too_many_dims:
            result = attempted(partial(merged.merged, through=True), request)
            result = result or attempted(views.view, request)
        if result is None and not objected:
            raise RefusedError(Reason.RANK, Missing((op,), w.target.name))
        return result or w.spelled_node(op, inputs, dtype, **attributes)

    as_output = value.is_graph_output()
    write = w.narrowed(write, dtype, as_output=as_output)
    nodes = w.fragment_of(write, as_output=as_output, rank_read=rank)
    if isinstance(nodes, Refusal) or not may(nodes):
        refused.update([value] if objected else [])
        return None
    chosen, result = scope.of(value).chosen, required(nodes.result)
    if chosen is not None:
        nodes.new_values[result] = nodes.of(result).with_chosen(chosen)
    return nodes
