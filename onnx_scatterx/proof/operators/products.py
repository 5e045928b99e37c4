"""MatMul and Gemm of float32 by a stored matrix: each row of the result is a function of one row.

The order of the additions within a row is not known, so the function is unknown. Only that is used:
equal rows multiplied by the same stored matrix give equal rows, wherever they stand and however
many others there are. For a matrix that is stored, this is so in ONNX Runtime 1.32: it packs the
matrix when it loads the model, and multiplies each row by the packed blocks in the same order.
`tests/proof/test_rows.py` compares the bits; they were measured on x86-64. Other products are not
modelled, because they differ: a matrix that is computed, even by an Identity, or has more than two
axes, is not packed, and a single row is then multiplied by another function; float64 is not packed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from onnx_scatterx.proof.core.arithmetic import ONE, number
from onnx_scatterx.proof.core.logic import either, equal
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, UnsupportedError
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.registry import (
    Inputs,
    operator,
    optional,
    positive,
    read,
    required,
)

BY_ROWS = frozenset({"MatMul", "Gemm"})
"""The operators that are a function of each row, if the second input is a stored matrix."""


@operator("MatMul")
def matmul(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, b = _factors(inputs)
    inner, width = b.shape
    world.need(equal(a.shape[-1], inner), "MatMul: the matrices fit")
    function = ("MatMul", world.name(b, ()))

    @functools.cache
    def row(lead: Coordinates) -> Callable[..., Term]:
        return world.rows.function(function, lambda k: a.at((*lead, k)), inner, lead)

    return [Tensor(a.dtype, (*a.shape[:-1], width), lambda at: row(at[:-1])(at[-1]))]


@operator("Gemm")
def gemm(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, b = _factors(inputs)
    if a.rank != 2:
        raise UnsupportedError("Gemm of other than matrices")
    turned = bool(node.get("transA", 0))
    rows, length = a.shape[::-1] if turned else a.shape
    inner, width = b.shape[::-1] if node.get("transB", 0) else b.shape
    world.need(equal(length, inner), "Gemm: the matrices fit")
    dims = (rows, width)
    added = optional(inputs, 2)
    if added is not None:
        _need_broadcast(added, dims, world)
    function = ("Gemm", node.flavour, world.name(b, ()))

    @functools.cache
    def row(m: Term) -> Callable[..., Term]:
        return world.rows.function(
            function, lambda k: a.at((k, m) if turned else (m, k)), inner, [m]
        )

    def define(at: Coordinates) -> Term:
        return row(at[0])(at[1], *([] if added is None else [read(added, dims, at, world)]))

    return [Tensor(a.dtype, dims, define)]


def _factors(inputs: Inputs) -> tuple[Tensor, Tensor]:
    """Return the inputs of a product: rows, and a matrix that is not empty."""
    a, b = required(inputs, 0), required(inputs, 1)
    if {t.dtype for t in inputs if t is not None} != {"float32"}:
        raise UnsupportedError("a product of other than float32")
    if b.rank != 2 or any(not number(d) for d in b.shape):
        raise UnsupportedError("a product by other than a matrix")
    positive(-2, a.rank)
    return a, b


def _need_broadcast(added: Tensor, dims: Coordinates, world: World) -> None:
    """Require of the second model that what Gemm adds is broadcast to the dims of the product."""
    if added.rank > 2:
        raise UnsupportedError("Gemm that adds more axes than a matrix has")
    if world.owing:
        for d, whole in zip(added.shape, dims[2 - added.rank :], strict=True):
            world.need(either(equal(d, ONE), equal(d, whole)), "Gemm: what is added fits")
