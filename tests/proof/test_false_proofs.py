"""What surrounds the reasoning: what is read, what is believed, and which program is judged.

Each pair differs, fails, or may be read in two ways. None may be proven.
"""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from onnx_scatterx.proof.declarations import InputClause
from tests.helpers.equivalence_support import assert_follows
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.unproven import unproven

HEAD = '<ir_version: 10, opset_import: ["" : 18, "own" : 1]>'


def model(text: str) -> onnx.ModelProto:
    """Return a model whose text has its own head."""
    return onnx.parser.parse_model(text)


def test_defaults_of_the_attributes_of_functions() -> None:
    """The inliner drops them; a slope of 0.1 and one of 0.2 would be the same node."""
    text = """{head} g (float[N] x) => (float[N] y) {{ y = own.f (x) }}
        <domain: "own", opset_import: ["" : 18]> f <alpha: float = {alpha}> (a) => (b)
        {{ b = LeakyRelu <alpha: float = @alpha> (a) }}"""
    one, other = (model(text.format(head=HEAD, alpha=alpha)) for alpha in (0.1, 0.2))
    unproven(one, other, "defaults of attributes")


def test_functions_that_are_left_after_inlining() -> None:
    text = """<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
        g (float[N] x) => (float[N] y) {{ y = own.f (x) }}
        <domain: "own", opset_import: ["" : {version}]> f (a) => (b) {{ b = {op} (a) }}"""
    one, other = (model(text.format(op=op, version=17)) for op in ("Neg", "Abs"))
    unproven(one, other)


def test_an_unnamed_dim_is_no_dim_of_another_input() -> None:
    text = """g (float[?] x, float["x[0]"] w) => (float[M] y) {{ {} }}"""
    size = "s = Shape ({}) y = ConstantOfShape (s)"
    one, other = parse("g (float[N] x, float[K] w) => (float[M] y) { y = Neg (x) }"), None
    one = parse(text.format(size.format("x")).replace('"x[0]"', "K").replace("?", "N"))
    other = parse(text.format(size.format("w")).replace('"x[0]"', "K").replace("?", "N"))
    for made in (one, other):
        dims = [i.type.tensor_type.shape.dim[0] for i in made.graph.input]
        dims[0].Clear()
        dims[1].dim_param = "x[0]"
    unproven(one, other)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_a_pool_that_is_larger_than_its_input_gives_a_window_all_the_same(op: str) -> None:
    head = "g (float[1, 1, N] x) => (int64[3] y) "
    text = f"{head} {{ p = {op} <kernel_shape = [3], strides = [2]> (x) y = Shape (p) }}"
    by_formula = f"""{head} <int64[1] two = {{2}}, int64[1] one = {{1}}, int64[1] three = {{3}},
        int64[2] lead = {{1, 1}}, int64[1] axis = {{2}}, int64[1] zero = {{0}}> {{
        p = {op} <kernel_shape = [3], strides = [2]> (x)
        s = Shape <start = 2> (x) r = Sub (s, three) m = Mod (r, two) e = Sub (r, m)
        q = Div (e, two) n = Add (q, one) y = Concat <axis = 0> (lead, n) }}"""
    found = prove(parse(text), parse(by_formula))
    assert found.kind == "proven for sizes"
    assert all(sizes["N"] >= 3 for sizes in found.sizes)


def test_an_einsum_that_broadcasts() -> None:
    head = "g (float[N] x, float[M] w) => (int64[1] y) { e = Einsum "
    one = head + '<equation = "i,i->i"> (x, w) y = Shape (e) }'
    unproven(parse(one), parse(one.replace("Shape (e)", "Shape (x)")))


def test_a_resize_that_rounds() -> None:
    head = """g (float[10] x) => (float[M] y)
        <float[1] by = {0.7}, int64[1] zero = {0}, int64[1] six = {6}> {
        r = Resize <mode = "nearest"> (x, , by) """
    one, other = parse(head + "y = Neg (r) }"), None
    other = parse(head + "c = Slice (r, zero, six) y = Neg (c) }")
    unproven(one, other)


@pytest.mark.parametrize("where", ["value_info", "output"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_stated_dim_must_follow_from_the_inputs(where: str, side: int) -> None:
    """ONNX Runtime folds the Shape of a value by it."""
    text = "g (float[N] x) => (int64[1] y, float[M] z) { z = Neg (x) c = Abs (x) y = Shape (%s) }"
    name = "c" if where == "value_info" else "z"
    pair = [parse(text % name), parse(text % name)]
    stated = onnx.helper.make_tensor_value_info(name, 1, [5])
    if where == "value_info":
        pair[side].graph.value_info.append(stated)
    else:
        pair[side].graph.output[1].CopyFrom(stated)
    found = unproven(pair[0], pair[1], "has size 5, which was not proven")
    assert f"the {['first', 'second'][side]} model states of {name!r}" in str(found)


def test_dims_of_one_name_are_one_size() -> None:
    """ONNX Runtime reuses the memory of such a value for another."""
    text = "g (float[N] x, float[K] w) => (float[A] y, float[B] z) { y = Neg (x) z = Neg (w) }"
    one, other = parse(text), parse(text.replace("[A]", "[N]").replace("[B]", "[N]"))
    assert prove(one, one).proven
    unproven(one, other, "axis 0 has size N, which was not proven")
    assert prove(other, other).proven  # the interface is the same, and no node reads the outputs


@pytest.mark.parametrize("order", [("", "ai.onnx"), ("ai.onnx", "")])
def test_two_spellings_of_one_operator_set(order: tuple[str, str]) -> None:
    one = parse("g (float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Softmax (x) }")
    other = onnx.ModelProto()
    other.CopyFrom(one)
    del other.opset_import[:]
    other.opset_import.extend(
        onnx.helper.make_opsetid(d, v) for d, v in zip(order, (18, 12), strict=True)
    )
    unproven(one, other, "names the operator set 'ai.onnx' twice")


@pytest.mark.parametrize("numbers", [[0, 2**62, -(2**63), -(2**62), 0], [-(2**63), 2**63 - 1]])
def test_constants_at_the_ends_of_their_type(numbers: list[int]) -> None:
    """An arithmetic sequence that wraps around is none."""
    text = "g (int64[N] x, int64[1] i) => (bool[1] y) { e = Gather (k, i) y = Less (e, z) }"
    pair = []
    for op in ("Less (e, z)", "Equal (i, o)"):
        made = parse(text.replace("Less (e, z)", op))
        for name, array in (("k", numbers), ("z", [0]), ("o", [99])):
            value = numpy_helper.from_array(np.array(array, np.int64), name)
            made.graph.initializer.append(value)
        pair.append(made)
    unproven(*pair)


def test_a_cast_of_text_may_fail() -> None:
    head = "g (string[N] s, float[N] x) => (float[N] y) { "
    unproven(parse(head + "y = Neg (x) }"), parse(head + "w = Cast <to = 1> (s) y = Neg (x) }"))


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("way", [("max", "add"), ("min", "mul")])
def test_a_reduction_of_conditions_that_never_runs(op: str, way: tuple[str, str]) -> None:
    dims = "2" if op == "ScatterElements" else "2, 1"
    text = f"""g (bool[4] x, bool[2] u) => (bool[4] y) <int64[{dims}] i = {{0, 2}}>
        {{ y = {op} <reduction = "add"> (x, i, u) }}"""
    unproven(parse(text.replace("add", way[1])), parse(text.replace("add", way[0])))


def scatterx(attributes: str, body: str = "ScatterND (data, f, updates)") -> onnx.ModelProto:
    """Return a model with one ScatterX."""
    return model(f"""<ir_version: 10, opset_import: ["" : 18, "onnx_scatterx" : 1]>
        g (float[N, 4] x, int64[K, 1] i, float[K, 4] u) => (float[N, 4] y) {{
            y = onnx_scatterx.ScatterX <{attributes}> (x, i, u) }}
        <domain: "onnx_scatterx", opset_import: ["" : 18]>
        ScatterX <p1, p2, p, reduction, unique> (data, f, updates) => (output) {{
            output = {body} }}""")


ROWS = 'p1 = [0], p2 = [1], p = [0, 1], reduction = "none", unique = 0'
PLAIN = "g (float[N, 4] x, int64[K, 1] i, float[K, 4] u) => (float[N, 4] y) { y = %s }"


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"none"', '"add"'),
        ("p1 = [0]", "p1 = [1]"),
        ("p2 = [1]", "p2 = [0]"),
        ("p = [0, 1]", "p = [1, 0]"),
        ("unique = 0", "unique = 1"),
    ],
)
def test_scatterx_is_judged_by_its_attributes(right: str, wrong: str) -> None:
    before = parse(PLAIN % "ScatterND (x, i, u)")
    assert prove(before, scatterx(ROWS)).proven
    assert right in ROWS
    unproven(before, scatterx(ROWS.replace(right, wrong)))


def test_the_fallback_is_judged_apart_from_the_kernel() -> None:
    before = parse(PLAIN % "ScatterND (x, i, u)")
    found = prove(before, scatterx(ROWS, 'ScatterND <reduction = "add"> (data, f, updates)'))
    assert found.kind == "proven for the kernel"
    assert not found.proven
    assert "for the kernel, not for the fallback" in str(found)


def test_that_no_updates_collide_is_proven_of_the_second_model() -> None:
    rows = "<int64[2, 1] i = {%s}> { y = %s }"
    head = "g (float[4, 4] x, float[2, 4] u) => (float[4, 4] y) "
    for numbers, kind in (("1, 3", "proven"), ("1, 1", "unknown")):
        before = parse(head + rows % (numbers, "ScatterND (x, i, u)"))
        after = scatterx(ROWS.replace("unique = 0", "unique = 1"))
        del after.graph.input[:]
        after.graph.input.extend(before.graph.input)
        after.graph.output[0].CopyFrom(before.graph.output[0])
        after.graph.initializer.extend(before.graph.initializer)
        assert prove(before, after).kind == kind, numbers


def test_a_region_keeps_its_own_value_if_its_name_means_something_else() -> None:
    one = parse("g (float[N] x) => (float[N] y) { a = Neg (x) b = Abs (x) y = Add (a, b) }")
    other = parse("g (float[N] x) => (float[N] y) { b = Neg (x) a = Abs (x) y = Add (b, a) }")
    assert prove(one, other).proven
    typed = parse(
        "g (float[N] x) => (float[N] y) { b = Shape (x) a = Cast <to = 7> (b) y = Neg (x) }"
    )
    named = parse("g (float[N] x) => (float[N] y) { a = Shape (x) b = Abs (x) y = Neg (x) }")
    assert prove(typed, named).proven


def test_promises_and_sizes_are_in_the_headline() -> None:
    one = parse("g (float[N, 4] x) => (float[A, B] y) { y = Transpose <perm = [1, 0]> (x) }")
    other = parse("""g (float[1, 4] x) => (float[A, B] y) { y = Reshape (x, [4, 1]) }""")
    found = prove(one, other)
    assert found.proven
    assert str(found).startswith("proven the same, for N = 1, which the second model has fixed")
    wide = parse(other_text := "g (float[N, 4] x) => (float[A, B] y) { y = Abs (x) }")
    assert "if N >= 2" in str(prove(wide, parse(other_text), clauses=[InputClause("N", ">=", 2)]))


def test_external_data_are_known_by_their_bytes(tmp_path: Path) -> None:
    paths = []
    for k in range(3):
        place = tmp_path / str(k)
        place.mkdir()
        made = parse("g (float[600, 600] x) => (float[600, 600] y) { y = Mul (x, w) }")
        array = np.full((600, 600), 2.0 + (k == 2), np.float32)
        made.graph.initializer.append(numpy_helper.from_array(array, "w"))
        onnx.save(made, place / "m.onnx", save_as_external_data=True, location="w.bin")
        paths.append(place / "m.onnx")
    assert prove(paths[0], paths[1]).proven
    assert not prove(paths[0], paths[2]).proven
    inside = onnx.load(paths[0])
    assert prove(paths[0], inside).proven
    (tmp_path / "0" / "w.bin").unlink()
    assert "the file w.bin is missing" in str(prove(paths[0], paths[1]))


def test_what_is_not_valid_is_an_answer() -> None:
    text = "g (float[2, 4, 3] x) => (float[A, B, C] y) { y = Neg (x) }"
    for node in ("w = Flatten <axis = 9> (x) y = Neg (x)", "y = Neg (later) later = Neg (x)"):
        assert prove(parse(text), parse(text.replace("y = Neg (x)", node))).kind == "unknown"


def test_a_split_that_does_not_run_is_not_proven() -> None:
    text = "g (float[2, 6] x) => (float[2, 3] y, float[2, 3] z) <int64[2] s = {3, 3}> { NODE }"
    good = parse(text.replace("NODE", "y, z = Split <axis = 1, num_outputs = 2> (x)"))
    for how, answer in {
        "<axis = 1> (x, s)": "proven",
        "<axis = 1, num_outputs = 3> (x)": "unknown",
        "<axis = 1, num_outputs = 2> (x, s)": "unknown",
        "<axis = 1> (x)": "unknown",
    }.items():
        assert prove(good, parse(text.replace("NODE", f"y, z = Split {how}"))).kind == answer, how


def test_operators_of_the_first_model_are_named() -> None:
    one = "g (float[N] x) => (float[A] z) { a, b = Split <axis = 0, num_outputs = 2> (x) "
    one += "z = Concat <axis = 0> (b, a) }"
    found = prove(parse(one), parse("g (float[N] x) => (float[A] z) { z = Identity (x) }"))
    assert "Split in equal parts of an axis of unknown size" in str(found)


def test_the_answer_does_not_depend_on_what_was_judged_before() -> None:
    head = "g (float[N, M] x, bool[N] m) => (float[A, B] y) "
    one = parse(head + "{ p = NonZero (m) r = Transpose (p) s = GatherND (x, r) y = Neg (s) }")
    other = parse(head + "{ y0 = Compress <axis = 0> (x, m) y = Neg (y0) }")
    first = prove(one, other)
    prove(other, other)
    second = prove(one, other)
    assert (first.kind, first.questions, str(first)) == (
        *(second.kind, second.questions, str(second)),
    )
    assert first.solver.startswith("Z3 ")


@pytest.mark.parametrize("rows", [0, 3])
def test_an_open_size_beside_a_size_of_0(rows: int) -> None:
    """With ``allowzero``, ONNX Runtime leaves out sizes of 0 before it divides."""
    text = """g (float[A, 4] x) => (float[C, D, E] y) {
        n = Shape <start = 0, end = 1> (x) s = Concat <axis = 0> (n, [-1], [2])
        y = Reshape <allowzero = 1> (x, s) }"""
    assert_follows(text, {"x": np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)})
