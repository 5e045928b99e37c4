"""Nodes in the spelling of an older operator set compute the same."""

import re

import hypothesis.strategies as st
import numpy as np
import onnx
import pytest
from hypothesis import given

import onnx_scatterx
from onnx_scatterx.errors import ModelError
from tests.helpers.pair import SESSIONS, agree
from tests.helpers.support import f32, parse

REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")


def lowered(model: onnx.ModelProto, version: int) -> onnx.ModelProto:
    """Lower a model, and check the result."""
    found: onnx.ModelProto = onnx_scatterx.optimize(model, opset=version).model
    assert found.opset_import[0].version == version
    onnx.checker.check_model(found, full_check=True)
    return found


def runs_the_same(model: onnx.ModelProto, version: int, x: np.ndarray, **more: np.ndarray) -> None:
    """Check that a lowered model computes the same, if ONNX Runtime optimizes it or not."""
    older = lowered(model, version)
    for load in SESSIONS:
        before, after = (load(m).run(None, {"x": x, **more}) for m in (model, older))
        assert agree(before, after)


@given(st.data())
def test_reductions(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    rank = len(shape)
    axes = data.draw(st.lists(st.integers(-rank, rank - 1), unique_by=lambda a: a % rank))
    name = data.draw(st.sampled_from(REDUCTIONS))
    if 0 in shape and name in ("Max", "Mean", "Min"):
        shape = [max(size, 1) for size in shape]  # of no elements these are not defined
    keep = data.draw(st.integers(0, 1))
    given_axes = data.draw(st.booleans()) or bool(axes)
    reduced = {a % rank for a in axes or range(rank)}
    sizes = ["?" for i in range(rank) if keep or i not in reduced]
    y = f"float[{', '.join(sizes)}] y" if sizes else "float y"
    model = parse(
        f"g (float{shape} x) => ({y}) <int64[{len(axes)}] a = {{{str(axes)[1:-1]}}}> {{"
        f" y = Reduce{name} <keepdims = {keep}> (x{', a' if given_axes else ''}) }}",
        opset=18,
    )
    x = np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32)
    runs_the_same(model, 17, x)


SPLIT = """g (float[{size}] x) => ({outs}) {{
    {names} = Split <num_outputs = {parts}, axis = {axis}> (x) }}"""


@pytest.mark.parametrize(("size", "parts"), [(4, 2), (7, 3), (1, 1), (3, 3), (9, 4)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_parts_of_a_split(size: int, parts: int, axis: int) -> None:
    names = [f"y{i}" for i in range(parts)]
    shape = [2, size] if axis else [size, 2]
    model = parse(
        SPLIT.format(
            size=str(shape)[1:-1],
            outs=", ".join(f"float[?, ?] {name}" for name in names),
            names=", ".join(names),
            parts=parts,
            axis=axis,
        ),
        opset=18,
    )
    runs_the_same(model, 17, np.arange(2 * size, dtype=np.float32).reshape(shape))


def test_sizes_that_follow_from_constants() -> None:
    model = parse(
        """g (float x) => (float[2] y, float[2] z) {
            c = Constant <value = float[4] {1, 2, 3, 4}> ()
            b = Mul (Add (c, x), float [5, 6, 7, 8])
            y, z = Split <num_outputs = 2> (b) }""",
        opset=18,
    )
    runs_the_same(model, 17, f32(3))


def test_declared_shapes_are_not_believed() -> None:
    model = parse(
        """g (float[6] x) => (float[3] y, float[3] z) <float[2] h> {
            h = Neg (x)
            y, z = Split <num_outputs = 2> (h) }""",
        opset=18,
    )
    result = onnx_scatterx.optimize(model, opset=17)
    judged = onnx_scatterx.verify(model, result.model, samples=4)
    assert judged.same, str(judged)


PADS = {"constant": "x, p, v, a", "edge": "x, p, , a", "reflect": "x, p, , a"}


@pytest.mark.parametrize("mode", PADS)
@pytest.mark.parametrize("axes", [(0,), (1, -1), (-3, 2), (2, 0, 1)])
def test_pads_of_some_axes(mode: str, axes: tuple[int, ...]) -> None:
    pads = [1, 2, 1, 0, 1, 2][: 2 * len(axes)]
    model = parse(
        f"g (float[3, 4, 5] x, float v) => (float[?, ?, ?] y)"
        f" <int64[{len(pads)}] p = {{{str(pads)[1:-1]}}},"
        f" int64[{len(axes)}] a = {{{', '.join(map(str, axes))}}}>"
        f' {{ y = Pad <mode = "{mode}"> ({PADS[mode]}) }}',
        opset=18,
    )
    runs_the_same(model, 17, np.arange(60, dtype=np.float32).reshape(3, 4, 5), v=f32(7))


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic", None])
def test_modes_of_a_grid_sample(mode: str | None) -> None:
    text = f'<mode = "{mode}", padding_mode = "border">' if mode else ""
    model = parse(
        "g (float[1, 2, 4, 5] x, float[1, 3, 2, 2] i) => (float[1, 2, 3, 2] y)"
        f" {{ y = GridSample {text} (x, i) }}",
        opset=20,
    )
    random = np.random.default_rng(0)
    places = random.uniform(-1.2, 1.2, (1, 3, 2, 2)).astype(np.float32)
    runs_the_same(model, 17, random.normal(size=(1, 2, 4, 5)).astype(np.float32), i=places)


@pytest.mark.parametrize("kind", ["float16", "int64", "bool", "double"])
def test_a_cast_like_is_a_cast(kind: str) -> None:
    model = parse(
        f"g (float[3] x, {kind}[1] like) => ({kind}[3] y) {{ y = CastLike (x, like) }}", opset=18
    )
    like = np.zeros(
        1, onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(kind.upper()))
    )
    runs_the_same(model, 14, f32([0, 1.5, -2]), like=like)


def test_bodies_are_written_too() -> None:
    """The constants of new nodes are in the graph of the node, under names of their own."""
    part = "p, q = Split <num_outputs = 2> (x) o = Sub (p, q)"
    model = parse(
        f"""g (float[4] x, bool b) => (float[2] y) {{ y = If (b) <
            then_branch = t () => (float[2] o) {{ {part} }},
            else_branch = e () => (float[2] o) {{ {part} }}> }}""",
        opset=18,
    )
    for chosen in True, False:
        runs_the_same(model, 17, f32([1, 2, 3, 4]), b=np.array(chosen))


@pytest.mark.parametrize("rank", ["x", "Reshape (x, s)"])
def test_parts_of_a_shape(rank: str) -> None:
    """Bounds before and behind all axes, and in the wrong order, in a known and an unknown rank."""
    ends = [f", end = {end}" for end in range(-4, 5)] + [""]
    given = [f"start = {start}{end}" for start in range(-4, 5) for end in ends]
    parts = [f"p{i} = Shape <{each}> (r)" for i, each in enumerate(given)]
    joined = ", ".join(f"p{i}" for i in range(len(given)))
    text = f"""g (float[2, N, 1] x, int64[R] s) => (int64[K] y) {{
        r = Identity ({rank})  {" ".join(parts)}  y = Concat <axis = 0> ({joined}) }}"""
    sizes = np.array([2, 5, 1])
    more = {"s": sizes} if rank != "x" else {"s": np.zeros(0, np.int64)}
    for version in 14, 9:
        runs_the_same(parse(text, opset=15), version, np.zeros(sizes, np.float32), **more)


@pytest.mark.parametrize("fill", [0.1, 1e300, 0.5, -0.0, np.nan])
def test_fills_that_are_attributes(fill: float) -> None:
    """Before set 11 the fill of a Pad is a float32."""
    model = parse(
        """g (double[2] x) => (double[4] y) <int64[2] p = {1, 1}, double v = {1}>
        { y = Pad (x, p, v) }""",
        opset=11,
    )
    model.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(np.array(fill), "v"))
    if fill in (0.1, 1e300):
        with pytest.raises(ModelError, match="its value does not fit an attribute"):
            lowered(model, 10)
    else:
        runs_the_same(model, 10, np.array([1.5, -2]))


RUN = "its axes are computed when the model runs"
KEPT = {
    "y = ReduceMax (x, e)": f"y (ReduceMax): changed with 18, {RUN}",
    "y = ReduceMax (x, d)": f"y (ReduceMax): changed with 18, {RUN}",
    "y = ReduceMax <noop_with_empty_axes = 1> (x)": "changed with 18, it reduces no axis",
    "n = NonZero (x) y, z = Split <num_outputs = 2, axis = 1> (n)": "is not known on axis 1",
    'y = Pad <mode = "wrap"> (x, f)': "y (Pad): changed with 19, its mode means",
    "y = Pad (x, e, , e)": "y (Pad): changed with 18, its pads, axes or rank are not known",
}


@pytest.mark.parametrize("body", KEPT)
def test_nodes_without_an_older_spelling(body: str) -> None:
    model = parse(
        f"g (float[2, 4] x, int64[2] e, int64[1] d = {{0}}, int64[4] f) => (y) {{ {body} }}",
        opset=19,
    )
    with pytest.raises(ModelError, match=re.escape(KEPT[body])) as found:
        onnx_scatterx.optimize(model, opset=17)
    assert str(found.value).endswith("export the model with that operator set")


def test_nothing_is_reduced_if_empty_axes_say_so() -> None:
    model = parse(
        "g (float[2] x) => (float[?] y) <int64[0] a = {}>"
        " { y = ReduceMax <noop_with_empty_axes = 1, keepdims = 0> (x, a) }",
        opset=18,
    )
    with pytest.raises(ModelError, match="it reduces no axis"):
        onnx_scatterx.optimize(model, opset=17)


def test_volumes_are_not_sampled_in_older_sets() -> None:
    model = parse(
        "g (float[1, 1, 2, 2, 2] x, float[1, 1, 1, 1, 3] i) => (float[1, 1, 1, 1, 1] y)"
        " { y = GridSample (x, i) }",
        opset=20,
    )
    with pytest.raises(ModelError, match=r"changed with 20, it is known for pictures"):
        onnx_scatterx.optimize(model, opset=17)


def test_a_default_that_a_caller_may_override_is_no_constant() -> None:
    text = """g (float[2, 3] x, int64[1] a = {1}) => (float[?, ?] y) { y = ReduceMax (x, a) }"""
    with pytest.raises(ModelError, match="its axes are computed when the model runs"):
        onnx_scatterx.optimize(parse(text, opset=18), opset=17)


CALLED = """<ir_version: 9, opset_import: ["" : 18, "own" : 1]>
    g (float[4] a, int64[6] b, float[2] x) => (float[2] y, int64[6] z) {{
        y = Neg (x)  c = own.f (b, b)  z = Neg (c) }}
    <domain: "own", opset_import: ["" : 18]> f (x, a) => (o) {{ {} }}"""


@pytest.mark.parametrize(
    "body",
    ["o = CastLike (x, a)", "p, q = Split <num_outputs = 2> (a) o = Concat <axis = 0> (p, q)"],
)
def test_values_of_functions_have_names_of_their_own(body: str) -> None:
    """The graph's `a` is of float[4]; that of the function is of int64[6]."""
    model = onnx.parser.parse_model(CALLED.format(body))
    numbers = np.arange(6, dtype=np.int64)
    runs_the_same(model, 14, f32([1, 2]), a=f32([1, 2, 3, 4]), b=numbers)


CALLED_TWICE = """<ir_version: 9, opset_import: ["" : 18, "own" : 1]>
    g (float[4] x, {0} b) => (float[?] y, {1}[?] z) {{ y = own.f (x)  z = own.f (b) }}
    <domain: "own", opset_import: ["" : 18]> f (a) => (o) {{ {2} }}"""


@pytest.mark.parametrize(
    "parts",
    [
        ("int64[4]", "int64", "s = Shape (a) o = CastLike (a, a)"),
        ("float[6]", "float", "p, q = Split <num_outputs = 2> (a) o = Concat <axis = 0> (q, p)"),
    ],
)
def test_a_function_in_which_calls_do_not_agree(parts: tuple[str, str, str]) -> None:
    model = onnx.parser.parse_model(CALLED_TWICE.format(*parts))
    with pytest.raises(ModelError, match="is not known"):
        onnx_scatterx.optimize(model, opset=14)


def test_a_name_in_both_branches() -> None:
    """One is declared; the other is of another type."""
    model = parse(
        """g (float[4] x, int64[4] i, bool b) => (float[4] y) { y = If (b) <
            then_branch = t () => (float[4] o) <float[4] v> { v = Neg (x) o = Neg (v) },
            else_branch = e () => (float[4] o) {
                v = Neg (i) w = CastLike (x, v) o = Cast <to = 1> (w) }> }""",
        opset=18,
    )
    for chosen in True, False:
        more = {"i": np.array([1, 2, 3, 4]), "b": np.array(chosen)}
        runs_the_same(model, 14, f32([1.5, -2, 3, 4]), **more)


def test_types_that_a_function_declares_are_not_believed() -> None:
    """ONNX Runtime ignores them."""
    model = onnx.parser.parse_model("""<ir_version: 10,
        opset_import: ["" : 18, "own" : 1, "other" : 1]>
        g (float[2] x, int64[2] i) => (float[2] y) { z = own.f (x, i) y = Cast <to = 1> (z) }
        <domain: "own", opset_import: ["" : 18, "other" : 1]> f (a, b) => (o) {
            h = other.unknown (a) o = CastLike (b, h) }""")
    wrong = onnx.helper.make_tensor_value_info("h", onnx.TensorProto.FLOAT16, [2])
    model.functions[0].value_info.append(wrong)
    with pytest.raises(ModelError, match="the type of its second input is not known"):
        onnx_scatterx.optimize(model, opset=14)


SPELLED = {
    "Unsqueeze": "y = Unsqueeze (x, a)",
    "Squeeze": "u = Unsqueeze (x, a) y = Squeeze (u, a)",
    "all ones": "y = Squeeze (x)",
    "ReduceSum": "y = ReduceSum <keepdims = 0> (x, a)",
    "sum of all": "y = ReduceSum (x)",
    "ReduceMax": "y = ReduceMax (x, a)",
    "Split": "y, z = Split <axis = 1> (x, parts)",
    "two parts": "y, z = Split <axis = 1, num_outputs = 2> (x)",
    "Softmax": "y = Softmax (x)",
    "last axis": "y = LogSoftmax <axis = 2> (x)",
    "Clip": "y = Clip (x, high, low)",
    "Dropout": "y = Dropout <seed = 3> (x, half)",
    "not training": "y = Dropout (x, half, no)",
    "ArgMax": "i = ArgMax <axis = 1, select_last_index = 0> (x) y = Cast <to = 1> (i)",
    "GatherND": "y = GatherND <batch_dims = 0> (x, at)",
    "Reshape": "y = Reshape <allowzero = 1> (x, sizes)",
    "Shape": "s = Shape <start = 0> (x) y = Cast <to = 1> (s)",
    "part of a shape": "s = Shape <start = 1, end = 2> (x) y = Cast <to = 1> (s)",
    "values": "c = Constant <value_ints = [1, 6]> () d = Constant <value_float = 2.5> ()"
    " r = Reshape (x, c) y = Mul (r, d)",
    "BatchNormalization": "y = BatchNormalization <epsilon = 0.1> (x, w, w, w, w)",
    "Resize": 'y = Resize <mode = "nearest"> (x, , scales)',
    "sizes": 'y = Resize <mode = "linear"> (x, , , large)',
    "ScatterND": 'y = ScatterND <reduction = "none"> (x, first, x)',
    "LessOrEqual": "b = LessOrEqual (x, half) y = Cast <to = 1> (b)",
}  # fmt: skip
OF_SPELLED = """<int64[1] a = {-2}, int64[2] parts = {1, 1}, float half = {0.5}, bool no = {0},
    float low = {-0.5}, float high = {0.5}, int64[2, 1] at = {0, -1}, int64[2] sizes = {3, -1},
    int64[1, 1] first = {0}, float[2] w = {1, 2}, float[3] scales = {1, 2, 1},
    int64[3] large = {1, 2, 6}>"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SPELLED)
@pytest.mark.parametrize("opset", [13, 18, 20])
def test_down_to_eleven(name: str, opset: int) -> None:
    nodes = SPELLED[name]
    outs = "float y, float z" if "y, z" in nodes else "float y"
    text = f"g (float[1, 2, 3] x) => ({outs}) {OF_SPELLED} {{ {nodes} }}"
    later = {"ReduceMax": 18, "two parts": 18, "Reshape": 14, "ScatterND": 16}
    later |= dict.fromkeys(("Shape", "part of a shape"), 15)
    if opset < later.get(name, 0) or ("Resize" in nodes and opset > 17):
        pytest.skip("this spelling is of a later operator set")
    model = parse(
        text.replace("float y", "float[?] y").replace("float z", "float[?] z"), opset=opset
    )
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    used = {name for node in model.graph.node for name in node.input}
    kept = [array for array in model.graph.initializer if array.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    x = np.array([-2, -0.0, 0.5, np.nan, 1, 1], np.float32).reshape(1, 2, 3)
    for version in (12, 11):
        runs_the_same(model, version, x)


NEWER = {
    "select_last_index": "i = ArgMax <select_last_index = 1> (x) y = Cast <to = 1> (i)",
    "batch_dims": "y = GatherND <batch_dims = 1> (x, at)",
    "Clip of int": "i = Cast <to = 7> (x) c = Clip (i) y = Cast <to = 1> (c)",
    "Max of int": "i = Cast <to = 7> (x) c = Max (i, i) y = Cast <to = 1> (c)",
    "Pow of int": "i = Cast <to = 7> (x) y = Pow (x, i)",
    "Pow of two types": "i = Cast <to = 11> (x) y = Pow (x, i)",
    "MaxPool of int8": "i = Cast <to = 3> (x) c = MaxPool <kernel_shape = [1]> (i)"
    " y = Cast <to = 1> (c)",
    "mask": "y, m = Dropout (x)",
    "training": "y = Dropout (x, , yes)",
    "training of a norm": "y, m, v = BatchNormalization <training_mode = 1> (x, w, w, w, w)",
    "axes of a run": "s = Shape (x) e = Sub (s, s) a = Slice (e, one, two) y = Unsqueeze (x, a)",
    "no axis": "y = ReduceSum <noop_with_empty_axes = 1> (x)",
    "softmax before the last axis": "y = Softmax <axis = 1> (x)",
    "a size of 0": "y = Reshape <allowzero = 1> (x, zero)",
    "sums": 'y = ScatterND <reduction = "add"> (x, at, x)',
    "axis of quantizers": "q = QuantizeLinear (x, w) y = DequantizeLinear (q, w)",
    "Einsum": 'y = Einsum <equation = "abc->ab"> (x)',
    "strings": 'c = Constant <value_string = "a"> () y = Identity (x)',
}  # fmt: skip


@pytest.mark.parametrize("name", NEWER)
def test_what_eleven_lacks(name: str) -> None:
    model = parse(
        f"""g (float[1, 2, 3] x) => (float[?] y) <bool yes = {{1}}, float[2] w = {{1, 2}},
            int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1, 1] at = {{0}},
            int64[3] zero = {{0, 2, 3}}> {{ {NEWER[name]} }}""",
        opset=18,
    )
    with pytest.raises(ModelError, match="cannot be lowered to operator set 11"):
        onnx_scatterx.optimize(model, opset=11)


@pytest.mark.parametrize("step", [1, 2])
def test_bounds_are_attributes_in_set_9(step: int) -> None:
    model = parse(
        f"""g (float[1, 2, 6] x) => (float[?, ?, ?] y) {{
            y = Slice (x, [1, -5], [9, -1], [1, 2], [1, {step}]) }}""",
        opset=13,
    )
    if step == 1:
        runs_the_same(model, 9, np.arange(12, dtype=np.float32).reshape(1, 2, 6))
        return
    with pytest.raises(ModelError, match="its steps are not 1"):
        onnx_scatterx.optimize(model, opset=9)


def test_a_scale_of_unknown_rank_may_be_one_for_each_position() -> None:
    model = parse(
        """g (float[1, 2, 3] x, float[2] w) => (float[?, ?, ?] y) {
            y = DequantizeLinear (QuantizeLinear (x, w), w) }""",
        opset=13,
    )
    model.graph.input[1].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelError, match="it may have a scale for each position of an axis"):
        onnx_scatterx.optimize(model, opset=12)


@pytest.mark.parametrize("value", ["", ", float 2.5", ", float -0.0"])
def test_pads_are_attributes_in_set_10(value: str) -> None:
    model = parse(f"g (float[N] x) => (float[M] y) {{ y = Pad (x, [1, 2]{value}) }}", opset=13)
    runs_the_same(model, 10, f32([3, np.nan]))


@pytest.mark.parametrize("kind", ["float", "float16", "double"])
def test_a_type_that_the_older_set_has(kind: str) -> None:
    model = parse(f"g ({kind}[2] x) => (bool[2] y) {{ y = IsNaN (x) }}", opset=20, ir_version=9)
    runs_the_same(model, 19, np.array([np.nan, 1], {"float": "float32"}.get(kind, kind)))
