"""The report on a scatter is the same for the extracted part, which holds nothing private."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from tests.helpers.support import parse

MODELS = sorted((Path(__file__).parents[3] / "models").glob("*.onnx"))
LONG = ("inverse_wavelet", "swin_shift_mask")  # whose parts take seconds to be tried
FAR = """g (float[4, 2] a, float[1, 2] y) => (float[4, 2] w) <int64[1, 1] i = {1}> {
    x = Exp (a) v = Log (x) u = Sin (v)
    z = ScatterND (u, i, y)
    s = Cos (z) t = Tan (s) w = Abs (t) }"""


@pytest.mark.sampled(14)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * path.stem.startswith(LONG))
        for path in MODELS
    ],
)
def test_the_same_report(path: Path) -> None:
    """For both targets and at most three scatters, as the file that would be sent is read.

    Of a long model one scatter is taken, in the middle: the others stand in copies of its block.
    """
    whole = {t: onnx_scatterx.inspect(path, target=t) for t in ("scatterx", "standard")}
    scatters = whole["scatterx"].scatters
    count = len(scatters)
    is_long = path.stem.startswith(LONG)
    for scatter in scatters[count // 2 :: count] if is_long else scatters[:: count // 3 + 1]:
        part = onnx_scatterx.extract(path, scatter.node)
        sent = part.model.SerializeToString()
        assert part.nodes <= part.whole
        assert part.weights == ()
        for target, report in whole.items():
            there = onnx_scatterx.inspect(onnx.load_model_from_string(sent), target=target)
            (found,) = (s for s in there.scatters if s.node == scatter.node)
            expected = next(s for s in report.scatters if s.node == scatter.node)
            assert replace(found, graph=expected.graph) == expected


@pytest.mark.parametrize("more", ["", ", float[4, 2] u", ", float[4, 2] s, float[4, 2] u"])
def test_distant_nodes_are_cut_off(more: str) -> None:
    """Where a value is cut off, it may also be an output of the model."""
    text = FAR.replace("float[4, 2] w)", f"float[4, 2] w{more})")
    part = onnx_scatterx.extract(parse(text), "z")
    assert [node.op_type for node in part.model.graph.node] == ["ScatterND"]
    assert {value.name for value in part.model.graph.input} == {"u", "y"}
    assert (part.nodes, part.whole) == (1, 7)
    onnx.checker.check_model(part.model, full_check=True)


def test_the_part_contains_nothing_else() -> None:
    """No weights, no stack traces, no texts."""
    model = parse(FAR.replace("ScatterND (u", "ScatterND (k"))
    numbers = np.arange(8, dtype=np.float32) + 1234.5
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.tile(numbers, 32), "flat"))
    shape = onnx.helper.make_node("Reshape", ["flat", "to"], ["k"])
    to = onnx.numpy_helper.from_array(np.array([128, 2]), "to")
    model.graph.initializer.append(to)
    model.graph.node.insert(0, shape)
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 128
    model.doc_string = model.graph.doc_string = "secret"
    for node in model.graph.node:
        node.doc_string = "secret"
        node.metadata_props.add(key="stack_trace", value="secret/model.py")
    model.metadata_props.add(key="author", value="secret")
    part = onnx_scatterx.extract(model, "z")
    sent = part.model.SerializeToString()
    assert b"secret" not in sent
    assert numbers.tobytes() not in sent
    assert str(part).endswith("; no weights are in it")


def test_weights_that_the_report_depends_on_are_named() -> None:
    """A constant that is written into a constant becomes one; without it there would be none."""
    numbers = ", ".join(map(str, range(40)))
    model = parse(f"""g (float[4] q) => (float[40] z, float[4] p) <int64[1] i = {{1}}> {{
        c = Constant <value = float[40] {{{numbers}}}> () u = Constant <value = float[1] {{7}}> ()
        z = ScatterElements (c, i, u) p = Neg (q) }}""")
    whole = onnx_scatterx.inspect(model).scatters[0]
    assert whole.written == ("a constant",)
    part = onnx_scatterx.extract(model, "z")
    found = onnx_scatterx.inspect(part).scatters[0]
    assert replace(found, graph=whole.graph) == whole
    assert part.weights == ("c",)
    assert "it depends on weights that are in it: c" in str(part)


def test_a_scatter_in_a_branch_and_in_a_function() -> None:
    inside = parse("""g (bool c, float[4, 2] a, float[1, 2] y) => (float[4, 2] w) {
            b = Exp (a)
            z = If (c) <then_branch = yes () => (float[4, 2] s) { s = ScatterND (b, [[1]], y) },
                        else_branch = no () => (float[4, 2] n) { n = Neg (b) }>
            w = Tan (z) }""")
    part = onnx_scatterx.extract(inside, "s")
    assert [node.op_type for node in part.model.graph.node] == ["If"]
    called = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
        g (float[4, 2] a, float[1, 2] y) => (float[4, 2] w) { b = own.put (a, y) w = Tan (b) }
        <domain: "own", opset_import: ["" : 18]>
        put (x, u) => (z) { i = Constant <value = int64[1, 1] {1}> () z = ScatterND (x, i, u) }""")
    part = onnx_scatterx.extract(called, "z")
    assert [f.name for f in part.model.functions] == ["put"]


def test_a_branch_that_is_cut_off_reads_what_is_kept() -> None:
    model = parse("""g (bool c, float[4, 2] a, float[1, 2] y) => (float[4, 2] w, float[4, 2] v) {
            s = ScatterND (a, [[1]], y) t = Tan (s) w = Abs (t) u = Sin (w)
            v = If (c) <then_branch = yes () => (float[4, 2] p) { p = Exp (s) },
                        else_branch = no () => (float[4, 2] n) { n = Add (t, u) }> }""")
    part = onnx_scatterx.extract(model, "s")
    assert [node.op_type for node in part.model.graph.node] == ["ScatterND"]


def test_the_kind_and_the_settings() -> None:
    part = onnx_scatterx.extract(ir.from_proto(parse(FAR)), "z", target="qnn", assume=[])
    assert isinstance(part.model, ir.Model)
    assert onnx_scatterx.inspect(part, target="qnn").scatters[0] == part.entry


@pytest.mark.parametrize("node", ["zz", "w"])
def test_an_unknown_node(node: str) -> None:
    with pytest.raises(ScatterXError, match=f"no scatter or gather is called '{node}'"):
        onnx_scatterx.extract(parse(FAR), node)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(parse(FAR), tmp_path / "m.onnx")
    out = str(tmp_path / "part.onnx")
    assert main(["extract", str(tmp_path / "m.onnx"), "z", "-o", out]) == 0
    told = "1 of 7 nodes, and the same report on z; no weights are in it\n"
    assert capsys.readouterr().out == told
    assert [node.op_type for node in onnx.load(out).graph.node] == ["ScatterND"]
    assert main(["extract", out, "z", "-o", out]) == 2
    assert "the output is the input" in capsys.readouterr().err
