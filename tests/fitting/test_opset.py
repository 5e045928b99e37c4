"""With ``opset``, models are raised to a newer operator set, or lowered to an older one."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.engine.spelling.changes import CHANGES
from onnx_scatterx.errors import ModelError, ScatterXError
from onnx_scatterx.fitting.opset import change_opset, write_for_opset
from onnx_scatterx.targets.target import Target
from tests.fitting.opsets.models import versions
from tests.helpers.pair import SESSIONS, agree, open_session
from tests.helpers.support import f32, i64, parse

MODELS = Path(__file__).parents[2] / "models"
CACHES = Target("caches", extra=frozenset({"TensorScatter"}))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["dynamo", "dynamo_dynamic", "ts"])
def test_caches_become_tensor_scatter(how: str) -> None:
    path = MODELS / f"kv_cache_{how}.onnx"
    result = onnx_scatterx.optimize(path, target=CACHES, opset=24)
    scatters = [n.op_type for n in result.model.graph.node if "Scatter" in n.op_type]
    assert scatters == ["TensorScatter", "TensorScatter"]
    onnx.checker.check_model(result.model, full_check=True)
    assert onnx_scatterx.verify(path, result.model, samples=12).same


def test_a_model_without_scatters_is_raised_too() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")
    raised = onnx_scatterx.optimize(model, opset=24).model
    assert {o.domain: o.version for o in raised.opset_import} == {"": 24}
    assert onnx_scatterx.verify(model, raised, samples=4).same
    assert onnx_scatterx.optimize(raised, opset=24).model is raised


def test_a_newer_operator_set_is_lowered(tmp_path: Path) -> None:
    text = "g (float[N] x) => (float[N] y) { y = Neg(x) }"
    lowered = onnx_scatterx.optimize(parse(text, opset=20), opset=17)
    assert lowered.model.opset_import[0].version == 17
    assert lowered.model.ir_version == 8
    onnx.checker.check_model(lowered.model, full_check=True)

    for name, version in ("new", 18), ("old", 13):
        onnx.save(parse(text, version), tmp_path / name)
    with ThreadPoolExecutor() as threads:
        paths = [tmp_path / "new", tmp_path / "old"]
        outcomes = onnx_scatterx.optimize_many(
            paths, tmp_path / "out", executor=threads, opset=17
        ).outcomes
    assert [onnx.load(str(o.output)).opset_import[0].version for o in outcomes] == [17, 17]


# What cannot be lowered, and why.
KEPT = {
    "s = Cast <to = 8> (x) c = StringConcat(s, s) y = Cast <to = 1> (c)":
        "c (StringConcat): began with 20",
    'y = Pad <mode = "wrap"> (x, p)': "y (Pad): changed with 19, its mode means",
    "y = AveragePool <kernel_shape = [2], ceil_mode = 1> (x)":
        "y (AveragePool): changed with 22, its ceil_mode means",
    "b = Cast <to = 9> (x) m = ReduceMax (b) y = Cast <to = 1> (m)": "m (ReduceMax): takes no ",
    "q = Cast <to = 17> (x) y = Cast <to = 1> (q)": "q (Cast): takes no tensor(float8",
    "b = Cast <to = 9> (x) y = If (b) <then_branch = t () => (float o) "
    "{ s = Cast <to = 8> (x) o = StringConcat (s, s) }, else_branch = e () => (float q) "
    "{ q = Cast <to = 8> (x) }>": "o (StringConcat): began with 20",
}  # fmt: skip
OLDER = {"Cast": 18, "Pad": 18, "AveragePool": 19}


@pytest.mark.parametrize("body", KEPT)
def test_models_that_cannot_be_lowered(body: str) -> None:
    model = parse(f"g (float[1, 1, 4] x, int64[6] p) => (float[a, b, c] y) {{ {body} }}", opset=22)
    said = KEPT[body]
    older = next((v for op, v in OLDER.items() if f"({op})" in said), 19)
    with pytest.raises(ModelError, match=rf"lowered to operator set {older}: {re.escape(said)}"):
        onnx_scatterx.optimize(model, opset=older)
    assert model.opset_import[0].version == 22


@pytest.mark.parametrize("count", [4, 5, 7])
def test_nodes_that_cannot_be_lowered_are_counted(count: int) -> None:
    nodes = " ".join(f'y{i} = Pad <mode = "wrap"> (x, p)' for i in range(count))
    outputs = ", ".join(f"float[n] y{i}" for i in range(count))
    model = parse(f"g (float[4] x, int64[2] p) => ({outputs}) {{ {nodes} }}", opset=22)
    with pytest.raises(ModelError) as raised:
        onnx_scatterx.optimize(model, opset=18)
    assert str(raised.value).count("(Pad)") == 4
    assert (f"; and {count - 4} more: export" in str(raised.value)) == (count > 4)


# What can, since only element types came with the newer set.
LOWERED = [
    "y = ConstantOfShape (p)",
    "n = IsNaN (x) y = Cast <to = 1> (n)",
    "s = Shape (x) y = Reshape (x, s)",
    'y = Pad <mode = "edge"> (x, p)',
    "y = Cast <to = 1, saturate = 1> (x)",
    "y = AveragePool <kernel_shape = [2]> (x)",
    "y = Transpose (x)",
    "m = ReduceMax <keepdims = 1> (x) y = Sin (m)",
    "i = Constant <value_ints = [0]> () u = Unsqueeze (x, i) y = Squeeze (u, i)",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", LOWERED)
def test_a_lowered_model_computes_the_same(body: str) -> None:
    model = parse(
        f"g (float[1, 1, 4] x, int64[6] p) => (float[...] y) {{ {body} }}".replace(
            "[...]", "[a, b, c, d, e, f]" if "OfShape" in body else "[a, b, c]"
        ),
        opset=22,
    )
    lowered = onnx_scatterx.optimize(model, opset=19).model
    assert lowered.opset_import[0].version == 19
    onnx.checker.check_model(lowered, full_check=True)
    feeds = [{"x": f32([[[1, -2, np.nan, 4]]]), "p": i64([0, 0, 1, 0, 0, 1])}]
    assert onnx_scatterx.verify(model, lowered, samples=0, feeds=feeds).same


def test_functions_are_lowered_too() -> None:
    model = ir.from_onnx_text("""<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.f (x) }
        <domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Neg (a) }""")
    assert not write_for_opset(model, 18).obstacles
    (function,) = model.functions.values()
    assert (function.opset_imports[""], model.ir_version) == (18, 8)
    onnx.checker.check_model(ir.to_proto(model), full_check=True)


def test_a_target_that_reads_no_newer_set() -> None:
    npu = Target("npu", max_opset=19)
    text = "g (float[4, 2] x, float[1, 2] u) => (float[4, 2] z) <int64[1, 1] i = {{1}}> {{ {0} }}"
    model = parse(text.format("y = ScatterND(x, i, u) z = Neg(y)"), opset=22)
    result = onnx_scatterx.optimize(model, target=npu)
    assert (result.model.opset_import[0].version, result.report.removed) == (19, 1)
    assert result.report.to_dict()["opset_lowered"] == 19
    assert not result.report.violations
    assert "lowered to operator set 19, as npu needs it" in str(result.report)
    onnx.checker.check_model(result.model, full_check=True)
    assert onnx_scatterx.verify(model, result.model, samples=4).same

    nodes = "y = ScatterND(x, i, u) s = Cast <to = 8> (y) z = StringConcat(s, s)"
    model = parse(text.replace("=> (float", "=> (string").format(nodes), opset=22)
    result = onnx_scatterx.optimize(model, target=npu)
    assert (result.model.opset_import[0].version, result.report.removed) == (22, 1)
    assert result.report.opset_kept == 22
    (violation,) = result.report.violations
    assert str(violation) == ("z (StringConcat): operator set 22, and npu takes 19: began with 20")
    with pytest.raises(ScatterXError, match="operator set 24: the target npu reads up to 19"):
        onnx_scatterx.optimize(model, target=npu, opset=24)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("version", [13, 16, 18])
def test_new_nodes_fit_the_lowered_operator_set(version: int) -> None:
    """Rules write their nodes as the set wants them that the model is lowered to."""
    text = """g (float[4, N] x, float[M, N] u, int64[1] at, float[K, N] v) => (float[4, N] z) {
            s = Slice (u, [0], at)
            y = ScatterND (x, [[1], [3]], u)
            z = ScatterND <reduction = "add"> (y, [[1], [3]], u) }"""
    model = parse(text.replace(' <reduction = "add">', "") if version < 16 else text, opset=21)
    result = onnx_scatterx.optimize(model, target="standard", opset=version)
    assert result.report.removed == 2
    assert result.model.opset_import[0].version == version
    onnx.checker.check_model(result.model, full_check=True)
    assert onnx_scatterx.verify(model, result.model, samples=6).same


def test_sets_that_onnx_does_not_know() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")
    with pytest.raises(ScatterXError, match="onnx knows 9 to"):
        onnx_scatterx.optimize(model, opset=999)


NOT_RAISED = {
    "training": (13, "y, m, v, a, b = BatchNormalization (x, w, w, w, w)", 13, "it trains"),
    "windows": (18, "y = MaxPool <kernel_shape = [2], ceil_mode = 1> (x)", 21, "its ceil_mode"),
    "a size of 0": (12, "y = Hardmax <axis = 1> (x)", 12, "set 13 lacks .* allowzero"),
    "types": (9, "i = Cast <to = 7> (x) e = Erf (i) y = Cast <to = 1> (e)", 12, "takes no"),
}


@pytest.mark.parametrize("name", NOT_RAISED)
def test_nodes_that_prevent_raising(name: str) -> None:
    opset, nodes, last, why = NOT_RAISED[name]
    text = f"g (float[1, 2, N] x, float[2] w) => (float[?, ?, ?] y) {{ {nodes} }}"
    model = parse(text, opset=opset)
    wanted = 13 if name == "a size of 0" else 24
    with pytest.raises(ModelError, match=rf"raised past operator set {last}: . \(.*\): .*{why}"):
        onnx_scatterx.optimize(model, opset=wanted)
    assert model.opset_import[0].version == opset


def test_the_mask_of_a_dropout_has_the_type_of_its_input_before_set_10() -> None:
    text = "g (double[N] x) => (double[N] y, double[N] m) { y, m = Dropout (INPUT) }"
    model = parse(text.replace("INPUT", "x"), opset=9)
    raised = onnx_scatterx.optimize(model, opset=13).model
    feed = {"x": np.array([-1.0, 0.0, np.nan])}
    for load in SESSIONS:
        assert agree(*(load(m).run(None, feed) for m in (model, raised)))
    model = parse(text.replace("INPUT", "own.Op (x)"), opset=9, more=', "own" : 1')
    with pytest.raises(ModelError, match=r"y \(Dropout\): .* type of its input is not known"):
        onnx_scatterx.optimize(model, opset=13)


@pytest.mark.parametrize("value", [0.0, -0.0, 2.5])
@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_what_a_pad_writes_is_an_input_from_set_11(mode: str, value: float) -> None:
    node = f'Pad <mode = "{mode}", pads = [1, 2], value = {value}>'
    text = f"g (double[N] x) => (double[M] y) {{ y = {node} (INPUT) }}"
    model = parse(text.replace("INPUT", "x"), opset=10)
    raised = onnx_scatterx.optimize(model, opset=13).model
    feed = {"x": np.array([-1.0, np.nan])}
    for load in SESSIONS:
        (before,), (after,) = (load(m).run(None, feed) for m in (model, raised))
        assert before.tobytes() == after.tobytes()
    if mode == "constant" and value:
        model = parse(text.replace("INPUT", "own.Op (x)"), opset=10, more=', "own" : 1')
        with pytest.raises(ModelError, match=r"y \(Pad\): .* type of its input is not known"):
            onnx_scatterx.optimize(model, opset=13)


@pytest.mark.parametrize("scales", [[1, 2.5], [1, 0.4], [2.5, 0.4], [1, 1]])
def test_a_resize_by_what_the_run_says_is_raised(scales: list[float]) -> None:
    model = parse(
        "g (float[5, 6] x, float[2] s) => (float[A, B] y) { y = Resize (x, s) }", opset=10
    )
    raised = onnx_scatterx.optimize(model, opset=13).model
    feed = {"x": np.arange(30, dtype=np.float32).reshape(5, 6), "s": f32(scales)}
    for load in SESSIONS:
        assert agree(*(load(m).run(None, feed) for m in (model, raised)))


def test_a_version_in_no_row_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {row: change for row, change in CHANGES.items() if row != ("Neg", 13)}
    monkeypatch.setattr("onnx_scatterx.engine.spelling.respell.CHANGES", rows)
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }", opset=9)
    assert onnx_scatterx.optimize(model, opset=12).model.opset_import[0].version == 12
    with pytest.raises(ModelError, match=r"raised past operator set 12: y \(Neg\): .* 13"):
        onnx_scatterx.optimize(model, opset=13)


def test_every_version_has_a_row() -> None:
    """What onnx adds later has none, until it is looked at."""
    lacking = [v for v in versions() if v.since > 9 and v not in CHANGES and v.is_a_change]
    assert lacking == []


def test_an_operator_that_is_raised_by_its_definition() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, 4] x, float[2] one, int64[n] to) => (float[?, ?] y)
        { r = Reshape(x, to)  y = GroupNormalization <num_groups = 2> (r, one, one) }"""
    model = ir.from_onnx_text(text)
    assert write_for_opset(model, 22).defined == ("y (GroupNormalization)",)
    feed = {"x": f32([[1, 2, 3, 5], [0, 1, 0, 7]]), "one": f32([1, 2]), "to": i64([2, 4, 1])}
    before, after = onnx.parser.parse_model(text), ir.to_proto(model)
    assert agree(*(open_session(m).run(None, feed) for m in (before, after)))


def test_functions_of_other_operator_sets() -> None:
    for own, whole, wanted in ((12, 17, 20), (17, 12, 20), (17, 12, 13), (9, 20, 15)):
        model = ir.from_onnx_text(
            f"""<ir_version: 10, opset_import: ["" : {whole}, "own" : 1]>
            g (float[2, 3] x) => (float[2, 3] z) {{ y = own.f (x) z = Neg (y) }}
            <domain: "own", opset_import: ["" : {own}]> f (a) => (b) {{ b = Softmax (a) }}"""
        )
        before = ir.to_proto(model)
        after = onnx_scatterx.optimize(before, opset=wanted).model
        versions_there = {o.version for f in after.functions for o in f.opset_import}
        assert versions_there == {min(own, wanted) if whole > wanted else wanted}
        for load in SESSIONS:
            feed = {"x": f32([[1, 2, 3], [5, 0, 1]])}
            assert agree(*(load(m).run(None, feed) for m in (before, after)))


def test_a_sparse_initializer_is_kept() -> None:
    values = onnx.helper.make_tensor("w", 1, [1], [2.0])
    sparse = onnx.helper.make_sparse_tensor(values, onnx.helper.make_tensor("", 7, [1], [1]), [3])
    model = parse("g (float[3] x) => (float[3] y) { y = Add(x, w) }", opset=12)
    model.graph.sparse_initializer.append(sparse)
    raised = onnx_scatterx.optimize(model, opset=18).model
    assert raised.graph.sparse_initializer == model.graph.sparse_initializer
    assert onnx_scatterx.verify(model, raised, samples=4).same


def test_other_kernels_are_named() -> None:
    text = "g (float[1, 2, 9] x) => (float[?, ?, ?] y) { y = AveragePool <kernel_shape = [3]> (x) }"
    for opset, wanted in ((12, 20), (20, 12)):
        result = onnx_scatterx.optimize(parse(text, opset=opset), opset=wanted)
        assert result.report.other_kernels == ("y (AveragePool)",)
        assert "ONNX Runtime has another kernel in that operator set" in str(result.report)
    near = onnx_scatterx.optimize(parse(text, opset=12), opset=18)
    assert near.report.other_kernels == ()


def test_far_sets() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }", opset=13)
    for version in 17, 20, 26:
        raised = onnx_scatterx.optimize(model, opset=version).model
        assert raised.opset_import[0].version == version


def test_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    assert (
        main(["optimize", str(MODELS / "kv_cache_ts.onnx"), "-o", str(out), "--opset", "24"]) == 0
    )
    assert next(o.version for o in onnx.load(out).opset_import if not o.domain) == 24


@pytest.mark.parametrize("opset", [13, 14])
@pytest.mark.parametrize("axis", [0, 1, 2, 3, -2, -3])
@pytest.mark.parametrize("sizes", ["0, 2, 3, 4", "2, 0, 3, 4", "2, 3, 0, 4", "N, 3, 4, 2"])
def test_a_softmax_without_elements_is_raised(sizes: str, axis: int, opset: int) -> None:
    model = parse(
        f"g (float[{sizes}] x) => (float[a, b, c, d] y) {{ y = Softmax <axis = {axis}> (x) }}",
        opset=11,
    )
    try:
        raised = onnx_scatterx.optimize(model, opset=opset).model
    except ModelError:
        assert opset == 13  # a Reshape takes a 0 as it is from 14 on
        return
    x = np.zeros([0 if n == "N" else int(n) for n in sizes.split(", ")], np.float32)
    for load in SESSIONS:
        assert agree(*(load(m).run(None, {"x": x}) for m in (model, raised)))


@pytest.mark.parametrize("rows", ["2", "0", "N"])
def test_a_softmax_of_the_last_axis_is_raised_as_one_node(rows: str) -> None:
    """Along an axis before the last, an older one takes all axes from there on together."""
    model = parse(
        f"""g (float[{rows}, 3] x) => (float[a, b] y, float[c, d] z) {{
            y = Softmax <axis = 1> (x) z = LogSoftmax <axis = 0> (x) }}""",
        opset=11,
    )
    raised = onnx_scatterx.optimize(model, opset=18).model
    made = [node.op_type for node in raised.graph.node]
    assert made == ["Softmax", "Flatten", "LogSoftmax", "Shape", "Reshape"]
    assert onnx_scatterx.verify(model, raised, samples=4).same


def test_a_model_that_is_invalid_once_it_is_raised() -> None:
    """Each node can be raised; together they are no graph."""
    model = parse("g (float[2] x) => (float[2] y) { v = Neg (w) w = Abs (x) y = Abs (v) }", 12)
    with pytest.raises(ModelError, match="the model, raised: the graph is invalid"):
        change_opset(ir.from_proto(model), 18)


@pytest.mark.parametrize("opset", [17, 19])
@pytest.mark.parametrize(
    ("op", "kind", "changes"),
    [
        ("Relu", "int64", False),
        ("Relu", "int32", True),
        ("Elu", "double", False),
        ("Elu", "float", True),
        ("Softplus", "double", False),
    ],
)
def test_kernels_that_only_set_18_has(op: str, kind: str, changes: bool, opset: int) -> None:
    """ONNX Runtime writes these nodes as ONNX defines them, but of no other set."""
    model = parse(f"g ({kind}[N] x) => ({kind}[N] y) {{ y = {op} (x) }}")
    assert model.opset_import[0].version == 18
    if not changes:
        with pytest.raises(ScatterXError, match="may have no kernel for its type"):
            onnx_scatterx.optimize(model, opset=opset)
        return
    open_session(onnx_scatterx.optimize(model, opset=opset).model)


@pytest.mark.parametrize("opset", [17, 19])
def test_a_softplus_of_float16_has_another_kernel_in_set_18(opset: int) -> None:
    model = parse("g (float16[N] x) => (float16[N] y) { y = Softplus (x) }")
    report = onnx_scatterx.optimize(model, opset=opset).report
    assert "Softplus" in str(report)


def test_a_target_of_an_older_set_leaves_a_node_that_would_have_no_kernel() -> None:
    model = parse("""g (int64[2] x, float[4] d, float[1] u) => (int64[2] y, float[4] z) {
        y = Relu (x)  z = ScatterElements (d, [1], u) }""")
    result = onnx_scatterx.optimize(model, target="tflite")
    feed = {"x": i64([-1, 2]), "d": f32([1, 2, 3, 4]), "u": f32([5])}
    found = [open_session(m).run(None, feed) for m in (model, result.model)]
    assert all(map(np.array_equal, *found))
