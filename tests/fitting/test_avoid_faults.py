"""The forms that avoid a compiler's faults stand in the file, at their patterns alone."""

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.fitting import AvoidFaults
from onnx_scatterx.fitting.faults import FORMS as WRITTEN
from onnx_scatterx.lab.devices.consumers import rknn
from onnx_scatterx.targets.catalogue import all_targets, target_of
from onnx_scatterx.targets.faults import FORMS
from tests.helpers.pair import assert_same
from tests.helpers.support import parse, sample

FAULTY = ", ".join(f"{{form = '{form}', version = '1'}}" for form in FORMS)
TARGET = f"standard, faults = [{FAULTY}]"
WRITE = "x = ScatterND (z, i, u)"


def written(text: str, inputs: str, tmp_path: Path) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Return a model with a scatter, and the file that is written for a compiler with faults."""
    model = parse(f"""g (float[4, 2] z, float[1, 2] u, {inputs}) => (float[4, 2] x, float[A] y)
        <int64[1, 1] i = {{1}}, float[1, 2] q = {{1, -2}}, float two = {{2}},
         bool[2, 1] on = {{1, 1}}, bool[2, 1] off = {{1, 0}},
         float[4, 1, 1, 1] w = {{1, 2, 3, 4}}> {{ {WRITE}  {text} }}""")
    model.graph.output[1].type.tensor_type.ClearField("shape")
    onnx_scatterx.optimize(model, target=target_of(TARGET)).save(tmp_path / "out.onnx")
    return model, onnx.load(tmp_path / "out.onnx")


def feeds(model: onnx.ModelProto) -> list[dict[str, np.ndarray]]:
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input
    }
    drawn = {name: sample("float32", *shape) for name, shape in shapes.items()}
    odd = {name: np.full(shape, np.nan, np.float32) for name, shape in shapes.items()}
    low = {name: np.full(shape, -np.inf, np.float32) for name, shape in shapes.items()}
    return [drawn, odd, low]


@pytest.mark.parametrize(
    ("text", "relus"),
    [
        ("s = MatMul (q, k)  p = Softmax (s)  y = MatMul (p, v)", 1),
        ("s = MatMul (q, k)  t = Mul (s, two)  r = Add (t, b)  p = Softmax (r)"
         "  y = MatMul (p, v)", 1),
        ("a = Neg (q)  s = MatMul (a, k)  p = Softmax (s)  y = MatMul (p, v)", 1),
        ("s = MatMul (b, k)  p = Softmax (s)  y = MatMul (p, v)", 0),  # no constant queries
        ("s = MatMul (q, k)  p = Sigmoid (s)  y = MatMul (p, v)", 0),
        ("s = MatMul (q, k)  p = Softmax (s)  y = MatMul (v, p)", 0),
        ("p = Softmax (k)  y = MatMul (p, v)", 0),
        ("s = MatMul (b, k)  p = Softmax (s)  t = Transpose <perm = [1, 0]> (p)"
         "  y = MatMul (v, t)", 1),
        ("p = Softmax (v)  t = Transpose <perm = [1, 0]> (p)  y = MatMul (v, t)", 0),
    ],
)  # fmt: skip
def test_a_relu_behind_a_softmax(text: str, relus: int, tmp_path: Path) -> None:
    sizes = "float[4, 1] v" if "(v, p)" in text else "float[4, 3] v"
    sizes = "float[3, 4] v" if "(v, t)" in text else sizes
    other = "float[1, 2] b" if "MatMul (b" in text else "float[1, 4] b"
    model, made = written(text, f"float[2, 4] k, {sizes}, {other}", tmp_path)
    assert [n.op_type for n in made.graph.node].count("Relu") == relus
    assert_same(model, made, feeds(model))


ATTENTION = "float[1, 2, 4, 3] q, float[1, 2, 3, 4] k, float[1, 2, 4, 3] v, float[1, 1, 4, 4] m"
MASK = "float[4, 4] mask = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1}"
MASKED = """s = MatMul (q, k)  t = Add (s, MASK)  u = Reshape (t, [2, 4, 4])  p = Softmax (u)
    o = MatMul (p, v)  y = Neg (o)"""
EINSUM = 'Einsum <equation = "bhij,bhjk->bhik">'


@pytest.mark.parametrize(
    ("text", "relus"),
    [
        ("s = EINSUM (q, k)  p = Softmax (s)  o = EINSUM (p, v)  y = Neg (o)", 1),
        ("s = EINSUM (q, k)  p = Softmax (s)  o = MatMul (p, v)  y = Neg (o)", 1),
        ("s = MatMul (q, k)  t = Add (m, s)  p = Softmax (t)  o = EINSUM (p, v)  y = Neg (o)", 1),
        ("s = EINSUM (q, k)  t = Mul (s, two)  p = Softmax (t)  o = EINSUM (p, v)  y = Neg (o)", 0),
        ("s = MatMul (q, k)  p = Softmax (s)  o = MatMul (p, v)  y = Neg (o)", 0),
        ("s = MatMul (q, k)  p = Softmax (s)  y = MatMul (p, v)", 1),
        ("s = MatMul (q, k)  p = Softmax (s)  o = MatMul (p, v)  n = Neg (o)  y = Add (n, o)", 1),
        ("s = MatMul (q, k)  t = Div (s, two)  p = Softmax (t)  y = MatMul (p, v)", 0),
        ("a = Squeeze (q, [0])  b = Squeeze (k, [0])  c = Squeeze (v, [0])  s = MatMul (a, b)"
         "  p = Softmax (s)  y = MatMul (p, c)", 0),
        ("s = EINSUM (q, k)  p = Sigmoid (s)  y = EINSUM (p, v)", 0),
        (MASKED.replace("MASK", "mask"), 1),
        (MASKED.replace("MASK", "m"), 0),
        (MASKED.replace("MASK", "mask").replace("[2, 4, 4]", "[1, 2, 4, 4]"), 0),
        ("s = MatMul (q, k)  t = Add (s, mask)  u = Softmax (t)  p = Reshape (u, [2, 4, 4])"
         "  o = MatMul (p, v)  y = Neg (o)", 1),
    ],
)  # fmt: skip
def test_a_relu_in_an_attention_without_a_scale(text: str, relus: int) -> None:
    text = text.replace("EINSUM", EINSUM)
    model = parse(f"g ({ATTENTION}) => (float[A] y) <float two = {{2}}, {MASK}> {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    fault = "{form = 'relu_behind_softmax', version = '1'}"
    target = f"standard, static_only = true, faults = [{fault}]"
    made = onnx_scatterx.optimize(model, target=target).model
    assert [n.op_type for n in made.graph.node].count("Relu") == relus
    assert_same(model, made, feeds(model))
    again = onnx_scatterx.optimize(made, target=target).model
    assert [n.op_type for n in again.graph.node].count("Relu") == relus


CUT = """r = Reshape (m, [1, 4, 6])  a = Slice (r, [0], [2], [AXIS])
    b = Slice (r, [-2], [9], [AXIS])  y = Concat <axis = 1> (a, b)"""


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("m = Conv (n, w)  " + CUT.replace("AXIS", "1"), True),
        ("m = Conv (n, w)  " + CUT.replace("AXIS", "-2"), True),
        ("m = Conv (n, w)  r = Reshape (m, [1, 4, 6])  a, b = Split <axis = -2> (r, [3, 1])"
         "  y = Concat <axis = 1> (b, a)", True),
        ("m = Conv (n, w)  r = Reshape (m, [4, 6])  a, y = Split (r, [2, 2])", True),
        ("m = Conv (n, w)  " + CUT.replace("AXIS", "1").replace("[1])", "[1], [1])"), True),
        ("m = Conv (n, w)  " + CUT.replace("AXIS", "1").replace("[1])", "[1], [2])"), False),
        ("m = Tile (n, [1, 4, 1, 1])  " + CUT.replace("AXIS", "1"), False),
        ("m = Conv (n, w)  " + CUT.replace("AXIS", "1").replace("(a, b)", "(a, b, r)"), False),
        ("m = Conv (n, w)  r = Reshape (m, [1, 2, 12])  a = Slice (r, [0], [1], [1])"
         "  b = Slice (r, [1], [2], [1])  y = Concat <axis = 1> (a, b)", False),
        ("m = Conv (n, w)  r = Reshape (m, [1, 4, 6])  y = Slice (r, [0], [1], [1])", False),
        ("m = Conv (n, w)  r = Reshape (m, [4, 6])  a = Slice (r, [0], [2])"
         "  b = Slice (r, [2], [4])  y = Concat <axis = 0> (a, b)", False),
    ],
)  # fmt: skip
def test_slices_before_a_reshape(text: str, first: bool, tmp_path: Path) -> None:
    model, made = written(text, "float[1, 1, 1, 6] n", tmp_path)
    makers = {out: node.op_type for node in made.graph.node for out in node.output}
    cut = [makers.get(n.input[0]) for n in made.graph.node if n.op_type == "Slice"]
    assert cut.count("Conv") == (2 if first else 0)
    assert not first or "Split" not in makers.values()
    assert_same(model, made, feeds(model))


@pytest.mark.parametrize(
    ("text", "ands"),
    [
        ("c = And (on, m)  d = And (m, on)", 0),
        ("c = And (on, m)  d = And (off, m)", 1),
        ("c = And (on, m)  d = And (m, m)", 1),
        ("c = And (on, m)  d = Or (on, m)", 1),  # only one And reads the mask
        ("c = And (m, g)  d = And (m, g)", 2),
        ("n = Not (off)  a = And (on, n)  b = And (n, on)  c = And (a, m)  d = And (b, g)", 4),
    ],
)
def test_a_mask_beside_one_of_which_all_is_true(text: str, ands: int, tmp_path: Path) -> None:
    floats = "e = Cast <to = 1> (c)  h = Cast <to = 1> (d)  y = Add (e, h)"
    text = f"m = Greater (f, s)  g = Less (s, f)  {text}  {floats}"
    model, made = written(text, "float[1, 4] f, float[1, 4] s", tmp_path)
    assert [n.op_type for n in made.graph.node].count("And") == ands
    assert_same(model, made, feeds(model))


ROOT = "p = Pow (k, two)  m = ReduceMean (p, [-1])  a = Add (m, two)  s = Sqrt (a)"


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        ("n = Mul (k, r)  y = Mul (q, n)", "k r, n q"),
        ("n = Mul (k, r)  y = Mul (n, q)", "k r, n q"),
        ("n = Mul (k, r)  h = Add (q, two)  y = Mul (h, n)", "k r, n h"),
        ("n = Mul (k, r)  y = Mul (two, n)", "r k, two n"),
        ("n = Mul (k, r)  y = Mul (n, two)", "r k, n two"),
        ("n = Mul (k, r)  h = Concat <axis = 0> (q, q)  y = Mul (n, h)", "r k, n h"),
        ("n = Mul (k, r)  h = Mul (q, n)  e = Mul (n, two)  y = Add (h, e)", "r k, n q, n two"),
        ("n = Mul (r, k)  y = Mul (q, n)", "r k, q n"),
        ("n = Mul (k, s)  y = Mul (q, n)", "k s, q n"),  # no Reciprocal
        ("n = Mul (k, r)  y = Mul (b, n)", "k r, b n"),  # no constant
    ],
)
def test_the_weight_of_a_norm(text: str, factors: str, tmp_path: Path) -> None:
    """A vector along the last axis stands second, and any other constant is hidden."""
    sizes = "float[2, 2] k, float[1, 2] b"
    model, made = written(f"{ROOT}  r = Reciprocal (s)  {text}", sizes, tmp_path)
    products = [node.input for node in made.graph.node if node.op_type == "Mul"]
    assert [" ".join(names) for names in products] == factors.split(", ")
    assert_same(model, made, feeds(model))
    again = onnx_scatterx.optimize(made, target=target_of(TARGET)).model
    assert [node.input for node in again.graph.node if node.op_type == "Mul"] == products


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("s = Mul (k, two)  y = Softmax <axis = 0> (s)", [1]),
        ("s = Mul (two, k)  y = Softmax <axis = -2> (s)", [1]),
        ("h = Neg (two)  s = Mul (h, k)  y = Softmax <axis = 0> (s)", [1]),
        ("s = Mul (k, two)  y = Softmax <axis = 1> (s)", []),  # the last axis
        ("s = Mul (k, two)  y = Softmax (s)", []),
        ("s = Mul (k, u)  y = Softmax <axis = 0> (s)", [1, 2]),
        ("s = Add (k, two)  y = Softmax <axis = 0> (s)", []),
    ],
)
def test_the_scale_of_a_softmax(text: str, shape: list[int], tmp_path: Path) -> None:
    """A scalar in front of a Softmax of another axis than the last one becomes a vector."""
    model, made = written(text, "float[4, 2] k", tmp_path)
    inferred = onnx.shape_inference.infer_shapes(made, data_prop=True).graph
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
              for v in (*inferred.value_info, *inferred.input)}  # fmt: skip
    shapes |= {tensor.name: [*tensor.dims] for tensor in inferred.initializer}
    scaled = next(node for node in made.graph.node if node.output[0] == "s")
    assert shapes[next(name for name in scaled.input if name != "k")] == shape
    assert_same(model, made, feeds(model))


@pytest.mark.parametrize(
    ("shape", "text", "group", "nodes"),
    [
        ("1, 4, 5, 64", "a = Reshape (n, [2, 4, 5, 32]) b = Transpose <perm = [0, 3, 1, 2]> (a)"
         " y = Conv <group = 32, pads = [1, 1, 1, 1]> (b, w)", "64", "Transpose Reshape Conv"),
        ("2, 80, 1, 2", "a = Reshape (n, [10, 16, 1, 2]) y = Conv <group = 16> (a, w, c)", "160",
         "Reshape Conv"),
        ("2, 5, 8, 8", "b = Transpose <perm = [0, 2, 1, 3]> (n) y = Conv <group = 8> (b, w)", "8",
         "Transpose Conv"),  # no Reshape makes the images
        ("16, 2, 1, 3", "b = Transpose <perm = [1, 0, 2, 3]> (n) y = Conv <group = 16> (b, w)",
         "16", "Transpose Conv"),
        ("1, 32, 5, 8", "a = Reshape (n, [2, 16, 5, 8]) y = Conv (a, w)", "1", "Reshape Conv"),
        ("1, 16, 5, 8", "a = Reshape (n, [2, 8, 5, 8]) y = Conv <group = 8> (a, w)", "8",
         "Reshape Conv"),  # not a multiple of 16
        ("1, 64, 9, 9", "y = Conv <group = 64, strides = [4, 4]> (n, w, c)", "32 32",
         "Slice Conv Slice Conv Concat"),
        ("1, 32, 9, 9", "y = Conv <group = 32, strides = [4, 4]> (n, w)", "32", "Conv"),
        ("1, 64, 9, 9", "y = Conv <group = 64, strides = [2, 2]> (n, w)", "64", "Conv"),
        ("1, 48, 9, 9", "y = Conv <group = 48, strides = [4, 4]> (n, w)", "48", "Conv"),
    ],
)  # fmt: skip
def test_depthwise_convs(shape: str, text: str, group: str, nodes: str, tmp_path: Path) -> None:
    """Weights that are not constants, and Convs of other kinds, stay as they are."""
    channels = int(text.partition("group = ")[2].split(",")[0].split(">")[0] or 16)
    within = 1 if "group" in text else 16
    size = 3 if "strides" in text or "pads" in text else 1
    model = parse(f"g (float[{shape}] n) => (float[A, B, C, D] y) {{ {text} }}")
    rng = np.random.default_rng(0)
    arrays = {"w": rng.standard_normal((channels, within, size, size), np.float32)}
    arrays["c"] = rng.standard_normal(channels, np.float32)
    for name, array in arrays.items():
        if name in {n for node in model.graph.node for n in node.input}:
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    made = onnx_scatterx.optimize(model, target=f"{TARGET}, static_only = true").model
    convs = [node for node in made.graph.node if node.op_type == "Conv"]
    groups = [a.i for node in convs for a in node.attribute if a.name == "group"]
    assert groups == [*map(int, group.split())] or group == "1"
    assert {node.op_type for node in made.graph.node} == set(nodes.split())
    assert_same(model, made, feeds(model))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("a = MatMul (q, k)  b = Div (a, two)  y = Softmax (b)", [5]),
        ("a = MatMul (q, k)  b = Div (a, one)  c = Add (b, m)  y = Softmax (c)", [5]),
        ("a = Mul (two, q)  b = MatMul (a, k)  y = Softmax (b)", [4]),
        ("a = MatMul (q, k)  b = Div (a, five)  y = Softmax (b)", [5]),  # many already
        ("a = Mul (q, two)  b = Reshape (a, [2, 3, 4])  c = Transpose <perm = [0, 1, 2]> (b)"
         "  d = MatMul (c, k)  y = Softmax (d)", [4]),
        ("a = Slice (k, [0], [1], [2])  b = Mul (a, two)  c = MatMul (q, b)  y = Softmax (c)",
         [4, 1]),
        ("a = MatMul (q, k)  b = Div (two, a)  y = Softmax (b)", []),
        ("a = MatMul (q, k)  y = Div (a, two)", []),
        ("a = MatMul (q, k)  b = Mul (a, two)  y = Softmax (b)", []),
        ("a = Mul (q, two)  b = MatMul (a, k)  c = Sigmoid (b)  y = Softmax (c)", []),
        ("a = Mul (q, deep)  b = MatMul (a, k)  c = Softmax (b)  y = Squeeze (c, [0, 1])", []),
    ],
)  # fmt: skip
def test_many_scales_of_an_attention(text: str, shape: list[int], tmp_path: Path) -> None:
    model = parse(f"""g (float[4, 2] z, float[1, 2] u, float[1, 6, 4] q, float[1, 4, 5] k,
            float[5] m) => (float[4, 2] x, float[A] y)
        <int64[1, 1] i = {{1}}, float two = {{2}}, float[1] one = {{0.3}},
         float[1, 1, 1, 1] deep = {{3}},
         float[5] five = {{2, 2, 2, 2, 2}}> {{ {WRITE}  {text} }}""")
    model.graph.output[1].type.tensor_type.ClearField("shape")
    onnx_scatterx.optimize(model, target=target_of(TARGET)).save(tmp_path / "out.onnx")
    made = onnx.load(tmp_path / "out.onnx")
    scales = [n for n in made.graph.node if n.op_type in ("Mul", "Div")]
    sizes = {t.name: [*t.dims] for t in made.graph.initializer}
    wide = [sizes[v] for n in scales for v in n.input if v in sizes and np.prod(sizes[v]) > 1]
    assert wide == ([shape] if shape else [])
    assert_same(model, made, feeds(model))


GATHERS = "float[9, 4] x, int64[5] i, int64[5] j"


@pytest.mark.parametrize(
    ("inputs", "text", "gathers"),
    [
        (GATHERS, "a = Gather (x, i)  b = Gather (x, j)  y = Sub (a, b)", 1),
        (GATHERS, "a = Gather (x, i)  b = Gather <axis = -2> (x, j)  y = Sub (a, b)", 1),
        (GATHERS, "a = Gather (x, [1, 2])  b = Gather (x, j)  y = Concat <axis = 0> (a, b)", 1),
        (GATHERS, "a = Gather (x, [1, 2])  b = Gather (x, [2, 3])  y = Sub (a, b)", 2),
        (GATHERS, "n = Abs (x)  a = Gather (n, i)  b = Gather (x, j)  y = Sub (a, b)", 2),
        (GATHERS, "a = Gather (x, i)  t = Reshape (x, [1, 9, 4])  c = Gather <axis = 1> (t, j)"
         "  b = Squeeze (c, [0])  y = Sub (a, b)", 1),
        ("float[4, 4] x, int64[5] i, int64[4] j",
         "a = Gather (x, i)  b = Gather <axis = 1> (x, j)  y = Concat <axis = 0> (a, b)", 2),
        ("float[2, 9, 3] x, int64[2, 3] i, int64[3] j", "a = Gather <axis = 1> (x, i)"
         "  b = Gather <axis = 1> (x, j)  c = Unsqueeze (b, [1])  y = Add (a, c)", 1),
        ("float[9] x, int32[5] i, int64 j", "a = Gather (x, i)  b = Gather (x, j)  y = Add (a, b)",
         1),
        (GATHERS, "n = Abs (x)  m = Abs (x)  a = Gather (n, i)  b = Gather (m, j)  y = Sub (a, b)",
         1),
        (GATHERS, "t = Transpose (x)  a = Gather (x, i)  c = Gather <axis = 1> (t, j)"
         "  b = Transpose (c)  y = Sub (a, b)", 1),
        (GATHERS, "t = Transpose (x)  r = Reshape (t, [9, 4])  a = Gather (x, i)"
         "  b = Gather (r, j)  y = Sub (a, b)", 2),
        ("float[9, 4] x, int64[5, 1] i, int64[5] j",
         "a = GatherND (x, i)  b = Gather (x, j)  y = Sub (a, b)", 1),
    ],
)  # fmt: skip
def test_gathers_of_one_tensor(inputs: str, text: str, gathers: int) -> None:
    """A compiler takes them for one Gather: all but one are written otherwise."""
    model = parse(f"g ({inputs}) => (float[A] y) {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    made = onnx_scatterx.optimize(model, target="rknn").model
    kinds = [node.op_type for node in made.graph.node]
    assert kinds.count("Gather") == gathers
    assert ("GatherElements" in kinds) == (gathers == 1)
    rng = np.random.default_rng(0)
    given, size = [], 4 if "float[4, 4]" in inputs else 9
    for _ in range(4):
        feed: dict[str, np.ndarray] = {}
        for value in model.graph.input:
            kind = value.type.tensor_type.elem_type
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            if kind == onnx.TensorProto.FLOAT:
                feed[value.name] = rng.standard_normal(shape).astype(np.float32)
            else:
                at = rng.integers(-size, size, shape)
                feed[value.name] = at.astype(onnx.helper.tensor_dtype_to_np_dtype(kind))
        given.append(feed)
    assert_same(model, made, given)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("a = Slice (k, [3], [9], [1], [1])  b = Slice (k, [0], [3], [1], [1])"
         "  y = Concat <axis = 1> (a, b)", [4, 4]),
        ("a = Slice (k, [3], [9], [1])  b = Slice (k, [0], [3], [1], [2])"
         "  y = Concat <axis = 1> (a, b)", [4, 5]),
        ("a = Slice (k, [1], [2], [0], [1])  y = Concat <axis = 0> (a, k)", [5]),
        ("a = Slice (k, [3], [9], [1], [1])  b = Slice (k, [0], [3], [1], [1])"
         "  y = Concat <axis = 1> (a, b, k)", [5, 5]),
    ],
)  # fmt: skip
def test_slices_without_steps(text: str, inputs: list[int]) -> None:
    model = parse(f"g (float[2, 8, 3] k) => (float[A] y) {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    fault = "{form = 'slices_without_steps', version = '1'}"
    target = f"standard, static_only = true, faults = [{fault}]"
    made = onnx_scatterx.optimize(model, target=target).model
    assert [len(n.input) for n in made.graph.node if n.op_type == "Slice"] == inputs
    assert_same(model, made, feeds(model))


def loop(steps: int, read: str = "Gather <axis = 1> (x, {i})", part: str = "") -> str:
    """Return a loop as an exporter writes it, step by step: at each a read, and a quotient."""
    text, state = "", "z"
    for t in range(steps):
        text += (
            f" g{t} = {read.format(i=f'i{t}')}  s{t} = Add ({state}, g{t})  d{t} = Sigmoid (s{t})"
        )
        text += f"  q{t} = Div (s{t}, d{t})  c{t} = Cast <to = 1> (q{t}) "
        text += part.format(t=t) or f" u{t} = Unsqueeze (c{t}, one)"
        state = f"s{t}"
    parts = ", ".join(f"u{t}" for t in range(steps))
    constants = "".join(f", int64 i{t} = {{{t if t % 3 else t - steps}}}" for t in range(steps))
    return f"""g (float[2, {steps}, 3] x, float[2, 3] z) => (float[A] y)
        <int64[1] one = {{1}}, float[2, 1] column = {{2, 3}}{constants}> {{
            {text} y = Concat <axis = 1> ({parts}) }}"""


@pytest.mark.parametrize(
    ("text", "gathers", "divisions"),
    [
        (loop(32), 0, 1),
        (loop(33), 0, 1),
        (loop(31), 31, 31),
        (loop(32, part="u{t} = Unsqueeze (q{t}, one)"), 0, 32),  # a Cast reads it, too
        (loop(32, part="u{t} = Identity (c{t})"), 0, 1),
        (loop(32, part="u{t} = Abs (c{t})"), 0, 32),
        (loop(32, part="r{t} = Mul (q{t}, column)  u{t} = Unsqueeze (r{t}, one)"), 0, 32),
        (loop(32, "Neg (z)"), 0, 1),
    ],
)  # fmt: skip
def test_an_unrolled_loop(text: str, gathers: int, divisions: int) -> None:
    """A form is written for 32 nodes and more, if nothing else reads the quotients."""
    model = parse(text)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    made = onnx_scatterx.optimize(model, target="mnn").model
    kinds = [node.op_type for node in made.graph.node]
    assert (kinds.count("Gather"), kinds.count("Div")) == (gathers, divisions)
    assert_same(model, made, feeds(model))


SCATTERS = "float[9, 4] x, int64[5, 1] i, int64[5, 1] j, float[5, 4] u, float[5, 4] v"


@pytest.mark.parametrize(
    ("inputs", "text", "ranks"),
    [
        (SCATTERS, "a = ScatterND (x, i, u)  b = ScatterND (x, i, v)  y = Sub (a, b)", [3, 2]),
        (SCATTERS, "a = ScatterND (x, i, u)  b = ScatterND (x, j, v)  y = Sub (a, b)", [3, 2]),
        (SCATTERS, "a = ScatterND (x, i, u)  b = ScatterND (x, [[2], [3], [4], [5], [6]], v)"
         "  y = Sub (a, b)", [3, 2]),
        (SCATTERS, "a = ScatterND (x, i, u)  b = ScatterND (x, j, v)  h = ScatterND (x, j, u)"
         "  g = Sub (a, b)  y = Mul (g, h)", [3, 4, 2]),
        (SCATTERS, "n = Abs (x)  m = Abs (x)  a = ScatterND (n, i, u)  b = ScatterND (m, j, v)"
         "  y = Sub (a, b)", [3, 2]),
        (SCATTERS, "n = Abs (x)  a = ScatterND (n, i, u)  b = ScatterND (x, j, v)  y = Sub (a, b)",
         [2, 2]),
        (SCATTERS, "a = ScatterND <reduction = 'max'> (x, i, u)  b = ScatterND (x, j, v)"
         "  y = Sub (a, b)", [2, 2]),
        (SCATTERS, "a = ScatterND <reduction = 'max'> (x, i, u)"
         "  b = ScatterND <reduction = 'max'> (x, j, v)  y = Sub (a, b)", [3, 2]),
        ("float[3, 2, 2] x, int64[5, 2] i, int64[5, 2] j, float[5, 2] u, float[5, 2] v",
         "a = ScatterND (x, i, u)  b = ScatterND (x, j, v)  y = Sub (a, b)", [4, 3]),
        ("float[3, 2, 2] x, int64[5, 2] i, int64[5, 1] j, float[5, 2] u, float[5, 4] v",
         "r = Reshape (x, [3, 4])  a = ScatterND (x, i, u)  s = ScatterND (r, j, v)"
         "  b = Reshape (s, [3, 2, 2])  y = Sub (a, b)", [3, 2]),
        ("int64[5, 1] i, int64[5, 1] j, float[5] u, float[5] v",
         "a = ScatterND (c, i, u)  b = ScatterND (d, j, v)  y = Sub (a, b)",
         [2, 1]),
        ("int64[5, 1] i, int64[5, 1] j, float[5] u, float[5] v",
         "a = ScatterND (c, i, u)  b = ScatterND (e, j, v)  y = Sub (a, b)",
         [1, 1]),
    ],
)  # fmt: skip
def test_scatters_into_one_tensor(inputs: str, text: str, ranks: list[int]) -> None:
    """A compiler takes them for one ScatterND: all but one have data of another shape."""
    text = text.replace("'max'", '"max"')
    numbers = "float[3] c = {1.5, 0, 2}, float[3] d = {1.5, 0, 2}, float[3] e = {1.5, 0, 3}"
    model = parse(f"g ({inputs}) => (float[A] y) <{numbers}> {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    target = "standard, static_only = true, faults = [{form = 'shapes_of_scatters', version = '1'}]"
    made = onnx_scatterx.optimize(model, target=target_of(target), rules=()).model
    inferred = onnx.shape_inference.infer_shapes(made, data_prop=True).graph
    dims = {v.name: len(v.type.tensor_type.shape.dim)
            for v in (*inferred.value_info, *inferred.input, *inferred.output)}  # fmt: skip
    dims |= {tensor.name: len(tensor.dims) for tensor in inferred.initializer}
    scatters = [node for node in made.graph.node if node.op_type == "ScatterND"]
    assert [dims[node.input[0]] for node in scatters] == ranks
    rng, given = np.random.default_rng(0), []
    size = 2 if "[5, 2] i" in inputs else 3 if "x" not in inputs else 9
    for _ in range(4):
        feed: dict[str, np.ndarray] = {}
        for value in model.graph.input:
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
                feed[value.name] = rng.standard_normal(shape).astype(np.float32)
            elif size == 9:  # no two updates of one element: ONNX leaves their order open
                feed[value.name] = (rng.permutation(9)[:5] - rng.integers(2) * 9).reshape(shape)
            else:
                feed[value.name] = np.full(shape, rng.integers(-size, size))
        given.append(feed)
    assert_same(model, made, given)


@pytest.mark.parametrize(
    ("shape", "perm", "merged"),
    [
        ([4, 4], [1, 0], [1, 4, 4]),
        ([4, 5], [1, 0], None),
        ([4, 4, 6], [1, 0, 2], [1, 4, 4, 6]),
        ([6, 4, 6], [2, 1, 0], [1, 6, 4, 6]),
        ([5, 5, 5], [1, 2, 0], [1, 5, 25]),
        ([2, 4, 4], [1, 2, 0], None),
        ([1, 5, 3, 5, 4], [2, 0, 3, 1, 4], [1, 5, 15, 4]),
        ([2, 5, 3, 3, 4], [2, 0, 3, 1, 4], None),
        ([1, 4, 1, 5], [2, 0, 1, 3], None),
        ([3, 4, 4, 6], [0, 2, 1, 3], None),
        ([0, 0], [1, 0], None),
        ([2, 2, 2, 2, 2, 2], [5, 4, 3, 2, 1, 0], None),
    ],
)
def test_a_transpose_of_equal_sizes(
    shape: list[int], perm: list[int], merged: list[int] | None
) -> None:
    """A compiler takes the first axis of the right size; the first axis of all stays in place."""
    one, other = (", ".join(str(n) for n in dims) for dims in (shape, [shape[d] for d in perm]))
    model = parse(f"""g (float[{one}] x) => (float[{other}] y) {{
        h = Neg (x)  t = Transpose <perm = {perm}> (h)  y = Neg (t) }}""")
    target = target_of(
        "standard, faults = [{form = 'transpose_of_equal_sizes', version = '1'}], "
        "static_only = true"
    )
    made = onnx_scatterx.optimize(model, target=target).model
    assert [node.op_type == "Reshape" for node in made.graph.node].count(True) == 2 * bool(merged)
    sizes = [list(onnx.numpy_helper.to_array(t)) for t in made.graph.initializer]
    assert merged is None or merged in sizes
    rng = np.random.default_rng(0)
    assert_same(model, made, [{"x": rng.standard_normal(shape).astype(np.float32)}])


@pytest.mark.parametrize(
    ("given", "node"),
    [
        ("p = [1, 0, 2]", "Transpose <perm : ints = @p> (a)"),
        ("p = 1", "Softmax <axis : int = @p> (q)"),
        ("p = 0", "Gather <axis : int = @p> (a, i)"),
    ],
)
@pytest.mark.parametrize("form", sorted(FORMS))
def test_what_the_caller_of_a_function_gives_is_not_asked(form: str, given: str, node: str) -> None:
    """A form leaves the function as it is: it may be called with another axis."""
    model = parse(
        f"g (float[4,4,4] x, int64[4] i) => (float[4,4,4] y) {{ y = local.f <{given}> (x, i) }}",
        more=', "local" : 1',
    )
    head = '<domain: "local", opset_import: ["" : 18]> f <p> (a, i) => (b)'
    scaled = "k = Constant <value = float {0.3}> ()  q = Mul (a, k)"
    product = f"h = {node}  g = {node}  m = MatMul (h, q)  b = Add (m, g)"
    model.functions.append(onnx.parser.parse_function(f"{head} {{ {scaled} {product} }}"))
    target = f"standard, static_only = true, faults = [{{form = '{form}', version = '1'}}]"
    made = onnx_scatterx.optimize(model, target=target).model
    assert made.functions[0].node == model.functions[0].node


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("m = MatMul (k, e)  a = Add (m, b)  y = Reshape (a, [2, 2, 3, 3, 5])",
         "Reshape MatMul Add Reshape"),
        ("m = MatMul (k, e)  a = Sub (b, m)  y = Reshape (a, [2, 2, 3, 3, 5])",
         "Reshape MatMul Sub Reshape"),
        ("m = MatMul (k, e)  h = Unsqueeze (b, [0])  a = Add (h, m)  y = Reshape (a, [4, 3, 3, 5])",
         "Reshape MatMul Add Reshape"),
        ("m = MatMul (k, e)  r = Reshape (m, [4, 9, 5])  a = Add (r, b)"
         "  y = Reshape (a, [2, 2, 3, 3, 5])", "Reshape MatMul Add Reshape"),
        ("m = MatMul (k, e)  r = Reshape (m, [4, 45, 1])  a = Add (r, one)"
         "  y = Reshape (a, [2, 2, 3, 3, 5])", "MatMul Reshape Add Reshape"),
        ("m = MatMul (k, e)  a = Add (m, b)  y = Reshape (a, [4, 9, 5])", "MatMul Add Reshape"),
        ("m = MatMul (k, e)  a = Mul (m, b)  y = Reshape (a, [4, 3, 3, 5])", "MatMul Mul Reshape"),
        ("m = MatMul (k, e)  a = Add (m, m)  y = Reshape (a, [4, 3, 3, 5])", "MatMul Add Reshape"),
        ("m = MatMul (k, e)  a = Add (m, wide)  y = Reshape (a, [2, 2, 3, 3, 5])",
         "MatMul Add Reshape"),
        ("r = Reshape (k, [4, 9, 4])  m = MatMul (r, e)  a = Add (m, b)"
         "  y = Reshape (a, [2, 2, 3, 3, 5])", "Reshape MatMul Add Reshape"),
    ],
)  # fmt: skip
def test_the_rows_of_a_product(text: str, nodes: str) -> None:
    """They become one axis, if a sum with a constant vector is reshaped to four dims or more."""
    numbers = """float[4, 5] e = {1, -2, 3, 4, 5, 6, 7, -8, 9, 1, 2, 3, 4, -5, 6, 7, 8, 9, 1, 2},
        float[5] b = {1.5, 2, 3, -4, 5}, float[1] one = {0.3}, float[3, 1] wide = {1, 2, 3}"""
    model = parse(f"g (float[4, 3, 3, 4] k) => (float[A] y) <{numbers}> {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    fault = "{form = 'rows_of_products', version = '1'}"
    made = onnx_scatterx.optimize(
        model, target=f"standard, static_only = true, faults = [{fault}]"
    ).model
    kinds = " ".join(node.op_type for node in made.graph.node)
    assert kinds.replace("Unsqueeze ", "").replace("Reshape Reshape", "Reshape") == nodes
    assert_same(model, made, feeds(model))


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("y = Add (k, pair)", [[1, 1, 24, 2], [1, 1, 1, 2]]),
        ("y = Sub (pair, k)", [[1, 1, 1, 2], [1, 1, 24, 2]]),
        ("y = Div (k, lines)", [[1, 3, 8, 2], [1, 3, 1, 2]]),
        ("y = Mul (k, one)", [[1, 1, 1, 48], [1, 1, 1, 1]]),
        ("n = Slice (k, [0], [1], [1])  y = Mul (n, lines)", [[1, 1, 8, 2], [1, 3, 1, 2]]),
        ("n = Slice (k, [0], [1], [4])  y = Add (lines, n)", [[1, 3, 1, 2], [1, 3, 4, 2]]),
        ("y = Add (k, mixed)", [[1, 12, 2, 2], [1, 12, 1, 2]]),  # one axis of five is repeated
        ("y = Sub (mixed, k)", [[1, 12, 1, 2], [1, 12, 2, 2]]),
        (
            "n = Reshape (k, [2, 1, 2, 1, 2, 1, 6])  y = Add (n, apart)",  # seven axes are left
            [[2, 1, 2, 1, 2, 1, 6], [1, 3, 1, 2, 1, 2, 1]],
        ),
        ("y = Max (k, pair)", [[1, 3, 2, 2, 2, 2], [2]]),
        ("y = Add (k, k)", [[1, 3, 2, 2, 2, 2]] * 2),
        ("n = Reshape (k, [3, 8, 1, 2])  y = Add (n, pair)", [[3, 8, 1, 2], [2]]),
    ],
)
def test_a_sum_of_many_dims_with_a_constant(text: str, shapes: list[list[int]]) -> None:
    numbers = """float[2] pair = {1.5, -2}, float[1] one = {0.3},
        float[3, 1, 1, 1, 2] lines = {1, 2, 3, 4, 5, 6},
        float[3, 1, 2, 1, 2] mixed = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3},
        float[1, 3, 1, 2, 1, 2, 1] apart = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}"""
    model = parse(f"g (float[1, 3, 2, 2, 2, 2] k) => (float[A] y) <{numbers}> {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    fault = "{form = 'merged_with_constants', version = '1'}"
    made = onnx_scatterx.optimize(
        model, target=f"standard, static_only = true, faults = [{fault}]"
    ).model
    inferred = onnx.shape_inference.infer_shapes(made, data_prop=True).graph
    dims = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in (*inferred.value_info, *inferred.input)}  # fmt: skip
    dims |= {tensor.name: [*tensor.dims] for tensor in inferred.initializer}
    (node,) = (n for n in made.graph.node if n.op_type in ("Add", "Sub", "Mul", "Div", "Max"))
    assert [dims[name] for name in node.input] == shapes
    assert_same(model, made, feeds(model))


@pytest.mark.parametrize("seed", range(6))
def test_drawn_convs_of_few_channels(seed: int) -> None:
    """Parts of 32 channels have the same bits, whatever the pads, dilations, images and biases."""
    rng = np.random.default_rng(seed)
    channels, images = 32 * int(rng.integers(2, 5)), int(rng.integers(1, 4))
    height, width = (int(n) for n in rng.integers(5, 24, 2))
    pads, dilations = rng.integers(0, 4, 4).tolist(), rng.integers(1, 3, 2).tolist()
    has_bias = bool(rng.integers(2))
    text = f"""g (float[{images}, {channels}, {height}, {width}] n) => (float[A, B, C, D] y) {{
        y = Conv <group = {channels}, strides = [4, 4], pads = {pads}, dilations = {dilations}>
            (n, w{", c" * has_bias}) }}"""
    model = parse(text)
    arrays = {"w": rng.standard_normal((channels, 1, 3, 3), np.float32)}
    if has_bias:
        arrays["c"] = rng.standard_normal(channels, np.float32)
    for name, array in arrays.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    few = "{form = 'few_channels', version = '1'}"
    made = onnx_scatterx.optimize(
        model, target=f"standard, static_only = true, faults = [{few}]"
    ).model
    groups = [a.i for node in made.graph.node for a in node.attribute if a.name == "group"]
    assert groups == [32] * (channels // 32)
    drawn = rng.standard_normal((images, channels, height, width), np.float32)
    odd = drawn.copy()
    odd.ravel()[rng.integers(0, odd.size, 3)] = [np.nan, np.inf, -0.0]
    assert_same(model, made, [{"n": drawn}, {"n": odd}])


def test_every_form_of_a_profile_is_written() -> None:
    assert WRITTEN.keys() == FORMS.keys()


@pytest.mark.parametrize(("op", "is_read"), [("Neg", False), ("Sin", True)])
def test_a_model_without_the_operators_of_a_pattern_is_not_read(op: str, is_read: bool) -> None:
    """All operators of a pattern must be in the model before a form looks at its nodes."""
    model = parse(
        f"g (float[2] x) => (float[2] y) <float c = {{3}}> {{ s = {op} (x) y = Pow (s, c) }}"
    )
    faults = "[{form = 'square_of_sine', version = '1'}]"
    job = Job(ir.from_proto(model), Settings.of(target=f"standard, faults = {faults}"))
    assert not AvoidFaults.run(job)
    assert ("analyses" in vars(job)) == is_read


def test_every_fault_names_a_version_and_its_switch() -> None:
    """Where the compiler has a switch, its refusal prints it.

    The faults of a converter are in the profiles of all chips behind it.
    """
    behind = dict.fromkeys(("ethos-u55", "ethos-u85"), "tflite")
    faults = {t.name: t.faults for t in all_targets() if t.faults}
    assert {fault.form for own in faults.values() for fault in own} == set(FORMS)
    versions = {name: target_of(behind.get(name, name)).version for name in faults}
    assert all(f.version == versions[name] for name, own in faults.items() for f in own)
    said = "W You can add disable_rules=['a_rule'] in rknn.config() to disable the error rule!"
    assert rknn._switch(said) == "the compiler says: rknn.config(disable_rules=['a_rule'])"
    assert all(rknn._switch(f"{fault.switch}!") for fault in faults["rknn"] if fault.switch)


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ("[1]", "a fault is a table, not 1"),
        ("[{form = 'relu_behind_softmax'}]", "a fault names the version of the compiler"),
        (
            "[{form = 'relu', version = '1'}]",
            "faults.form has 'relu', which is not a form: there are",
        ),
        ("[{form = 'relu_behind_softmax', version = 1}]", "faults.version is a text, not 1"),
        ("[{forms = 'relu_behind_softmax'}]", "unknown key 'faults.forms'; did you mean form"),
    ],
)
def test_profiles_that_are_refused(faults: str, message: str) -> None:
    with pytest.raises(ScatterXError, match=message):
        target_of(f"standard, faults = {faults}")


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("s = Sin (x)  y = Pow (s, two)", "Mul"),
        ("s = Sin (x)  y = Pow (s, line)", "Mul"),
        ("s = Sin (x)  y = Pow (s, wide)", "Pow"),
        ("s = Sin (x)  y = Pow (s, three)", "Pow"),
        ("s = Cos (x)  y = Pow (s, two)", "Pow"),
    ],
)
def test_the_square_of_a_sine(text: str, operator: str) -> None:
    model = parse(f"""g (float[N] x) => (float[] y) <float two = {{2}}, float[1] line = {{2}},
        float[1, 1] wide = {{2}}, float three = {{3}}> {{ {text} }}""")
    fault = "static_only = true, faults = [{form = 'square_of_sine', version = '1'}]"
    made = onnx_scatterx.optimize(model, target=f"standard, {fault}").model
    assert made.graph.node[-1].op_type == operator
    rng = np.random.default_rng(0)
    draws = [rng.standard_normal(n) * 10.0 ** rng.integers(-30, 5) for n in (1, 5, 64)]
    drawn = [*draws, np.array([np.nan, -0.0, np.inf])]
    assert_same(model, made, [{"x": x.astype(np.float32)} for x in drawn])


LIMIT_AS_SIZE = "limits.Not.max_rank = 4, faults = [{form = 'limit_as_size', version = '1'}]"
LINE = """zero = Constant <value_int = 0> ()  one = Constant <value_int = 1> ()
    line = Range (zero, n, one)  row = Unsqueeze (line, first)  f = Cast <to = 1> (row)
    p = Mul (f, x)  s = Shape (p)"""


@pytest.mark.parametrize(
    ("text", "is_written"),
    [
        ("g = Gather (s, last)  y = Cast <to = 1> (g)", True),
        ("a = Gather (s, last)  g = Squeeze (a)  y = Cast <to = 1> (g)", True),
        ("a = Slice (s, second, end)  y = Cast <to = 1> (a)", True),
        ("a = Slice (s, second, end)  g = Squeeze (a)  y = Cast <to = 1> (g)", True),
        ("g = Gather (s, first)  y = Cast <to = 1> (g)", False),  # another axis
        ("g = Gather (s, last)  h = Add (g, g)  y = Cast <to = 1> (h)", False),
        ("g = Gather (s, last)  y = Cast <to = 7> (g)", False),
    ],
)
def test_the_limit_of_a_range_as_a_size(text: str, is_written: bool) -> None:
    """A negative limit makes an empty Range."""
    kind = "int64" if "to = 7" in text else "float"
    model = parse(f"""g (int64 n, float[N, 1] x) => ({kind}[] y, float[A, B] p)
        <int64[1] first = {{0}}, int64[1] last = {{-1}}, int64[1] second = {{1}},
         int64[1] end = {{2}}> {{ {LINE} {text} }}""")
    made = onnx_scatterx.optimize(model, target=f"standard, {LIMIT_AS_SIZE}").model
    kinds = [node.op_type for node in made.graph.node]
    assert ("Shape" not in kinds) == is_written
    x = np.array([[1.5], [-2]], np.float32)
    assert_same(model, made, [{"n": np.array(n), "x": x} for n in (0, 1, 7, -3)])


@pytest.mark.parametrize(("start", "step"), [("one", "one"), ("zero", "two")])
def test_a_limit_that_is_no_size(start: str, step: str) -> None:
    two = "two = Constant <value_int = 2> ()"
    line = two + LINE.replace("(zero, n, one)", f"({start}, n, {step})")
    model = parse(f"""g (int64 n, float[N, 1] x) => (float[] y, float[A, B] p)
        <int64[1] first = {{0}}, int64[1] last = {{-1}}> {{
            {line} g = Gather (s, last)  y = Cast <to = 1> (g) }}""")
    made = onnx_scatterx.optimize(model, target=f"standard, {LIMIT_AS_SIZE}").model
    assert "Max" not in [node.op_type for node in made.graph.node]
    assert_same(model, made, [{"n": np.array(n), "x": np.ones((2, 1), np.float32)} for n in (0, 7)])


_GELU = "q = Div (c, root)  u = Erf (q)  v = Add (u, one)  z = Mul (c, v)  y = Mul (z, half)"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("c = Conv (x, w)  y = Tanh (c)", 1),
        ("c = Conv (x, w)  y = Gelu (c)", 1),
        (f"c = Conv (x, w)  {_GELU}", 1),
        ("c = Conv (x, w)  s = Gelu (c)  t = Tanh (c)  y = Mul (s, t)", 1),
        (f"p = Conv (x, w)  c = Add (p, two)  {_GELU}", 1),
        ("c = Conv (x, w)  h = Mul (half, c)  q = Mul (c, less)  u = Erf (q)  v = Add (u, one)"
         "  y = Mul (h, v)", 1),
        ("c = Conv (x, w)  t = Transpose <perm = [0, 2, 1]> (c)  y = Tanh (t)", 1),
        ("c = Conv (x, w)  s = Sigmoid (c)  y = Mul (c, s)", 0),
        (f"c = MatMul (x, m)  {_GELU}", 0),
        ("c = MatMul (x, m)  y = Tanh (c)", 0),
        ("c = Conv (x, w)  a = Add (c, x)  y = Tanh (a)", 0),
        ("c = Conv (x, w)  a = Mul (c, c)  y = Tanh (a)", 0),
        ("c = Conv (x, w)  r = Relu (c)  y = Tanh (r)", 0),
        ("c = Conv (x, w)  y = Elu (c)", 0),
        ("c = Conv (x, w)  q = Div (c, root)  y = Neg (q)", 0),
        ("c = Add (x, two)  y = Tanh (c)", 0),
    ],
)  # fmt: skip
def test_a_maximum_between_a_conv_and_its_functions(text: str, count: int) -> None:
    model = parse(f"""<ir_version: 9, opset_import: ["" : 20]> g (float[1, 4, 4] x) => (float[] y)
        <float root = {{1.4142135}}, float one = {{1}}, float half = {{0.5}}, float two = {{2}},
         float less = {{0.70710678}}, float[4, 4, 1] w = {{{", ".join(map(str, range(-8, 8)))}}},
         float[4, 4] m = {{{", ".join(map(str, range(-7, 9)))}}}> {{ {text} }}""")
    fault = "static_only = true, faults = [{form = 'apart_from_conv', version = '1'}]"
    made = onnx_scatterx.optimize(model, target=f"standard, {fault}").model
    maxima = [node for node in made.graph.node if node.op_type == "Max"]
    assert len(maxima) == count
    assert all(set(node.input) == {node.input[0]} for node in maxima)
    rng = np.random.default_rng(0)
    drawn = [rng.standard_normal((1, 4, 4)) * 10.0**power for power in (-30, -3, 0, 1, 38)]
    drawn[0][0, 0] = [np.nan, -0.0, np.inf, -np.inf]
    assert_same(model, made, [{"x": x.astype(np.float32)} for x in drawn])


_OF_TANH = """h = Mul (half, c)  k = Pow (c, three)  q = Mul (k, less)  s = Add (c, q)
    r = Mul (s, root)  t = Tanh (r)  v = Add (t, one)  y = Mul (h, v)"""
_OF_CUBE = _OF_TANH.replace("k = Pow (c, three)", "d = Mul (c, c)  k = Mul (d, c)")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("c = MatMul (x, m)  y = Tanh (c)", 1),
        ("c = MatMul (x, m)  s = Sigmoid (c)  y = Mul (c, s)", 1),
        ("p = MatMul (x, m)  c = Add (p, b)  y = Gelu (c)", 1),
        ("p = Gemm (x, m, b)  c = Reshape (p, turned)  y = Sigmoid (c)", 1),
        ("t = Transpose (x)  c = Gemm <transA = 1> (t, m)  y = Sigmoid (c)", 1),
        ("c = MatMul (x, m)  s = Sigmoid (c)  t = Tanh (c)  y = Mul (s, t)", 1),
        (f"c = MatMul (x, m)  {_GELU}", 1),
        (f"p = MatMul (x, m)  c = Add (b, p)  {_OF_TANH}", 1),
        (f"c = MatMul (x, m)  {_OF_TANH.replace('(c, q)', '(q, c)')}", 1),
        (f"c = MatMul (x, m)  {_OF_CUBE}", 1),
        (f"c = MatMul (x, m)  {_OF_TANH.replace('Pow (c', 'Pow (h')}", 0),
        (f"c = MatMul (x, m)  {_OF_CUBE.replace('(d, c)', '(d, h)')}", 0),
        (f"p = MatMul (x, m)  c = Mul (p, less)  {_OF_TANH}", 0),
        ("p = MatMul (x, m)  c = Mul (p, half)  y = Sigmoid (c)", 0),
        ("p = MatMul (x, m)  c = Add (p, p)  y = Sigmoid (c)", 0),
        ("p = MatMul (x, m)  c = Add (p, u0)  y = Sigmoid (c)", 0),
        ("c = MatMul (u0, few)  y = Sigmoid (c)", 0),
        ("c = MatMul (x, m)  s = Softplus (c)  y = Mul (c, s)", 0),
    ],
)  # fmt: skip
def test_a_maximum_between_a_matmul_and_its_functions(text: str, count: int) -> None:
    model = parse(f"""<ir_version: 9, opset_import: ["" : 20]>
        g (float[2, 256] x, float[2, 3] u0) => (float[] y)
        <float root = {{1.4142135}}, float one = {{1}}, float half = {{0.5}}, float three = {{3}},
         float less = {{0.044715}}, int64[2] turned = {{3, 2}}, float[3] b = {{1, -2, 0.5}},
         float[3, 3] few = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}> {{ {text} }}""")
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((256, 3)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "m"))
    fault = "static_only = true, faults = [{form = 'apart_from_matmul', version = '1'}]"
    made = onnx_scatterx.optimize(model, target=f"standard, {fault}").model
    maxima = [node for node in made.graph.node if node.op_type == "Max"]
    assert len(maxima) == count
    assert all(set(node.input) == {node.input[0]} for node in maxima)
    read = [{*node.input} for node in made.graph.node if node.op_type not in ("Max", "Mul")]
    assert not any(node.input[0] in names for node in maxima for names in read)
    drawn = [rng.standard_normal((2, 256)) * 10.0**power for power in (-30, -3, 0, 1, 38)]
    drawn[0][0, :4] = [np.nan, -0.0, np.inf, -np.inf]
    z = rng.standard_normal((2, 3)).astype(np.float32)
    assert_same(model, made, [{"x": x.astype(np.float32), "u0": z} for x in drawn])


@pytest.mark.parametrize(
    ("kind", "divisor", "shape"),
    [
        ("int64[2, 3, 1]", "four", [3, 1]),
        ("int32[7]", "two", [7]),
        ("int64[4, 1]", "line", [4, 1]),
        ("int64[2, 3]", "six", []),
        ("int64[2, 3]", "below", []),
        ("int64[2, 3]", "one", []),
        ("int64[3]", "several", [3]),
        ("int64[1]", "line", [1]),
        ("int64[3]", "wide", [1, 1]),
        ("float[3]", "real", []),
    ],
)
def test_integers_divided_by_a_power_of_two(kind: str, divisor: str, shape: list[int]) -> None:
    model = parse(f"""g ({kind} x) => ({kind.split("[")[0]}[] y)
        <int64 four = {{4}}, int32 two = {{2}}, int64[1] line = {{1024}}, int64 six = {{6}},
         int64 below = {{-4}}, int64 one = {{1}}, int64[3] several = {{2, 4, 8}},
         int64[1, 1] wide = {{8}}, float real = {{4}}> {{ y = Div (x, {divisor}) }}""")
    fault = "static_only = true, faults = [{form = 'many_divisors', version = '1'}]"
    made = onnx_scatterx.optimize(model, target=f"standard, {fault}").model
    (node,) = made.graph.node
    dims = {tensor.name: [*tensor.dims] for tensor in made.graph.initializer}
    assert dims[node.input[1]] == shape
    held = model.graph.input[0].type.tensor_type
    sizes = [d.dim_value for d in held.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(held.elem_type)
    rng = np.random.default_rng(0)
    drawn = [rng.integers(-n, n, sizes).astype(dtype) for n in (9, 1 << 20, (1 << 31) - 1)]
    assert_same(model, made, [{"x": x} for x in drawn])
