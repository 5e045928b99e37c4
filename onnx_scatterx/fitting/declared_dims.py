"""The dims that a model declares of inner values: which ONNX Runtime needs, and which mislead it.

    f, s = Scan(...)          runs only if ONNX Runtime knows all ranks of the body's outputs
    f, s = Loop(0, ...)       s has the dims that ONNX Runtime knows of the body's output, else 0
    z = Shape(y)              a constant under the default options if ONNX Runtime knows y's dims

ONNX Runtime knows the dims that it infers, and believes those that are declared: it checks only
those of the model's inputs. A node that is written for another may let it infer less. So what it
inferred of the outputs of these bodies is noted before nodes are written, and declared afterwards
(``note_body_dims``, ``declare_body_dims``). A run may have other dims than those that are declared:
the state of a Loop may grow. So none that is only declared stands before a new Shape
(``forget_unchecked_dims``). Where the two conflict, a Scan keeps the ranks, and a Loop nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue
from onnx_scatterx.errors import ModelError
from onnx_scatterx.fitting.known_values import KnownValues
from onnx_scatterx.graphs import (
    Inventory,
    all_nodes,
    attribute_of,
    called_function,
    callers_first,
    constant,
    graphs_of,
    is_operator,
    overridable,
    reached,
)

_READERS = frozenset({"Shape", "Size"})
"""Operators of which ONNX Runtime makes a constant, if the dims of the input are declared."""

_WITH_BODIES = ("Loop", "Scan")
_NOTED = "onnx_scatterx.body_dims"
"""The key of the dims of a body's outputs in the ``meta`` of its node, which copies share."""

_CALLS = 2000  # the most calls of functions that are inlined to infer dims

_Dims: TypeAlias = "tuple[int | None, ...] | None"


def note_body_dims(held: Inventory) -> None:
    """Note what ONNX infers of the bodies of Scans, and of Loops that may run no iteration.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[4] x, int64 n) => (float[4] y, float[?, 4] z) {
    ...     y, z = Loop (n, , x) <body = b (int64 i, bool on, float[4] s)
    ...         => (bool go, float[4] t, float w) {
    ...         go = Identity (on)  t = Neg (s)  w = Abs (s) }> }''')
    >>> (body,) = graphs_of(model.graph[0])
    >>> body.outputs[2].shape = None
    >>> note_body_dims(Inventory(model))
    >>> body.outputs[2].producer().op_type = "Unknown"
    >>> declare_body_dims(Inventory(model))
    >>> print(body.outputs[2].shape)
    [4]
    """
    for node in held.of(*_WITH_BODIES):
        node.meta.pop(_NOTED, None)
    model, open_to_callers = held.model, overridable(held.model)
    scans = [node for node in held.of("Scan") if is_operator(node, {"Scan"})]
    loops = [node for node in held.of("Loop") if _may_be_empty(node, open_to_callers)]
    # Under its default options ONNX Runtime also folds constants, and infers more ranks.
    _note(model, scans, fold=True)
    _note(model, loops, fold=False)


def declare_body_dims(held: Inventory) -> None:
    """Declare the dims that were noted, if they are not declared; forget the notes."""
    for node in held.of(*_WITH_BODIES):
        for value, dims in zip(_collected(node), node.meta.pop(_NOTED, ()), strict=False):
            if dims is None or (value.shape is not None and len(value.shape) != len(dims)):
                continue
            if value.producer() is None:
                continue  # a state, which may have other dims in each iteration
            old = [None] * len(dims) if value.shape is None else list(value.shape)
            pairs = zip(old, dims, strict=True)
            value.shape = ir.Shape(o if d is None or isinstance(o, int) else d for o, d in pairs)


def _note(model: ir.Model, nodes: Collection[ir.Node], *, fold: bool) -> None:
    """Note for each node the dims of its body's outputs in which all calls of its function agree.

    If functions cannot be inlined, or only with too many calls, nothing is noted.
    """
    if not nodes or _calls(model) > _CALLS:
        return
    from onnx_scatterx.fitting.inference import inferred

    for number, node in enumerate(nodes):
        node.meta[_NOTED] = number
    calls: dict[int, list[list[_Dims]]] = {}
    try:
        copies = all_nodes(inferred(model, fold=fold))
    except ModelError:
        copies = []
    for copy in copies:
        if _NOTED in copy.meta and isinstance(copy.meta[_NOTED], int):
            calls.setdefault(copy.meta[_NOTED], []).append(
                [_known(copy, v) for v in _collected(copy)]
            )
    for number, node in enumerate(nodes):
        node.meta[_NOTED] = [_agreed(dims) for dims in zip(*calls.get(number, ()), strict=True)]


def _agreed(calls: Collection[_Dims]) -> _Dims:
    """Return the numbers that are inferred in every call."""
    known = [dims for dims in calls if dims is not None]
    if len(known) < len(calls) or len({len(dims) for dims in known}) != 1:
        return None
    return tuple(d[0] if len(set(d)) == 1 else None for d in zip(*known, strict=True))


def _may_be_empty(node: ir.Node, overridable: Collection[ir.Value]) -> bool:
    """Return whether a node is a Loop with scan outputs that may run no iteration."""
    if not is_operator(node, {"Loop"}) or len(node.outputs) < len(node.inputs) - 1:
        return False
    count, condition = (*node.inputs[:2], None, None)[:2]
    return not (_is_set(count, overridable) and _is_set(condition, overridable))


def _is_set(value: ir.Value | None, overridable: Collection[ir.Value]) -> bool:
    """Return whether a count or condition is left out, or is a constant that is positive."""
    if value is None:
        return True
    fixed = constant(value, overridable)
    kinds = ir.DataType.INT64, ir.DataType.BOOL
    return fixed is not None and fixed.dtype in kinds and bool((fixed.numpy() > 0).all())


def _collected(node: ir.Node) -> list[ir.Value]:
    """Return the outputs of a body whose dims count: all of a Scan; those that a Loop stacks."""
    if not is_operator(node, _WITH_BODIES):
        return []
    outputs = _results(node)
    return outputs if node.op_type == "Scan" else outputs[max(len(node.inputs) - 1, 1) :]


def _results(node: ir.Node) -> list[ir.Value]:
    return [value for body in graphs_of(node) for value in body.outputs]


def _calls(model: ir.Model) -> int:
    """Return how many calls of functions are inlined: nested calls multiply."""
    counts = {f.identifier(): 0 for f in model.functions.values()}
    total = 0
    for function in (None, *callers_first(model)):
        times = 1 if function is None else counts[function.identifier()]
        graph = model.graph if function is None else function.graph
        for node in all_nodes(graph):
            callee = called_function(model, node)
            if callee is not None:
                counts[callee.identifier()] += times
                total += times
    return total


def _known(node: ir.Node, value: ir.Value) -> _Dims:
    """Return the numbers that are inferred of an output of a body; of a Scan's, only the rank."""
    if value.shape is None:
        return None
    is_loop = is_operator(node, {"Loop"})
    return tuple(dim if is_loop and isinstance(dim, int) else None for dim in value.shape)


def forget_unchecked_dims(
    model: ir.Model,
    new: Iterable[ir.Node],
    analysed: Callable[[Collection[ir.Value]], Mapping[ir.Value, TensorValue]] | None = None,
) -> None:
    """Remove the dims that are declared, and not known, of what new Shapes are computed from.

    Known are dims that follow from the inputs of the model: ``analysed`` returns what is known of
    some values; without it, the model is interpreted. The inputs and outputs of the model stay as
    they are, and the outputs of a Scan's body keep their ranks.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[4] x, int64[1] s) => (int64[1] z) <float[7] y> {
    ...     y = Reshape (x, s)
    ...     z = Shape (y) }''')
    >>> forget_unchecked_dims(model, [model.graph[1]])
    >>> print(model.graph[0].outputs[0].shape)
    [None]
    """
    kept = {*model.graph.inputs, *model.graph.outputs}

    def declared(values: Iterable[ir.Value]) -> dict[ir.Value, None]:
        shaped = (v for v in values if v not in kept and v.const_value is None and v.shape)
        return {v: None for v in shaped if any(isinstance(dim, int) for dim in v.shape or ())}

    readers = [node for node in new if is_operator(node, _READERS)]
    found = declared(_sources(model, readers)) if readers else None
    if not found:
        return
    scanned = [v for n in all_nodes(model) if is_operator(n, {"Scan"}) for v in _collected(n)]
    chosen = [v for n in all_nodes(model) if is_operator(n, {"If"}) for v in _results(n)]
    # For these, ONNX Runtime allocates what it knows; it knows no dim in which two things differ.
    found |= declared([*scanned, *chosen])
    ranked = set(scanned)
    known = KnownValues(model, None if analysed is None else partial(analysed, found))
    shapes = [known.shape(value) for value in found]
    for value, dims in zip(found, shapes, strict=True):
        old = list(value.shape or ())
        if dims is None or len(dims) != len(old):
            value.shape = ir.Shape([None] * len(old)) if value in ranked else None
        elif any(isinstance(d, int) and d != i for d, i in zip(old, dims, strict=True)):
            pairs = zip(old, dims, strict=True)
            value.shape = ir.Shape(i if isinstance(d, int) else d for d, i in pairs)


def _sources(model: ir.Model, readers: Iterable[ir.Node]) -> Iterator[ir.Value]:
    """Yield the values from which the dims that nodes read follow, through calls and bodies."""
    holders: dict[ir.Value, list[ir.Node]] = {}
    for node in all_nodes(model):
        callee = called_function(model, node)
        bodies = graphs_of(node) if callee is None else [callee.graph]
        for value in (value for body in bodies for value in body.inputs):
            holders.setdefault(value, []).append(node)

    def behind(value: ir.Value) -> Iterator[ir.Value]:
        maker = value.producer()
        for node in holders.get(value, ()) if maker is None else (maker,):
            callee = called_function(model, node)
            bodies = graphs_of(node) if callee is None else [callee.graph]
            yield from (v for v in _behind(value, node, bodies) if v is not None)

    read = (value for node in readers for value in node.inputs if value is not None)
    return reached(list(read), behind)


def _behind(
    value: ir.Value, node: ir.Node, bodies: Sequence[ir.Graph]
) -> Iterable[ir.Value | None]:
    """Return the values from which the dims of an output of a node, or a body's input, follow."""
    is_call = bool(bodies) and not graphs_of(node)
    if not is_call and not is_operator(node, {"If", "Loop", "Scan"}):
        return [*node.inputs, *(v for body in bodies for v in body.outputs)]
    # Before the states, a body of a Loop has two inputs, as the Loop itself, and one output.
    skipped, ahead = (2, 1) if is_operator(node, {"Loop"}) else (0, 0)
    is_output = value.producer() is node
    at = node.outputs.index(value) if is_output else bodies[0].inputs.index(value) - skipped
    outside = node.inputs[at + skipped : at + skipped + 1] if at >= 0 else ()
    inside = [v for body in bodies for v in body.outputs[at + ahead : at + ahead + 1] if at >= 0]
    states = 0
    if is_operator(node, {"Loop", "Scan"}):
        states = len(node.inputs) - skipped - (attribute_of(node, "num_scan_inputs", 0) or 0)
    return [*outside, *inside] if at < states else inside if is_output else outside
