"""A target that lacks operators of a dense form: others take their place, and compute the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.drawn_scatters import Drawn, scatter_elements, scatter_nd
from tests.helpers.examples import examples
from tests.helpers.pair import Feed, assert_same
from tests.helpers.support import parse, sample

DENSE = 'standard, avoid = ["ScatterND", "ScatterElements"{}], dense = true, dense_limit = inf'
LESS = [["Equal", "GatherElements"], ["Mod", "CumSum"], ["ReduceMax"], ["Slice"], ["Gather"]]
MORE = "Equal Mod CumSum ReduceMax Slice Gather GatherElements Concat Or And Not TopK OneHot Less"
MORE += " LessOrEqual GreaterOrEqual Greater Where Max Range Pad IsNaN Mul ReduceSum Cast Squeeze"
ALL = """g (float[5, 2] x, float[3, 4] z, float[3, 2] u, int64[3, 1] i, int64[3, 2] j)
    => (float[5, 2] a, float[5, 2] b, float[5, 2] c, float[3, 4] d, float[3, 4] e)
    <float[3] number = {1, 1, 1}> {
        a = ScatterND (x, i, u)
        b = ScatterND <reduction = "add"> (x, i, u)
        c = ScatterND <reduction = "max"> (x, i, u)
        d = ScatterND (z, j, number)
        e = ScatterElements <axis = 1> (z, j, u) }"""
CHIP = ["Gather", "Where", "Add", "Mul", "MatMul", "Reshape", "Concat", "Transpose"]


def target(avoid: list[str]) -> str:
    return DENSE.format("".join(f', "{op}"' for op in avoid))


def drawn(seed: int) -> Feed:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(-n, n, 3) for n in (3, 3)]
    feed = {"x": sample("float32", 5, 2, seed=seed), "z": sample("float32", 3, 4, seed=seed)}
    feed |= {"u": sample("float32", 3, 2, seed=seed + 1), "i": rng.integers(-5, 5, (3, 1))}
    return feed | {"j": np.stack(columns, 1)}


@pytest.mark.parametrize("avoid", LESS)
def test_operators_less(avoid: list[str]) -> None:
    model = parse(ALL)
    result = onnx_scatterx.optimize(model, target=target([*avoid, "TopK"]))
    assert (result.report.removed, result.report.violations) == (5, ())
    assert_same(model, result.model, [drawn(seed) for seed in range(3)])


def test_a_chip_of_few_operators() -> None:
    """A one-hot row is a Gather from a stored identity."""
    operators = str([*CHIP, "Constant", "Identity"]).replace("'", '"')
    text = ALL.replace('c = ScatterND <reduction = "max"> (x, i, u)', "c = Identity (x)")
    model = parse(text)
    result = onnx_scatterx.optimize(model, target=f"standard, operators = {operators}")
    assert result.report.violations == ()
    assert_same(model, result.model, [drawn(seed) for seed in range(3)])


@examples(15)
@given(
    st.one_of(scatter_nd(), scatter_elements()), st.lists(st.sampled_from(MORE.split()), max_size=6)
)
def test_any_operators_less(case: Drawn, avoid: list[str]) -> None:
    model = parse(case[0])
    result = onnx_scatterx.optimize(model, target=target(avoid))
    assert_same(model, result.model, case[1])
    if result.report.removed:
        assert not {v.op for v in result.report.violations} & set(avoid)


def test_a_gather_of_empty_rows_checks_no_index() -> None:
    text = """g (float[5, C] x, int64[2, 1] i) => (float[2, C] y) { y = GatherND (x, i) }"""
    avoid = ', "Equal", "GatherND", "Mod", "Less"'
    model = parse(text)
    result = onnx_scatterx.optimize(model, target=DENSE.format(avoid), assume="C <= 9")
    feeds: list[Feed] = [
        {"x": sample("float32", 5, rows), "i": np.array(at)}
        for rows, at in ((0, [[99], [-99]]), (2, [[4], [-5]]))
    ]
    assert_same(model, result.model, feeds)
