"""The outcome: one line that says whether the target takes all of a result, or what is left."""

from collections import Counter
from dataclasses import replace

import pytest

import onnx_scatterx
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.engine.device.violation import Violation
from onnx_scatterx.targets.catalogue import all_targets
from onnx_scatterx.tell.kept_advice import Advice, Way
from onnx_scatterx.tell.outcome import outcome
from onnx_scatterx.tell.report import Report
from onnx_scatterx.tell.terminal import screen
from tests.helpers.commands import MODELS
from tests.helpers.support import parse

NPU = Report("npu", (), 9, 8, has_profile=True)
SIZE = Violation("x", "input", "main", "the size N is not a number")
RANK = Violation("x", "input", "main", "rank 6, and npu takes 5")
OPSET = Violation("main", "model", "main", "operator set 22, and npu takes 19")


def refused(*operators: str, on_host: bool = False, slow: bool = False) -> tuple[Violation, ...]:
    named = enumerate(operators)
    return tuple(Violation(f"n{i}", op, "main", "why", on_host, slow) for i, op in named)


@pytest.mark.parametrize(
    ("violations", "done", "planned"),
    [
        ((), "8 nodes, all of them taken by npu", "8 nodes, and npu would take all of them"),
        (
            refused("Erf", "Erf", "ScatterND"),
            "8 nodes, 3 of them not taken by npu: ScatterND (1), Erf (2)",
            "8 nodes, and npu would not take 3 of them: ScatterND (1), Erf (2)",
        ),
        (
            (*refused("Erf"), replace(refused("Erf")[0], why="another")),
            "8 nodes, 1 of them not taken by npu: Erf",
            "8 nodes, and npu would not take 1 of them: Erf",
        ),
        (
            (SIZE, *refused("Erf")),
            "8 nodes, none of them taken by npu: it wants all sizes as numbers",
            "8 nodes, and npu would take none of them: it wants all sizes as numbers",
        ),
        (
            (RANK, SIZE),
            "8 nodes, none of them taken by npu: the input x: rank 6, and npu takes 5, and 1 more",
            "8 nodes, and npu would take none of them: "
            "the input x: rank 6, and npu takes 5, and 1 more",
        ),
        (
            (OPSET,),
            "8 nodes, none of them taken by npu: operator set 22, and npu takes 19",
            "8 nodes, and npu would take none of them: operator set 22, and npu takes 19",
        ),
        (
            (*refused("Cast", "ScatterX", on_host=True), *refused("Erf", slow=True)),
            "8 nodes: 6 taken by npu, 2 on its host: ScatterX (1), Cast (1); 1 slowly: Erf",
            "8 nodes: npu would take 6, and run 2 on its host: ScatterX (1), Cast (1); "
            "1 slowly: Erf",
        ),
        (
            (*refused("Tan"), replace(refused("Erf")[0], node="h", on_host=True)),
            "8 nodes, 1 of them not taken by npu: Tan; 1 on its host: Erf",
            "8 nodes, and npu would not take 1 of them: Tan; 1 on its host: Erf",
        ),
        (
            refused("Erf", "Tan", "Sin", "Cos", "Cos"),
            "8 nodes, 5 of them not taken by npu: Cos (2), Erf (1) and 2 other operators",
            "8 nodes, and npu would not take 5 of them: Cos (2), Erf (1) and 2 other operators",
        ),
    ],
)
def test_a_target_with_a_profile(
    violations: tuple[Violation, ...], done: str, planned: str
) -> None:
    report = replace(NPU, violations=violations)
    assert (outcome(report), outcome(replace(report, planned=True))) == (done, planned)


def test_what_onnx_runtime_computes_is_not_counted_as_taken() -> None:
    """The target never sees such a node. A compiler that reads the file gets a constant."""
    text = """g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] c = {1, 2, 3, 4}> {
        e = EyeLike <dtype = 1> (c)  d = Exp (e)  f = Exp (d)  y = MatMul (x, f) }"""
    npu = "standard, operators = ['Constant', 'MatMul']"
    for more, ending in (
        ("", ": 1 taken by {}, 3 computed by ONNX Runtime when it loads the file: "),
        (", onnxruntime = false", ", taken by {}"),
    ):
        result = onnx_scatterx.optimize(parse(text), target=npu + more, strict=True)
        told = ending.format(f"standard ({npu.partition(', ')[2]}{more})")
        eager = "Exp (2), EyeLike (1)" if not more else ""
        assert outcome(result.report) == f"{'1 node' if more else '4 nodes'}{told}{eager}"
    hosted = replace(NPU, violations=refused("Cast", on_host=True), at_load=Counter(Erf=2))
    loads = "2 computed by ONNX Runtime when it loads the file: Erf"
    assert outcome(hosted) == f"8 nodes: 5 taken by npu, 1 on its host: Cast; {loads}"
    assert outcome(replace(NPU, planned=True, at_load=Counter(Erf=2))) == (
        f"8 nodes: npu would take 6, {loads}"
    )


def test_one_node() -> None:
    one = replace(NPU, nodes_after=1)
    assert outcome(one) == "1 node, taken by npu"
    assert outcome(replace(one, planned=True)) == "1 node, and npu would take it"


def test_a_target_without_a_profile_promises_nothing() -> None:
    """Only which scatters are left is known."""
    for operators, told in (
        ({}, "no scatter among them"),
        ({"Erf": 8, "ScatterX": 0}, "no scatter among them"),
        ({"ScatterND": 2, "Erf": 6}, "2 of them scatters: ScatterND"),
        ({"Scatter": 1, "ScatterX": 3}, "1 of them scatters: Scatter and 3 of them ScatterX"),
    ):
        report = Report("standard", (), 9, 8, ops_after=Counter(operators))
        assert outcome(report) == f"8 nodes, {told}"


def test_which_targets_have_a_profile() -> None:
    """Those that say what they take: their violations are all that they do not take."""
    text = "g (float[2] x) => (float[2] y) { y = Neg (x) }"
    without = {"scatterx", "standard", "ort-cpu"}
    for target in ("scatterx", "ort-cpu", "standard", "qnn", "tensorrt"):
        report = onnx_scatterx.inspect(parse(text), target=target)
        assert report.has_profile == (target not in without)
        assert ("would take it" in outcome(report)) == report.has_profile
    assert without == {target.name for target in all_targets() if not target.has_profile}
    avoids = onnx_scatterx.optimize(parse(text), target="standard, avoid = ['Neg']").report
    assert outcome(avoids) == "1 node, not taken by standard (avoid = ['Neg']): Neg"


def test_the_order_of_a_screen() -> None:
    """The result, what to do next, and facts; a success ends with the outcome."""
    model = str(MODELS / "letterbox_ts.onnx")
    report = onnx_scatterx.optimize(model, target="qnn").report
    answer = Verification(40, 39, sizes={"N": (1, 2)}, unfused=2).lines(brief=True)
    assert answer == ["the same, bit for bit, on 39 sets of inputs"]
    lines = screen(report, answer=answer).plain().splitlines()
    ending = f"{report.nodes_after} nodes, all of them taken by qnn"
    assert lines[0] == report.headline()
    assert lines[-2:] == [*answer, ending]
    way = Advice((), "the result is large", "", (Way("onnx-scatterx --help"),), verb="smaller")
    more = replace(report, advice=(way,), assumptions=("N is small",))
    lines = screen(more, answer=answer, command="not this").plain().splitlines()
    assert lines[lines.index(ending) :] == [
        *(ending, "what to do next:", "  the result is large:", "    smaller by:"),
        *("      onnx-scatterx --help", "assumed:", "  N is small"),
    ]
    lines = screen(report, command="a command").plain().splitlines()
    assert lines[-3:] == [ending, "next:", "  a command"]
    differs = screen(more, answer=["different"], is_written=False).plain()
    assert ending not in differs


def test_what_limits_an_answer_is_not_left_out() -> None:
    found = Verification(
        40, 40, rounded=2, zero_signs=3, assumed=("N <= 4",), fixed={"b": 1}, work=9, wanted=5
    )
    head, *below = found.lines(brief=True)
    said = "the same, bit for bit but for the sign of 3 zeros, on 40 sets of inputs"
    assert head == f"{said} that keep: N <= 4"
    assert [line.split()[0] for line in below] == ["under"]
    assert set(found.lines()) > {head, *below}
    differs = replace(found, interface=("output y is missing",))
    assert differs.lines(brief=True) == differs.lines()
