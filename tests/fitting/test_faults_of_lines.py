"""Convs along one long axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

_TARGET = "standard, static_only = true, faults = [{form = 'short_lines', version = '1'}]"


def _parts(
    rng: np.random.Generator,
    length: int,
    kernel: int,
    step: int,
    channels: int = 1,
    **attributes: Any,
) -> int:
    """Write the form of a Conv, compare, and return of how many parts it is."""
    group = attributes.get("group", 1)
    given = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    images, out, has_bias = int(rng.integers(1, 3)), 6 * int(rng.integers(1, 4)), rng.random() < 0.5
    model = parse(f"""g (float[{images}, {channels}, {length}] x) => (float[A, B, C] y) {{
        y = Conv <strides = [{step}]{", " + given if given else ""}> (x, w{", b" * has_bias}) }}""")
    arrays = {"w": rng.standard_normal((out, channels // group, kernel), np.float32)}
    if has_bias:
        arrays["b"] = rng.standard_normal(out, np.float32)
    for name, array in arrays.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    made = onnx_scatterx.optimize(model, target=_TARGET).model
    drawn = rng.standard_normal((images, channels, length), np.float32)
    odd = drawn.copy()
    odd.ravel()[rng.integers(0, odd.size, 3)] = [np.nan, np.inf, -0.0]
    assert_same(model, made, [{"x": drawn}, {"x": odd}])
    return sum(node.op_type == "Conv" for node in made.graph.node)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_convs_in_parts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    step = int(rng.choice([3, 5, 6, 7]))
    kernel, length = step + int(rng.integers(1, 9)), int(rng.integers(1 << 15, 1 << 17)) + 1
    more = {"dilations": [2]} if seed % 3 == 0 else {}
    parts = _parts(rng, length, kernel, step, int(rng.integers(1, 7)), **more)
    assert parts in (length // (1 << 15) + 1, length // (1 << 15) + 2)


@pytest.mark.parametrize(
    ("length", "kernel", "step", "channels", "more", "count"),
    [
        (1 << 15, 10, 5, 1, {}, 1),
        ((1 << 15) + 1, 10, 5, 1, {}, 2),
        (40000, 10, 4, 1, {}, 1),
        (40000, 10, 1, 1, {}, 1),
        (40000, 5, 5, 1, {}, 1),
        (40000, 10, 5, 7, {}, 1),
        (40000, 10, 5, 6, {"group": 2}, 1),
        (40000, 10, 5, 1, {"pads": [0, 5]}, 1),
        (40000, 10, 5, 1, {"auto_pad": '"SAME_UPPER"'}, 1),
        (40000, 10, 5, 1, {"auto_pad": '"VALID"'}, 2),
    ],
)
def test_which_convs_are_written_in_parts(
    length: int, kernel: int, step: int, channels: int, more: dict[str, Any], count: int
) -> None:
    rng = np.random.default_rng(0)
    assert _parts(rng, length, kernel, step, channels, **more) == count
