"""Nodes that move elements, and read or write them by indices."""

import numpy as np

from tests.one_node.source import Draws, OneNode, i64


def transpose(d: Draws) -> OneNode:
    shape = d.shape()
    perm = d.rng.sample(range(len(shape)), len(shape))
    return OneNode([d.any(shape)], {"perm": perm} if d.flag() and perm else {})


def reshape(d: Draws) -> OneNode:
    shape = d.shape()
    total = int(np.prod(shape, dtype=int))
    target = d.pick(
        *([-1], [0, -1], [total], [*shape, 1], shape[::-1], [1, -1], [0] * len(shape)),
        *([-1, 0], [0, 0, -1], [total, -1], [-1, total], [-1, *shape[1:]], [*shape[:-1], -1]),
    )
    return OneNode([d.any(shape), i64(target)], {"allowzero": d.pick(0, 1)} if d.flag() else {})


def squeeze(d: Draws) -> OneNode:
    shape = d.shape()
    axes = [a for a, n in enumerate(shape) if n == 1 or d.flag(0.05)]
    axes = [a - d.pick(0, len(shape)) for a in axes if d.flag()]
    return OneNode([d.any(shape), *([i64(axes)] if axes or d.flag() else [])])


def unsqueeze(d: Draws) -> OneNode:
    shape = d.shape(0, 3)
    rank = len(shape)
    axes = d.pick([0], [-1], [rank], [0, -1], [0, rank + 1], [-1, -2], [])
    return OneNode([d.any(shape), i64(axes)])


def expand(d: Draws) -> OneNode:
    shape = d.shape()
    return OneNode([d.any(shape), i64(d.beside(shape))])


def tile(d: Draws) -> OneNode:
    shape = d.shape(1)
    return OneNode([d.any(shape), d.ints([len(shape)], 0, 3)])


def concat(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis, dtype = d.axis(len(shape)), d.pick("float32", "int64")
    shapes = [list(shape) for _ in range(d.rng.randint(1, 3))]
    for s in shapes:
        s[axis] = d.extent()
        if d.flag(0.1):
            s[d.axis(len(s))] = d.extent()
    return OneNode([d.any(s, dtype) for s in shapes], {"axis": axis})


def split(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis = d.axis(len(shape))
    n, count = shape[axis], d.rng.randint(1, 3)
    if d.flag() or d.opset < 18:
        cuts = sorted(d.rng.randint(0, n) for _ in range(count - 1))
        sizes = np.diff([0, *cuts, n])
        return OneNode([d.any(shape), i64(sizes)], {"axis": axis}, count)
    return OneNode([d.any(shape)], {"axis": axis, "num_outputs": count}, count)


ENDS = (-(2**63), -9, -2, -1, 0, 1, 2, 3, 9, 2**31 - 1, 2**63 - 1)


def slice_(d: Draws) -> OneNode:
    shape = d.shape(1)
    axes = d.rng.sample(range(len(shape)), d.rng.randint(1, len(shape)))
    bounds = [i64([d.pick(*ENDS) for _ in axes]) for _ in range(2)]
    steps = i64([d.pick(1, 1, 2, -1, -2) for _ in axes])
    return OneNode([d.any(shape), *bounds, i64(axes), steps])


def pad(d: Draws) -> OneNode:
    shape = d.shape(1)
    rank = len(shape)
    mode = d.pick("constant", "constant", "edge", "reflect")
    if d.opset >= 18 and d.flag():
        axes = d.some_axes(rank, 1)
        amounts = d.ints([2 * len(axes)], -1, 2)
        return OneNode([d.floats(shape), amounts, None, i64(axes)], {"mode": mode})
    return OneNode([d.floats(shape), d.ints([2 * rank], -1, 2)], {"mode": mode})


def gather(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis = d.axis(len(shape))
    return OneNode(
        [d.any(shape), d.ints(d.shape(0, 2), -1, max(shape[axis] - 1, 0))], {"axis": axis}
    )


def gather_elements(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis = d.axis(len(shape))
    extents = [n if d.flag(0.7) else d.rng.randint(0, n) for n in shape]
    extents[axis] = d.extent()
    return OneNode([d.any(shape), d.ints(extents, -1, max(shape[axis] - 1, 0))], {"axis": axis})


def gather_nd(d: Draws) -> OneNode:
    shape = d.shape(1)
    batch = d.rng.randint(0, len(shape) - 1)
    depth = d.rng.randint(1, len(shape) - batch)
    lead = shape[:batch] if d.flag(0.9) else [d.extent() for _ in range(batch)]
    index = d.ints([*lead, *d.shape(0, 2), depth], -1, 0)
    return OneNode([d.any(shape), index], {"batch_dims": batch})


def scatter_elements(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis, dtype = d.axis(len(shape)), d.pick("float32", "int64")
    extents = [d.rng.randint(0, n) for n in shape]
    index = d.ints(extents, -1, max(shape[axis] - 1, 0))
    return OneNode([d.any(shape, dtype), index, d.any(extents, dtype)], {"axis": axis})


def scatter_nd(d: Draws) -> OneNode:
    shape = d.shape(1)
    depth, lead, dtype = d.rng.randint(1, len(shape)), d.shape(0, 2), d.pick("float32", "int64")
    index = d.ints([*lead, depth], -1, 0)
    return OneNode([d.any(shape, dtype), index, d.any([*lead, *shape[depth:]], dtype)])


def tensor_scatter(d: Draws) -> OneNode:
    shape = d.shape(2)
    axis = d.rng.randint(1, len(shape) - 1) - d.pick(0, len(shape))
    update = list(shape)
    update[axis] = d.rng.randint(0, shape[axis])
    starts = [d.ints([shape[0]], 0, 3)] if d.flag() else []
    mode = d.pick("linear", "circular")
    return OneNode([d.floats(shape), d.floats(update), *starts], {"axis": axis, "mode": mode})


def compress(d: Draws) -> OneNode:
    shape = d.shape(1)
    attributes = {"axis": d.axis(len(shape))} if d.flag(0.7) else {}
    return OneNode([d.any(shape), d.any([d.extent()], "bool")], attributes)


def unique(d: Draws) -> OneNode:
    shape, attributes = d.shape(1, 3), {}
    if d.flag():
        shape = [max(n, 1) for n in shape]
        attributes["axis"] = d.axis(len(shape))
    return OneNode([d.any(shape, "float32", "int64")], attributes, d.rng.randint(1, 4))


def reverse_sequence(d: Draws) -> OneNode:
    shape = d.shape(2)
    time = d.rng.randint(0, 1)
    lengths = d.ints([shape[1 - time]], 0, max(shape[time], 0))
    return OneNode([d.floats(shape), lengths], {"time_axis": time, "batch_axis": 1 - time})


def center_crop_pad(d: Draws) -> OneNode:
    shape = d.shape(1)
    axes = d.some_axes(len(shape), 1)
    return OneNode([d.floats(shape), d.ints([len(axes)], 0, 4)], {"axes": axes})
