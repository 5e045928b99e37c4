"""The operators that a scattering or gathering is written with."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx.export import to_onnx
from onnx_scatterx.theory import Gathering, Pick, Reduction, Scattering, XTransformer
from onnx_scatterx.theory.conventions.onnx import scatter_elements, scatter_nd
from tests.export.exported import X, check, rows
from tests.helpers.native_support import natives, operators, picks, unique
from tests.helpers.support import i64, sample


def names(source: Scattering | Gathering, **options: Any) -> list[str]:
    model = to_onnx(source, **options)
    check(source, model)
    return operators(model)


def test_no_transposes_where_none_are_needed() -> None:
    assert names(scatter_nd(X, i64([[1], [3]]), X[:2])) == ["ScatterND"]
    assert names(scatter_nd(X, i64([[1, 2], [3, 0]]), X[0, :2])) == ["ScatterND"]
    assert names(scatter_elements(X, np.full((1, 4), 2), X[:1])) == ["ScatterND"]
    assert names(Gathering(X, rows(3, 0)((5, 4)))) == ["GatherND"]


def test_transposes_where_the_picks_say_so() -> None:
    """x[:, :, i] = y of a y that has its rows first: no dim of y stands where it goes."""
    t = XTransformer(
        (2, 5, 4), (5, 4, 9), i64([[7], [3]]), Pick((0,)), Pick((1, 2)), Pick((1, 2, 0))
    )
    source = Scattering(sample("float32", 5, 4, 9), sample("float32", 2, 5, 4, seed=1), t)
    assert names(source) == ["Transpose", "ScatterND", "Transpose"]
    columns = XTransformer(
        (5, 3), (5, 4), i64([[1], [2], [1]]), Pick((1,)), Pick((0,)), Pick((1, 0))
    )
    assert names(Gathering(X, columns)) == ["Transpose", "GatherND", "Transpose"]


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
