"""What to do next about nodes that the target does not take: each command was tried."""

import shlex
from dataclasses import replace
from pathlib import Path

import onnx
import onnx.parser
import pytest

from onnx_scatterx import advise, inspect
from onnx_scatterx.doors.cli import main
from onnx_scatterx.tell.advice.change import Command
from onnx_scatterx.tell.terminal import screen
from tests.helpers.advised import inspected_with_advice
from tests.helpers.many_scatters import many_scatters
from tests.tell.advice.advised import EMPTY, HEAD, MODELS

pytestmark = pytest.mark.sampled(2)

OLD = '<ir_version: 5, opset_import: ["" : 9]> '
SIZE = """g (float[N, 4] x) => (float[N, 4] y) <float z = {0}>
    { s = Shape (x)  e = Expand (z, s)  y = Add (x, e) }"""
TWICE = "g (float[1, 1, 4, 4] x) => (float[1, 1, 8, 8] y) <float[4] s = {1, 1, 2, 2}> "


FEWER = """g (float[8, 6] x, int64[3] i, float[3, 6] v) => (float[8, 6] z)
    <int64[1] one = {1}, int64[2] shape = {3, 6}> {
        w = Unsqueeze (i, one)  y = ScatterND (x, w, v)  e = Expand (w, shape)
        z = ScatterElements <axis = 0, reduction = "add"> (y, e, v) }"""


def model_of(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text if text.startswith("<") else HEAD + text)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "target", "options"),
    [
        (SIZE, "standard, avoid = ['Shape']", ["--fix N=64"]),
        (OLD + TWICE + "{ y = Upsample (x, s) }", "standard, avoid = ['Upsample']", ["--opset 13"]),
        (EMPTY, "standard, avoid = ['NonZero']", ["--assume 'N >= 1'"]),
    ],
)
def test_ways(
    text: str, target: str, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is printed is run as it stands: after it the target takes all."""
    path, out = str(tmp_path / "m.onnx"), str(tmp_path / "o.onnx")
    onnx.save(model_of(text), path)
    command = Command(path, out, target)
    (found,) = [a for a in advise(path, target=target, command=command) if a.is_violation]
    assert [way.command.partition(f"{shlex.quote(target)} ")[2] for way in found.ways] == options
    assert (
        main([*shlex.split(found.ways[0].command)[1:], "--strict", "--verify", "--samples=5"]) == 0
    )
    assert main(["optimize", path, "-o", out, "--target", target, "--strict"]) == 1
    told = capsys.readouterr().out
    way = f"{found.ways[0].command} --strict"  # what the user asked for is asked for again
    assert f"  not taken: {found.why}\n    removed by:\n      {way}\n" in told


@pytest.mark.parametrize("wants", ["", ", static_only = true"])
@pytest.mark.parametrize("lacks", [["Shape"], ["Shape", "Add"]])
def test_what_a_command_removes_is_not_listed(lacks: list[str], wants: str) -> None:
    """The numbers remove the Shape, and no command the Add; -v and the JSON have both."""
    target = f"standard, avoid = {lacks}{wants}"
    report = inspected_with_advice(model_of(SIZE), Command(target=target), target=target)
    brief, whole = ([*map(str, screen(report, whole=x).parts)] for x in (False, True))
    added = [line for line in brief if "after all: --target" in line]
    assert [line.partition(" after")[0] for line in added] == ["  if standard takes Add"] * (
        len(lacks) - 1
    )
    left = [line.partition(" of the target")[0] for line in brief if "the command above" in line]
    assert left == [["no violation", "1 violation"][len(lacks) - 1]]
    assert sum(line.startswith("  y (Add): ") for line in brief) == len(lacks) - 1
    assert not any(line.startswith("  s (Shape): ") for line in brief)
    assert any(line.startswith("  s (Shape): ") for line in whole)
    assert any(v["op"] == "Shape" for v in report.to_dict()["violations"])


def test_a_gather_that_the_target_takes_needs_nothing() -> None:
    """qnn refuses GatherND at constant indices only, so this one is not told of, unless asked."""
    text = "g (float[5, 3] x, int64[1] at) => (float[3] y) { y = GatherND (x, at) }"
    assert not inspect(model_of(text), target="qnn").gathers
    assert not advise(model_of(text), target="qnn")
    (told,) = advise(model_of(text), target="qnn", gathers=True)
    assert told.why == "no cheaper form is known (2 nodes)"
    assert not advise(model_of(text), target="standard, avoid = ['GatherND']")


def test_equal_lines_are_one() -> None:
    nodes = " ".join(f"x{i + 1} = Erf (x{i})" for i in range(6))
    model = model_of(f"g (float[4] x0) => (float[4] x7) {{ {nodes} x7 = Asin (x6) }}")
    (found,) = advise(model, target="standard, avoid = ['Erf', 'Asin']")
    name = "standard"
    assert found.lines() == [
        f"not taken: {name} takes no Erf (6): x1, x2 and 4 more; x7 (Asin): {name} takes no Asin",
        "  no option that was tried removes them; missing: a compiler that takes this",
    ]
    assert found.to_dict()["is_violation"]
    assert found.nodes == tuple(f"x{i}" for i in range(1, 8))


def test_a_change_that_brings_another_violation_is_no_way() -> None:
    """Operator set 13 has no Upsample, and this compiler has no Resize."""
    text = OLD + TWICE + "{ y = Upsample (x, s) }"
    (found,) = advise(model_of(text), target="standard, avoid = ['Upsample', 'Resize']")
    assert found.is_violation
    assert not found.ways


def test_the_operator_sets_that_the_target_takes() -> None:
    text = OLD + TWICE + "{ y = Upsample (x, s) }"
    (found,) = advise(model_of(text), target="standard, avoid = ['Upsample'], max_opset = 12")
    assert not found.ways


def test_a_kept_scatter_is_named_once() -> None:
    """It is a node that the target does not take, too, and its line says what removes it."""
    text = "g (float[8] x, int64[3, 1] i, float[3] u) => (float[8] y) {"
    text += ' y = ScatterND <reduction = "mul"> (x, i, u) }'
    target = "standard, avoid = ['ScatterND', 'Where']"
    assert [v.op for v in inspect(model_of(text), target=target).violations] == ["ScatterND"]
    (found,) = advise(model_of(text), target=target)
    assert not found.is_violation


def test_the_host_is_no_violation() -> None:
    model = model_of("g (float[4] x) => (float[4] y) { y = Erf (x) }")
    assert advise(model, target="standard, limits = {Erf = {native = false}}") == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [("native = false", "runs ScatterND on its host"), ("slow = true", "runs ScatterND slowly")],
)
def test_a_scatter_that_only_fixed_sizes_leave_on_the_host_is_removed(
    change: str, why: str
) -> None:
    """A symbolic batch may be 0, then no updates collide: at numbers, two of them do."""
    text = """g (float[8, batch] x, float[3, batch] u) => (float[8, batch] y)
        <int64[3, 1] i = {2, 5, 2}> { y = ScatterND (x, i, u) }"""
    target = f"standard, static_only = true, limits.ScatterND.{change}"
    (found,) = advise(model_of(text), target=target)
    assert found.lines()[0] == f"y is kept: with sizes fixed, standard {why}"
    assert found.ways[0].command.endswith(" --fix batch=1 --deterministic")
    report = inspect(model_of(text), target=target, fix={"batch": 1}, deterministic=True)
    assert report.violations == ()


def test_sizes_are_one_line_and_come_first() -> None:
    """Of the nodes that the target refuses only those are named that it refuses at numbers."""
    text = """g (float[N, 4] x, float[M] m) => (float[N, 4] y, int64[1, L] z) <float zero = {0}> {
        s = Shape (x)  e = Expand (zero, s)  y = Add (x, e)  z = NonZero (m) }"""
    target = "standard, static_only = true, avoid = ['Shape', 'NonZero']"
    first, second = advise(model_of(text), target=target)
    assert first.lines()[0] == "the target standard wants all sizes as numbers:"
    assert first.ways[0].command.endswith("--fix N=96 --fix M=64")
    assert set(second.nodes) == {"z"}
    shown = inspect(model_of(text), target=target)
    assert "add --fix" in str(shown)
    assert "add --fix" not in str(replace(shown, advice=(first, second))).split("0 of")[-1]


def test_sizes_come_first_if_another_compiler_takes_more_at_them() -> None:
    first, *others = advise(MODELS / "mask_fill_dynamo_dynamic.onnx", target="coreml")
    assert first.nodes == ("node_index_put",)
    assert first.ways[0].command.endswith("--target coreml --fix batch=1 --fix time=64")
    assert [set(a.nodes) for a in others] == [{"node_Unsqueeze_2", "out/Where"}]


def test_a_broken_model_is_not_a_problem_of_sizes() -> None:
    text = "g (float[N, 5] x, float[3, 4] u) => (float[3, 4] y) { y = Add (x, u) }"
    (found,) = advise(model_of(text), target="qnn")
    assert found.lines() == [
        "the model fails at any sizes, so its export is wrong; with PyTorch, try dynamo=True: "
        "the node y (Add) cannot run: its inputs are of shape [N, 5] and of shape [3, 4]: they "
        "cannot be broadcast"
    ]


def test_that_a_model_runs_on_no_input_comes_first_and_no_command_after_it() -> None:
    text = """g (float[N, 5] x, float[3, 4] u, float[M, 4] d, int64[M, 1] i) =>
        (float[3, 4] y, float[M, 4] z) { y = Add (x, u)  z = ScatterND (d, i, d) }"""
    (found,) = advise(model_of(text), target="qnn")
    report = inspect(model_of(text), target="qnn")
    told = str(screen(replace(report, advice=(found,)), command="a command").plain()).splitlines()
    assert told[0] == found.lines()[0]
    assert told[1] == report.headline()
    assert not any("--target" in line or "a command" in line for line in told)


def test_the_chosen_rules_are_kept() -> None:
    """A command is tried with the rules that it names."""
    text = "g (float[400, 2] x, int64[300, 1] i, float[300, 2] u) => (float[400, 2] y) {"
    model = model_of(text + "y = ScatterND (x, i, u) }")
    (found,) = advise(model, target="standard")
    assert found.ways[0].command.endswith("dense = true'")
    (found,) = advise(model, target="standard", rules=["view"])
    assert not found.ways


def test_a_command_is_printed_once() -> None:
    """Also if the rules that then replace the nodes differ."""
    found = advise(many_scatters(30), target="rknn")
    commands = [way.command for advice in found for way in advice.ways]
    assert commands
    assert len(set(commands)) == len(commands)


def chip(folder: Path) -> Path:
    """Return the path of a profile that lacks what the scatters of FEWER need."""
    profile = folder / "chip.toml"
    taken = ["Add", "Cast", "Concat", "Mul", "Reshape", "Slice", "Transpose"]
    profile.write_text(f'name = "chip"\nstatic_only = true\noperators = {taken}')
    return profile


def test_one_command_for_all(tmp_path: Path) -> None:
    """Each scatter needs other operators; the first command removes both, and is printed alone."""
    model, profile = model_of(FEWER), chip(tmp_path)
    report = inspected_with_advice(model, Command(target=str(profile)), target=profile)
    both, *others = report.advice
    assert both.is_together
    assert {"y", "z"} <= set(both.nodes)
    assert len([a for a in others if a.ways]) > 1
    target = shlex.split(both.ways[0].command)[-1]
    assert target == f'{profile}, add = ["Mod", "Equal", "Where", "CumSum"]'
    result = inspect(model, target=target)
    assert (result.removed, result.violations) == (2, ())
    brief, whole = (str(screen(report, whole=whole)).count(" add = ") for whole in (False, True))
    assert brief == 1 < whole


def test_a_node_that_another_refused_one_replaces_is_not_removed(tmp_path: Path) -> None:
    """With ReduceMax alone the sum becomes a CumSum: less is refused, since an Expand goes, too."""
    profile = chip(tmp_path)
    found = {
        a.nodes: [way.command for way in a.ways] for a in advise(model_of(FEWER), target=profile)
    }
    added = {
        nodes: [shlex.split(command)[-1].partition("add = ")[2] for command in commands]
        for nodes, commands in found.items()
        if nodes in (("y",), ("z",))
    }
    assert added == {
        ("y",): [
            '["Mod", "Equal", "ReduceMax", "Gather"]',
            '["Mod", "Equal", "Where", "CumSum"]',
        ],
        ("z",): ['["Mod", "Equal", "Where", "CumSum"]'],
    }


def test_what_remains_is_said_of_the_target_of_the_command() -> None:
    """A target is called by its name: its keys are told once, with the outcome."""
    text = """g (float[8, 2] x, bool[8] m, float[n, 2] v) => (float[8, 2] y) {
        p = NonZero (m)  i = Transpose (p)  y = ScatterND (x, i, v) }"""
    lacked = ["Squeeze", "Equal", "Shape", "Add", "Range", "ReduceMax", "Gather"]
    target = f"standard, operators = {['NonZero', 'Transpose', 'Unsqueeze', 'Where', 'Concat']}"
    report = inspected_with_advice(model_of(text), Command(target=target), target=target)
    lines = [*map(str, screen(report).parts)]
    changed = f"standard with {', '.join(lacked[:-1])} and {lacked[-1]} added"
    assert f"no violation of {changed} remains after the command above" in lines
    assert len([line for line in lines if "operators = [" in line and "--target" not in line]) == 1
    assert report.to_dict()["target"] == target


@pytest.mark.parametrize(("count", "end"), [(6, "takes no Floor"), (7, "and 3 more reasons")])
def test_few_reasons_are_told_whole(count: int, end: str) -> None:
    """Two more take no more room than the words that leave them out."""
    ops = ["Neg", "Exp", "Sin", "Cos", "Erf", "Floor", "Ceil"][:count]
    nodes = "".join(f"{'abcdefg'[i]} = {op} (x) " for i, op in enumerate(ops))
    text = f"g (float[2] x) => ({', '.join('abcdefg'[:count])}) {{ {nodes}}}"
    (advice,) = advise(model_of(text), target=f"standard, avoid = {ops}")
    assert advice.why.endswith(end)
