"""Forms that avoid a fault of the target's compiler, at its pattern alone, after all other forms.

    relu_behind_softmax     MatMul(Softmax(MatMul(q, k)), v)   =   MatMul(Relu(Softmax(...)), v)
                            if q or k is a constant, even if Add, Mul or Div stand between;
                            for any q and k in MatMul(v, Transpose(Softmax(...)))
    slice_before_reshape    Slice(Reshape(Conv(x)))            =   Reshape(Slice(Conv(x)))
                            if the Reshape only adds or removes axes of one element, for several
                            Slices, or for a Split
    expand_for_and          And(x, [true, true])               =   Expand(x, [2])
                            if several Ands read x, which no constants alone give
    elements_of_gathers: in avoid_gather_faults.py
    images_as_channels, few_channels: in avoid_conv_faults.py

A Softmax is not negative, and a NaN stays a NaN, so a Relu changes nothing. The profile has the
faults, with the version of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.engine.passes import Job, Pass
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import attribute_of, constant, is_operator, remove_dead, replace_uses
from onnx_scatterx.operators import those
from onnx_scatterx.text import Refusal


def avoid_faults(job: Job) -> bool:
    """Write the forms that the target's faults ask for; return whether there were any.

    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2, 4] k, float[4, 3] v) => (float[1, 3] y) <float[1, 2] q = {1, 2}> {
    ...         s = MatMul (q, k)  p = Softmax (s)  y = MatMul (p, v) }''')
    >>> avoid_faults(Job(model, Settings.of(target="rknn")))
    True
    >>> [node.op_type for node in model.graph]
    ['MatMul', 'Softmax', 'Relu', 'MatMul']
    """
    forms = {fault.form for fault in job.settings.target.faults}
    modified, constants = False, TakenOut(job.model)
    try:
        with budget().share(1 / 4):
            known = job.analyses.without_trust.current()
            for graph, scope in known.own_graphs():
                as_nodes = job.has_constant_nodes(scope)
                target = job.settings.target
                w = Writer(graph, scope, job.names, constant_nodes=as_nodes, target=target)
                if "elements_of_gathers" in forms:
                    modified |= _with_elements(w, graph, scope, constants)
                for node in list(graph):
                    reader = _reader_of_weights(node, constants)
                    if "relu_behind_softmax" in forms and reader is not None:
                        modified |= _with_relu(w, reader)
                    if "slice_before_reshape" in forms:
                        modified |= _with_slices_first(w, node, scope)
                    if "expand_for_and" in forms:
                        modified |= _with_expands(w, node, scope, constants)
                    if is_operator(node, ("Conv",)):
                        modified |= _with_other_conv(w, node, scope, forms)
                job.analyses.note(w.graph.made)
    except LimitError:
        pass  # the rest is kept
    return modified


AvoidFaults = Pass(avoid_faults, applies=lambda s: s.target.faults)

_BETWEEN = those(lambda row: row.neutral is not None)  # sums and products
_MOST = 4  # nodes between the first MatMul and the Softmax


def _reader_of_weights(node: ir.Node, constants: TakenOut) -> ir.Node | None:
    """Return the node that reads the weights of an attention, if a MatMul is the end of one.

    It is the MatMul itself, if constant queries or keys give the weights; or a Transpose of them.
    """
    if not is_operator(node, ("MatMul",)):
        return None
    scores, turned = _scores(node.inputs[0]), _maker(node.inputs[1])
    if scores is not None:
        has_constant = any(v is not None and constants.is_constant(v) for v in scores.inputs)
        return node if has_constant else None
    if turned is None or not is_operator(turned, ("Transpose",)):
        return None
    return None if _scores(turned.inputs[0]) is None else turned


def _scores(weights: ir.Value | None) -> ir.Node | None:
    """Return the MatMul of which a Softmax makes weights."""
    softmax = _maker(weights)
    if not is_operator(softmax, ("Softmax",)) or softmax is None:
        return None
    stack = [(softmax.inputs[0], 0)]
    while stack:
        value, depth = stack.pop()
        maker = _maker(value)
        if is_operator(maker, ("MatMul",)) and maker is not None:
            return maker
        if is_operator(maker, _BETWEEN) and maker is not None and depth < _MOST:
            stack += [(v, depth + 1) for v in maker.inputs]
    return None


def _maker(value: ir.Value | None) -> ir.Node | None:
    return None if value is None else value.producer()


def _with_relu(w: Writer, node: ir.Node) -> bool:
    """Put a Relu in front of the first operand of a node."""
    weights = node.inputs[0]
    assert weights is not None
    with w.graph.at(node, weights.name):
        nodes = w.fragment_of(lambda: w.node("Relu", [weights], w.dtype_of(weights)))
        if isinstance(nodes, Refusal):
            return False
        node.replace_input_with(0, w.graph.commit(nodes).result)
    return True


def _with_slices_first(w: Writer, reshape: ir.Node, scope: Scope) -> bool:
    """Cut what a Reshape reads, if only Slices and Splits read the Reshape of a Conv."""
    slices = _slices_of(reshape)
    (x, whole) = (reshape.inputs[0], reshape.outputs[0]) if slices else (None, None)
    if x is None or whole is None or not is_operator(x.producer(), ("Conv",)):
        return False
    shapes = [scope.of(v).static_shape or () for v in (x, whole)]  # no axis of an unknown one
    before, after = (list(_kept(shape)) for shape in shapes)
    if [n for _, n in before] != [n for _, n in after]:
        return False
    moved = dict(zip((d for d, _ in after), (d for d, _ in before), strict=True))
    modified = False
    for value, bounds in [cut for node in slices for cut in _cuts(node, scope)]:
        shape, places = scope.of(value).static_shape, [moved.get(axis) for axis in bounds[2]]
        if shape is None or None in places:
            continue
        own = [*bounds[:2], [place for place in places if place is not None]]

        def write(
            x: ir.Value = x, bounds: list[list[int]] = own, shape: tuple[int, ...] = shape
        ) -> ir.Value:
            dtype = w.dtype_of(x)
            cut = w.node("Slice", [x, *(w.constant(numbers) for numbers in bounds)], dtype)
            return w.node("Reshape", [cut, w.constant(list(shape))], dtype)

        modified |= _written(w, value, write)
    return modified


def _cuts(node: ir.Node, scope: Scope) -> Iterator[tuple[ir.Value, list[list[int]]]]:
    """Yield what a Slice or a Split makes, each with the starts, ends and axes of a Slice."""
    rank = scope.of(required(node.inputs[0])).rank or 0
    sizes = [scope.of(value).static_shape for value in node.outputs]
    if not rank or None in sizes:
        return
    if node.op_type == "Split":
        axis, start = attribute_of(node, "axis", 0) % rank, 0
        for value, shape in zip(node.outputs, sizes, strict=True):
            end = start + required(shape)[axis]
            yield value, [[start], [end], [axis]]
            start = end
        return
    operands = [constant(v, scope.overridable) for v in node.inputs[1:]]
    bounds = [t.numpy().ravel().tolist() for t in operands if t is not None]
    starts, ends, axes, steps = [*bounds, [1]][:4] if len(bounds) > 2 else ([], [], [], [])
    if len(bounds) == len(operands) and set(steps) == {1}:
        yield node.outputs[0], [starts, ends, [axis % rank for axis in axes]]


def _written(w: Writer, value: ir.Value, write: Callable[[], ir.Value]) -> bool:
    """Write a value in another form, in front of its node; return whether the target takes it."""
    node = required(value.producer())
    with w.graph.at(node, value.name):
        nodes = w.fragment_of(write, as_output=value.is_graph_output())
        if isinstance(nodes, Refusal):
            return False
        made = w.graph.take_name(value, w.graph.commit(nodes), w.dtype_of(value))
    replace_uses(value, made)
    remove_dead([node])
    return True


def _with_elements(w: Writer, graph: ir.Graph, scope: Scope, constants: TakenOut) -> bool:
    """Write Gathers of one tensor as other operators, but for one of them."""
    from onnx_scatterx.fitting.avoid_gather_faults import elements_of_gathers

    # The target runs GatherElements of integers on its host, as it runs each Gather.
    own, w.target = w.target, w.target.with_host()
    found = list(elements_of_gathers(w, graph, scope, constants))
    written = [_written(w, value, write) for value, write in found]
    w.target = own
    return any(written)


def _with_other_conv(w: Writer, node: ir.Node, scope: Scope, forms: set[str]) -> bool:
    """Write a depthwise Conv in the first form that is asked for and applies."""
    from onnx_scatterx.fitting.avoid_conv_faults import other_conv

    write = other_conv(w, node, scope, forms)
    return write is not None and _written(w, node.outputs[0], write)


def _with_expands(w: Writer, node: ir.Node, scope: Scope, constants: TakenOut) -> bool:
    """Write all Ands that read an operand of an And without masks of which all is true."""
    modified = False
    for x in node.inputs if is_operator(node, ("And",)) else ():
        if x is None or constants.is_constant(x):
            continue
        readers = list(dict.fromkeys(use.node for use in x.uses()))
        ands = [reader for reader in readers if is_operator(reader, ("And",))]
        for reader in ands if len(ands) > 1 else ():
            modified |= _with_expand(w, reader, x, scope)
    return modified


def _with_expand(w: Writer, node: ir.Node, x: ir.Value, scope: Scope) -> bool:
    """Expand one operand of an And, if the other is a constant of which all is true."""
    masks = [v for v in node.inputs if v is not None and v is not x]
    value, shape = node.outputs[0], scope.of(node.outputs[0]).static_shape
    mask = constant(masks[0], scope.overridable) if len(masks) == 1 else None
    if mask is None or shape is None or not mask.numpy().all():
        return False

    def write() -> ir.Value:
        return w.node("Expand", [x, w.constant(list(shape))], ir.DataType.BOOL)

    return _written(w, value, write)


def _slices_of(reshape: ir.Node) -> list[ir.Node]:
    """Return the Slices of what a Reshape makes, or its Split: two parts, and no other reader."""
    if not is_operator(reshape, ("Reshape",)) or reshape.outputs[0].is_graph_output():
        return []
    readers = list(dict.fromkeys(use.node for use in reshape.outputs[0].uses()))
    plain = all(is_operator(node, ("Slice", "Split")) for node in readers)
    return readers if plain and sum(len(node.outputs) for node in readers) > 1 else []


def _kept(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the axes of more than one element, with their sizes."""
    return ((d, n) for d, n in enumerate(shape) if n != 1)
