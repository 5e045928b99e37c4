"""A Where by a constant mask, and comparisons that a promise decides, without the mask."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

PASSES = ["WriteOtherForms"]
SIZES = st.sampled_from([1, 1, 2, 3])


@examples(60)
@given(st.lists(SIZES, min_size=1, max_size=3), st.sampled_from(["float", "int64"]), st.data())
def test_a_mask_along_one_axis(shape: list[int], kind: str, data: st.DataObject) -> None:
    def drawn(name: str) -> tuple[str, list[int]]:
        own = [data.draw(st.sampled_from([n, 1])) for n in shape]
        return name, own[data.draw(st.integers(0, len(own))) :]

    (_, m), (_, x), (_, u) = map(drawn, "mxu")
    mask = data.draw(st.lists(st.booleans(), min_size=int(np.prod(m)), max_size=int(np.prod(m))))
    bits = ", ".join(str(int(bit)) for bit in mask)
    dims = {
        n: f"[{', '.join(map(str, s))}]" if s else "" for n, s in zip("mxu", (m, x, u), strict=True)
    }
    model = parse(f"""g ({kind}{dims["x"]} x, {kind}{dims["u"]} u) => ({kind}[A] y)
        <bool{dims["m"]} m = {{{bits}}}> {{ y = Where (m, x, u) }}""")
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    target = "standard, avoid = ['Where']"
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES)
    made = result.model
    dtype = "float32" if kind == "float" else kind
    feed = {"x": sample(dtype, *x), "u": sample(dtype, *u, seed=1)}
    assert_same(model, made, [feed])
    left = [node.op_type for node in nodes(made)]
    assert "Where" not in left or sum(n > 1 for n in m) > 1
    assert result.report.zeros == (("y",) if "Where" not in left and kind == "float" else ())


def test_rows_of_a_constant_are_constants() -> None:
    model = parse("""g (float[4, 1] x) => (float[4, 1] y)
        <bool[4, 1] m = {1, 1, 0, 0}, float[4, 1] c = {1, 2, 3, 4}> { y = Where (m, x, c) }""")
    result = onnx_scatterx.optimize(model, target="standard, avoid = ['Where']", passes=PASSES)
    assert [node.op_type for node in nodes(result.model)] == ["Concat", "Slice"]
    assert_same(model, result.model, [{"x": sample("float32", 4, 1)}])


LABELS = """g (int64[2, 5] labels, float[2, 5] x) => (int64[2, 5] y, bool[2, 5] l, bool[2, 5] g)
    <int64 ignored = {-100}, int64 zero = {0}> {
        m = Equal (labels, ignored)
        y = Where (m, zero, labels)
        l = OP (labels, zero)
        g = OP (ignored, labels) }"""


@pytest.mark.parametrize("op", ["Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
def test_labels_that_are_not_negative(op: str) -> None:
    """Labels of -100 are replaced by 0. Without the promise, there may be some."""
    model = parse(LABELS.replace("OP", op))
    avoid = "['Equal', 'Where', 'Less', 'Greater', 'LessOrEqual', 'GreaterOrEqual', 'Cast']"
    target = f"standard, avoid = {avoid}"
    kept = onnx_scatterx.optimize(model, target=target, passes=PASSES)
    assert {"Equal", "Where"} <= {node.op_type for node in nodes(kept.model)}
    assume = "labels: nonnegative"
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES, assume=assume)
    left = [node.op_type for node in nodes(result.model)]
    decided = op in ("Less", "GreaterOrEqual")  # than 0
    assert left.count(op) == (0 if decided else 1)
    assert not {"Equal", "Where"} & set(left)
    assert "labels: nonnegative" in result.report.assumptions
    ends = np.array([[0, 1, 2**63 - 1, 5, 0], [3, 0, 99, 100, 101]])
    assert_same(model, result.model, [{"labels": ends, "x": sample("float32", 2, 5)}])


@pytest.mark.parametrize("count", [2, 16, 17, 64, 65])
def test_labels_behind_a_token(count: int) -> None:
    """Few labels are listed one by one, and are compared one by one."""
    last = count - 1
    model = parse(f"""g (int64[1, {count}] labels) => (int64[1, {count}] y)
        <int64[1] zero = {{0}}, int64[1] last = {{{last}}}, int64[1] one = {{1}},
         int64[1, 1] token = {{2}}, int64 ignored = {{-100}}, int64 pad = {{1}}> {{
            before = Slice (labels, zero, last, one)
            shifted = Concat <axis = 1> (token, before)
            m = Equal (shifted, ignored)
            y = Where (m, pad, shifted) }}""")
    target = "standard, avoid = ['Equal', 'Where', 'Cast']"
    result = onnx_scatterx.optimize(
        model, target=target, passes=PASSES, assume="labels: nonnegative"
    )
    assert not {"Equal", "Where"} & {node.op_type for node in nodes(result.model)}
    labels = np.arange(count, dtype=np.int64).reshape(1, -1) * (2**63 // count - 1)
    assert_same(model, result.model, [{"labels": labels}])


@pytest.mark.parametrize("op", ["Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
def test_labels_that_have_an_end(op: str) -> None:
    """Of the two comparisons with the end, that which may be equal alone decides nothing."""
    model = parse(f"""g (int64[2, 3] labels) => (bool[2, 3] l, bool[2, 3] g) <int64 end = {{9}}> {{
        l = {op} (labels, end)  g = {op} (end, labels) }}""")
    target = "standard, avoid = ['Less', 'Greater', 'LessOrEqual', 'GreaterOrEqual']"
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES, assume="labels <= 9")
    assert [node.op_type for node in nodes(result.model)].count(op) == 1
    assert_same(model, result.model, [{"labels": np.array([[9, 8, 1], [0, -1, -(2**63)]])}])


@pytest.mark.parametrize("target", ["ncnn", "rknn"])
@pytest.mark.parametrize("count", [1, 2, 64])
def test_what_follows_from_a_decided_comparison(target: str, count: int) -> None:
    """The last label that is not padding stands where all labels end: no label is padding."""
    model = parse(f"""g (int64[1, {count}] labels) => (int64[1, 1] y)
        <int64 one = {{1}}, int64[1] axis = {{1}}, int64[1] last = {{-1}}> {{
            padding = Equal (labels, one)
            c = Cast <to = 7> (Not (padding))
            n = ReduceSum <keepdims = 0> (c, axis)
            i = Unsqueeze (Sub (n, one), last)
            y = GatherElements <axis = 1> (labels, i) }}""")
    result = onnx_scatterx.optimize(model, target=target, assume="labels >= 2")
    left = {node.op_type for node in nodes(result.model)}
    assert left <= {"Slice", "Gather", "Reshape", "Identity", "Constant"}
    assert "labels >= 2" in result.report.assumptions
    rng = np.random.default_rng(0)
    feeds = [{"labels": rng.integers(2, 2**63 - 1, (1, count))} for _ in range(3)]
    assert_same(model, result.model, feeds)


@pytest.mark.parametrize(
    ("shape", "text", "written"),
    [
        ("N, 3", "m = Greater (x, most)  s = Softplus (x)  y = Where (m, x, s)", True),
        ("3", "m = GreaterOrEqual (x, most)  s = Softplus (x)  y = Where (m, x, s)", True),
        ("3", "m = Greater (x, less)  s = Softplus (x)  y = Where (m, x, s)", False),
        ("3", "m = Greater (x, wide)  s = Softplus (x)  y = Where (m, x, s)", False),
        ("3", "m = Greater (x, most)  n = Neg (x)  s = Softplus (n)  y = Where (m, x, s)", False),
        ("3", "m = Greater (x, most)  s = Softplus (x)  y = Where (m, s, x)", False),
        ("3", "m = Less (x, most)  s = Softplus (x)  y = Where (m, x, s)", False),
    ],
)
def test_a_softplus_with_a_bound(shape: str, text: str, written: bool) -> None:
    """A Softplus above 20 is its operand, as ONNX Runtime rounds it."""
    model = parse(f"""g (float[{shape}] x) => (float[] y)
        <float most = {{20}}, float less = {{19}}, float[1, 1] wide = {{20}}> {{ {text} }}""")
    target = "standard, avoid = ['Where']"
    result = onnx_scatterx.optimize(model, target=target)
    operators = [node.op_type for node in result.model.graph.node]
    assert ("Where" not in operators) == written
    rng = np.random.default_rng(0)
    drawn = [rng.uniform(-200, 200, 3), [20, np.nextafter(np.float32(20), 30), np.nan]]
    drawn += [[np.inf, -np.inf, -0.0], [88.7, 104, 3e38], rng.uniform(19, 22, 3)]
    feeds = [{"x": np.asarray(x, np.float32).reshape(3 if shape == "3" else (1, 3))} for x in drawn]
    assert_same(model, result.model, feeds)
