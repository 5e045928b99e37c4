"""A Transpose between two Reshapes in steps, for a target that takes fewer dims than move apart.

    Transpose<[1, 3, 0, 2, 4]>   =   Transpose<[1, 0, 2]>    and then   Transpose<[0, 2, 1, 3]>
    of [a, b, c, d, e]               of [a, b, c * d * e]               of [b, a * c, d, e]

Each step swaps two neighbouring runs of axes, so it has four dims at the most. Holds if the sizes
are known numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.engine.analysis import require
from onnx_scatterx.engine.write.forms.request import Request

_AROUND = 4  # two runs of axes, and what stands in front of them and behind


def is_picked(request: Request) -> bool:
    """Return whether each reader takes one place on the first axis: a view of it is shorter."""
    (value,), sizes = request.writer.graph.insertion_point.outputs, request.sizes
    nodes = [use.node for use in value.uses()]
    taken = [request.of(v).static_shape for node in nodes for v in node.outputs]
    picks = all(node.op_type in ("Gather", "Slice", "Split") for node in nodes)
    return (picks and sizes[0] != 1) and all(
        shape is not None and math.prod(shape) * sizes[0] == math.prod(sizes) for shape in taken
    )


def in_steps(request: Request, x: ir.Value, sizes: Sequence[int], order: Sequence[int]) -> ir.Value:
    """Write a Transpose of a tensor, which has these sizes, as several."""
    require(request.most_dims >= _AROUND)
    left, right = swaps(order), swaps([len(order) - 1 - d for d in reversed(order)])
    mirrored = [tuple(len(order) - n for n in reversed(swap)) for swap in right]
    axes = list(range(len(order)))
    for first, middle, end in left if len(left) <= len(mirrored) else mirrored:
        parts = [axes[:first], axes[first:middle], axes[middle:end], axes[end:]]
        kept = [i for i, part in enumerate(parts) if part]
        x = request.reshape(x, [math.prod(sizes[d] for d in parts[i]) for i in kept])
        perm = [kept.index(i) for i in (0, 2, 1, 3) if i in kept]
        x = request.writer.node("Transpose", [x], request.dtype, perm=perm)
        axes = [*parts[0], *parts[2], *parts[1], *parts[3]]
    return x


def swaps(order: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return which neighbouring runs change places, so that the axes come into an order.

    >>> swaps([1, 3, 0, 2, 4])
    [(0, 1, 2), (1, 3, 4)]
    """
    axes, found = list(range(len(order))), []
    for first, wanted in enumerate(order):
        middle = axes.index(wanted)
        if middle != first:
            end = middle + 1
            while end < len(axes) and axes[end] == order[first + end - middle]:
                end += 1
            found.append((first, middle, end))
            axes[first:end] = axes[middle:end] + axes[first:middle]
    return found
