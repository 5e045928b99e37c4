"""The output dims of convolutions, pools and TopK, whose contents are not modelled.

ONNX infers them only from known sizes; this is the same formula for any size.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx_scatterx.equivalence.core.arithmetic import ONE, ZERO, add, integer, number
from onnx_scatterx.equivalence.core.division import divide
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term

_POOLS = ("AveragePool", "LpPool", "MaxPool")


def computed_dims(node: Node, inputs: Sequence[Tensor | None]) -> tuple[Term, ...] | None:
    """Return the dims of the outputs of a Conv, a pool or a TopK; None for any other node."""
    return _chosen(inputs, node) if node.op == "TopK" else _slid_over(node, inputs)


def _chosen(inputs: Sequence[Tensor | None], node: Node) -> tuple[Term, ...] | None:
    a, count = inputs[0], inputs[1] if len(inputs) > 1 else None
    axis = node.get("axis", -1)
    if a is None or a.dims is None or count is None or not -a.rank <= axis < a.rank:
        return None
    dims = list(a.dims)
    dims[axis] = count.at((ZERO,))
    return tuple(dims)


def _slid_over(node: Node, inputs: Sequence[Tensor | None]) -> tuple[Term, ...] | None:
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
    found = []
    for k in range(spatial):
        reach = dilations[k] * (kernel[k] - 1) + 1
        room = add(dims[2 + k], integer(pads[k] + pads[k + spatial] - reach))
        found.append(add(divide(room, integer(strides[k])), ONE))
    return (dims[0], channels, *found)
