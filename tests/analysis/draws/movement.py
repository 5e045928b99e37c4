"""Random nodes that move elements, or put tensors together."""

import numpy as np

from tests.helpers.random_chains import INTEGERS, Chain, Drawn


def concat(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    v = c.values[a]
    same = [n for n, w in c.values.items() if w.dtype == v.dtype and w.ndim == v.ndim]
    parts = [a, *(c.rng.choice(same) for _ in range(c.rng.randint(0, 2)))]
    c.rng.shuffle(parts)
    return parts, {"axis": c.axis(v.ndim)}, 1


def expand(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    target = [c.rng.choice([1, n, 2]) for n in (2, *c.values[a].shape)]
    return [a, c.vector(len(target), target)], {}, 1


def flatten(c: Chain) -> Drawn:
    a = c.some(*INTEGERS)
    return [a], {"axis": c.rng.randint(-c.values[a].ndim, c.values[a].ndim)}, 1


def pad(c: Chain) -> Drawn:
    a = c.some("int64", "int32", "float32", ranks=(1, 2))
    rank = c.values[a].ndim
    amounts = c.ints(2 * rank, -1, 2)
    mode = c.rng.choice(["constant", "edge", "reflect"])
    if c.opset < 11:
        return ["f"], {"pads": c.ints(4, -1, 2), "mode": mode}, 1
    inputs = [a, c.vector(2 * rank, amounts)]
    if c.opset >= 18 and c.flag():
        inputs = [a, c.constant(c.ints(2, -1, 2)), "", c.constant([c.axis(rank)])]
    return inputs, {"mode": mode}, 1


def reshape(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    shape = list(c.values[a].shape)
    total = c.values[a].size
    targets: list[list[int]] = [[-1], [total], [*shape, 1], shape[::-1], [1, -1], [0] * len(shape)]
    if total % 2 == 0:
        targets += [[2, -1], [-1, 2], [total // 2, 2]]
    target = c.rng.choice(targets)
    attributes = {"allowzero": int(c.rng.random() < 0.2)} if c.opset >= 14 else {}
    return [a, c.vector(len(target), target)], attributes, 1


ENDS = [-(2**63), -(2**31), -9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 9, 2**31 - 1, 2**63 - 1]


def slice_(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", "float32", ranks=(1, 2, 3))
    rank = c.values[a].ndim
    axes = c.rng.sample(range(rank), c.rng.randint(1, rank))
    starts, ends = ([c.rng.choice(ENDS) for _ in axes] for _ in range(2))
    if c.opset < 10:
        return [a], {"axes": axes, "starts": starts, "ends": ends}, 1
    steps = [c.rng.choice([1, 1, 2, 3, -1, -1, -2]) for _ in axes]
    if c.rng.random() < 0.3:  # of 32 bits, ends that the run gives among them
        narrow = [np.clip(n, -(2**31), 2**31 - 1) for n in (starts, ends)]
        cuts = [c.constant(n, "int32") for n in narrow]
        given = [n for n, v in c.values.items() if v.dtype == np.int32 and v.shape == (len(axes),)]
        cuts[1] = c.rng.choice([cuts[1], *given])
        return [a, *cuts, c.constant(axes, "int32"), c.constant(steps, "int32")], {}, 1
    cuts = [c.vector(len(axes), starts), c.vector(len(axes), ends)]
    more = [c.constant(axes), c.constant(steps)]
    if axes == list(range(len(axes))) and c.flag():
        more[0] = ""
    return [a, *cuts, *more[: c.rng.choice([1, 2, 2])]], {}, 1


def split(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    v = c.values[a]
    axis = c.axis(v.ndim)
    n = v.shape[axis]
    first = c.rng.randint(0, n)
    if c.opset < 13:
        return [a], {"axis": axis, "split": [first, n - first]} if c.flag() else {"axis": axis}, 2
    if c.flag():
        return [a, c.vector(2, [first, n - first])], {"axis": axis}, 2
    count = c.rng.randint(1, 3)
    attributes = {"axis": axis, "num_outputs": count} if c.opset >= 18 else {"axis": axis}
    return [a], attributes, count


def squeeze(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    axes = [d for d, n in enumerate(c.values[a].shape) if n == 1]
    axes = [d - c.rng.choice([0, c.values[a].ndim]) for d in axes if c.flag()]
    if c.opset < 13:
        return [a], {"axes": axes} if axes else {}, 1
    return [a, c.constant(axes)] if axes or c.flag() else [a], {}, 1


def unsqueeze(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(0, 1, 2))
    rank = c.values[a].ndim
    axes = c.rng.choice([[0], [-1], [rank], [0, -1], [0, rank + 1]])
    return ([a, c.constant(axes)], {}, 1) if c.opset >= 13 else ([a], {"axes": axes}, 1)


def tile(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    return [a, c.vector(c.values[a].ndim, c.ints(c.values[a].ndim, 0, 3))], {}, 1


def transpose(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    perm = c.rng.sample(range(c.values[a].ndim), c.values[a].ndim)
    return [a], {"perm": perm} if perm and c.flag() else {}, 1
