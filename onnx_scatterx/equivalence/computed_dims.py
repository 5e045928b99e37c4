"""The output dims of operators whose contents are not modelled, by formulas for any size.

Conv, pools, TopK, Einsum and Resize, as ONNX Runtime computes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx_scatterx.equivalence.core.arithmetic import ONE, ZERO, add, integer, number, scale
from onnx_scatterx.equivalence.core.division import divide
from onnx_scatterx.equivalence.core.logic import at_most
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term
from onnx_scatterx.equivalence.core.world import World

_POOLS = ("AveragePool", "LpPool", "MaxPool")


def computed_dims(
    node: Node, inputs: Sequence[Tensor | None], world: World
) -> tuple[Term | None, ...] | None:
    """Return the dims of a node's outputs, None for one that is not known; None for other nodes."""
    if any(i is None or i.dims is None for i in inputs[:1]) or not inputs:
        return None
    if node.op == "TopK":
        return _chosen(inputs, node)
    if node.op == "Einsum":
        return _einsum(inputs, node)
    if node.op == "Resize":
        return _resized(inputs, node)
    return _slid_over(node, inputs, world)


def _einsum(inputs: Sequence[Tensor | None], node: Node) -> tuple[Term | None, ...] | None:
    """Return the dims of an Einsum: a letter has one size, unless one is 1 and the other is not."""
    equation = node.get("equation", b"").decode().replace(" ", "")
    sides, arrow, result = equation.partition("->")
    terms = sides.split(",")
    if not arrow or "." in equation or len(terms) != len(inputs):
        return None
    sizes: dict[str, Term | None] = {}
    for text, tensor in zip(terms, inputs, strict=True):
        if tensor is None or tensor.dims is None or len(tensor.dims) != len(text):
            return None
        for letter, d in zip(text, tensor.dims, strict=True):
            if sizes.setdefault(letter, d) is not d:
                sizes[letter] = None
    return tuple(sizes.get(letter) for letter in result)


def _resized(inputs: Sequence[Tensor | None], node: Node) -> tuple[Term | None, ...] | None:
    """Return the dims of a Resize by whole numbers, or to sizes; others are rounded."""
    a = inputs[0]
    plain = set(node.attributes) <= {
        *("coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside"),
        *("extrapolation_value", "mode", "nearest_mode"),
    }
    if a is None or not plain or node.version < 11:
        return None
    scales, sizes = (inputs[k] if len(inputs) > k else None for k in (2, 3))
    if sizes is not None and sizes.dims is not None and number(sizes.dims[0]) == a.rank:
        return tuple(sizes.elements())
    if scales is None or scales.array is None or scales.array.size != a.rank:
        return None
    factors = [float(f) for f in scales.array.ravel()]
    return tuple(
        scale(d, int(f)) if f.is_integer() and f >= 1 else None
        for d, f in zip(a.shape, factors, strict=True)
    )


def _chosen(inputs: Sequence[Tensor | None], node: Node) -> tuple[Term, ...] | None:
    a, count = inputs[0], inputs[1] if len(inputs) > 1 else None
    axis = node.get("axis", -1)
    if a is None or a.dims is None or count is None or not -a.rank <= axis < a.rank:
        return None
    dims = list(a.dims)
    dims[axis] = count.at((ZERO,))
    return tuple(dims)


def _slid_over(
    node: Node, inputs: Sequence[Tensor | None], world: World
) -> tuple[Term | None, ...] | None:
    if node.op not in ("Conv", *_POOLS) or node.get("auto_pad", b"NOTSET") != b"NOTSET":
        return None
    if node.get("ceil_mode", 0) or not inputs or inputs[0] is None or inputs[0].dims is None:
        return None
    dims = inputs[0].dims
    spatial = len(dims) - 2
    channels = dims[1]
    kernel = node.get("kernel_shape")
    if node.op == "Conv":
        weights = inputs[1]
        if weights is None or weights.dims is None:
            return None
        channels = weights.dims[0]
        kernel = [number(d) for d in weights.dims[2:]]
    if spatial < 1 or kernel is None or len(kernel) != spatial or None in kernel:
        return None
    strides = node.get("strides") or [1] * spatial
    dilations = node.get("dilations") or [1] * spatial
    pads = node.get("pads") or [0] * (2 * spatial)
    found: list[Term | None] = []
    for k in range(spatial):
        reach = dilations[k] * (kernel[k] - 1) + 1
        room = add(dims[2 + k], integer(pads[k] + pads[k + spatial] - reach))
        # If the window does not fit, Conv fails, and a pool may give a window all the same.
        if node.op == "Conv":
            world.need(at_most(ZERO, room), "Conv: the kernel fits")
        fits = world.known(at_most(ZERO, room))
        found.append(add(divide(room, integer(strides[k])), ONE) if fits else None)
    return (dims[0], channels, *found)
