"""What `explain` prints is true, for every scatter of the example models."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.tell.explanation import explain, explanations
from onnx_scatterx.tell.sections import _unique
from onnx_scatterx.text.reasons import Reason, Refusal
from tests.helpers.support import parse

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))


def explained(text: str, opset: int = 18, node: str | None = None) -> str:
    """Explain a model, on one line per sentence."""
    return re.sub(r"\n {13,}", " ", explain(parse(text, opset), node, theory=True))


def rows(indices: str, count: int, reduction: str = "") -> str:
    return f"""g (float[6, 2] x, float[{count}, 2] y) => (float[6, 2] z)
        <int64[{count}, 1] i = {{{indices}}}> {{ z = ScatterND {reduction} (x, i, y) }}"""


def test_a_table_and_its_collision() -> None:
    text = explained(rows("3, 1, 3", 3))
    assert "p1 = (0), p2 = (1), p = (0, 1)" in text
    assert "J_0 = table0[I_0], from f" in text
    assert "table0 = [3, 1, 3]" in text
    assert "unique    no: updates (0, 0) and (2, 0) go to the same element" in text
    assert "verdict   sliceable:" in text
    assert "becomes ScatterX: " in text


def test_what_a_reduction_does() -> None:
    text = explained(rows("1, 2", 2, '<reduction = "add">'))
    assert "z: ScatterND in graph g, reduction add" in text
    assert "J_0 = 1 + I_0, from f" in text
    assert "writes    box [1:3, :]" in text
    assert "removed, written by Concat, Slice, Add (rules: combine, concat, view)" in text


@pytest.mark.parametrize("reduction", ["", '<reduction = "add">'])
def test_positions_of_a_mask_are_different(reduction: str) -> None:
    """They are so, too, if a Where has replaced the scatter, as of `x[mask] = 0`."""
    text = f"""g (float[8, 4] x) => (float[8, 4] y) <float zero = {{0}}> {{
        m = Greater (x, zero)  z = NonZero (m)  i = Transpose <perm = [1, 0]> (z)
        s = Shape <start = 1, end = 2> (z)  v = ConstantOfShape (s)
        y = ScatterND {reduction} (x, i, v) }}"""
    said = explained(text)
    assert "removed, written by Where" in said
    assert "unique    proven: no two updates go to one element" in said


@pytest.mark.parametrize(
    ("reduction", "said"),
    [
        ("none", "one of them wins, and ONNX does not say which"),
        ("add", "both are taken"),
    ],
)
def test_what_two_updates_of_one_element_do(reduction: str, said: str) -> None:
    entry = onnx_scatterx.optimize(parse(rows("1, 2", 2))).report.scatters[0]
    doubtful = replace(entry, reduction=reduction, unique="unknown", duplicates=None)
    (line,) = _unique(doubtful)
    assert line == f"unknown: two updates may go to one element, and {said}"


def test_boxes_are_listed() -> None:
    assert "writes    box [1:4 backwards, :]" in explained(rows("3, 2, 1", 3))
    assert "writes    strided box [0:6:2, :]" in explained(rows("0, 2, 4", 3))
    text = explained(rows("0, 2, 5", 3))
    assert "writes    3 boxes" in text
    assert all(f"- [{row}, :]" in text for row in (0, 2, 5))


def test_a_witness_in_numbers() -> None:
    text = explained(
        """g (float[3, 3] x, float[3] y) => (float[3, 3] z)
            { z = ScatterND(x, [[0, 2], [1, 1], [2, 0]], y) }"""
    )
    assert "not sliceable" in text
    obstacle = "- dim 0: component 1 depends on I_0 and is not I_0, see update (0,)"
    assert obstacle in text
    assert "becomes ScatterX: the write is along a diagonal of the data (dim 0" in text


def test_elements_along_an_axis() -> None:
    text = explained(
        """g (float[2, 5] x, int64[2, 3] i, float[2, 3] y) => (float[2, 5] z)
        { z = ScatterElements <axis = -1> (x, i, y) }"""
    )
    assert "J_0 = I_0, from p2" in text
    assert "J_1 = i[I_0, I_1], from f, counted from the end where negative" in text
    assert "where     i[...]: the elements of graph input i" in text
    assert "missing: indices that follow from constants and sizes alone" in text


def test_an_old_scatter() -> None:
    text = explained(
        """g (float[4] x, float[2] y) => (float[4] z) { z = Scatter(x, [2, 3], y) }""", opset=9
    )
    assert "z: Scatter in graph g" in text
    assert "box [2:4]" in text


def test_a_ring() -> None:
    text = explained(
        """g (float[B, S, 4] cache, float[B, T, 4] y, int64[B] at) => (float[B, S, 4] z)
        { z = TensorScatter <axis = 1, mode = "circular"> (cache, y, at) }""",
        opset=24,
    )
    assert re.search(r"J_1 = \((at\[I_0\] \+ I_1|I_1 \+ at\[I_0\])\) mod S, from f\n", text)
    assert "B, S, T: sizes that graph inputs declare" in text
    text = explained(
        """g (float[1, 8, 4] cache, float[1, 3, 4] y) => (float[1, 8, 4] z)
            { z = TensorScatter <axis = 1, mode = "circular"> (cache, y, [6]) }""",
        opset=24,
    )
    assert "J_1 = (6 + I_1) mod 8, from f\n" in text


def test_sizes_and_where_they_come_from() -> None:
    text = explained(
        """g (float[N] x, float[N] u) => (float[N] z) {
            one = Constant <value_ints = [1]> ()
            n = Shape(x)  zero = Constant <value_int = 0> ()  k = Constant <value_int = 1> ()
            s = Squeeze(n)  r = Range(zero, s, k)  i = Unsqueeze(r, one)
            z = ScatterND(x, i, u) }"""
    )
    assert "data      x, float[N]" in text
    assert "writes    everything" in text
    assert "assumed   declared-dims: all input dims 'N' have the same size" in text


def test_what_is_known_from_checks() -> None:
    text = explained(
        """g (float[N] x, float[1] u) => (float[N] z, float[] w) {
            two = Constant <value_int = 2> ()  w = Gather(x, two)
            i = Constant <value = int64[1, 1] {1}> ()  z = ScatterND(x, i, u) }"""
    )
    assert "known     N - 3 >= 0, which the model checks when it runs" in text


def test_what_cannot_be_lifted() -> None:
    text = explained(
        """g (float[A, B] x, int64[K] s, int64[2, 1] i, float[2] u) => (float z)
        { y = Reshape(x, s) z = ScatterND(y, i, u) }"""
    )
    assert "data      y, float, unknown rank" in text
    assert "indices   i, int64[2, 1]" in text
    assert "updates   u, float[2]" in text
    assert "kept: the rank of an input is unknown (data)" in text
    assert "equation" not in text


def test_what_nothing_reads() -> None:
    text = explained(
        """g (float[6] x, float[1] u) => (float[6] z)
            { dead = ScatterND(x, [[1]], u) z = Abs(x) }"""
    )
    assert "answer    removed: nothing reads it" in text


def test_scatters_of_subgraphs_and_functions() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
        g (float[4] x, float[1] u, bool c) => (float[4] z) {
            a = own.write(x, u)
            z = If (c) <
                then_branch = yes () => (float[4] t) {
                    i = Constant <value = int64[1, 1] {0}> () t = ScatterND(a, i, u) },
                else_branch = no () => (float[4] e) { e = Neg(a) }>
        }
        <domain: "own", opset_import: ["" : 18]>
        write (x, u) => (y) {
            i = Constant <value = int64[1, 1] {2}> () y = ScatterND(x, i, u) }""")
    text = explain(model, theory=True)
    assert "t: ScatterND in graph yes" in text
    assert "y: ScatterND in graph own.write" in text


def test_names() -> None:
    both = """g (float[6] x, float[1] u) => (float[6] z)
        { [first] y = ScatterND(x, [[1]], u) z = ScatterND(y, [[1]], u) }"""
    assert explained(both, node="first").startswith("first: ")
    assert explained(both, node="z").startswith("z: ")
    assert explained(both).count("equation") == 2
    with pytest.raises(
        ScatterXError, match="no scatter or gather is called 'frist'; there is first"
    ):
        explained(both, node="frist")
    with pytest.raises(ScatterXError, match="the model has none"):
        explained("g (float[6] x) => (float[6] z) { z = Abs(x) }", node="z")
    assert explained("g (float[6] x) => (float[6] z) { z = Abs(x) }") == "no scatter in this model"


READS = """g (float[6, 2] x, int64[3] r) => (float[3, 2] y, float[3, 2] z, float[2] d) {
    [taken] y = Gather(x, [3, 2, 1])
    [given] z = Gather(x, r)
    d = GatherND(x, [[0, 0], [1, 1]]) }"""


def test_a_read() -> None:
    text = explained(READS, node="taken")
    assert text.startswith(
        "taken: Gather in graph g\n  answer    removed, written by Slice (rules: view)\n"
    )
    assert "output    y, float[3, 2]" in text
    assert "J_0 = 3 - I_0, from f" in text
    assert "verdict   sliceable: the last dims of the output move as they are" in text
    assert "reads     box [1:4 backwards, :]" in text
    assert "answer    removed, written by Slice (rules: view)" in text
    assert "unique" not in text


def test_all_reads() -> None:
    assert explained(READS) == "no scatter in this model"
    text = explain(parse(READS), gathers=True, theory=True)
    assert text.count("equation") == 3
    assert "J_0 = r[I_0], from f, counted from the end where negative" in text
    assert "missing: indices that follow from constants and sizes alone" in text
    assert "updates" not in text
    assert "the write is along a diagonal of the data" in text


@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_example(path: Path) -> None:
    before = path.read_bytes()
    text, report = explain(path, theory=True), onnx_scatterx.inspect(path)
    assert path.read_bytes() == before
    assert text.count("\n  equation") == len(report.scatters)
    assert text.count("\n  answer    removed") == report.removed
    for scatter in report.scatters:
        assert f"{scatter.node}: {scatter.op} in graph {scatter.graph}" in text
        assert f"verdict   {scatter.verdict}: " in text
    assert max(map(len, text.splitlines())) <= 112
    assert not re.search(r"\bx\d\b|<.*object|Term|None", text)


def test_the_words_are_the_numbers() -> None:
    """The equation that is printed, evaluated, sends every update where the indices say."""
    indices = np.random.default_rng(0).permutation(6)[:4]
    text = explained(rows(", ".join(map(str, indices)), 4))
    formula = re.search(r"J_0 = (.*), from f", text)
    table = re.search(r"table0 = (\[.*\])", text)
    assert formula is not None
    assert table is not None
    found = [eval(formula[1], {"table0": eval(table[1]), "I_0": i}) for i in range(4)]
    assert found == list(indices)


def test_every_reason_says_what_is_missing() -> None:
    assert all(reason.missing for reason in Reason)


@pytest.mark.parametrize("model", MODELS[::9], ids=lambda path: path.stem)
def test_where_it_was_decided(model: Path) -> None:
    """A rule is a file; a refusal is a line that gives a reason, or asks a function that does."""
    package = Path(onnx_scatterx.__file__).parent
    for told in explanations(model, target="rknn", where=True):
        named = dict(told.parts)["code"]
        if told.entry.refusal is None:
            files = [f"onnx_scatterx/rewrites/{rule}.py" for rule in told.entry.rules]
            assert list(named) == files
            assert all((package.parent / name).is_file() for name in named)
            continue
        ((file, line), *rule) = (place.split(":") for place in named[0].split(", for "))
        code = (package.parent / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert re.search(r"Refusal|RefusedError|refuse_unless|granted|only|error", code), named
        assert all(name.startswith("onnx_scatterx/rewrites/") for name, _ in rule)


def test_no_place_is_noted_unless_asked_for() -> None:
    told = explanations(MODELS[0], target="rknn")
    assert all(dict(part.parts)["code"] == () for part in told)
    assert Refusal(Reason.NO_RULE).place == ""
