"""Nodes that compute: elementwise, sums and products, reductions."""

from typing import Any

import numpy as np

from tests.one_node.source import Draw, Draws, OneNode, f32, i64


def broadcast(*dtypes: str, count: int = 2, **attributes: Any) -> Draw:
    def draw(d: Draws) -> OneNode:
        dtype = d.pick(*(dtypes or ("float32", "int64")))
        shape = d.shape()
        shapes = [shape, *(d.beside(shape) for _ in range(count - 1))]
        d.rng.shuffle(shapes)
        return OneNode([d.any(s, dtype) for s in shapes], attributes)

    return draw


def variadic(d: Draws) -> OneNode:
    shape = d.shape()
    count = d.rng.randint(1, 3)
    return OneNode([d.floats(shape if d.flag(0.3) else d.beside(shape)) for _ in range(count)])


def where(d: Draws) -> OneNode:
    shape = d.shape()
    a, b, c = (d.beside(shape) for _ in range(3))
    dtype = d.pick("float32", "int64")
    return OneNode([d.any(a, "bool"), d.any(b, dtype), d.any(c, dtype)])


def clip(d: Draws) -> OneNode:
    dtype = d.pick("float32", "int64")
    bounds = [d.any(d.pick([], [], [1]), dtype) if d.flag(0.8) else None for _ in range(2)]
    return OneNode([d.any(d.shape(), dtype), *bounds])


def matmul(*kinds: tuple[str, ...], zero_points: bool = False) -> Draw:
    def draw(d: Draws) -> OneNode:
        m, k, n = (d.extent() for _ in range(3))
        batch = d.shape(0, 2)
        a, b = [*d.beside(batch), m, k], [*d.beside(batch), k, n]
        if d.flag(0.2):
            a = a[-1:]
        elif d.flag(0.2):
            b = b[-2:-1]
        left, right = d.pick(*kinds)
        points = [d.ints([], 0, 1, t) for t in (left, right)] if zero_points and d.flag() else []
        return OneNode([d.any(a, left), d.any(b, right), *points])

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
    i, j, k = (d.extent() for _ in range(3))
    forms = {
        "ij,jk->ik": ([i, j], [j, k]),
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
    return OneNode([d.floats(s) for s in shapes], {"equation": equation})


def reduction(*dtypes: str) -> Draw:
    def draw(d: Draws) -> OneNode:
        shape = d.shape()
        attributes: dict[str, Any] = {"keepdims": d.pick(0, 1)} if d.flag(0.8) else {}
        axes = [i64(d.some_axes(len(shape)))] if d.flag(0.8) else []
        if d.flag(0.3):
            attributes["noop_with_empty_axes"] = d.pick(0, 1)
        return OneNode([d.any(shape, *(dtypes or ("float32", "int64"))), *axes], attributes)

    return draw


def position(d: Draws) -> OneNode:
    shape = d.shape(1)
    attributes = {"axis": d.axis(len(shape)), "keepdims": d.pick(0, 1)}
    return OneNode([d.any(shape, "float32", "int32")], attributes)


def cum_sum(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis = d.ints(d.pick([], [1]), -len(shape), len(shape) - 1, d.pick("int64", "int32"))
    flags = {"exclusive": d.pick(0, 1), "reverse": d.pick(0, 1)}
    return OneNode([d.any(shape, "int64", "float32"), axis], flags)


def mod(d: Draws) -> OneNode:
    shape = d.shape()
    other = np.where((b := d.any(d.beside(shape), "int64")) == 0, 1, b)
    return OneNode([d.any(shape, "int64"), other], {"fmod": d.pick(0, 1)})


def div(d: Draws) -> OneNode:
    return OneNode(mod(d).inputs)


def strings(d: Draws) -> OneNode:
    shape = d.shape()
    shapes = [shape, d.beside(shape)]
    return OneNode([np.full(s, "a", object) for s in shapes])


def loss(d: Draws) -> OneNode:
    n, c, rest = d.extent(), d.pick(1, 3), d.shape(0, 2)
    labels = d.ints([n, *rest], 0, c - 1)
    return OneNode([d.floats([n, c, *rest]), labels], {"reduction": d.pick("none", "mean", "sum")})
