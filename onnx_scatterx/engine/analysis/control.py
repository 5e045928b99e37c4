"""If, Loop, Scan and SequenceMap: what holds in every branch and in every iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Call, Scope
from onnx_scatterx.engine.analysis.domain.tensor import Dims, ElementOf, Shape, TensorValue
from onnx_scatterx.engine.analysis.operators import sequences
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.terms import Term, element, size
from onnx_scatterx.graphs import graphs_of

if TYPE_CHECKING:
    from onnx_scatterx.engine.analysis.interpreter import Interpreter


_MOST = 1 << 62  # iterations


def if_(interpreter: Interpreter, call: Call, scope: Scope) -> list[TensorValue]:
    """Return the join of the results of both branches."""
    branches = [interpreter.body(g, [], scope) for g in graphs_of(call.node)]
    outputs = zip(*branches, strict=True)
    return [_joined(call, i, parts) for i, parts in enumerate(outputs)]


def _joined(call: Call, output: int, parts: tuple[TensorValue, ...]) -> TensorValue:
    if all(map(sequences.is_sequence, parts)):
        return _joined_lists(parts)
    dtypes = {p.dtype for p in parts}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    shapes = [p.shape for p in parts if p.shape is not None]
    if len(shapes) < len(parts) or len({len(s) for s in shapes}) != 1:
        return TensorValue(dtype, None)
    fresh = call.unknown_shape(len(shapes[0]), output)
    dims = zip(zip(*shapes, strict=True), fresh, strict=True)
    return TensorValue(dtype, tuple(d[0] if all(t is d[0] for t in d) else f for d, f in dims))


def _joined_lists(parts: tuple[TensorValue, ...]) -> TensorValue:
    """Return the join of sequences, without sizes that only one branch computes."""
    merged = sequences.joined(parts)
    if merged.each is None or all(p.parts != () for p in parts):
        return merged
    dims = (d if d is not None and d.constant is not None else None for d in merged.each)
    return sequences.any_of(merged.dtype, tuple(dims))


def loop(interpreter: Interpreter, call: Call, scope: Scope) -> list[TensorValue]:
    """Return the shapes that the carried values keep, and those of the scan outputs."""
    (body,) = graphs_of(call.node)
    carried = [i or TensorValue(None, None) for i in call.inputs[2:]]
    head = [_iteration(body, scope), TensorValue(ir.DataType.BOOL, ())]
    invariant, results = _invariant(interpreter, body, head, carried, [], scope)
    outputs = [TensorValue(c.dtype, c.shape, parts=c.parts, each=c.each) for c in invariant]
    for i, scan in enumerate(results[1 + len(invariant) :], len(invariant)):
        shape: Shape | None = None
        if scan.shape is not None and _iterates(call):
            # A body's results may differ between iterations, except constants.
            fresh = call.unknown_shape(len(scan.shape) + 1, i)
            inner = zip(scan.shape, fresh[1:], strict=True)
            shape = (fresh[0], *(d if d.constant is not None else f for d, f in inner))
        outputs.append(TensorValue(scan.dtype, shape))
    return outputs


def _iteration(body: ir.Graph, scope: Scope) -> TensorValue:
    """Return the number of an iteration, which counts from 0."""
    value = body.inputs[0]
    origin = ElementOf((scope.visit_id, body), value)
    number = element(origin, (), name=value.name or "?", low=0, high=_MOST)
    return TensorValue(ir.DataType.INT64, (), number)


def _iterates(call: Call) -> bool:
    """Return whether a Loop runs its body at least once.

    If it does not, its scan outputs have only the dims that ONNX Runtime itself can infer.
    """
    count, condition = call.inputs[0], call.inputs[1]
    counts = count is None or (
        count.scalar is not None and call.facts.is_nonnegative(count.scalar - 1)
    )
    return counts and (condition is None or condition.scalar == 1)


def scan(interpreter: Interpreter, call: Call, scope: Scope) -> list[TensorValue]:
    """Return the shapes that the states keep; scan outputs are not followed."""
    (body,) = graphs_of(call.node)
    if call.version < 9:  # with a batch dim, and lengths as the first input
        interpreter.body(body, [None] * len(body.inputs), scope)
        return [TensorValue(v.dtype, None) for v in call.node.outputs]
    count = call.integer("num_scan_inputs", 0)
    states = [i or TensorValue(None, None) for i in call.inputs[: len(call.inputs) - count]]
    axes = call.integers("scan_input_axes") or [0] * count
    rows = []
    for x, axis in zip(call.inputs[len(states) :], axes, strict=True):
        shape = None if x is None else x.shape
        if shape is not None:
            shape = tuple(d for i, d in enumerate(shape) if i != axis % len(shape))
        rows.append(TensorValue(None if x is None else x.dtype, shape))
    invariant, results = _invariant(interpreter, body, [], states, rows, scope)
    outputs = [TensorValue(c.dtype, c.shape) for c in invariant]
    return outputs + [TensorValue(r.dtype, None) for r in results[len(invariant) :]]


def sequence_map(interpreter: Interpreter, call: Call, scope: Scope) -> list[TensorValue]:
    """Return sequences of the tensors that the body computes, each from tensors of the inputs."""
    (body,) = graphs_of(call.node)
    origin = (scope.visit_id, body)
    elements = [_one_of(x, (origin, i)) for i, x in enumerate(call.inputs)]
    results = interpreter.body(body, elements, scope)
    # A body's results may differ between tensors, except constants.
    dims = [None if r.shape is None else _constants(r.shape) for r in results]
    return [sequences.any_of(r.dtype, known) for r, known in zip(results, dims, strict=True)]


def _one_of(sequence: TensorValue | None, origin: object) -> TensorValue | None:
    """Return a tensor of a sequence; another input is a tensor, and stays one."""
    if sequence is None or not sequences.is_sequence(sequence):
        return sequence
    dims = sequences.dims_of(sequence)
    if dims is None:
        return TensorValue(sequence.dtype, None)
    own = [size(f"each.{i}", (origin, i)) if d is None else d for i, d in enumerate(dims)]
    return TensorValue(sequence.dtype, tuple(own))


def _constants(shape: Shape) -> Dims:
    """Return the dims that are numbers; the others are not known."""
    return tuple(d if d.constant is not None else None for d in shape)


def _invariant(
    interpreter: Interpreter,
    body: ir.Graph,
    head: list[TensorValue],
    carried: list[TensorValue],
    tail: list[TensorValue],
    scope: Scope,
) -> tuple[list[TensorValue], list[TensorValue]]:
    """Find shapes of loop-carried values that hold in every iteration, by induction.

    The first guess is the shapes before the first iteration. If the body does not keep a dim, the
    dim becomes a size of its own, which may differ in every iteration, and the body is visited
    again.
    """
    guess = [_first(c) for c in carried]
    free: set[Term] = set()
    skip = len(head) // 2  # a Loop's body gives its condition first
    for _ in range(LIMITS.rounds):
        results = interpreter.body(body, [*head, *guess, *tail], scope)
        after = results[skip : skip + len(guess)]
        if all(_keeps(g, a, free) for g, a in zip(guess, after, strict=True)):
            return guess, results
        guess = [
            _weakened(g, a, free, (scope.visit_id, body, i))
            for i, (g, a) in enumerate(zip(guess, after, strict=True))
        ]
    guess = [TensorValue(g.dtype, None) for g in guess]
    return guess, interpreter.body(body, [*head, *guess, *tail], scope)


def _first(carried: TensorValue) -> TensorValue:
    """Return a guess of a carried value: of a tensor the content changes, of a list the length."""
    if carried.parts:
        return sequences.any_of(carried.dtype, sequences.dims_of(carried))
    return TensorValue(carried.dtype, carried.shape, parts=carried.parts, each=carried.each)


def _keeps(before: TensorValue, after: TensorValue, free: set[Term]) -> bool:
    if sequences.is_sequence(before):
        return _same_list(before, _any_iteration(before, after))
    if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
        return before.shape is None
    pairs = zip(before.shape, after.shape, strict=True)
    return all(b is a or b in free for b, a in pairs)


def _weakened(
    before: TensorValue, after: TensorValue, free: set[Term], origin: object
) -> TensorValue:
    if sequences.is_sequence(before):
        return _any_iteration(before, after)
    if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
        return TensorValue(before.dtype, None)
    dims = []
    for d, (b, a) in enumerate(zip(before.shape, after.shape, strict=True)):
        if b is not a and b not in free:
            b = size(f"carried.{d}", (origin, d))
            free.add(b)
        dims.append(b)
    return TensorValue(before.dtype, tuple(dims))


def _any_iteration(before: TensorValue, after: TensorValue) -> TensorValue:
    """Return a list that may be either of these, the second one made by a body.

    A body's results may differ between iterations, except constants and earlier values.
    """
    merged = sequences.joined([before, after])
    old = sequences.dims_of(before) or ()
    if merged.each is None:
        return merged
    dims = [
        d if d in old or (d is not None and d.constant is not None) else None for d in merged.each
    ]
    return sequences.any_of(merged.dtype, tuple(dims))


def _same_list(a: TensorValue, b: TensorValue) -> bool:
    return a.dtype == b.dtype and a.parts == b.parts and a.each == b.each
