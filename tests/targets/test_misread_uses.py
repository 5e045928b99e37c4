"""Uses that a compiler refuses or misreads, as its profile says, are written in another form."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.profiles import HEAD
from tests.helpers.support import parse

_ELEMENTS = "(float[2, 3] x, int64[2, 2] i, float[2, 2] u) => (float[2, 3] y)"
_LONGER = "(float[2, 3] x, int64[2, 7] i, float[2, 7] u) => (float[2, 3] y)"
_CHOSEN = "(bool[2, 3] c, float[2, 3] x, float[{}] u) => (float[2, 3] y)"
_NUMBERS = "(bool[2, 3] c, int64[2, 3] x, int64[{}] u) => (int64[2, 3] y)"

CASES = [
    ("opencv", _ELEMENTS, 'y = ScatterElements <axis = -1, reduction = "mul"> (x, i, u)', []),
    ("opencv", _ELEMENTS, 'y = ScatterElements <axis = 1, reduction = "mul"> (x, i, u)', []),
    ("opencv", _LONGER, 'y = ScatterElements <axis = 1, reduction = "mul"> (x, i, u)', ["Concat"]),
    ("opencv", "(int64[5] x) => (int64[5] y)", "y = Clip (x, low)", ["Greater", "Where"]),
    ("opencv", "(int64[5] x) => (int64[5] y)", "y = Clip (x, low, high)", []),
    ("opencv", "(int64[5] x) => (int64[5] y)", "y = Abs (x)", ["Less", "Where"]),
    ("opencv", "(int64[5] x) => (int64[5] y)", "y = Sign (x)", ["Less", "Where"]),
    ("mnn", _CHOSEN.format("2, 1"), "y = Where (c, x, u)", ["Expand"]),
    ("mnn", _CHOSEN.format("3"), "y = Where (c, x, u)", ["Expand"]),
    ("mnn", _CHOSEN.format("2, 3"), "y = Where (c, x, u)", []),
    ("mnn", _CHOSEN.format("1"), "y = Where (c, x, u)", []),
    ("mnn", _CHOSEN.format("3"), "y = Where (c, u, x)", []),
    ("qnn", _NUMBERS.format("2, 1"), "y = Where (c, x, u)", ["Expand"]),
    ("qnn", _NUMBERS.format("1"), "y = Where (c, x, u)", []),
    ("qnn", _CHOSEN.format("3"), "y = Where (c, u, x)", []),
    *(
        (
            target,
            "(float[2, 3] x) => (bool[2, 3] y)",
            "y = Cast <to = 9> (x)",
            ["Abs", "Equal", "Not"],
        )
        for target in ("mnn", "openvino", "qnn")
    ),
    ("mnn", "(int32[5] x) => (bool[5] y)", "y = Cast <to = 9> (x)", []),
    ("opencv", "(float[5] x) => (bool[5] y)", "y = Cast <to = 9> (x)", []),
    ("qnn", "(int64[5] x) => (int64[5] y)", "y = Mod (x, high)", ["Div", "Mul", "Sub", "Where"]),
    ("qnn", "(int32[5] x) => (int32[5] y)", "y = Mod (x, four)", ["Div", "Mul", "Sub", "Where"]),
]


@pytest.mark.parametrize(("target", "ends", "body", "more"), CASES)
def test_a_use(target: str, ends: str, body: str, more: list[str]) -> None:
    numbers = "int64 low = {-2}, int64 high = {5}, int32 four = {4}"
    model = parse(f"""{HEAD} g {ends} <{numbers}> {{ {body} }}""")
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    assert not result.report.violations
    made = {node.op_type for node in result.model.graph.node}
    assert made.issuperset(more)
    assert more or result.model.graph.node[-1].op_type == model.graph.node[0].op_type
    rng = np.random.default_rng(0)
    assert_same(model, result.model, [_drawn(model, rng) for _ in range(4)])


def _drawn(model: onnx.ModelProto, rng: np.random.Generator) -> dict[str, np.ndarray]:
    feed = {}
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        low, high = (-3, 3) if value.name == "i" else (-9, 9)
        feed[value.name] = rng.integers(low, high, shape).astype(kind)
    return feed


@pytest.mark.parametrize(("target", "removed"), [("mnn", True), ("standard", False)])
def test_a_scatter_that_would_be_misread(target: str, removed: bool) -> None:
    """A dense form above the limit takes its place, as a wrong result is worse."""
    model = parse(f"""{HEAD} g (float[40, 8] x, int64[500, 1] i, float[500, 8] u)
        => (float[40, 8] y) {{ y = ScatterND <reduction = "add"> (x, i, u) }}""")
    result = onnx_scatterx.optimize(model, target=target)
    assert (result.report.scatters[0].action.name == "REMOVED") is removed
    assert not result.report.violations
    rng = np.random.default_rng(0)
    x, u = (rng.standard_normal(shape).astype(np.float32) for shape in ((40, 8), (500, 8)))
    assert_same(model, result.model, [{"x": x, "i": rng.integers(-40, 40, (500, 1)), "u": u}])


@pytest.mark.parametrize("first", ["", "n = Neg (x)  r = Relu (n)"])
def test_a_conv_of_a_constant_is_computed(first: str) -> None:
    """OpenCV refuses it, also of one that it folds, and what follows goes with it."""
    model = parse(f"""{HEAD} g (float[1, 2, 2, 2] z) => (float[1, 2, 2, 2] y)
        <float[1, 1, 2, 2] x = {{1, 2, 3, 4}}, float[2, 1, 1, 1] w = {{0.5, -3}}> {{
            {first}  a = Conv ({"r" if first else "x"}, w)  b = Relu (a)  y = Add (b, z) }}""")
    result = onnx_scatterx.optimize(model, target="opencv")
    assert [node.op_type for node in result.model.graph.node] == ["Add"]
    assert not result.report.violations
    assert_same(model, result.model, [{"z": np.ones((1, 2, 2, 2), np.float32)}])


def test_the_value_of_a_constant_of_shape_is_written() -> None:
    """Tract makes doubles of the default, which ONNX's schema tells in words only."""
    model = parse(f"""{HEAD} g (float[N, 3] x) => (float[M, 3] y)
        <int64[2] m = {{2, 0}}> {{ s = Shape (x)  t = Add (s, m)  y = ConstantOfShape (t) }}""")
    result = onnx_scatterx.optimize(model, target="tract")
    (node,) = [n for n in result.model.graph.node if n.op_type == "ConstantOfShape"]
    assert onnx.numpy_helper.to_array(node.attribute[0].t).tolist() == [0.0]
    assert not result.report.violations
    assert_same(model, result.model, [{"x": np.ones((n, 3), np.float32)} for n in (0, 1, 4)])


@pytest.mark.parametrize(
    ("target", "inputs", "body", "refused"),
    [
        ("ncnn", "1, 4, 3", "GroupNormalization <num_groups = 2> (x, two, two)", True),
        ("ncnn", "1, 2, 3", "GroupNormalization <num_groups = 2> (x, two, two)", False),
        ("mnn", "3, 3", 'Einsum <equation = "ii->i"> (x)', True),
        ("mnn", "3, 4; 3, 5", 'Einsum <equation = "ij,ik->k"> (x, u)', True),
        ("mnn", "3, 4; 4, 5", 'Einsum <equation = "ij,jk"> (x, u)', False),
        ("opencv", "3, 4; 4, 5", 'Einsum <equation = "ij,jk"> (x, u)', False),
        ("opencv", "3, 4", 'Einsum <equation = "ij->"> (x)', True),
        ("tract", "3, 4; 1, 4", 'Einsum <equation = "ij,ij->ij"> (x, u)', False),
        ("qnn", "1, 4, 24; 8, 4, 9", "Conv <pads = [4, 4]> (x, u)", False),  # written otherwise
        ("qnn", "1, 4, 1, 24; 8, 4, 1, 9", "Conv <pads = [0, 4, 0, 4]> (x, u)", True),
        ("qnn", "1, 4, 24; 8, 4, 9", "Conv <pads = [4, 5]> (x, u)", False),
        ("qnn", "1, 4, 24; 8, 4, 9", "Conv <pads = [4, 4], strides = [2]> (x, u)", False),
        ("qnn", "1, 4, 36; 8, 4, 9", "Conv <pads = [4, 4]> (x, u)", False),
        ("qnn", "1, 4, 24; 8, 4, 7", "Conv <pads = [3, 3]> (x, u)", False),
        ("qnn", "1, 4, 9, 9; 8, 4, 9, 9", "Conv <pads = [4, 4, 4, 4]> (x, u)", False),
        ("rknn", "1, 3, 4, 5, 6", "Softmax <axis = 2> (x)", False),
        ("rknn", "1, 3, 4, 5, 6", "Softmax <axis = 3> (x)", True),
        ("rknn", "1, 3, 4, 5, 6", "Softmax <axis = -1> (x)", False),
        ("rknn", "1, 3, 1, 5, 6", "Softmax <axis = 2> (x)", True),
        ("rknn", "1, 3, 4, 5, 6", "MaxPool <kernel_shape = [1, 2, 2]> (x)", True),
        ("rknn", "1, 3, 4, 5, 6", "TopK <axis = 3> (x, k)", False),
        ("rknn", "2, 3, 4, 5, 6", "TopK <axis = 3> (x, k)", True),
    ],
)
def test_whether_a_use_is_refused(target: str, inputs: str, body: str, refused: bool) -> None:
    given = ", ".join(f"float[{s}] {n}" for s, n in zip(inputs.split(";"), "xu", strict=False))
    made = "y, i" if "TopK" in body else "y"
    model = parse(f"""{HEAD} g ({given}) => (float[] y)
        <float[2] two = {{2, 3}}, int64[1] k = {{1}}> {{ {made} = {body} }}""")
    result = onnx_scatterx.optimize(model, target=target)
    assert any(not v.on_host for v in result.report.violations) == refused


@pytest.mark.parametrize("rows", [6, 40, 5000])
def test_updates_of_one_element_of_which_none_wins(rows: int) -> None:
    """LiteRT adds them, so a scatter at positions of the run is not left, at any size."""
    model = parse(f"""{HEAD} g (float[{rows}, 8] x, int64[500, 8] i, float[500, 8] u, int64[9, 1] j,
        float[9, 8] v) => (float[{rows}, 8] y) {{
            z = ScatterElements <axis = 0> (x, i, u)  y = ScatterND (z, j, v) }}""")
    result = onnx_scatterx.optimize(model, target="tflite")
    assert not result.report.violations
    assert [entry.action.name for entry in result.report.scatters] == ["REMOVED", "REMOVED"]
    rng = np.random.default_rng(0)
    shapes = {"x": (rows, 8), "u": (500, 8), "v": (9, 8)}
    feed: dict[str, np.ndarray] = {
        name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()
    }
    feed |= {"i": rng.integers(-rows, rows, (500, 8)), "j": rng.integers(-3, 3, (9, 1))}
    assert_same(model, result.model, [feed])


@pytest.mark.parametrize(
    ("reduction", "made"),
    [("none", "ScatterElements"), ("add", "ScatterElements"), ("max", "ScatterND")],
)
def test_a_reduction_that_iree_takes_at_points_only(reduction: str, made: str) -> None:
    model = parse(f"""{HEAD} g (float[4, 3] x, int64[9000, 3] i, float[9000, 3] u)
        => (float[4, 3] y) {{
            y = ScatterElements <axis = 0, reduction = "{reduction}"> (x, i, u) }}""")
    result = onnx_scatterx.optimize(model, target="iree", rules=())
    assert not result.report.violations
    assert [n.op_type for n in result.model.graph.node if "Scatter" in n.op_type] == [made]
