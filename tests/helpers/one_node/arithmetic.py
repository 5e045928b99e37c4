"""Nodes that compute: elementwise, sums and products, reductions."""

from typing import Any

import numpy as np

from tests.helpers.one_node.source import WRAPPING, Draw, Draws, OneNode, f32, i64


def several(d: Draws, count: int, *dtypes: str) -> list[np.ndarray | None]:
    """Return tensors of one type that may be broadcast together."""
    x = d.data(*(dtypes or (*WRAPPING, "float32")))
    found: list[np.ndarray | None] = [x, *(d.second(x) for _ in range(count - 1))]
    d.rng.shuffle(found)
    return found


def broadcast(*dtypes: str, **attributes: Any) -> Draw:
    return lambda d: OneNode(several(d, 2, *dtypes), attributes)


def variadic(*dtypes: str) -> Draw:
    return lambda d: OneNode(several(d, d.rng.randint(1, 3), *dtypes))


def where(d: Draws) -> OneNode:
    both = several(d, 2, *WRAPPING, "uint8", "float32")
    return OneNode([d.second(d.pick(*both), "bool"), *both])


def clip(d: Draws) -> OneNode:
    x = d.data(*WRAPPING, "uint8", "uint64", "float32")
    bounds = [d.any(d.pick([], [], [1]), x.dtype.name) if d.flag(0.8) else None for _ in range(2)]
    return OneNode([x, *bounds])


def matmul(*kinds: tuple[str, ...], zero_points: bool = False) -> Draw:
    def draw(d: Draws) -> OneNode:
        left, right = d.pick(*kinds)
        a = d.data(left, low=d.pick(1, 2, 2), high=4)
        b = [*d.beside(a.shape[:-2]), a.shape[-1], d.extent()]
        if d.flag(0.2):
            b = b[-2:-1]
        points = [d.ints([], 0, 1, t) for t in (left, right)] if zero_points and d.flag() else []
        return OneNode([a, d.any(b, right), *points])

    return draw


def gemm(d: Draws) -> OneNode:
    m, k, n = (d.extent() for _ in range(3))
    ta, tb = d.flag(), d.flag()
    a, b = d.floats([k, m] if ta else [m, k]), d.floats([n, k] if tb else [k, n])
    c = [d.floats(d.pick([m, n], [n], [1, n], [m, 1], [], [1]))] if d.flag() else []
    return OneNode([a, b, *c], {"transA": int(ta), "transB": int(tb)})


def qlinear_matmul(d: Draws) -> OneNode:
    a, b = (x for x in matmul(("uint8", "uint8"))(d).inputs)
    scale, point = f32(d.pick(1, [1])), np.zeros(d.pick([], [1]), np.uint8)
    return OneNode([a, scale, point, b, scale, point, scale, point])


def einsum(d: Draws) -> OneNode:
    x = d.data("float32", low=2, high=2)
    (i, j), k = x.shape, d.extent()
    forms = {
        "ij,jk->ik": ([i, j], [j, k]),
        "ij, ij -> ji": ([i, j], [d.pick(1, i), j]),
        "ij,kj->ikj": ([i, j], [k, j]),
        "ij,ij->": ([i, j], [d.pick(1, i), j]),
        "ij,ij": ([i, j], [1, j]),
        "...j,ij->i": ([i, j], [i, j]),
        "ij,jk": ([i, j], [j, k]),
        "bij,bjk->bik": ([k, i, j], [k, j, i]),
        "ij->ji": ([i, j],),
        "ij->": ([i, j],),
        "ii->i": ([i, i],),
        "...i,...i->...": ([k, i], [k, i]),
        "i,j->ij": ([i], [j]),
        "ij,ij->ij": ([i, j], [d.pick(1, i), d.pick(1, j)]),
    }
    equation, shapes = d.pick(*forms.items())
    found: list[np.ndarray | None] = [
        x if s == [i, j] and d.flag(0.8) else d.floats(s) for s in shapes
    ]
    if equation == "ij,ij->ij":
        d.rng.shuffle(found)
    return OneNode(found, {"equation": equation})


def reduction(first_with_input: int, *dtypes: str) -> Draw:
    def draw(d: Draws) -> OneNode:
        x = d.data(*(dtypes or (*WRAPPING, "float32")))
        attributes: dict[str, Any] = {"keepdims": d.pick(0, 1)} if d.flag(0.8) else {}
        axes = d.some_axes(x.ndim)
        if d.opset < first_with_input:
            return OneNode([x], attributes | ({"axes": axes} if axes else {}))
        if d.flag(0.3):
            attributes["noop_with_empty_axes"] = d.pick(0, 1)
        return OneNode([x, *([i64(axes)] if d.flag(0.8) else [])], attributes)

    return draw


def position(d: Draws) -> OneNode:
    x = d.data("int32", "float32", low=1)
    attributes = {"keepdims": d.pick(0, 1), "select_last_index": d.pick(0, 1)}
    return OneNode([x], attributes | ({"axis": d.axis(x.ndim)} if d.flag() else {}))


def cum_sum(d: Draws) -> OneNode:
    x = d.data(*WRAPPING, "float32", low=1)
    axis = d.ints(d.pick([], [1]), -x.ndim, x.ndim - 1, d.pick(*WRAPPING))
    return OneNode([x, axis], {"exclusive": d.pick(0, 1), "reverse": d.pick(0, 1)})


def div(d: Draws) -> OneNode:
    x = d.data(*WRAPPING)
    other = d.pick(1, 2, 3, -2, 5, -1) if d.flag() else d.ints(d.beside(x.shape), -2, 3)
    return OneNode([x, np.where(np.equal(other, 0), 1, other).astype(x.dtype)])


def mod(d: Draws) -> OneNode:
    return OneNode(div(d).inputs, d.pick({}, {"fmod": 0}, {"fmod": 1}))


def strings(d: Draws) -> OneNode:
    shape = d.shape()
    shapes = [shape, d.beside(shape)]
    return OneNode([np.full(s, "a", object) for s in shapes])


def loss(d: Draws) -> OneNode:
    n, c, rest = d.extent(), d.pick(1, 3), d.shape(0, 2)
    labels = d.ints([n, *rest], 0, c - 1)
    return OneNode([d.floats([n, c, *rest]), labels], {"reduction": d.pick("none", "mean", "sum")})
