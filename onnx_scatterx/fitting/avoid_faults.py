"""Forms that avoid a fault of the target's compiler, at its pattern alone, after all other forms.

    relu_behind_softmax     MatMul(Softmax(MatMul(q, k)), v)   =   MatMul(Relu(Softmax(...)), v)
                            if q or k is a constant, even if Add, Mul or Div stand between
    slice_before_reshape    Slice(Reshape(Conv(x)))            =   Reshape(Slice(Conv(x)))
                            if the Reshape only adds or removes axes of one element, for several
                            Slices
    expand_for_and          And(x, [true, true])               =   Expand(x, [2])
                            if several Ands read x

A Softmax is not negative, and a NaN stays a NaN, so a Relu changes nothing. The profile has the
faults, with the version of the compiler.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.engine.passes import Job, Pass
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import constant, is_operator, remove_dead, replace_uses
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
                for node in list(graph):
                    if "relu_behind_softmax" in forms and _multiplies_weights(node, constants):
                        modified |= _with_relu(w, node)
                    if "slice_before_reshape" in forms:
                        modified |= _with_slices_first(w, node, scope)
                    if "expand_for_and" in forms:
                        modified |= _with_expands(w, node, scope)
                job.analyses.note(w.graph.made)
    except LimitError:
        pass  # the rest is kept
    return modified


AvoidFaults = Pass(avoid_faults, applies=lambda s: s.target.faults)

_BETWEEN = those(lambda row: row.neutral is not None)  # sums and products
_MOST = 4  # nodes between the first MatMul and the Softmax


def _multiplies_weights(node: ir.Node, constants: TakenOut) -> bool:
    """Return whether a node multiplies values by weights that constant queries or keys give."""
    if not is_operator(node, ("MatMul",)):
        return False
    softmax = _maker(node.inputs[0])
    if not is_operator(softmax, ("Softmax",)) or softmax is None:
        return False
    stack = [(softmax.inputs[0], 0)]
    while stack:
        value, depth = stack.pop()
        maker = _maker(value)
        if is_operator(maker, ("MatMul",)) and maker is not None:
            return any(v is not None and constants.is_constant(v) for v in maker.inputs)
        if is_operator(maker, _BETWEEN) and maker is not None and depth < _MOST:
            stack += [(v, depth + 1) for v in maker.inputs]
    return False


def _maker(value: ir.Value | None) -> ir.Node | None:
    return None if value is None else value.producer()


def _with_relu(w: Writer, node: ir.Node) -> bool:
    """Put a Relu in front of the first operand of a MatMul."""
    weights = node.inputs[0]
    assert weights is not None
    with w.graph.at(node, weights.name):
        nodes = w.fragment_of(lambda: w.node("Relu", [weights], w.dtype_of(weights)))
        if isinstance(nodes, Refusal):
            return False
        node.replace_input_with(0, w.graph.commit(nodes).result)
    return True


def _with_slices_first(w: Writer, reshape: ir.Node, scope: Scope) -> bool:
    """Cut what a Reshape reads, if only Slices read the Reshape of a Conv."""
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
    for node in slices:
        value, shape = node.outputs[0], scope.of(node.outputs[0]).static_shape
        operands = [constant(v, scope.overridable) for v in node.inputs[1:]]
        if shape is None or len(operands) != 3 or any(t is None for t in operands):
            continue
        starts, ends, axes = (t.numpy().ravel().tolist() for t in operands if t is not None)
        places = [moved.get(axis % len(shape)) for axis in axes]
        if None in places:
            continue
        bounds = [starts, ends, [place for place in places if place is not None]]

        def write(
            x: ir.Value = x, bounds: list[list[int]] = bounds, shape: tuple[int, ...] = shape
        ) -> ir.Value:
            dtype = w.dtype_of(x)
            cut = w.node("Slice", [x, *(w.constant(numbers) for numbers in bounds)], dtype)
            return w.node("Reshape", [cut, w.constant(list(shape))], dtype)

        as_output = value.is_graph_output()
        with w.graph.at(node, value.name):
            nodes = w.fragment_of(write, as_output=as_output)
            if isinstance(nodes, Refusal):
                continue
            made = w.graph.take_name(value, w.graph.commit(nodes), scope.of(value).dtype)
        replace_uses(value, made)
        remove_dead([node])
        modified = True
    return modified


def _with_expands(w: Writer, node: ir.Node, scope: Scope) -> bool:
    """Write all Ands that read an operand of an And without masks of which all is true."""
    modified = False
    for x in node.inputs if is_operator(node, ("And",)) else ():
        readers = [] if x is None else list(dict.fromkeys(use.node for use in x.uses()))
        ands = [reader for reader in readers if is_operator(reader, ("And",))]
        for reader in ands if len(ands) > 1 else ():
            modified |= x is not None and _with_expand(w, reader, x, scope)
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

    with w.graph.at(node, value.name):
        nodes = w.fragment_of(write, as_output=value.is_graph_output())
        if isinstance(nodes, Refusal):
            return False
        made = w.graph.take_name(value, w.graph.commit(nodes), ir.DataType.BOOL)
    replace_uses(value, made)
    remove_dead([node])
    return True


def _slices_of(reshape: ir.Node) -> list[ir.Node]:
    """Return the Slices of what a Reshape makes: two or more, if nothing else reads it."""
    if not is_operator(reshape, ("Reshape",)) or reshape.outputs[0].is_graph_output():
        return []
    readers = list(dict.fromkeys(use.node for use in reshape.outputs[0].uses()))
    plain = all(is_operator(node, ("Slice",)) for node in readers)
    return readers if plain and len(readers) > 1 else []


def _kept(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the axes of more than one element, with their sizes."""
    return ((d, n) for d, n in enumerate(shape) if n != 1)
