"""Random nodes that read or write by indices."""

import numpy as np

from tests.analysis.draws.numbers import WRAPPING
from tests.helpers.random_chains import INTEGERS, Chain, Drawn


def gather(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", "float32", ranks=(1, 2))
    axis = c.axis(c.values[a].ndim)
    n = c.values[a].shape[axis]
    i = c.constant(c.array(*c.rng.choice([(), (1,), (2,), (2, 2)]), low=-n, high=max(n - 1, 0)))
    if c.rng.random() < 0.3:
        i = c.some(*WRAPPING)
    return [a, i], {"axis": axis}, 1


def gather_elements(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    shape = c.values[a].shape
    axis = c.axis(len(shape))
    extents = [c.rng.randint(1, 2) if d == axis % len(shape) else n for d, n in enumerate(shape)]
    index = c.constant(c.array(*extents, low=-2, high=1))
    same = [n for n, v in c.values.items() if v.dtype == np.int64 and v.ndim == len(shape)]
    return [a, c.rng.choice(same) if same and c.flag() else index], {"axis": axis}, 1


def gather_nd(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, ranks=(1, 2))
    batch = c.rng.randint(0, c.values[a].ndim - 1)
    k = c.rng.randint(1, c.values[a].ndim - batch)
    lead = c.values[a].shape[:batch]
    index = c.array(*lead, *c.rng.choice([(k,), (2, k), (1, 2, k)]), low=-2, high=1)
    return [a, c.constant(index)], {"batch_dims": batch} if batch or c.flag() else {}, 1


def scatter_elements(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, ranks=(1, 2))
    v = c.values[a]
    shape = [c.rng.randint(0, n) for n in v.shape]
    indices = c.constant(c.array(*shape, low=-2, high=1))
    updates = c.constant(c.array(*shape), v.dtype.name)
    return [a, indices, updates], {"axis": c.axis(v.ndim)}, 1


def scatter_nd(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, ranks=(1, 2))
    v = c.values[a]
    k, rows = c.rng.randint(1, v.ndim), c.rng.randint(0, 2)
    indices = c.constant(c.array(rows, k, low=-2, high=1))
    updates = c.constant(c.array(rows, *v.shape[k:]), v.dtype.name)
    return [a, indices, updates], {}, 1
