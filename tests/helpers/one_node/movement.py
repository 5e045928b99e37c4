"""Nodes that move elements, and read or write them by indices."""

import numpy as np

from tests.helpers.one_node.source import WRAPPING, Draws, OneNode, i64


def transpose(d: Draws) -> OneNode:
    x = d.data()
    perm = d.rng.sample(range(x.ndim), x.ndim)
    return OneNode([x], {"perm": perm} if d.flag() and perm else {})


def reshape(d: Draws) -> OneNode:
    x = d.data()
    shape, total = list(x.shape), x.size
    target = d.pick(
        *([-1], [0, -1], [total], [*shape, 1], shape[::-1], [1, -1], [0] * x.ndim),
        *([-1, 0], [0, 0, -1], [total, -1], [-1, total], [-1, *shape[1:]], [*shape[:-1], -1]),
        *([2, -1], [-1, 2], [total // 2, 2]),
    )
    attributes = {"allowzero": int(d.flag(0.3))} if d.opset >= 14 and d.flag() else {}
    return OneNode([x, d.numbers(target)], attributes)


def squeeze(d: Draws) -> OneNode:
    x = d.data()
    axes = [a for a, n in enumerate(x.shape) if n == 1 or d.flag(0.05)]
    axes = [a - d.pick(0, x.ndim) for a in axes if d.flag()]
    if d.opset < 13:
        return OneNode([x], {"axes": axes} if axes else {})
    return OneNode([x, *([i64(axes)] if axes or d.flag() else [])])


def unsqueeze(d: Draws) -> OneNode:
    x = d.data(high=3)
    axes = d.pick([0], [-1], [x.ndim], [0, -1], [0, x.ndim + 1], [-1, -2], [])
    return OneNode([x], {"axes": axes or [0]}) if d.opset < 13 else OneNode([x, i64(axes)])


def expand(d: Draws) -> OneNode:
    x = d.data()
    return OneNode([x, d.numbers(d.beside(x.shape))])


def tile(d: Draws) -> OneNode:
    x = d.data(low=1)
    return OneNode([x, d.numbers(d.ints([x.ndim], 0, 3))])


def concat(d: Draws) -> OneNode:
    x = d.data(low=1)
    axis = d.axis(x.ndim)
    parts: list[np.ndarray | None] = [x, *(d.beneath(x, axis) for _ in range(d.rng.randint(0, 2)))]
    d.rng.shuffle(parts)
    return OneNode(parts, {"axis": axis})


def split(d: Draws) -> OneNode:
    x = d.data(low=1)
    axis = d.axis(x.ndim)
    n, count = x.shape[axis], d.rng.randint(1, 3)
    if d.flag() or 13 <= d.opset < 18:
        cuts = sorted(d.rng.randint(0, n) for _ in range(count - 1))
        sizes = np.diff([0, *cuts, n])
        if d.opset < 13:
            return OneNode([x], {"axis": axis, "split": sizes.tolist()}, count)
        return OneNode([x, d.numbers(sizes)], {"axis": axis}, count)
    return OneNode([x], {"axis": axis, **({"num_outputs": count} if d.opset >= 18 else {})}, count)


ENDS = [-(2**63), -(2**31), -9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 9, 2**31 - 1, 2**63 - 1]


def slice_(d: Draws) -> OneNode:
    x = d.data(low=1)
    axes = d.rng.sample(range(x.ndim), d.rng.randint(1, x.ndim))
    starts, ends = ([d.pick(*ENDS) for _ in axes] for _ in range(2))
    if d.opset < 10:
        return OneNode([x], {"axes": axes, "starts": starts, "ends": ends})
    steps = [d.pick(1, 1, 2, 3, -1, -1, -2) for _ in axes]
    if d.flag(0.3):
        narrow = (np.clip(n, -(2**31), 2**31 - 1) for n in (starts, ends))
        cuts = [d.numbers(n, "int32") for n in narrow]
        return OneNode([x, *cuts, np.asarray(axes, np.int32), np.asarray(steps, np.int32)])
    more = [None if axes == list(range(len(axes))) and d.flag() else i64(axes), i64(steps)]
    return OneNode([x, d.numbers(starts), d.numbers(ends), *more[: d.pick(1, 2, 2)]])


def pad(d: Draws) -> OneNode:
    x = d.data(*WRAPPING, "float32", low=1)
    attributes = {"mode": d.pick("constant", "constant", "edge", "reflect")}
    amounts = d.ints([2 * x.ndim], -1, 2)
    if d.opset < 11:
        return OneNode([x], attributes | {"pads": amounts.tolist()})
    if d.opset >= 18 and d.flag():
        axes = d.some_axes(x.ndim, 1)
        return OneNode([x, d.ints([2 * len(axes)], -1, 2), None, i64(axes)], attributes)
    return OneNode([x, d.numbers(amounts)], attributes)


def gather(d: Draws) -> OneNode:
    x = d.data(low=1)
    axis = d.axis(x.ndim)
    n = x.shape[axis]
    return OneNode([x, d.index(d.shape(0, 2), d.pick(-1, -n), max(n - 1, 0))], {"axis": axis})


def gather_elements(d: Draws) -> OneNode:
    x = d.data(low=1)
    axis = d.axis(x.ndim)
    extents = [n if d.flag(0.7) else d.rng.randint(0, n) for n in x.shape]
    extents[axis] = d.extent()
    return OneNode([x, d.index(extents, -1, max(x.shape[axis] - 1, 0))], {"axis": axis})


def gather_nd(d: Draws) -> OneNode:
    x = d.data(low=1)
    batch = d.rng.randint(0, x.ndim - 1)
    depth = d.rng.randint(1, x.ndim - batch)
    lead = list(x.shape[:batch]) if d.flag(0.9) else [d.extent() for _ in range(batch)]
    index = d.ints([*lead, *d.shape(0, 2), depth], -1, 0)
    return OneNode([x, index], {"batch_dims": batch} if batch or d.flag() else {})


def scatter_elements(d: Draws) -> OneNode:
    x = d.data(*WRAPPING, "float32", low=1)
    axis = d.axis(x.ndim)
    extents = [d.rng.randint(0, n) for n in x.shape]
    index = d.ints(extents, -1, max(x.shape[axis] - 1, 0))
    return OneNode([x, index, d.any(extents, x.dtype.name)], {"axis": axis})


def scatter_nd(d: Draws) -> OneNode:
    x = d.data(*WRAPPING, "float32", low=1)
    depth, lead = d.rng.randint(1, x.ndim), d.shape(0, 2)
    index = d.ints([*lead, depth], -1, 0)
    return OneNode([x, index, d.any([*lead, *x.shape[depth:]], x.dtype.name)])


def tensor_scatter(d: Draws) -> OneNode:
    shape = d.shape(2)
    axis = d.rng.randint(1, len(shape) - 1) - d.pick(0, len(shape))
    update = list(shape)
    update[axis] = d.rng.randint(0, shape[axis])
    starts = [d.ints([shape[0]], 0, 3)] if d.flag() else []
    mode = d.pick("linear", "circular")
    return OneNode([d.floats(shape), d.floats(update), *starts], {"axis": axis, "mode": mode})


def compress(d: Draws) -> OneNode:
    x = d.data(low=1)
    attributes = {"axis": d.axis(x.ndim)} if d.flag(0.7) else {}
    return OneNode([x, d.any([d.extent()], "bool")], attributes)


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
