"""Random nodes that compute numbers: elementwise, sums, and choices."""

from typing import Any

from tests.helpers.random_chains import INTEGERS, Chain, Draw, Drawn

WRAPPING = ("int64", "int32")


def two(*kinds: str) -> Draw:
    def draw(c: Chain) -> Drawn:
        a = c.some(*kinds)
        dtype, shape = c.values[a].dtype.name, c.values[a].shape
        others = [n for n, v in c.values.items() if v.dtype.name == dtype]
        b = c.rng.choice(others)
        if c.flag():
            extents = [c.rng.choice([1, n]) for n in shape[c.rng.randint(0, len(shape)) :]]
            b = c.constant(c.array(*extents, low=0 if dtype[0] in "ub" else -4), dtype)
        return [a, b] if c.flag() else [b, a], {}, 1

    return draw


def one(*kinds: str, **attributes: Any) -> Draw:
    return lambda c: ([c.some(*kinds)], attributes, 1)


def by_constant(c: Chain) -> Drawn:
    a = c.some(*WRAPPING)
    divisor = c.rng.choice([1, 2, 3, -2, 5, -1])
    return [a, c.constant(divisor, c.values[a].dtype.name)], {}, 1


def mod(c: Chain) -> Drawn:
    inputs, _, _ = by_constant(c)
    return inputs, c.rng.choice([{}, {"fmod": 1}, {"fmod": 0}]), 1


def clip(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, "uint8", "uint64", "float32")
    bounds = [c.rng.choice(["", c.constant(abs(i), c.values[a].dtype.name)]) for i in c.ints(2)]
    return [a, *bounds], {}, 1


def cast(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", "float32")
    return [a], {"to": c.rng.choice([1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13])}, 1


def cum_sum(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, ranks=(1, 2))
    axis = c.constant(c.axis(c.values[a].ndim), c.rng.choice(WRAPPING))
    return [a, axis], {"exclusive": int(c.flag()), "reverse": int(c.flag())}, 1


def reduction(first_with_input: int, *kinds: str) -> Draw:
    def draw(c: Chain) -> Drawn:
        a = c.some(*kinds or WRAPPING)
        rank = c.values[a].ndim
        several = c.rng.sample(range(rank), c.rng.randint(0, rank)) if c.flag() else []
        axes = [axis - c.rng.choice([0, rank]) for axis in several]
        attributes: dict[str, Any] = {"keepdims": 1} if c.flag() else {"keepdims": 0}
        if c.opset < first_with_input:
            return [a], attributes | ({"axes": axes} if axes else {}), 1
        if c.flag():
            attributes["noop_with_empty_axes"] = int(c.flag())
        return [a, c.constant(axes)] if axes or c.flag() else [a], attributes, 1

    return draw


def position(c: Chain) -> Drawn:
    a = c.some("int32", "float32", ranks=(1, 2, 3))
    attributes = {"keepdims": int(c.flag()), "select_last_index": int(c.flag())}
    return [a], attributes | ({"axis": c.axis(c.values[a].ndim)} if c.flag() else {}), 1


def top_k(c: Chain) -> Drawn:
    a = c.some("int64", "int32", "float32", ranks=(1, 2))
    axis = c.axis(c.values[a].ndim)
    count = c.vector(1, [c.rng.randint(0, c.values[a].shape[axis])])
    return [a, count], {"axis": axis, "largest": int(c.flag())}, 2


def where(c: Chain) -> Drawn:
    condition = c.some("bool")
    kinds = c.rng.choice([("int64",), ("int32",), ("uint8",)])
    (a, b), _, _ = two(*kinds)(c)
    return [condition, a, b], {}, 1


def prelu(c: Chain) -> Drawn:
    (q,) = c.node("Expand", ["f", c.constant(c.rng.choice([[1, 1], [2, 1, 3]]))])
    slope = c.constant(c.array(*c.rng.choice([(3,), (1, 1), (2, 3), (2, 1, 1)])), "float32")
    return c.rng.choice([[q, "f"], [q, slope], [slope, q]]), {}, 1


def einsum(c: Chain) -> Drawn:
    other = c.constant(c.array(1, 3), "float32")
    pair = c.rng.choice([["f", other], [other, "f"], ["f", "f"]])
    forms = [
        "ij,ij->ij",
        "ij, ij -> ji",
        "ij,kj->ik",
        "ij,kj->ikj",
        "ij,ij->",
        "ij,ij",
        "...j,ij->i",
    ]
    return pair, {"equation": c.rng.choice(forms)}, 1


def matmul(*kinds: str) -> Draw:
    def draw(c: Chain) -> Drawn:
        a = c.some(*kinds, ranks=(1, 2, 3))
        dtype, n = c.values[a].dtype.name, c.values[a].shape[-1]
        others = [k for k, v in c.values.items() if v.dtype.name == dtype and v.ndim]
        rows = c.rng.choice([(n,), (n, 2), (1, n, 0), (2, n, 1)])
        b = c.rng.choice([*others, c.constant(c.array(*rows, low=0), dtype)])
        return [a, b], {}, 1

    return draw


def quantized_product(c: Chain) -> Drawn:
    (a, b), _, _ = matmul("uint8")(c)
    scale, zero = c.constant(1, "float32"), c.constant(0, "uint8")
    return [a, scale, zero, b, scale, zero, scale, zero], {}, 1
