"""ScatterNDs into one tensor: each writes into another shape of it.

    shapes_of_scatters    ScatterND(x, i, u)   =   Reshape(ScatterND(Reshape(x), i, Reshape(u)))
                          x and u with one more axis of one element, or with several

It is written for all ScatterNDs of equal data but one: a compiler takes them for one ScatterND,
unless their indices are different constants. The last axes of the data are not indexed, so the
same elements are written, in the same order.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.fitting.faults.likeness import are_alike
from onnx_scatterx.graphs import attribute_of, constant, is_operator
from onnx_scatterx.operators import described

_RANK = 8
"""The most dims that are written. A scatter stays if other shapes of fewer dims are all taken."""


def shapes_of_scatters(at: Candidate) -> bool:
    """Write a ScatterND into another shape of its data, if one into equal data keeps this shape."""
    node = at.node
    shape = _shape(at, node)
    if shape is None:
        return False
    others = [other for other in at.others("ScatterND") if _are_one(at, other)]
    taken = {_shape(at, other) for other in others}
    most = min(_RANK, at.writer.target.max_rank or _RANK)
    free = [ones for ones in range(1, most - len(shape) + 1) if (*shape, *[1] * ones) not in taken]
    return shape in taken and bool(free) and at.on_host(lambda: _with_ones(at, free[0]))


def _shape(at: Candidate, node: ir.Node) -> tuple[int, ...] | None:
    """Return the shape of the data of a ScatterND."""
    if not is_operator(node, ("ScatterND",)):
        return None
    x = required(node.inputs[0])
    maker = x.producer()
    if maker is not None and is_operator(maker, ("Reshape",)):  # which may be new
        sizes = constant(required(maker.inputs[1]), at.scope.overridable)
        shape = () if sizes is None else tuple(sizes.numpy().tolist())
        if shape and min(shape) > 0:
            return shape
    return at.scope.of(x).static_shape


def _are_one(at: Candidate, other: ir.Node) -> bool:
    """Return whether another ScatterND counts as the same one, but for the shape of its data."""
    node = at.node
    if _shape(at, other) is None:
        return False
    if any(attribute.is_ref() for n in (node, other) for attribute in n.attributes.values()):
        return False
    reductions = {attribute_of(n, "reduction", "none") for n in (node, other)}
    indices = [required(n.inputs[1]) for n in (node, other)]
    if len(reductions) > 1 or not _are_equal(
        at, *[_source(required(n.inputs[0])) for n in (node, other)]
    ):
        return False
    both = all(at.constants.is_constant(value) for value in indices)
    return not both or _are_equal(at, *indices)


def _are_equal(at: Candidate, one: ir.Value, other: ir.Value) -> bool:
    """Return whether two values are equal, as far as it is known here what constants are."""
    if are_alike(one, other, at.scope.overridable):
        return True
    tensors = [constant(value, at.scope.overridable) for value in (one, other)]
    if None not in tensors or not all(map(at.constants.is_constant, (one, other))):
        return False
    shapes = {at.scope.of(value).static_shape for value in (one, other)}
    return len(shapes) == 1  # the compiler computes them, and they may be equal


def _source(x: ir.Value) -> ir.Value:
    """Return a tensor before all Reshapes."""
    maker = x.producer()
    while maker is not None and described(maker).keeps_order and maker.inputs[0] is not None:
        x = maker.inputs[0]
        maker = x.producer()
    return x


def _with_ones(at: Candidate, ones: int) -> bool:
    """Write a ScatterND into its data with some more axes of one element."""
    w, node, scope, _, _ = at
    x, i, u = (required(v) for v in node.inputs)
    shapes = scope.of(x).static_shape, scope.of(u).static_shape
    if shapes[0] is None or shapes[1] is None:
        return False
    wide, of_updates = [*shapes[0], *[1] * ones], [*shapes[1], *[1] * ones]
    shape, kind = [*shapes[0]], w.dtype_of(x)
    reduction = {k: a.value for k, a in node.attributes.items() if k == "reduction"}

    def write() -> ir.Value:
        data = w.node("Reshape", [x, w.constant(wide)], kind)
        updates = w.node("Reshape", [u, w.constant(of_updates)], kind)
        y = w.node("ScatterND", [data, i, updates], kind, **reduction)
        return w.node("Reshape", [y, w.constant(shape)], kind)

    return at.replace(node.outputs[0], write)
