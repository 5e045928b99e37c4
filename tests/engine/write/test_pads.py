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


_WIDE = "standard, limits.Conv.refused = [{wide = true}]"


def _conv(
    rng: np.random.Generator, shape: Sequence[int], kernel: Sequence[int], group: int, more: str
) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Return a Conv, and what is written of it."""
    model = parse(f"g (float{[*shape]} x) => (float[A] y) {{ y = Conv <{more}> (x, w, b) }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    out = group * int(rng.integers(1, 4))
    weights = rng.standard_normal((out, shape[1] // group, *kernel), np.float32)
    weights.ravel()[:3] = [-0.0, 0.0, np.inf if rng.random() < 0.2 else 1]
    bias = rng.standard_normal(out, np.float32)
    bias[0] = -0.0
    for name, array in (("w", weights), ("b", bias)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model, onnx_scatterx.optimize(model, target=_WIDE).model


@pytest.mark.parametrize("seed", range(20))
def test_a_zero_in_front_of_a_wide_conv(seed: int) -> None:
    """Uneven pads make another Conv of it."""
    rng = np.random.default_rng(seed)
    kernel, group = 2 * int(rng.integers(4, 12)) + 1, int(rng.choice([1, 2, 16]))
    shape = [int(rng.integers(1, 3)), group * int(rng.integers(1, 4)), int(rng.integers(1, 40))]
    half = kernel // 2
    more = f"group = {group}, pads = [{half}, {half}]"
    model, made = _conv(rng, shape, [kernel], group, more)
    *_, conv = made.graph.node
    pads = next([*a.ints] for a in conv.attribute if a.name == "pads")
    is_wide = 4 * kernel > shape[2]
    assert pads == ([half - 1, half] if is_wide else [half, half])
    assert len(made.graph.node) == 1 + is_wide
    drawn = rng.standard_normal(shape, np.float32)
    odd = drawn.copy()
    odd.ravel()[rng.integers(0, odd.size, 2)] = [np.nan, np.inf]
    feeds = [{"x": x} for x in (drawn, odd, np.zeros_like(drawn), -np.zeros_like(drawn))]
    assert_same(model, made, feeds)


def test_a_wide_conv_of_two_axes_is_kept() -> None:
    rng = np.random.default_rng(0)
    _, made = _conv(rng, [1, 2, 1, 12], [1, 9], 1, "pads = [0, 4, 0, 4]")
    assert [node.op_type for node in made.graph.node] == ["Conv"]


def test_the_profile_of_qnn_takes_a_wide_conv() -> None:
    model, _ = _conv(np.random.default_rng(0), [1, 2, 24], [19], 1, "pads = [9, 9]")
    assert onnx_scatterx.optimize(model, target="qnn").report.violations == ()
