"""Violations are true: what compilers take out is none, and what runs on the host is told apart."""

from pathlib import Path

import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.api.result import TargetError
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.fitting.check_target import violations
from onnx_scatterx.targets.catalogue import target_of
from onnx_scatterx.targets.target import Target
from tests.helpers.support import parse, scatters

TARGET = target_of(
    "standard, avoid = ['Erf', 'Identity', 'Dropout', 'Exp', 'RandomNormal', 'DequantizeLinear', "
    "'ConstantOfShape', 'Squeeze'], max_rank = 3"
)


def told(text: str, target: str | Target = TARGET) -> list[str]:
    model = ir.from_proto(parse(text))
    return [f"{v.node} {v.op}" for v in violations(model, target_of(target))]


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ("e = Erf (x)  y = Neg (x)", []),  # nobody reads it
        ("e = Erf (x)  f = Exp (e)  y = Neg (x)", []),
        ("e = Erf (x)  y = Neg (e)", ["e Erf"]),
        ("e = Erf (w)  f = Exp (e)  y = Add (x, f)", []),  # of constants
        ("c = Constant <value_floats = [1.0, 2.0]> ()  e = Erf (c)  y = Add (x, e)", []),
        ("e = Add (w, x)  f = Exp (e)  y = Add (x, f)", ["f Exp"]),
        ("e = Erf (v)  y = Add (x, e)", ["e Erf"]),  # an input may take the place of v
        ("e = RandomNormal <shape = [2]> ()  y = Add (x, e)", ["e RandomNormal"]),
        ("e = DequantizeLinear (q, one)  y = Add (x, e)", ["e DequantizeLinear"]),
        ("e = ConstantOfShape (two)  y = Add (x, e)", []),
        ("e = Reshape (w, four)  f = Squeeze (e)  y = Add (x, f)", []),  # of 4 dims, once
        ("e = Reshape (x, four)  y = Squeeze (e)", ["e Reshape", "y Squeeze"]),
        ("s = Shape (x)  e = ConstantOfShape (s)  y = Add (x, e)", []),  # of sizes
        (
            "n = NonZero (x)  s = Shape (n)  e = ConstantOfShape (s)  f = ReduceSum (e)  "
            "y = Add (x, f)",
            ["e ConstantOfShape"],
        ),
        ("i = Identity (x)  y = Neg (i)", []),
        ("i = Dropout (x)  y = Neg (i)", []),
        ("i = Dropout (x, half)  y = Neg (i)", []),
        ("i = Dropout (x, half, no)  y = Neg (i)", []),
        ("i = Dropout (x, half, yes)  y = Neg (i)", ["i Dropout"]),
        ("i = Dropout (x, half, b)  y = Neg (i)", ["i Dropout"]),
        ("i, m = Dropout (x)  n = Cast <to = 1> (m)  y = Add (i, n)", ["i Dropout"]),
    ],
)
def test_what_compilers_take_out(nodes: str, found: list[str]) -> None:
    text = f"""g (float[2] x, float[2] v, bool b) => (float[2] y)
        <float[2] w = {{1, 2}}, float[2] v = {{1, 2}}, uint8[2] q = {{1, 2}}, float one = {{1}},
         int64[1] two = {{2}}, int64[4] four = {{1, 2, 1, 1}}, float half = {{0.5}},
         bool no = {{0}}, bool yes = {{1}}> {{ {nodes} }}"""
    assert told(text) == found


def test_branches_and_functions_that_are_needed() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
        g (float[2] x, bool b) => (float[2] y) <float[2] w = {1, 2}> {
            n = If (b) < then_branch = t () => (float[2] p) { p = Erf (x) },
                         else_branch = e () => (float[2] q) { q = Neg (x) } >
            y = If (b) < then_branch = t2 () => (float[2] p2) { u = Erf (x)  p2 = Exp (w) },
                         else_branch = e2 () => (float[2] q2) { q2 = own.f (x) } > }
        <domain: "own", opset_import: ["" : 18]> f (x) => (y) { y = Exp (x) }
        <domain: "own", opset_import: ["" : 18]> h (x) => (y) { y = Erf (x) }"""
    model = ir.from_proto(parse(text))
    assert [(v.graph, v.op) for v in violations(model, TARGET)] == [("own.f", "Exp")]


WRITE = """g (float[999, 2] x, float[99, 2] u, int64[99, 1] i) => (float[999, 2] y)
    { e = Exp (x)  y = ScatterND (e, i, u) }"""


def test_what_runs_on_the_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told apart. Scatters come first, and only they count unless --strict=native."""
    model = parse(WRITE)
    report = onnx_scatterx.inspect(model, target="rknn")
    assert [(v.op, v.on_host) for v in report.violations] == [("Exp", True), ("ScatterND", True)]
    assert report.violation_lines() == [
        "2 nodes that rknn runs on its host:",
        "  ScatterND (1): y",
        "  Exp (1): e",
    ]
    assert [v["on_host"] for v in report.to_dict()["violations"]] == [True, True]
    path = tmp_path / "models" / "m.onnx"
    path.parent.mkdir()
    onnx.save(model, path)
    out = str(tmp_path / "o.onnx")
    every, end = str(tmp_path / "all"), ["--target", "rknn"]
    for command in (
        ["optimize", str(path), "-o", out],
        ["optimize", str(path.parent), "-o", every],
        ["inspect", str(path)],
        ["inspect", str(path.parent)],
        ["inspect", str(path), "--json"],
        ["inspect", str(path.parent), "--json"],
    ):
        for strict, why in (
            ("--strict", "1 scatter that rknn runs on its host"),
            ("--strict=native", "2 nodes that rknn runs on its host"),
            ("--strict=taken", ""),
        ):
            capsys.readouterr()
            assert main([*command, *end, strict]) == bool(why)
            assert why in capsys.readouterr().err
    onnx_scatterx.optimize(model, target="rknn", strict="taken")
    with pytest.raises(TargetError, match=r"1 scatter .* host: ScatterND \(1\): y$") as found:
        onnx_scatterx.optimize(model, target="rknn", strict=True, verify={"samples": 2})
    assert scatters(found.value.result.model) == 1
    assert found.value.result.verification
    with pytest.raises(TargetError, match="2 nodes that rknn runs on its host"):
        onnx_scatterx.optimize(model, target="rknn", strict="native")
    with pytest.raises(ScatterXError, match="strict is True, False, 'native' or 'taken', not"):
        onnx_scatterx.optimize(model, target="rknn", strict="all")  # type: ignore[call-overload]  # wrong on purpose
    lacking = 'rknn, remove = ["Exp"]'
    lines = onnx_scatterx.inspect(model, target=lacking).violation_lines()
    assert lines[0] == "1 violation of the target rknn:"
    assert lines[2:] == ["1 scatter that rknn runs on its host:", "  ScatterND (1): y"]
    with pytest.raises(
        TargetError, match=r"[^:]; 1 scatter that rknn .* host: ScatterND \(1\): y$"
    ):
        onnx_scatterx.optimize(model, target=lacking, strict=True)


def test_an_avoided_operator_is_not_on_the_host() -> None:
    target = target_of('rknn, avoid = ["Exp"]')
    found = violations(ir.from_proto(parse(WRITE)), target)
    assert [(v.op, v.on_host) for v in found] == [("Exp", False), ("ScatterND", True)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["qnn", "rknn", "sophgo", "standard, static_only = true"])
def test_no_form_makes_a_size_that_only_the_run_knows(name: str) -> None:
    """For a device, a window from a start known at run time is not a Slice of unknown size."""
    text = """g (float[8, 2] x, int64[1] at, float[3, 2] u) => (float[8, 2] y) {
            rows = Add (at, [0, 1, 2])  i = Unsqueeze (rows, [-1])  y = ScatterND (x, i, u) }"""
    report = onnx_scatterx.inspect(parse(text), target=name, assume="at: nonnegative")
    assert not any("a size is known only" in v.why for v in report.violations)
    dynamic = onnx_scatterx.inspect(parse(text), target="standard", assume="at: nonnegative")
    assert dynamic.ops_after["Slice"] == 2


@pytest.mark.parametrize(
    ("keys", "node", "lacked"),
    [
        ("avoid = ['Exp']", "y = Exp (x)", ["Exp"]),
        ("avoid = ['acme.fast.Exp']", "y = acme.fast.Exp (x)", ["acme.fast.Exp"]),
        ("limits.Exp.no_types = ['float']", "y = Exp (x)", [None]),
        ("limits.GatherND.computed_data = false", "y = GatherND (x, at)", [None]),
        ("limits.Exp.native = false, avoid = ['Neg']", "e = Exp (x)  y = Neg (e)", [None, "Neg"]),
        ("avoid = ['NonZero'], static_only = true", "y = NonZero (x)", ["NonZero", "NonZero"]),
        ("max_rank = 1", "y = Exp (x)", [None, None]),  # of the input, too
        ("max_rank = 4", "y = TensorScatter (x, x)", ["TensorScatter"]),
    ],
)
def test_the_operator_that_is_lacked(keys: str, node: str, lacked: list[str | None]) -> None:
    """By its name in a profile: adding it there changes the answer."""
    text = f"""<ir_version: 8, opset_import: ["" : 18, "acme.fast" : 1]>
        g (float[2, 2] x) => (y) <int64[1, 1] at = {{0}}> {{ {node} }}"""
    model = ir.from_proto(parse(text))
    assert [v.lacked for v in violations(model, target_of(f"standard, {keys}"))] == lacked
    names = [name for name in lacked if name is not None]
    added = target_of(f"standard, {keys}, add = {names}")
    assert not any(v.lacked for v in violations(model, added))


@pytest.mark.parametrize(
    ("keys", "nodes", "found"),
    [
        ('types = ["float"]', "e = Add (x, x)  y = Neg (e)", []),
        ('types = ["int32"]', "y = Neg (x)", ["y: Neg of float"]),
        ('no_types = ["double"]', "y = Cast <to = 11> (x)", ["y: Cast that gives double"]),
        ('no_types = ["int64"]', "y = Cast <to = 7> (x)", ["y: Cast that gives int64"]),
        ('no_types = ["int64"]', "e = Shape (x)  y = ConstantOfShape (e)", []),  # of floats
        ('no_types = ["int64"]', "e = Shape (x)  y = Add (e, e)", ["y: Add of int64"]),
        ('no_types = ["int64"]', "y = Slice (x, two, one)", []),  # bounds are no data
        ('no_types = ["int64"]', "i = NonZero (x)  y = Gather (x, i)", []),  # nor are indices
        ('no_types = ["bool"]', "e = Equal (x, x)  y = Not (e)", ["y: Not of bool"]),
        ('types = ["float"], avoid = ["Neg"]', "e = Cast <to = 7> (x)  y = Neg (e)", None),
    ],
)
def test_types_that_a_target_lacks(keys: str, nodes: str, found: list[str] | None) -> None:
    text = f"""g (float[N] x) => (y) {{
        two = Constant <value_ints = [2]> ()  one = Constant <value_ints = [1]> ()  {nodes} }}"""
    model = ir.from_proto(parse(text))
    wrong = violations(model, target_of(f"standard, {keys}"))
    if found is None:
        found = ["e: Cast that gives int64", "y: Neg"]
    assert [f"{v.node}: {v.why.removeprefix('standard takes no ')}" for v in wrong] == found


def test_inputs_and_outputs_that_are_not_taken() -> None:
    """QNN casts those of int64 to int32, which it does not do of five dims."""
    model = parse("""g (int64[1, 1, 2, 1, 2] x, float[1, 1, 2, 1, 2] f, int64[4] i)
            => (float[1, 1, 2, 1, 2] y, int64[1, 1, 2, 1, 2] z)
        <int64[5] s = {1, 1, 2, 1, 2}> {
            c = Cast <to = 1> (x)  y = Add (c, f)  z = Reshape (i, s) }""")
    report = onnx_scatterx.inspect(model, target="qnn, limits.Cast.max_rank = 5")
    assert [str(violation) for violation in report.violations] == [
        "x (input): qnn takes no input of int64, of 5 dims",
        "z (output): qnn takes no output of int64, of 5 dims",
    ]
    assert (
        onnx_scatterx.inspect(model, target="qnn, limits.Cast.max_rank = 5, ends = []").violations
        == ()
    )
    ends_alone = "standard, ends = [{types = ['int64'], ranks = [5]}]"
    found = onnx_scatterx.inspect(model, target=ends_alone).violations
    assert [violation.node for violation in found] == ["x", "z"]
