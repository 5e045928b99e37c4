"""Indices that the original checks: from zero by Less, Add and Where, and in int32."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import Feed, assert_same
from tests.helpers.support import parse, sample

FORMS = 'standard, avoid = ["ScatterND", "ScatterElements"{}], dense = true, dense_limit = inf'
REMAINDERS = [
    FORMS.format(', "Mod"'),
    FORMS.format("") + ", limits.Mod.negative = false",
    FORMS.format("") + ', limits.Mod.no_types = ["int64"]',
]
ROWS = """g (float[{0},2] x, int64[3,1] i, float[3,2] u) => (float[{0},2] y) {{
    y = ScatterND (x, i, u) }}"""
ELEMENTS = """g (float[{0},2] x, int64[3,2] i, float[3,2] u) => (float[{0},2] y) {{
    y = ScatterElements <axis = 0> (x, i, u) }}"""
COLUMNS = """g (float[{0},2] x, int64[3,2] i, float[3] u) => (float[{0},2] y) {{
    y = ScatterND (x, i, u) }}"""
NARROW = ROWS.replace("int64", "int32").replace("ScatterND", "ScatterElements <axis = 0>")
NARROW = NARROW.replace("[3,1]", "[3,2]")
MODELS = {"rows": ROWS, "elements": ELEMENTS, "columns": COLUMNS, "int32": NARROW}


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def feeds(model: onnx.ModelProto, size: int) -> list[Feed]:
    """Return indices at both ends of the axes, negative ones included."""
    given = next(value for value in model.graph.input if value.name == "i")
    shape = [dim.dim_value for dim in given.type.tensor_type.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type)
    last = model.graph.input[2].type.tensor_type.shape.dim
    found: list[Feed] = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        i = rng.integers(-size, size, shape)
        i[0], i[-1] = (-size, size - 1) if seed % 2 else (size - 1, -size)
        if len(last) == 1:  # the second column is of an axis of two
            i[:, 1] = rng.integers(-2, 2, len(i))
        u = sample("float32", *[dim.dim_value for dim in last], seed=seed)
        found.append({"x": sample("float32", size, 2), "i": i.astype(dtype), "u": u})
    return found


@pytest.mark.sampled(4, each="target")
@pytest.mark.parametrize("target", REMAINDERS)
@pytest.mark.parametrize("size", ["5", "N"])
@pytest.mark.parametrize("name", MODELS)
def test_no_division_counts_from_zero(name: str, size: str, target: str) -> None:
    model = parse(MODELS[name].format(size))
    result = onnx_scatterx.optimize(model, target=target)
    found = operators(result.model)
    assert result.report.removed == 1
    assert not result.report.violations
    assert not {"Div", "Mod"} & set(found)
    assert {"Less", "Add", "Where"} <= set(found)
    assert_same(model, result.model, feeds(model, 5))


def test_a_target_that_has_mod_keeps_it() -> None:
    """It is one node."""
    for text in MODELS.values():
        found = operators(
            onnx_scatterx.optimize(parse(text.format(5)), target=FORMS.format("")).model
        )
        assert "Mod" in found
        assert "Less" not in found


UNCHECKED = """g (float[N,K] x, int64[M] j, float[M,K] u) => (float[N,K] y) {
    y = ScatterElements <axis = 0> (x, Expand (Unsqueeze (j, [1]), Shape (u)), u) }"""


@pytest.mark.parametrize("target", REMAINDERS)
def test_what_may_be_unchecked_may_be_any_number(target: str) -> None:
    """Without columns there is no index, and ONNX Runtime checks none."""
    model = parse(UNCHECKED)
    result = onnx_scatterx.optimize(model, target=target)
    assert result.report.removed == 1
    given: list[Feed] = [
        {
            "x": sample("float32", 5, columns),
            "j": np.array(j),
            "u": sample("float32", len(j), columns),
        }
        for columns, j in ((0, [100, -(2**62), 2**62 + 1]), (2, [4, -5, 0]), (2, [-1, 3]))
    ]
    assert_same(model, result.model, given)


NARROWED = ', "Mod", "Gather", "GatherND"'
ONE = """g (float[7,2] x, int64[{0}] i, float[{0},2] u) => (float[7,2] y)
    {{ j = Unsqueeze (i, [1])  y = ScatterND (x, j, u) }}"""


@pytest.mark.parametrize("size", ["7", "N"])
@pytest.mark.parametrize("more", [NARROWED, ', "Gather", "GatherND"'])
def test_equal_compares_checked_indices_in_int32(size: str, more: str) -> None:
    target = FORMS.format(more) + ', limits.Equal.no_types = ["int64"]'
    model = parse(ONE.format(1).replace("[7,", f"[{size},"))
    result = onnx_scatterx.optimize(model, target=target)
    assert result.report.removed == 1
    assert not result.report.violations
    assert "Cast" in operators(result.model)
    given: list[Feed] = [
        {"x": sample("float32", 7, 2), "i": np.array([i]), "u": sample("float32", 1, 2)}
        for i in (-7, -1, 0, 6)
    ]
    assert_same(model, result.model, given)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("size", "refused"), [("5", ("Equal", "Add", "Where", "ReduceMax")), ("N", ("Equal",))]
)
def test_more_of_a_form_is_in_int32(name: str, size: str, refused: tuple[str, ...]) -> None:
    target = FORMS.format("")
    for op in refused:
        target += f', limits.{op}.no_types = ["int64"]'
    model = parse(MODELS[name].format(size))
    result = onnx_scatterx.optimize(model, target=target)
    assert result.report.removed == 1
    assert not result.report.violations
    assert_same(model, result.model, feeds(model, 5))


RING = """g (float[2,{0},2] x, int64[2] p, float[2,3,2] u) => (float[2,{0},2] y) {{
    y = TensorScatter <axis = 1, mode = "circular"> (x, u, p) }}"""


def test_two_remainders_of_c_are_one_of_onnx() -> None:
    """The target has Mod, of numbers that are not negative."""
    model = parse(RING.format(7), opset=24, ir_version=10)
    target = "standard, limits.Mod.negative = false"
    result = onnx_scatterx.optimize(model, target=target)
    assert result.report.removed == 1
    assert not result.report.violations
    assert operators(result.model).count("Mod") == 4
    assert "Div" not in operators(result.model)
    given: list[Feed] = [
        {"x": sample("float32", 2, 7, 2), "p": np.array(p), "u": sample("float32", 2, 3, 2)}
        for p in ((0, 6), (13, 5), (7, 1))
    ]
    assert_same(model, result.model, given)
    as_in_c = onnx.ModelProto.FromString(result.model.SerializeToString())
    for node in as_in_c.graph.node:
        if node.op_type == "Mod":
            node.attribute.append(onnx.helper.make_attribute("fmod", 1))
    assert_same(model, as_in_c, given)
    again = onnx_scatterx.optimize(result.model, target=target)
    assert operators(again.model) == operators(result.model)


@pytest.mark.parametrize(
    "body",
    [
        "y = Mod (x, n)",
        "m = Mod (x, n)  s = Add (m, n)  y = Mod (s, k)",
        "m = Mod (x, n)  s = Sub (m, n)  y = Mod (s, n)",
        "m = Mod (x, n)  s = Add (m, n)  a = Mod (s, n)  y = Max (a, m)",
        "m = Mod (x, n)  s = Add (m, n)  a = Mod (s, n)  y = Max (a, s)",
    ],
)
def test_only_the_inner_remainder_may_be_negative(body: str) -> None:
    """Its sign does not matter if all that reads it adds the divisor, and divides again."""
    text = f"g (int64[4] x) => (int64[4] y) <int64 n = {{5}}, int64 k = {{3}}> {{ {body} }}"
    target = "standard, limits.Mod.negative = false"
    names = {
        found.why
        for found in onnx_scatterx.inspect(
            parse(text), target=target, passes=["CheckTarget"]
        ).violations
    }
    assert any("Mod of numbers that may be negative" in why for why in names)
