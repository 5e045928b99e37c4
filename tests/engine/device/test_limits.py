"""Every key of a profile that limits what is taken changes what is written."""

import inspect
import re
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main, target_text
from onnx_scatterx.engine.device.beyond import _BROKEN
from onnx_scatterx.targets import profile
from onnx_scatterx.targets.catalogue import profile_names
from onnx_scatterx.targets.limits import KEYS
from tests.helpers.pair import assert_same
from tests.helpers.profiles import BOX, EVEN, HEAD, written
from tests.helpers.support import nodes, parse, sample

SHIFTED = f"""{HEAD} g (int64[4] u) => (int64[6] y)
    {{ y = ScatterND ([0, 0, 0, 0, 0, 0], [[1], [2], [3], [4]], u) }}"""
TAKEN = f"""{HEAD} g (float[8] x, bool[8] m, float[8] v) => (float[8] y) {{
    n = NonZero (m) i = Transpose <perm = [1, 0]> (n)
    s = Shape (i) first = Constant <value = int64[1] {{0}}> () k = Gather (s, first)
    none = Constant <value = int64[1] {{0}}> ()
    y = ScatterND (x, i, Slice (v, none, k)) }}"""
FLIPPED = f"""{HEAD} g (float[6] x, float[6] u) => (float[6] y)
    {{ y = ScatterND (x, [[5], [4], [3], [2], [1], [0]], u) }}"""
EVERY_SECOND = f"""{HEAD} g (float[8, 2] x, float[4, 2] u) => (float[8, 2] y)
    {{ y = ScatterND (x, [[0], [2], [4], [6]], u) }}"""
ROWS = f"""{HEAD} g (float[6, 4] x, bool[6] m) => (float[6, 4] y) {{
    n = NonZero (m) i = Transpose <perm = [1, 0]> (n)
    s = Shape (i) first = Constant <value = int64[1] {{0}}> () k = Gather (s, first)
    four = Constant <value = int64[1] {{4}}> () e = Concat <axis = 0> (k, four)
    y = ScatterND (x, i, Expand (float 0, e)) }}"""


def optimized(text: str, profile: str, tmp_path: Path) -> onnx.ModelProto:
    """Optimize a model for a profile, and compare."""
    proto = parse(text)
    path = written(tmp_path / "npu.toml", f'name = "npu"\n{profile}')
    result = onnx_scatterx.optimize(proto, target=path)
    model: onnx.ModelProto = result.model
    assert [s for s in result.report.scatters if s.refusal is not None] == []
    rng = np.random.default_rng(0)
    feeds = []
    for _ in range(4):
        feed = {}
        for value in proto.graph.input:
            dims = [d.dim_value or 6 for d in value.type.tensor_type.shape.dim]
            kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            feed[value.name] = sample(str(kind), *dims, seed=int(rng.integers(99)))
        feeds.append(feed)
    assert_same(proto, model, feeds)
    assert [v.why for v in result.report.violations if v.op != "input"] == []
    return model


def operators(model: onnx.ModelProto) -> set[str]:
    return {n.op_type for n in nodes(model)}


def attributes(model: onnx.ModelProto) -> set[str]:
    return {a.name for n in nodes(model) for a in n.attribute}


CASES = {
    "types": (SHIFTED, '[limits.Pad]\ntypes = ["float"]', "Pad", "Concat"),
    "no_types": (SHIFTED, '[limits.Pad]\nno_types = ["int64"]', "Pad", "Concat"),
    "exclusive": (TAKEN, "dense = true\n[limits.CumSum]\nexclusive = false", "exclusive", "Sub"),
    "broadcast": (ROWS, "[limits.Where]\nbroadcast = false", None, "Expand"),
    "steps": (FLIPPED, "[limits.Slice]\nsteps = false", "Slice", "Gather"),
    "native": (SHIFTED, "[limits.Pad]\nnative = false", "Pad", "Concat"),
    "max_rank": (EVEN, "[limits.Unsqueeze]\nmax_rank = 2", "Unsqueeze", None),
}


@pytest.mark.parametrize("key", CASES)
def test_a_limit_changes_what_is_written(key: str, tmp_path: Path) -> None:
    text, profile, gone, instead = CASES[key]
    dense = "dense = true" if "dense" in profile else ""
    before, after = optimized(text, dense, tmp_path), optimized(text, profile, tmp_path)
    had, have = (operators(m) | attributes(m) for m in (before, after))
    if gone is not None:
        assert gone in had
        assert gone not in have
    if instead is None:
        return
    assert instead in have
    assert instead not in had


def test_rows_without_steps(tmp_path: Path) -> None:
    """A strided write and what it leaves, by Reshape and Slice."""
    profile = 'avoid = ["Gather"]\n[limits.Slice]\nsteps = false'
    model = optimized(EVERY_SECOND, profile, tmp_path)
    assert all(len(n.input) < 5 for n in nodes(model) if n.op_type == "Slice")


def test_bounds_that_are_computed(tmp_path: Path) -> None:
    """A write at a position of the run is sliced at it, if the target allows that."""
    text = f"""{HEAD} g (float[9] x, int64[1] at, float[2] u) => (float[9] y) {{
            i = Add ([0, 1], at) j = Unsqueeze (i, [-1]) y = ScatterND (x, j, u) }}"""
    proto = parse(text)
    assume = "at: nonnegative"
    free = onnx_scatterx.optimize(proto, target="standard", assume=assume)
    assert free.report.removed == 1
    fixed = written(tmp_path / "npu.toml", 'name = "npu"\n[limits.Slice]\ncomputed = false')
    result = onnx_scatterx.optimize(proto, target=fixed, assume=assume)
    constant = {i.name for i in result.model.graph.initializer}
    slices = [n for n in nodes(result.model) if n.op_type == "Slice"]
    assert all(set(n.input[1:]) <= constant for n in slices)
    if result.report.removed:
        feeds = [
            {"x": sample("float32", 9), "at": np.array([k]), "u": sample("float32", 2)}
            for k in (0, 3, 7)
        ]
        assert_same(proto, result.model, feeds)


def test_indices_that_may_be_negative(tmp_path: Path) -> None:
    """What is gathered by a count of true elements is known not to be negative."""
    profile = "dense = true\n[limits.Gather]\nnegative = false"
    assert "Gather" in operators(optimized(TAKEN, profile, tmp_path))


@pytest.mark.parametrize(("first", "taken"), [(1, True), (2, False)])
def test_indices_that_count_down(first: int, taken: bool) -> None:
    """The last row is at N - 1: so counting down from it ends at 0."""
    model = parse(f"""g (float[N] x) => (float[M] y)
        <int64 back = {{{first}}}, int64 minus = {{-1}}> {{
            n = Squeeze (Shape (x))  last = Sub (n, back)
            y = Gather (x, Range (last, Sub (last, n), minus)) }}""")
    report = onnx_scatterx.inspect(model, target="standard, limits.Gather.negative = false")
    assert taken == (not report.violations)


@pytest.mark.parametrize(("of", "taken"), [("at", False), ("line", True), ("size", True)])
def test_dividends_that_may_be_negative(of: str, taken: bool, tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N] x, int64[3] at) => (int64[K] y) <int64[3] line = {{0, 1, 2}}> {{
            size = Shape (x) y = Mod ({of}, [3]) }}"""
    path = written(tmp_path / "npu.toml", 'name = "npu"\n[limits.Mod]\nnegative = false')
    found = onnx_scatterx.inspect(parse(text), target=path, passes=["CheckTarget"]).violations
    why = ["npu takes no Mod of numbers that may be negative"]
    assert [violation.why for violation in found] == ([] if taken else why)


@pytest.mark.parametrize(("pads", "taken"), [("p", True), ("[0, 1]", True), ("[1, -1]", False)])
def test_pads_that_are_negative(pads: str, taken: bool) -> None:
    text = f"{HEAD} g (float[3] x, int64[2] p) => (float[M] y) {{ y = Pad ({'x, ' + pads}) }}"
    target = "standard, limits.Pad.negative = false"
    found = onnx_scatterx.inspect(parse(text), target=target, passes=["CheckTarget"]).violations
    why = ["standard takes no Pad with pads that may be negative"]
    assert [violation.why for violation in found] == ([] if taken else why)


@pytest.mark.parametrize(("more", "version"), [("", 17), ("z = Gelu (x)", 20)])
def test_axes_as_an_attribute(more: str, version: int, tmp_path: Path) -> None:
    """The model is lowered to a set in which they are one, if all nodes can be."""
    text = f"""<ir_version: 9, opset_import: ["" : 20]>
        g (float[4, 2] x) => (float[4] y) {{
            {more} y = ReduceL1 <keepdims = 0> (x, [-1]) }}"""
    path = written(tmp_path / "npu.toml", 'name = "npu"\n[limits.ReduceL1]\naxes_input = false')
    proto = parse(text)
    result = onnx_scatterx.optimize(proto, target=path)
    assert result.model.opset_import[0].version == version
    why = ["npu takes no ReduceL1 with axes as an input"]
    assert [v.why for v in result.report.violations] == ([] if version == 17 else why)
    assert_same(proto, result.model, [{"x": sample("float32", 4, 2)}])


@pytest.mark.parametrize(
    ("shape", "axes", "taken"),
    [
        ("4, 2", "1", False),
        ("1, 2", "-1", True),
        ("1, 2", "0", False),
        ("4, 2", "0, -1", True),
        ("4, 1", "0", True),
        ("N, 2", "1", False),
        ("3", "0", True),
    ],
)
def test_an_input_of_all_axes(shape: str, axes: str, taken: bool) -> None:
    text = f"""<ir_version: 9, opset_import: ["" : 20]> g (float[{shape}] x) => (float[] y) {{
            z = Gelu (x) y = ReduceL1 (z, [{axes}]) }}"""
    target = "standard, limits.ReduceL1.axes_input = 'all'"
    found = onnx_scatterx.inspect(parse(text), target=target).violations
    why = ["standard takes no ReduceL1 with axes as an input that are not all"]
    assert [v.why for v in found] == ([] if taken else why)


@pytest.mark.parametrize(
    ("kind", "axes", "keeps", "taken"),
    [
        ("all", "1", 0, False),  # an axis of one element is left, and lost
        ("all", "0, 1", 0, True),
        ("several", "1", 1, False),
        ("several", "0, -1", 0, True),
    ],
)
def test_an_input_of_some_axes(kind: str, axes: str, keeps: int, taken: bool) -> None:
    text = f"""<ir_version: 9, opset_import: ["" : 20]> g (float[1, 3] x) => (float[A] y) {{
            z = Gelu (x) y = ReduceL1 <keepdims = {keeps}> (z, [{axes}]) }}"""
    target = f"standard, avoid = ['Reshape'], limits.ReduceL1.axes_input = '{kind}'"
    found = onnx_scatterx.inspect(parse(text), target=target).violations
    assert (not found) == taken


@pytest.mark.parametrize(
    ("opset", "node", "taken"),
    [
        (17, "ReduceL1 <axes = [0, 2]> (x)", True),
        (17, "ReduceL1 <axes = [0, 1, 2]> (x)", False),
        (17, "ReduceL1 (x)", False),
        (20, "ReduceL1 (Gelu (x), [1])", False),
        (17, "ReduceL2 <axes = [0, 1, 2]> (x)", True),  # written as a root of squares
        (20, "ReduceL2 (Gelu (x), [1])", True),
    ],
)
def test_norms_for_tflite(opset: int, node: str, taken: bool) -> None:
    model = parse(f"g (float[2, 3, 4, 5] x) => (float[A, B, C, D] y) {{ y = {node} }}", opset=opset)
    result = onnx_scatterx.optimize(model, target="tflite")
    assert (not result.report.violations) == taken
    assert_same(model, result.model, [{"x": sample("float32", 2, 3, 4, 5)}])


@pytest.mark.parametrize(
    ("end", "taken"),
    [
        ("e = Shape <start = 0, end = 1> (x)", True),
        ("s = Shape <start = 0, end = 1> (x)  e = Div (s, two)", True),
        ("n = NonZero (x)  e = Shape <start = 1, end = 2> (n)", False),
        ("e = Identity (at)", False),
        ("e = Identity (two)", True),
    ],
)
def test_operands_from_the_sizes_of_inputs(end: str, taken: bool) -> None:
    text = f"""<ir_version: 9, opset_import: ["" : 20]>
        g (float[N, 4] x, int64[1] at) => (float[A, 4] y)
        <int64[1] zero = {{0}}, int64[1] two = {{2}}> {{
            {end}  y = Slice (x, zero, e, zero) }}"""
    for computed, is_taken in (("'sizes'", taken), ("false", "two)" in end and "Div" not in end)):
        target = f"standard, limits.Slice.computed = {computed}"
        found = onnx_scatterx.inspect(parse(text), target=target).violations
        assert (not found) == is_taken


_SCALED = "a = Div (x, root) b = Erf (a) c = Add (b, one)"


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        (f"{_SCALED} d = Mul (x, c) y = Mul (d, half)", True),
        (f"{_SCALED} d = Mul (c, x) y = Mul (half, d)", True),
        (f"{_SCALED} d = Mul (c, half) y = Mul (x, d)", True),
        (f"{_SCALED} d = Mul (x, half) y = Mul (d, c)", True),
        (
            "a = Mul (x, inverse) b = Erf (a) c = Add (one, b) d = Mul (x, c) y = Mul (d, half)",
            True,
        ),
        ("y = Erf (x)", False),
        (f"{_SCALED} y = Mul (x, c)", False),
        (f"{_SCALED} d = Mul (x, c) y = Mul (d, quarter)", False),
        (f"{_SCALED} d = Mul (a, c) y = Mul (d, half)", False),
        (f"{_SCALED} d = Mul (c, half) y = Mul (d, half)", False),
        (f"{_SCALED} d = Mul (x, c) e = Mul (d, half) y = Add (e, b)", False),
        (f"{_SCALED} d = Mul (x, half) e = Mul (d, c) y = Add (d, e)", False),
        ("a = Div (x, other) b = Erf (a) c = Add (b, one) d = Mul (x, c) y = Mul (d, half)", False),
        ("a = Div (x, root) b = Erf (a) c = Add (b, two) d = Mul (x, c) y = Mul (d, half)", False),
        (f"{_SCALED} d = Mul (x, c) e = Mul (d, half) y = Add (a, e)", False),
    ],
)
def test_a_node_of_a_pattern(body: str, taken: bool) -> None:
    numbers = {"root": 1.4142135, "inverse": 0.70710677, "other": 1.5, "half": 0.5, "quarter": 0.25}
    numbers |= {"one": 1.0, "two": 2.0}
    constants = ", ".join(f"float {name} = {{{number}}}" for name, number in numbers.items())
    text = f"{HEAD} g (float[4] x) => (float[4] y) <{constants}> {{ {body} }}"
    target = "standard, limits.Erf.within = ['Gelu']"
    found = onnx_scatterx.inspect(parse(text), target=target).violations
    assert [v.why for v in found] == ([] if taken else ["standard takes no Erf outside of Gelu"])


@pytest.mark.parametrize("rest", ["", 'avoid = ["Gather", "Slice"]'])
@pytest.mark.parametrize("indices", ["rows", "at"])
def test_constant_indices(indices: str, rest: str, tmp_path: Path) -> None:
    """Another operator reads constant rows; a model without scatters is changed for it, too."""
    text = f"""{HEAD} g (float[4, 2] x, int64[3, 1] at) => (float[3, 2] y)
        <int64[3, 1] rows = {{3, 0, -2}}> {{ y = GatherND (x, {indices}) }}"""
    profile = f'name = "npu"\n{rest}\n[limits.GatherND]\nconstant = false'
    proto = parse(text)
    result = onnx_scatterx.optimize(proto, target=written(tmp_path / "npu.toml", profile))
    refused = indices == "rows" and rest != ""
    why = ["npu takes no GatherND at constant indices"] if refused else []
    assert [v.why for v in result.report.violations] == why
    assert ("GatherND" in operators(result.model)) == (indices == "at" or refused)
    feeds = {"x": sample("float32", 4, 2), "at": np.array([[0], [-1], [2]])}
    assert_same(proto, result.model, [feeds])


def test_every_key_is_tested() -> None:
    elsewhere = {"axes_input", "computed", "constant", "negative", "reductions"}
    elsewhere |= {"refused", "slow"}  # test_second_choices.py
    elsewhere |= {"inner"}  # test_bound_caches.py
    elsewhere |= {"equations", "within"}  # engine/write/test_einsums.py, and above
    of_embeddings = {"unwritten", "zeros", "computed_data", "data_rank"}  # in engine/write
    assert {*CASES, *elsewhere, *of_embeddings, "most", "written"} == set(KEYS)


def test_every_limit_is_asked() -> None:
    """Those of element types by ``takes_type``, that of computed data by ``Target.has``."""
    assert set(KEYS) == {*_BROKEN, "types", "no_types", "native", "computed_data"}


def test_every_key_is_told() -> None:
    """In the page, in the docstring that is the format, and in the words of a target."""
    page = (Path(__file__).parents[3] / "docs" / "targets.md").read_text(encoding="utf-8")
    words = inspect.getsource(target_text)
    for key in KEYS:
        assert re.search(rf"\b{key}\b", page), key
        assert re.search(rf"\b{key} = ", profile.__doc__ or ""), key
        assert re.search(rf"\b{key}\b", words), key


@pytest.mark.parametrize("most", [100, 5000])
def test_a_sort_of_too_many_elements(most: int, tmp_path: Path) -> None:
    """A form that sorts more elements than the target can is not written."""
    text = f"""{HEAD} g (float[4000] x, int64[1000, 1] i, float[1000] u) => (float[4000] y)
        {{ y = ScatterND (x, i, u) }}"""
    profile = f'name = "npu"\navoid = ["ScatterND"]\n[limits.TopK]\nmost = {most}'
    proto = parse(text)
    result = onnx_scatterx.optimize(proto, target=written(tmp_path / "npu.toml", profile))
    assert ("TopK" in operators(result.model)) == (most == 5000)
    if most == 100:
        (scatter,) = result.report.scatters
        assert str(scatter.refusal).endswith("(TopK of more than 100 elements for npu)")


def test_defaults_that_must_be_written(tmp_path: Path) -> None:
    """The model's own OneHot and Pad get the attributes that the compiler wants to read."""
    text = f"""{HEAD} g (int64[2, 3] i, float[2] v, float[4] x, float[2] u)
        => (float[2, 3, 5] h, float[6] p) {{
            h = OneHot (i, [5], v) z = ScatterND (x, [[1], [2]], u) p = Pad (z, [1, 1]) }}"""
    profile = '[limits.OneHot]\nwritten = ["axis"]\n[limits.Pad]\nwritten = ["mode"]'
    model = optimized(text, profile, tmp_path)
    assert attributes(model) >= {"axis", "mode"}
    path = written(tmp_path / "npu.toml", 'name = "npu"\n[limits.Pad]\nwritten = ["axis"]')
    with pytest.raises(
        onnx_scatterx.ScatterXError, match="which is not an attribute of Pad with a default"
    ):
        onnx_scatterx.optimize(parse(text), target=path)


def test_masks_of_static_shape_are_counted(tmp_path: Path) -> None:
    """A NonZero gives no more than there is, so a dense form knows how large it gets."""
    text = f"""{HEAD} g (float[80] x, int64[60] at, bool[60] m, float[60] v) => (float[80] y) {{
        n = NonZero (m) k = Squeeze (n, [0]) p = Mod (at, 80)
        a = Gather (p, k) u = Gather (v, k) i = Unsqueeze (a, [-1])
        y = ScatterND (x, i, u) }}"""
    proto = parse(text)
    for limit, removed in ((80 * 61, 1), (80 * 59, 0)):
        path = written(
            tmp_path / "npu.toml",
            f'name = "npu"\navoid = ["TopK"]\ndense = true\ndense_limit = {limit}',
        )
        result = onnx_scatterx.optimize(proto, target=path)
        assert result.report.removed == removed, result.report


def test_a_target_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path / "npu.toml",
        """
        name = "npu"
        description = "ours"
        source = "its manual"
        version = "3.1"
        date = 2026-11-22
        checked = "not run"
        avoid = ["NonZero"]
        misread = ["CumSum"]
        max_rank = 4
        max_opset = 19
        static_only = true
        dense = true
        [limits.Pad]
        no_types = ["int64", "bool"]
        max_rank = 3
        [limits.CumSum]
        types = ["float"]
        exclusive = false
        """,
    )
    assert main(["targets", path]) == 0
    told = capsys.readouterr().out
    for line in (
        "npu: ours",
        "  describes     3.1",
        "  source        its manual",
        "  read on       2026-11-22",
        "  checked       not run",
        "  operators     all standard operators but NonZero",
        "  limit         CumSum: only of float; not with exclusive=1",
        "  limit         Pad: not of bool, int64; at most 3 dims",
        "  misread       wrong results, and no error, beyond the limits: CumSum",
        "  ranks         at most 4 dims",
        "  operator set  at most 19",
        "  sizes         numbers only: --fix gives them",
        "  dense forms   up to 16777216 elements in one tensor",
        "  kept          scatters are not changed",
    ):
        assert f"{line}\n" in told
    assert main(["targets", "zzz"]) == 2
    for name in ("scatterx", *profile_names()):
        assert main(["targets", name]) == 0
    assert "  kept          scatters become ScatterX\n" in capsys.readouterr().out
    assert main(["targets", BOX]) == 2
