"""Norms of images that a Reshape makes, attentions of a query that is a matrix, names of sizes."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

TARGET = "standard, faults = [{{form = '{form}', version = '1'}}]"
PASSES = ["AvoidFaults"]


def written(model: onnx.ModelProto, form: str) -> tuple[onnx.ModelProto, list[str]]:
    """Return a model in the form that avoids a fault, and its operators."""
    target = target_of(TARGET.format(form=form))
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES).model
    return result, [node.op_type for node in nodes(result)]


def weights(rng: np.random.Generator, names: str, count: int) -> list[onnx.TensorProto]:
    arrays = {name: rng.standard_normal(count).astype(np.float32) for name in names}
    arrays |= {"v": np.abs(arrays["v"])} if "v" in arrays else {}
    return [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]


NORMS = {"BatchNormalization": "sbmv", "InstanceNormalization": "sb"}


@pytest.mark.parametrize("op", NORMS)
@pytest.mark.parametrize("seed", range(12))
def test_norms_of_images(op: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = [int(rng.choice([2, 3, 7])), int(rng.choice([1, 5, 16, 33])), 3, 4]
    shape = shape[: int(rng.choice([2 if op[0] == "B" else 3, 4]))]
    epsilon = rng.choice([1e-5, 1e-3, 0.0])
    model = parse(f"""g (float{[1, *shape]} x) => (float[A] y) {{
        z = Reshape (x, {shape})
        y = {op} <epsilon = {epsilon:f}> (z, {", ".join(NORMS[op])}) }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.graph.initializer.extend(weights(rng, NORMS[op], shape[1]))
    result, kinds = written(model, "norm_of_images")
    own = ["Mul", "Add"] if op[0] == "B" else ["Reshape", "Reshape", op]
    assert sorted(kinds) == sorted(["Reshape", *own])
    x = (rng.standard_normal([1, *shape]) * 10 ** rng.uniform(-3, 3)).astype(np.float32)
    odd = x.copy()
    odd.ravel()[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -0.0])
    assert_same(model, result, [{"x": x}, {"x": odd}])


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("z = Reshape (x, [1, 15, 4])", ""),  # one image
        ("z = Identity (x)", ""),  # the images of the input
        ("z = Reshape (x, [3, 5, 4])  q = Neg (s)", "q, b"),  # a scale that is computed
    ],
)
def test_norms_that_are_kept(text: str, more: str) -> None:
    channels = 15 if "15" in text else 5
    model = parse(f"""g (float[3, 5, 4] x, float[5] s) => (float[A, B, C] y) {{
        {text}  y = InstanceNormalization (z, {more or "t, b"}) }}""")
    model.graph.initializer.extend(weights(np.random.default_rng(0), "tb", channels))
    assert written(model, "norm_of_images")[1].count("Reshape") <= 1


QUERY = "a = Gemm (v, w, c)  u = Unsqueeze (a, [1])  r = Reshape (u, [1, 1, 2, 4])"
WEIGHTS = "s = MatMul (h, k)  p = Softmax (s)  y = MatMul (p, m)"


@pytest.mark.parametrize(
    ("query", "weights_of", "relus"),
    [
        (f"{QUERY}  q = Transpose <perm = [0, 2, 1, 3]> (r)  h = Mul (q, two)", WEIGHTS, 1),
        (f"{QUERY}  h = Transpose <perm = [0, 2, 1, 3]> (r)",
         "n = MatMul (h, k)  s = Div (n, two)  p = Softmax (s)  y = MatMul (p, m)", 1),
        ("a = MatMul (x, w)  r = Reshape (a, [1, 1, 2, 4])"
         "  h = Transpose <perm = [0, 2, 1, 3]> (r)", WEIGHTS, 0),
        (f"{QUERY}  h = Transpose <perm = [0, 2, 1, 3]> (r)",
         "s = MatMul (h, k)  p = Sigmoid (s)  y = MatMul (p, m)", 0),
    ],
)  # fmt: skip
def test_a_query_that_is_a_matrix(query: str, weights_of: str, relus: int) -> None:
    model = parse(f"""g (float[1, 8] v, float[1, 1, 8] x, float[1, 2, 4, 3] k, float[1, 2, 3, 4] m)
        => (float[1, 2, 1, 4] y) <float two = {{2}}, float[8] c = {{1, 2, 3, 4, 5, 6, 7, 8}}> {{
        {query}  {weights_of} }}""")
    square = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(square, "w"))
    result, kinds = written(model, "relu_of_one_query")
    assert kinds.count("Relu") == relus
    rng = np.random.default_rng(1)
    feed = {
        value.name: rng.standard_normal([d.dim_value for d in value.type.tensor_type.shape.dim])
        for value in model.graph.input
    }
    feed = {name: array.astype(np.float32) for name, array in feed.items()}
    assert_same(model, result, [feed, feed | {"v": np.full((1, 8), np.nan, np.float32)}])


@pytest.mark.parametrize(
    ("shape", "between", "relus"),
    [
        ([3, 2, 4, 8], "p = Softmax (s)", 1),
        ([3, 2, 4, 8], "m = Mul (s, half)  p = Softmax (m)", 1),
        ([3, 2, 4, 8], "m = Div (s, half)  p = Softmax (m)", 1),
        ([1, 2, 4, 8], "p = Softmax (s)", 0),  # one image
        ([2, 4, 8], "p = Softmax (s)", 0),
        ([3, 2, 4, 8], "m = Add (s, half)  p = Softmax (m)", 0),  # a mask
        ([3, 2, 4, 8], "p = Sigmoid (s)", 0),
    ],
)
def test_an_attention_of_several_images(shape: list[int], between: str, relus: int) -> None:
    turned = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    model = parse(f"""g (float{shape} q, float{shape} k, float{shape} v) => (float{shape} y)
        <float half = {{0.5}}> {{ t = Transpose <perm = {turned}> (k)  s = MatMul (q, t)
        {between}  y = MatMul (p, v) }}""")
    result, kinds = written(model, "relu_of_many_images")
    assert kinds.count("Relu") == relus
    feed = {name: sample("float32", *shape, seed=seed) for seed, name in enumerate("qkv")}
    odd = feed["q"].copy()
    odd.flat[0], odd.flat[-1] = np.nan, np.inf
    assert_same(model, result, [feed, feed | {"q": odd}])


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("r = Reshape (x, [3, 5, 4])  a = Neg (r)  z = Add (a, r)", True),
        ("r = Reshape (x, [3, 5, 4])  a = MatMul (r, w)  z = Add (r, a)", True),
        ("r = Reshape (x, [3, 5, 4])  z = Add (r, t)", False),  # an input has these images
        ("r = Reshape (x, [5, 3, 4])  z = Transpose <perm = [1, 0, 2]> (r)", False),
    ],
)
def test_images_that_pass_other_nodes(text: str, changed: bool) -> None:
    """They are made by a Reshape, however many nodes stand between."""
    model = parse(f"""g (float[1, 15, 4] x, float[3, 5, 4] t) => (float[3, 5, 4] y)
        <float[4, 4] w = {{1, 0, 2, 0, 0, 1, 0, 2, 1, 1, 0, 0, 0, 3, 1, 1}}> {{
        {text}  y = BatchNormalization (z, s, b, m, v) }}""")
    model.graph.initializer.extend(weights(np.random.default_rng(0), "sbmv", 5))
    result, kinds = written(model, "norm_of_images")
    assert ("BatchNormalization" not in kinds) == changed
    feed = {"x": sample("float32", 1, 15, 4), "t": sample("float32", 3, 5, 4)}
    assert_same(model, result, [feed])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("c = Constant <value_int = 8> ()  k = Cast <to = 7> (x)  y = Add (k, c)", 0),
        ("c = Constant <value_ints = [8, 7]> ()  k = Cast <to = 7> (x)  y = Add (k, c)", 0),
        ("c = Constant <value_float = 8.0> ()  k = Mul (c, x)  y = Cast <to = 7> (k)", 0),
        ("c = Constant <value = float {8}> ()  k = Mul (x, c)  y = Cast <to = 7> (k)", 0),
        ("c = Constant <value = float {8}> ()  k = Add (x, c)  y = Cast <to = 7> (k)", 1),
        ("y = Constant <value_ints = [8, 7]> ()", 1),
    ],
)
def test_constants_that_are_nodes(text: str, left: int) -> None:
    model = parse(f"g (float[3, 2] x) => (int64[A] y) {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    target = target_of(TARGET.format(form="stored_constants"))
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES).model
    assert [node.op_type for node in result.graph.node].count("Constant") == left
    assert_same(model, result, [{"x": np.array([[1, -2], [3.5, 4], [0, 7]], np.float32)}])


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("t = Concat <axis = 1> (n, l)  a = Mul (x, c)  b = Mul (t, s)  y = Add (a, b)", True),
        ("t = Concat <axis = 1> (n, l)  a = Mul (c, x)  b = Mul (s, t)  y = Add (a, b)", True),
        ("t = Concat <axis = 1> (n, l)  a = Mul (x, c)  b = Mul (t, s)  y = Add (b, a)", False),
        ("t = Concat <axis = 1> (l, n)  a = Mul (x, c)  b = Mul (t, s)  y = Add (a, b)", False),
        ("t = Concat <axis = 1> (n, l)  b = Mul (t, s)  y = Add (x, b)", False),
    ],
)
def test_rotary_embeddings(text: str, turned: bool) -> None:
    model = parse(f"""g (float[3, 4] x, float[3, 4] c, float[3, 4] s) => (float[3, 4] y) {{
        l = Slice (x, [0], [2], [1])  h = Slice (x, [2], [4], [1])  n = Neg (h)  {text} }}""")
    names = list(model.graph.node[-1].input)
    result, _ = written(model, "turned_rotation")
    (last,) = (node for node in nodes(result) if node.op_type == "Add")
    assert (list(last.input) == names[::-1]) == turned
    rng = np.random.default_rng(0)
    feed = {name: rng.standard_normal((3, 4)).astype(np.float32) for name in "xcs"}
    assert_same(model, result, [feed, feed | {"x": np.full((3, 4), np.nan, np.float32)}])


def test_names_of_sizes() -> None:
    """Those of inputs and outputs stay, and so do numbers."""
    model = parse("""g (float[N, 4] x) => (float[N, B] y) <float[N, 4] a, float[u0, 4] b> {
        a = Neg (x)  b = Abs (a)  y = Concat <axis = 1> (a, b) }""")
    result, _ = written(model, "forget_names")
    dims = [v.type.tensor_type.shape.dim for v in result.graph.value_info]
    assert [(first.dim_param, second.dim_value) for first, second in dims] == [("", 4)] * len(dims)
    assert [d.dim_param for d in result.graph.output[0].type.tensor_type.shape.dim] == ["N", "B"]
    assert_same(model, result, [{"x": np.ones((3, 4), np.float32)}])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a = Relu (x)  y = Reshape (a, [2, 3])  z = Neg (a)", 0),
        ("a = Relu (x)  y = Reshape (a, [3, 2])  z = Neg (a)", 1),
        ("y = Reshape (x, [2, 3])  z = Neg (x)", 1),
        ("z = Relu (x)  y = Reshape (z, [2, 3])", 1),
        ("a = Relu (x)  b = Reshape (a, [2, 3])  y = Neg (b)  z = Neg (y)", 1),
    ],
)
def test_outputs_of_an_idle_reshape(text: str, left: int) -> None:
    model = parse(f"g (float[2, 3] x) => (float[A, B] y, float[2, 3] z) {{ {text} }}")
    result, kinds = written(model, "no_idle_output")
    assert kinds.count("Reshape") == left
    assert [value.name for value in result.graph.output] == ["y", "z"]
    assert_same(model, result, [{"x": np.array([[1, -2, 3], [0, np.nan, 5]], np.float32)}])
