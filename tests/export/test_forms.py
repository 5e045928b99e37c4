"""The operators that a scattering or gathering is written with: as few as possible."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx.export import to_onnx
from onnx_scatterx.theory import Gathering, Pick, Reduction, Scattering, XTransformer
from onnx_scatterx.theory.conventions.onnx import scatter_elements, scatter_nd, tensor_scatter
from tests.export.test_to_onnx import NOTHING, X, check, rows
from tests.helpers.native_support import natives, operators, picks, unique
from tests.helpers.support import i64, sample


def names(source: Scattering | Gathering, **options: Any) -> list[str]:
    model = to_onnx(source, **options)
    check(source, model)
    return operators(model)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (scatter_nd(X, i64([[1], [3]]), X[:2]), ["ScatterND"]),
        (scatter_nd(X, i64([[1, 2], [3, 0]]), X[0, :2]), ["ScatterND"]),
        (scatter_elements(X, i64([[0, 1, 2, 4]]), X[:1]), ["ScatterElements"]),
        (scatter_elements(X, np.full((1, 4), 2), X[:1]), ["ScatterND"]),
        (scatter_elements(X, np.full((5, 2), 2), X[:, :2], 1), ["Expand", "ScatterElements"]),
        (tensor_scatter(X[None], X[None, :2], i64([1])), ["ScatterND"]),
        (scatter_nd(X[:4], i64([[0], [1], [2], [3]]), X[:4]), ["ScatterND"]),
    ],
)
def test_the_smallest_operator(source: Scattering, expected: list[str]) -> None:
    assert names(source) == expected


def test_transposes_where_the_picks_say_so() -> None:
    """x[:, :, i] = y of a y that has its rows first: no dim of y stands where it goes."""
    t = XTransformer(
        (2, 5, 4), (5, 4, 9), i64([[7], [3]]), Pick((0,)), Pick((1, 2)), Pick((1, 2, 0))
    )
    source = Scattering(sample("float32", 5, 4, 9), sample("float32", 2, 5, 4, seed=1), t)
    assert names(source) == ["Transpose", "ScatterND", "Transpose"]


def test_the_smallest_reads() -> None:
    """Rows, columns, all of it transposed, elements of rows, and single elements."""
    assert names(Gathering(X, rows(3, 0)((5, 4)))) == ["Gather"]
    columns = XTransformer(
        (5, 3), (5, 4), i64([[1], [2], [1]]), Pick((1,)), Pick((0,)), Pick((1, 0))
    )
    assert names(Gathering(X, columns)) == ["Gather"]
    assert names(Gathering(X, columns), form="nd") == ["Transpose", "GatherND", "Transpose"]
    turned = XTransformer((4, 5), (5, 4), NOTHING, Pick(), Pick((1, 0)), Pick.identity(2))
    assert names(Gathering(X, turned)) == ["Transpose"]
    whole = XTransformer((5, 4), (5, 4), NOTHING, Pick(), Pick((0, 1)), Pick.identity(2))
    assert names(Gathering(X, whole)) == ["Identity"]
    along = scatter_elements(X, i64([[0, 1, 4, 3]]), X[:1]).transformer
    assert names(Gathering(X, along)) == ["GatherElements"]
    pairs = scatter_nd(X, i64([[1, 2], [3, 0]]), X[0, :2]).transformer
    assert names(Gathering(X, pairs)) == ["GatherND"]
    strings = Gathering(X.astype(str).astype(object), rows(3, 0)((5, 4)))
    assert names(strings) == ["GatherND"]


def test_scatterx_says_the_normal_form() -> None:
    t = XTransformer((4, 2), (4, 5), i64([[1], [3]]), Pick((1,)), Pick((0,)), Pick((1, 0)))
    model = to_onnx(t, form="scatterx", reduction="add")
    (node,) = natives(model)
    assert (picks(node), unique(node)) == (((1,), (0,), (1, 0)), 1)
    assert model.ir_version == 8
    (node,) = natives(to_onnx(rows(1, 1)((5, 4)), form="scatterx"))
    assert unique(node) == 0
    (node,) = natives(to_onnx(rows(1, 2)((5, 4)), form="scatterx", indices="input"))
    assert unique(node) == 0


@pytest.mark.parametrize("name", ["minimum", "less", "maximum", "greater"])
def test_on_integers_every_minimum_is_that_of_onnx(name: str) -> None:
    data, updates = sample("int8", 5, 4), sample("int8", 2, 4, seed=1)
    source = Scattering(data, updates, rows(3, 3)((5, 4)), Reduction(name))
    model = to_onnx(source)
    check(source, model)
    assert model.graph.node[0].attribute[0].s == (b"min" if name in ("minimum", "less") else b"max")
