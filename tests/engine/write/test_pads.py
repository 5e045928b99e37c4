"""A Pad that removes elements, for targets that take no negative pads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.graphs import INT64_MAX
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

TARGETS = [
    "standard, limits.Pad.negative = false",
    "standard, limits.Pad.negative = false, avoid = ['Expand', 'Tile']",
    "standard, avoid = ['Pad']",
]


def sizes_after(shape: Sequence[int], pads: Sequence[int]) -> list[tuple[int, int]]:
    """Return what a Pad leaves of each axis, and its size in the result."""
    pairs = zip(shape, pads[: len(shape)], pads[len(shape) :], strict=True)
    return [(n + min(a, 0) + min(b, 0), n + a + b) for n, a, b in pairs]


@examples(120)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    st.sampled_from(["float", "int64", "bool"]),
    st.sampled_from(TARGETS),
    st.data(),
)
def test_pads_that_remove(shape: list[int], kind: str, target: str, data: st.DataObject) -> None:
    count = 2 * len(shape)
    pads = data.draw(st.lists(st.integers(-3, 2), min_size=count, max_size=count))
    fill = data.draw(st.sampled_from(["", ", f"]))
    after = sizes_after(shape, pads)
    if min(size for _, size in after) < 0:
        return  # ONNX Runtime refuses it
    dims = ",".join("abc"[: len(shape)])
    model = parse(f"""g ({kind}{shape} x) => ({kind}[{dims}] y)
        <int64[{count}] p = {{{str(pads)[1:-1]}}}, {kind} f = {{1}}> {{ y = Pad (x, p{fill}) }}""")
    result = onnx_scatterx.optimize(model, target=target)
    removes_more = min(left for left, _ in after) < 0
    assert removes_more or not result.report.violations
    rng = np.random.default_rng(count)
    numbers = rng.choice([np.nan, -0.0, np.inf, 2.5], shape)
    ints = rng.choice([-(2**63), 2**63 - 1, 0, 7], shape)
    kinds = {"float": numbers.astype(np.float32), "int64": ints, "bool": ints > 0}
    if not removes_more:
        assert_same(model, result.model, [{"x": np.asarray(kinds[kind])}])


def shifted(size: str, mode: str = "constant") -> onnx.ModelProto:
    """Return a model that moves rows down by two, and puts zeros in their place."""
    return parse(f"""g (float[1,{size},3] x) => (float[1,M,3] y)
        <int64[6] pads = {{0, 2, 0, 0, -2, 0}}> {{ y = Pad <mode = "{mode}"> (x, pads) }}""")


@pytest.mark.parametrize(
    ("size", "promises", "mode", "known"),
    [
        ("5", [], "constant", ["Slice", "Pad"]),
        ("2", [], "constant", ["Slice", "Pad"]),
        ("N", ["N >= 2"], "constant", ["Slice", "Pad"]),
        ("N", ["N >= 1"], "constant", ["Pad"]),  # more is removed than one row
        ("5", [], "edge", ["Pad"]),
    ],
)
def test_rows_that_are_moved(size: str, promises: list[str], mode: str, known: list[str]) -> None:
    model = shifted(size, mode)
    target = "standard, limits.Pad.negative = false"
    result = onnx_scatterx.optimize(model, target=target, assume=promises)
    assert [n.op_type for n in result.model.graph.node if n.op_type != "Constant"] == known
    assert bool(result.report.violations) == (known == ["Pad"])
    sizes = [int(size)] if size.isdigit() else [2, 3, 7]
    for n in sizes:
        feed = {"x": np.random.default_rng(n).standard_normal((1, n, 3)).astype(np.float32)}
        assert_same(model, result.model, [feed])


def test_a_slice_of_a_symbolic_size_runs_to_its_end() -> None:
    model = parse("""g (float[N] x) => (float[M] y) <int64[2] pads = {-1, 1}> {
        y = Pad (x, pads) }""")
    target = "standard, limits.Pad.negative = false"
    result = onnx_scatterx.optimize(model, target=target, assume=["N >= 1"]).model
    held = [onnx.numpy_helper.to_array(t) for t in result.graph.initializer]
    assert any(INT64_MAX in array for array in held)
    for n in (1, 4):
        assert_same(model, result, [{"x": np.arange(n, dtype=np.float32)}])
