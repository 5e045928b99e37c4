"""Random nodes that make tensors from numbers and shapes."""

import numpy as np
from onnx import numpy_helper

from tests.helpers.random_chains import INTEGERS, Chain, Drawn


def constant(c: Chain) -> Drawn:
    kinds = {"value_int": 3, "value_ints": c.ints(3), "value_float": 0.5, "value_floats": [1.0]}
    name = c.rng.choice(list(kinds))
    return [], {name: kinds[name]}, 1


def constant_of_shape(c: Chain) -> Drawn:
    dtype = c.rng.choice(["int64", "int32", "bool", "float32"])
    value = numpy_helper.from_array(np.array([c.rng.randint(0, 1)], dtype))
    return [c.vector(c.rng.randint(0, 2), c.ints(2, 0, 3))], {"value": value} if c.flag() else {}, 1


def eye_like(c: Chain) -> Drawn:
    attributes = {"dtype": c.rng.choice([1, 6, 7, 9])} if c.flag() else {}
    a = c.some("int64", "int32", "float32", ranks=(2,))
    return [a], attributes | {"k": c.rng.randint(-2, 2)}, 1


def one_hot(c: Chain) -> Drawn:
    a = c.some("int64", ranks=(1, 2))
    depth = c.constant(c.rng.choice([c.rng.randint(1, 4), [3]]), c.rng.choice(["int64", "float32"]))
    pair = c.rng.choice([c.constant([5, 7]), c.constant([0, 1], "float32"), c.vector(2)])
    depth = c.rng.choice([depth, c.some("int64", ranks=(0,))])
    return [a, depth, pair], {"axis": c.axis(c.values[a].ndim + 1)}, 1


def range_(c: Chain) -> Drawn:
    dtype = c.rng.choice(["int64", "int64", "int32", "float32"])
    bounds = [c.constant(i, dtype) for i in c.ints(2, -2, 9)]
    if c.flag():
        bounds[c.rng.randrange(2)] = c.some(dtype, ranks=(0,))
    step = 0.1 if dtype == "float32" else c.rng.choice([1, 2, 3, -1, -2])
    return [*bounds, c.constant(step, dtype)], {}, 1


def shape(c: Chain) -> Drawn:
    attributes = {}
    if c.opset >= 15:
        attributes = {k: c.rng.randint(-3, 3) for k in ("start", "end") if c.flag()}
    return [c.some(*INTEGERS, "bool", "float32")], attributes, 1


def trilu(c: Chain) -> Drawn:
    a = c.some("int64", "bool", ranks=(2,))
    k = [c.constant(c.rng.randint(-2, 2))] if c.flag() else []
    return [a, *k], {"upper": 0} if c.flag() else {}, 1
