"""Functions that an older operator set lacks, written by their definitions, compute the same."""

from collections.abc import Iterator

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.errors import ModelError
from tests.helpers.support import f32, parse, run

# the body of a graph, with {0} for the type; its operator set; the older one
FUNCTIONS = {
    "gelu": ("({0}[N,8] x) => ({0}[N,8] y) {{ y = Gelu (x) }}", 20, 17),
    "gelu_13": ("({0}[N,8] x) => ({0}[N,8] y) {{ y = Gelu (x) }}", 20, 13),
    "tanh": ('({0}[N,8] x) => ({0}[N,8] y) {{ y = Gelu <approximate = "tanh"> (x) }}', 20, 17),
    "mish": ("({0}[N,8] x) => ({0}[N,8] y) {{ y = Mish (x) }}", 18, 17),
    "swish": ("({0}[N,8] x) => ({0}[N,8] y) {{ y = Swish <alpha = 0.5> (x) }}", 24, 17),
    "rms": ("({0}[N,8] x, {0}[8] s) => ({0}[N,8] y) {{ y = RMSNormalization (x, s) }}", 23, 17),
    "rms_of_two_axes": (
        """({0}[N,4,2] x, {0}[4,2] s) => ({0}[N,4,2] y) {{
        y = RMSNormalization <axis = 1, epsilon = 0.01> (x, s) }}""",
        23,
        17,
    ),
    "rotary": (
        """({0}[2,2,4,8] x, {0}[2,4,4] c, {0}[2,4,4] s) => ({0}[2,2,4,8] y) {{
        y = RotaryEmbedding (x, c, s) }}""",
        23,
        18,
    ),
    "attention": (
        """({0}[1,2,4,8] q, {0}[1,2,4,8] k, {0}[1,2,4,8] v) => ({0}[1,2,4,8] y) {{
        y = Attention <is_causal = 1> (q, k, v) }}""",
        23,
        18,
    ),
    "groups": (
        """({0}[2,8,4,4] x, {0}[8] s, {0}[8] b) => ({0}[2,8,4,4] y) {{
        y = GroupNormalization <num_groups = 2> (x, s, b) }}""",
        21,
        17,
    ),
}


def lowered(model: onnx.ModelProto, version: int) -> onnx_scatterx.Result[onnx.ModelProto]:
    """Lower a model, and check the result."""
    result = onnx_scatterx.optimize(model, opset=version)
    assert result.model.opset_import[0].version == version
    assert not result.model.functions
    onnx.checker.check_model(result.model, full_check=True)
    return result


def numbers(model: onnx.ModelProto) -> Iterator[dict[str, np.ndarray]]:
    """Yield inputs of 16 bits without infinities, and whose sums do not overflow."""
    rng = np.random.default_rng(0)
    for rows in (1, 3, 0, 2):
        feed = {}
        for value in model.graph.input:
            shape = [d.dim_value or rows for d in value.type.tensor_type.shape.dim]
            feed[value.name] = rng.standard_normal(shape).astype(np.float16)
        yield feed


def agree(before: onnx.ModelProto, after: onnx.ModelProto, *, of_16_bits: bool = False) -> None:
    """Check that two models agree but for last bits, if ONNX Runtime optimizes them or not."""
    near, draws, feeds = (1e-2, 0, list(numbers(before))) if of_16_bits else (2e-5, 8, None)
    judged = onnx_scatterx.verify(before, after, samples=draws, feeds=feeds, rtol=near, atol=near)
    assert judged.same, str(judged)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["float", "float16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, kind: str) -> None:
    text, new, old = FUNCTIONS[name]
    model = parse(f"g {text.format(kind)}", opset=new)
    result = lowered(model, old)
    assert result.report.defined
    assert "last bits may differ" in str(result.report)
    assert result.report.to_dict()["defined"] == list(result.report.defined)
    agree(model, result.model, of_16_bits=kind == "float16")


@pytest.mark.parametrize(("scale", "is_lowered"), [("4,2", True), ("2", False), ("1,2", False)])
def test_layers_are_lowered_if_the_scale_has_all_their_axes(scale: str, is_lowered: bool) -> None:
    model = parse(
        f"""g (float[3,4,2] x, float[{scale}] s, float[4,2] b) => (float[3,4,2] y) {{
            y = LayerNormalization <axis = 1> (x, s, b) }}""",
        opset=17,
    )
    if not is_lowered:
        with pytest.raises(ModelError, match="LayerNormalization"):
            lowered(model, 16)
        return
    rng = np.random.default_rng(0)
    feed = {k: f32(rng.normal(size=n)) for k, n in (("x", (3, 4, 2)), ("s", (4, 2)), ("b", (4, 2)))}
    (before,), (after,) = (run(m, feed) for m in (model, lowered(model, 16).model))
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-5)


def test_many_of_one_kind_among_names_of_their_own() -> None:
    model = parse(
        """g (float[4] Phi, bool c) => (float[4] y) {
            XSqrt = Gelu (Phi)
            MultX = If (c) <
                then_branch = t () => (float[4] Y) { Y = Gelu (XSqrt) },
                else_branch = e () => (float[4] X) { X = Gelu <approximate = "tanh"> (Phi) }>
            y = Gelu (MultX) }""",
        opset=20,
    )
    result = lowered(model, 17)
    assert len(result.report.defined) == 4
    agree(model, result.model)


def test_names_that_the_graph_has() -> None:
    model = parse(
        """g (float[4] x) => (float[4] y, float[4] z) { h = Neg (x)
            y = Gelu (x)
            z = Add (h, y) }""",
        opset=20,
    )
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = ["y/XSqrt" if name == "h" else name for name in names]
    agree(model, lowered(model, 17).model)


def test_the_constants_have_one_order() -> None:
    """The order of a set of names differs from process to process."""
    model = parse("g (float[4] x) => (float[4] y) { y = Gelu (x) }", opset=20)
    made = [node.output[0] for node in lowered(model, 17).model.graph.node]
    assert made[:3] == ["y/SqrtTwo", "y/OneCast", "y/HalfCast"]


def test_in_a_function() -> None:
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 20, "local" : 1]>
        g (float[4] x) => (float[4] y) { y = local.twice (x) }
        <domain: "local", opset_import: ["" : 20]> twice (a) => (b) {
            h = Gelu (a)
            b = Add (h, h) }""")
    result = onnx_scatterx.optimize(model, opset=17)
    assert result.report.defined == ("h (Gelu)",)
    agree(model, result.model)


def test_nothing_is_written_if_another_node_prevents_lowering() -> None:
    model = parse(
        """g (float[4] x) => (float[4] y, bool[4] z) { y = Gelu (x)
            z = RegexFullMatch <pattern = "1"> (Cast <to = 8> (y)) }""",
        opset=20,
    )
    with pytest.raises(ModelError, match=r"z \(RegexFullMatch\)"):
        onnx_scatterx.optimize(model, opset=18)
    kept = onnx_scatterx.optimize(model, target="standard, max_opset = 19")
    assert kept.report.opset_kept == 20
    assert kept.report.defined == ()
    assert kept.model.graph.node[0].op_type == "Gelu"


def test_a_target_that_reads_an_older_set() -> None:
    model = parse("g (float[2,8] x) => (float[2,8] y) { y = Gelu (x) }", opset=20)
    result = onnx_scatterx.optimize(model, target="rknn")
    assert result.report.opset_lowered == 19
    assert result.report.defined == ("y (Gelu)",)
    assert all(violation.on_host for violation in result.report.violations)


def test_gelu_is_kept_if_an_older_set_is_only_preferred() -> None:
    model = parse(
        """g (float[2,8] x) => (float[2,8] y) {
            y = Add (Gelu (x), ReduceL2 (x, [1])) }""",
        opset=20,
    )
    result = onnx_scatterx.optimize(model, target="mnn")
    assert result.report.defined == ()
    assert "Gelu" in {node.op_type for node in result.model.graph.node}


def test_a_definition_with_a_subgraph_is_not_written() -> None:
    text = "g (float[2,2,3] t) => (float[2,4,4,2] y) <int64[4] s = {2,3,4,4}> {"
    model = parse(text + " y = AffineGrid (t, s) }", opset=20)
    with pytest.raises(ModelError, match="began with 20"):
        onnx_scatterx.optimize(model, opset=19)
