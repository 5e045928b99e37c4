"""Advice is tried on a part of the model, for a limited work; what it prints helps the whole."""

import gc
import re
import shlex
from typing import Any

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from onnx_scatterx import advise, optimize
from onnx_scatterx.graphs.traversal import all_nodes
from onnx_scatterx.processes.collection import raised_gc_threshold
from onnx_scatterx.tell.advice import search, smaller, trials, whole
from onnx_scatterx.tell.advice.candidates import fixed
from onnx_scatterx.tell.advice.change import Change, Command
from onnx_scatterx.tell.entries import Action
from onnx_scatterx.tell.inquiry import optimized
from onnx_scatterx.tell.reporting import rewritten_under
from tests.helpers.advised import inspected_with_advice
from tests.tell.advice.advised import HEAD, ROWS

OTHERS = 300  # nodes that decide nothing


def model_of(scatters: int, read: str = "at", reduction: str = "none") -> onnx.ModelProto:
    """Return a model with other nodes before and after scatters, each at positions of its own."""
    before = [f"u{i + 1} = Exp (u{i})" for i in range(OTHERS // 2)]
    writes = [
        f"p{n} = Mul (at{n}, at{n})  i{n} = Unsqueeze ({read}{n}, last)"
        f'  y{n} = ScatterND <reduction = "{reduction}"> (x, i{n}, u{OTHERS // 2})'
        for n in range(scatters)
    ]
    after = ["z0 = Log (y0)", *(f"z{i + 1} = Log (z{i})" for i in range(OTHERS // 2 - 1))]
    inputs = ", ".join(f"int64[300] at{n}" for n in range(scatters))
    outputs = ", ".join(f"float[400, 2] y{n}" for n in range(scatters))
    return onnx.parser.parse_model(
        f"""{HEAD} g (float[400, 2] x, float[300, 2] u0, {inputs})
        => ({outputs}, float[400, 2] z{OTHERS // 2 - 1}) <int64[1] last = {{-1}}>
        {{ {" ".join((*before, *writes, *after))} }}"""
    )


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many nodes are visited for each change."""
    found: list[int] = []

    def counted(model: ir.Model, *given: Any, **more: Any) -> Any:
        found.append(len(all_nodes(model)))
        return rewritten_under(model, *given, **more)

    monkeypatch.setattr(trials, "rewritten_under", counted)
    return found


def commands(found: Any) -> list[str]:
    return [way.command.partition("--target ")[2] for advice in found for way in advice.ways]


def test_only_what_helps_is_tried_on_the_whole_model(visited: list[int]) -> None:
    """And what is printed is that of the part alone."""
    alone = onnx.parser.parse_model(HEAD + re.sub(r"\bat\b", "at0", ROWS))
    expected = commands(advise(alone, target="standard"))
    visited.clear()
    told = commands(advise(model_of(1), target="standard"))
    assert told == expected
    assert len([n for n in visited if n > OTHERS]) == len(told) == 2
    assert all(n > OTHERS or n < 10 for n in visited)
    assert len(visited) > 4


@pytest.mark.parametrize("decided", [0, 1])
def test_what_helps_on_the_part_alone_is_not_printed(
    decided: int, visited: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the part says that promises help y1, which do not help the model."""
    target, model = "standard, remove = ['Mul', 'Where']", model_of(2, reduction="mul")
    other = onnx.ModelProto.FromString(model.SerializeToString())
    (node,) = (n for n in other.graph.node if n.output[0] == "y1")
    del node.attribute[:]
    part = ir.from_proto(other), {("g", f"y{decided}")}, 0.0
    monkeypatch.setattr(search.Search, "part", part)
    told = [(way, a.nodes) for a in advise(model, target=target) for way in a.ways]
    for way, nodes in told:
        if "add = " in way.command:
            continue
        words = shlex.split(way.command)
        typed = [(words[i], words[i + 1]) for i in range(len(words) - 1)]
        (named,) = (text for option, text in typed if option == "--target")
        promised = [text for option, text in typed if option == "--assume"]
        found = optimize(model, target=named, assume=promised).report.scatters
        assert set(nodes) <= {entry.node for entry in found if entry.action is Action.REMOVED}
    assert visited


@pytest.mark.parametrize("times", [1, 3])
def test_the_work_is_bounded(
    times: int, visited: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the nodes for all changes, together; what was left over is named."""
    monkeypatch.setattr(whole, "_LEAST", 0)
    monkeypatch.setattr(whole, "_TIMES", times)
    monkeypatch.setattr(search.Search, "part", None)
    model = model_of(9, reduction="mul")
    *_, rest = advise(model, target="standard, remove = ['Mul', 'Where']")
    assert sum(visited) <= times * len(model.graph.node)
    assert rest.why.startswith("changes that were not tried (")


def test_one_scatter_for_each_reason_decides_in_a_large_model(
    visited: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(40)
    monkeypatch.setattr(trials, "_LARGE", 100)
    monkeypatch.setattr(whole, "_SMALL", 8)
    found = advise(model, target="standard")
    assert {node for a in found if a.ways for node in a.nodes} == {f"y{n}" for n in range(40)}
    assert min(visited) < 10


def test_numbers_for_sizes_are_found_if_nothing_else_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[object] = []

    def counted(given: whole.Whole) -> Change | None:
        calls.append(given)
        return fixed(given)

    monkeypatch.setattr(search, "fixed", counted)
    text = """g (float[N, 2] x, int64[M] at, float[M, 2] u) => (float[N, 2] y)
        <int64[1] last = {-1}> { i = Unsqueeze (at, last)  y = ScatterND (x, i, u) }"""
    model = onnx.parser.parse_model(HEAD + text)
    assert commands(advise(model, target="standard"))
    assert not calls
    sum_of = onnx.parser.parse_model(HEAD + text.replace("ND (x", 'ND <reduction = "mul"> (x'))
    advise(sum_of, target="standard, remove = ['Mul', 'Where']")
    assert len(calls) == 1
    monkeypatch.setattr(whole.Whole, "affords_numbers", False)
    *_, rest = advise(sum_of, target="standard, remove = ['Mul', 'Where']")
    assert "--fix ..." in rest.why
    assert len(calls) == 1


def test_the_collector_runs_as_rarely_as_in_an_optimization(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = set[int]()

    def noted(*given: Any, **more: Any) -> Any:
        seen.add(gc.get_threshold()[0])
        return rewritten_under(*given, **more)

    monkeypatch.setattr(trials, "rewritten_under", noted)
    with raised_gc_threshold():
        rarely = gc.get_threshold()[0]
    advise(onnx.parser.parse_model(HEAD + ROWS), target="standard")
    assert seen == {rarely}


def test_the_target_itself_is_not_tried_for_a_smaller_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = "".join(f"y{k + 1} = ScatterND (y{k}, i, u)  " for k in range(3))
    model = onnx.parser.parse_model(
        f"{HEAD} g (float[64] y0, int64[4, 1] i, float[4] u) => (float[64] z)"
        f" {{ {body} z = Identity (y3) }}"
    )
    tried: list[object] = []

    def noted(given: Any, **options: Any) -> Any:
        tried.append(options["target"])
        return optimized(given, **options)

    monkeypatch.setattr(smaller, "optimized", noted)
    (found,) = inspected_with_advice(model, Command(target="standard"), target="standard").advice
    assert found.verb == "smaller"
    assert tried
    assert "standard" not in tried
