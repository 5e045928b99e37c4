"""Ties: integers and booleans that differ only between floats that are nearly equal."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnx_scatterx.lab.devices.ties import are_tied
from tests.helpers.support import f32, parse

X = f32([[0.5, 1.0, 0.9999, 0.1], [4.0, 3.0, 2.0, 3.9999]])
ROWS = "g (float[2,4] x) => ({0}) <float[1] t = {{{2}}}> {{ {1} }}"
ARGMAX = ("int64[2] y", "a = ArgMax <axis = 1, keepdims = 0> (x) y = Identity (a)")
ARGMIN = ("int32[1,4] y", "a = ArgMin (x) y = Cast <to = 6> (a)")
TOPK = ("int64[2,2] y", "v, y = TopK (x, [2])")
SLICE = ("int64[2] y", "a = ArgMax <axis = 1> (x) y = Slice (Reshape (a, [2]), [0], [2])")
LESS = ("bool[2,4] y", "y = Less (x, t)", 0.99995)
BOTH = ("int64[2] y, float[2,4] z", "y = ArgMax <axis = 1, keepdims = 0> (x) z = Neg (x)")
TWO = ("int64[2] y, bool[2,4] z", "y = ArgMax <axis = 1, keepdims = 0> (x) z = Less (x, t)", 2.5)


@pytest.mark.parametrize(
    ("graph", "outputs", "tied"),
    [
        (ARGMAX, [[2, 3]], True),
        (ARGMAX, [[2, 1]], False),  # 3 in place of 4
        (ARGMAX, [[-2, 3]], False),
        (ARGMAX, [[2.0, 3.0]], True),
        (ARGMAX, [[2.5, 3.0]], False),
        (ARGMAX, [[np.nan, 3.0]], False),
        (ARGMIN, [[[0, 0, 1, 0]]], False),
        (TOPK, [[[2, 1], [3, 0]]], True),
        (TOPK, [[[1, 1], [0, 3]]], False),  # one of them twice
        (TOPK, [[[1, 2], [0, 1]]], False),
        (SLICE, [[2, 3]], False),  # which node chose is not known
        (LESS, [[[1, 1, 1, 1], [0, 0, 0, 0]]], True),
        (LESS, [[[0, 0, 1, 1], [0, 0, 0, 0]]], False),
        (LESS, [[[1, 7, 1, 1], [0, 0, 0, 0]]], False),
        (BOTH, [[2, 3], -X * 1.001], True),
        (BOTH, [[2, 3], -X], False),  # floats without an error rule a tie out
        (BOTH, [[2, 3], X], False),
        (TWO, [[2, 3], X < 2.5], True),
        (TWO, [[2, 3], X < 3.5], False),
        (TWO, [[2, 3]], False),
    ],
)
def test_what_is_tied(
    graph: tuple[Any, ...], outputs: list[Any], tied: bool, tmp_path: Path
) -> None:
    import onnxruntime

    file = tmp_path / "m.onnx"
    onnx.save(parse(ROWS.format(*graph, 0)), file)
    session = onnxruntime.InferenceSession(file)
    names = [value.name for value in session.get_outputs()]
    truth = dict(zip(names, session.run(None, {"x": X}), strict=True))
    found = are_tied(file, {"x": X}, truth, [np.asarray(one) for one in outputs], tmp_path)
    assert found == tied


def test_an_output_without_elements_is_no_tie_of_others(tmp_path: Path) -> None:
    onnx.save(
        parse("g (float[0,4] x) => (int64[0] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }"),
        tmp_path / "m.onnx",
    )
    empty = np.zeros((0, 4), np.float32)
    truth = {"y": np.zeros(0, np.int64)}
    assert not are_tied(tmp_path / "m.onnx", {"x": empty}, truth, [np.zeros(1)], tmp_path)
