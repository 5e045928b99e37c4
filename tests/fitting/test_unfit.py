"""Attributes and axes that do not fit the rank of a tensor: an error of one line, or left alone."""

from itertools import product

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError
from tests.helpers.support import parse

PERMS = [[0, 2, 1, 3, 4], [0], [0, 1, 7, 3], [0, 1, -1, 3], [0, 0, 1, 2], [0, 2, 1, 3]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["scatterx", "standard"])
@pytest.mark.parametrize(("before", "after"), product(PERMS, PERMS))
def test_transposes_around_a_scatter(before: list[int], after: list[int], target: str) -> None:
    """With declared ranks, and without."""
    for kind in "float[2, 3, 4, 5]", "float":
        model = parse(
            f"""g ({kind} x, float[N, 1, 4, 5] u, int64[1] i) => ({kind} z) {{
            a = Transpose <perm = {before}> (x)
            b = Unsqueeze (i, j)
            y = ScatterND (a, b, u)
            z = Transpose <perm = {after}> (y) }}""".replace("i) =>", "i, int64[1] j) =>")
        )
        try:
            onnx_scatterx.optimize(model, target=target)
        except ScatterXError:  # it may refuse the model, but in one line
            continue


@pytest.mark.parametrize("axes", [[0, 0], [0, -4], [9], [-9], []])
def test_axes_of_unsqueeze(axes: list[int]) -> None:
    model = parse("""g (float[4, 2] x, float[1, 2] u) => (z) {
        z = ScatterND (Squeeze (Unsqueeze (x, axes), axes), [[1]], u) }""")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(axes, np.int64), "axes"))
    try:
        onnx_scatterx.optimize(model)
    except ScatterXError:  # it may refuse the model, but in one line
        return


@pytest.mark.parametrize("name", ["strides", "dilations", "pads", "kernel_shape"])
@pytest.mark.parametrize("numbers", [[1], [1, 1, 1], [0, 0], [-1, 2]])
def test_windows(name: str, numbers: list[int]) -> None:
    model = parse("""g (float[1, 2, N, 8] x, float[2, 2, 3, 3] w, float[1, 2, 1, 8] u) => (z) {
            b = MaxPool <kernel_shape = [2, 2]> (Conv (x, w))
            z = ScatterND (b, [[0]], u) }""")
    for node in model.graph.node[:2]:
        kept = [a for a in node.attribute if a.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, onnx.helper.make_attribute(name, numbers)])
    try:
        onnx_scatterx.inspect(model)
    except ScatterXError:  # it may refuse the model, but in one line
        return
