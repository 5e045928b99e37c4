"""The piece of graph around a scatter: the nodes that were removed, and the new ones."""

from collections import Counter
from graphlib import TopologicalSorter
from typing import Any

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.grouping import grouped
from onnx_scatterx.tell.entries import EntryDetail
from onnx_scatterx.tell.sketch import MOST_NODES, Box, Excerpt
from tests.helpers.many_scatters import many_scatters
from tests.helpers.support import parse

ROWS = """g (float[N, 4] x, float[M, 4] u) => (float[N, 4] out)
    <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}> {
        n = Shape <start = 0, end = 1> (u)
        m = Squeeze (n)
        r = Range (zero, m, one)
        i = Unsqueeze (r, last)
        y = ScatterND (x, i, u)
        out = Relu (y) }"""


def details(text: str | onnx.ModelProto, **options: Any) -> list[EntryDetail]:
    model = parse(text) if isinstance(text, str) else text
    found = [e.detail for e in onnx_scatterx.optimize(model, **options).report.entries]
    assert all(d is not None for d in found)
    return [d for d in found if d is not None]


def arrows(excerpt: Excerpt | None) -> set[tuple[str, str]]:
    assert excerpt is not None
    words = [box.op or box.name for box in excerpt.boxes]
    return {(words[a], words[b]) for a, b in excerpt.arrows}


def test_what_is_removed_and_what_stands_there() -> None:
    (detail,) = details(ROWS, target="standard")
    assert arrows(detail.before) == {
        *(("Squeeze", "Range"), ("Range", "Unsqueeze"), ("Unsqueeze", "ScatterND")),
        *(
            ("zero", "Range"),
            ("n", "Squeeze"),
            ("x", "ScatterND"),
            ("u", "ScatterND"),
            ("ScatterND", "y"),
        ),
    }
    assert arrows(detail.after) == {
        *(("x", "Slice"), ("n", "Slice"), ("Slice", "Concat"), ("u", "Concat"), ("Concat", "y"))
    }
    assert detail.before is not None
    assert (detail.before.nodes, dict(detail.before.operators)["Range"]) == (4, 1)


def test_the_node_counts_are_those_of_the_model() -> None:
    """All that is gone is in some piece before, all that is new in some piece after."""
    model = parse(ROWS)
    result = onnx_scatterx.optimize(model, target="standard")
    (entry,) = result.report.scatters
    assert entry.detail is not None
    assert entry.detail.before is not None
    assert entry.detail.after is not None
    before, after = (Counter(n.op_type for n in m.graph.node) for m in (model, result.model))
    assert before - after == Counter(dict(entry.detail.before.operators)) - Counter()
    assert after - before == Counter(dict(entry.detail.after.operators))


def test_the_piece_of_a_kept_node_has_the_nodes_of_its_indices() -> None:
    text = """g (float[5, 4] x, int64[2] i, float[2, 4] u) => (float[5, 4] y) {
        a = Abs (i)  b = Mul (a, 2)  j = Unsqueeze (b, [-1])  w = Neg (u)
        y = ScatterND (x, j, w) }"""
    (detail,) = details(text, target="standard", rules=["concat"])
    assert detail.after is None
    assert detail.before is not None
    assert dict(detail.before.operators) == {"Abs": 1, "Mul": 1, "ScatterND": 1, "Unsqueeze": 1}
    assert ("w", "ScatterND") in arrows(detail.before)


def test_what_becomes_scatterx() -> None:
    text = """g (float[5, 4] x, int64[N, 1] i, float[N, 4] u) => (float[5, 4] y)
        { y = ScatterND (x, i, u) }"""
    (detail,) = details(text)
    assert ("ScatterND", "y") in arrows(detail.before)
    assert ("ScatterX", "y") in arrows(detail.after)


def test_scatters_that_go_together_name_each_other() -> None:
    text = """g (float[5, 4] x, float[1, 4] u) => (float[5, 4] z) {
        y = ScatterND (x, [[1]], u)  z = ScatterND (y, [[3]], u) }"""
    first, second = details(text, target="standard")
    assert (first.together, second.together) == (1, 1)
    assert first.before == second.before


def test_a_result_that_nothing_replaces() -> None:
    """Everything is written, so readers read the updates."""
    text = """g (float[2, 4] x, float[2, 4] u) => (float[2, 4] z)
        { y = ScatterND (x, [[0], [1]], u)  z = Relu (y) }"""
    (detail,) = details(text)
    assert arrows(detail.after) == {("u", "y")}
    assert detail.after is not None
    assert detail.after.nodes == 0


def test_a_dead_scatter_has_nothing_after_it() -> None:
    text = """g (float[2, 4] x, int64[2, 1] i, float[2, 4] u) => (float[2, 4] z)
        { y = ScatterND (x, i, u)  z = Relu (x) }"""
    (detail,) = details(text)
    assert detail.after is None or detail.after.boxes == ()


@pytest.mark.parametrize("inputs", [3, 300])
def test_it_is_bounded(inputs: int) -> None:
    """However many values a node reads, and however many scatters go together."""
    names = ", ".join(f"a{k}" for k in range(inputs))
    read = "".join(f", float[1, 4] a{k}" for k in range(inputs))
    text = f"""g (float[N, 4] x{read}) => (float[N, 4] y) {{
        u = Concat <axis = 0> ({names})
        n = Shape <start = 0, end = 1> (u)  m = Squeeze (n)  r = Range (0, m, 1)
        y = ScatterND (x, Unsqueeze (r, [-1]), u) }}"""
    for detail in details(text):
        for piece in (detail.before, detail.after):
            assert piece is None or len(piece.boxes) <= 4 * MOST_NODES


def test_of_a_long_chain_what_is_near_is_drawn() -> None:
    """Two steps from the node, whose name is there; a dashed box stands for each one beside."""
    body, x = "", "x"
    for k in range(40):
        body += (
            f"i{k} = Constant <value = int64[1, 1] {{{k}}}> () y{k} = ScatterND ({x}, i{k}, u)\n"
        )
        x = f"y{k}"
    text = f"g (float[99, 4] x, float[1, 4] u) => (float[99, 4] y39) {{ {body} }}"
    found = details(text, target="standard")
    for k in (0, 20, 39):
        before = found[k].before
        assert before is not None
        near = {n for n in range(k - 2, k + 3) if 0 <= n < 40}
        assert {b.name for b in before.boxes if b.kind == "scatter"} == {f"y{n}" for n in near}
        assert (before.nodes, before.drawn) == (40, len(near))
        beside = [b for b in before.boxes if b.kind == "many"]
        assert beside == [Box("many", "ScatterND", "")] * ((k > 2) + (k < 37))
        assert found[k].together == 39
    page = onnx_scatterx.optimize(parse(text), target="standard").report.to_html()
    assert "Before: 40 nodes, of which the nearest 5 are drawn, with 39 other scatters" in page


def test_an_index_that_hangs_on_another_scatter() -> None:
    """What makes the indices cannot be one box then: an arrow would lead back to it.

    What is near is drawn.
    """
    chain = ""
    for k, (start, source) in enumerate([("p", "u"), ("q", "y")]):
        chain += f"{start}0 = Shape <start = 0, end = 1> ({source})\n"
        for j in range(18):
            chain += f"{start}{2 * j + 1} = Squeeze ({start}{2 * j})\n"
            chain += f"{start}{2 * j + 2} = Unsqueeze ({start}{2 * j + 1}, first)\n"
        chain += f"m{k} = Squeeze ({start}36)  r{k} = Range (zero, m{k}, one)\n"
        chain += f"i{k} = Unsqueeze (r{k}, last)\n"
        data, updates, result = (("x", "u", "y"), ("w", "y", "z"))[k]
        chain += f"{result} = ScatterND ({data}, i{k}, {updates})\n"
    text = f"""g (float[N, 4] x, float[M, 4] u, float[K, 4] w) => (float[K, 4] z)
        <int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}, int64[1] first = {{0}}> {{
        {chain} }}"""
    for detail in details(text, target="standard"):
        assert detail.before is not None
        assert {b.op for b in detail.before.boxes if b.kind == "scatter"} == {"ScatterND"}
        assert 0 < detail.before.drawn < detail.before.nodes
        below = grouped((end, start) for start, end in detail.before.arrows)
        assert list(TopologicalSorter(below).static_order())
    assert "z" in onnx_scatterx.optimize(parse(text)).report.to_html()


def test_of_many_models_nothing_is_lost() -> None:
    found = details(many_scatters(10))
    assert all(d.before is not None and d.before.boxes for d in found)
    assert all(
        0 <= a < len(p.boxes) and 0 <= b < len(p.boxes)
        for d in found
        for p in (d.before, d.after)
        if p is not None
        for a, b in p.arrows
    )


def test_the_surroundings_of_a_result() -> None:
    """If too many nodes are new, those around a value that the rest reads of the result."""
    found = details(onnx.load("models/swin_shift_mask_dynamo_dynamic.onnx"), target="qnn")
    large = [d.after for d in found if d.after is not None and d.after.nodes > MOST_NODES]
    assert large
    for after in large:
        assert 1 < after.drawn <= 12
        assert any(box.kind == "result" for box in after.boxes)
        assert len(after.boxes) < 40


def test_a_node_with_many_inputs_shows_some() -> None:
    """All rows are written, each from an input of its own: one Concat is left."""
    inputs = "".join(f", float[1, 4] a{k}" for k in range(30))
    body, x = "", "x"
    for k in range(30):
        body += f"y{k} = ScatterND ({x}, [[{k}]], a{k})\n"
        x = f"y{k}"
    text = f"g (float[30, 4] x{inputs}) => (float[30, 4] y29) {{ {body} }}"
    first, *_ = details(text, target="standard")
    assert first.after is not None
    assert Counter(box.kind for box in first.after.boxes) == Counter(
        {"node": 1, "value": 8, "many": 1, "result": 1}
    )
    assert Box("many", "", "and 22 more") in first.after.boxes
