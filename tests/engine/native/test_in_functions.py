"""Target `scatterx` in model-local functions: a ScatterX there has its fallback like any other."""

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.graphs.cleanup import Names
from tests.helpers.native_support import check, natives
from tests.helpers.pair import Feed
from tests.helpers.support import i64, parse, sample

X, Y = sample("float32", 5, 4), sample("float32", 3, 4, seed=1)
FEED = {"x": X, "i": i64([[4], [0], [-2]]), "y": Y}
HEAD = """g (float[5, 4] x, int64[3, 1] i, float[3, 4] y) => (float[5, 4] z) """
BRANCHES = HEAD.replace("(float", "(bool c, float", 1)
PUT = """<domain: "own", opset_import: ["" : 18]>
         put (a, b, c) => (d) { d = ScatterND(a, b, c) }"""
CHOOSE = """<domain: "own", opset_import: ["" : 18, "own" : 1]>
    choose (k, a, b, c) => (d) { d = If (k) <
        then_branch = t () => (e) { e = ScatterND(a, b, c) },
        else_branch = o () => (h) { h = Neg(a) }> }"""
FUNCTION = '<domain: "own", opset_import: ["" : 18, "own" : 1]>'


def both(feed: Feed) -> list[Feed]:
    return [{**feed, "c": np.array(c)} for c in (True, False)]


CASES: dict[str, tuple[str, list[Feed], int]] = {
    "called": (f"{HEAD} {{ z = own.put(x, i, y) }} {PUT}", [FEED], 1),
    "called twice": (
        f"{HEAD} {{ w = own.put(x, i, y)  v = Neg(w)  z = own.put(v, i, y) }} {PUT}",
        [FEED],
        1,
    ),
    "in the main graph too": (
        f"{HEAD} {{ w = ScatterND(x, i, y)  v = Neg(w)  z = own.put(v, i, y) }} {PUT}",
        [FEED],
        2,
    ),
    "called by a function": (
        f"""{HEAD} {{ z = own.outer(x, i, y) }}
        {FUNCTION} outer (a, b, c) => (d) {{ e = own.put(a, b, c)  f = Neg(e)
            d = ScatterND <reduction = "add"> (f, b, c) }}
        {PUT}""",
        [FEED],
        2,
    ),
    "called by a function of a function": (
        f"""{HEAD} {{ z = own.outer(x, i, y) }}
        {FUNCTION} outer (a, b, c) => (d) {{ d = own.inner(a, b, c) }}
        {FUNCTION} inner (a, b, c) => (d) {{ e = own.put(a, b, c)  d = Neg(e) }}
        {PUT}""",
        [FEED],
        1,
    ),
    "called in a branch": (
        f"""{BRANCHES} {{ z = If (c) <
            then_branch = t () => (float[5, 4] p) {{ p = own.put(x, i, y) }},
            else_branch = e () => (float[5, 4] q) {{ q = Neg(x) }}> }} {PUT}""",
        both(FEED),
        1,
    ),
    "a branch in a function": (
        f"{BRANCHES} {{ z = own.choose(c, x, i, y) }} {CHOOSE}",
        both(FEED),
        1,
    ),
    "a loop in a function": (
        f"""{HEAD} {{ z = own.again(x, i, y) }}
        {FUNCTION} again (a, b, c) => (d) {{
            n = Constant <value = int64 {{3}}> ()  k = Constant <value = bool {{1}}> ()
            d = Loop (n, k, a) < body = t (int64 m, bool more, s) => (bool still, r) {{
                still = Identity(more)  g = Neg(s)  r = ScatterND(g, b, c) }}> }}""",
        [FEED],
        1,
    ),
    "transposes in a function": (
        f"""{HEAD} {{ t = Transpose <perm = [1, 0]> (x)  u = own.put(t, i, y)
                      z = Transpose <perm = [1, 0]> (u) }}
        {FUNCTION} put (a, b, c) => (d) {{ t = Transpose <perm = [1, 0]> (a)
            e = ScatterND(t, b, c)  d = Transpose <perm = [1, 0]> (e) }}""",
        [FEED],
        1,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_in_functions(case: str) -> None:
    text, feeds, count = CASES[case]
    model = check(parse(text), *feeds)
    assert len(natives(model)) == count
    assert not any(n.op_type == "ScatterND" for n in model.graph.node)


def test_no_overloads() -> None:
    """ONNX Runtime 1.31 finds no function with one for a node that stands in a function."""
    text, _, _ = CASES["called by a function"]
    model = check(parse(text), FEED)
    assert {n.overload for n in natives(model)} == {f.overload for f in model.functions} == {""}
    assert model.ir_version == 8


def test_a_function_imports_the_domains_of_its_nodes() -> None:
    text, _, _ = CASES["called by a function"]
    model = onnx_scatterx.optimize(parse(text)).model
    own = {f.name: {o.domain for o in f.opset_import} for f in model.functions}
    used = {f.name: {n.domain for n in f.node} for f in model.functions if f.domain == "own"}
    assert all(used[name] <= own[name] for name in used)
    onnx.checker.check_model(model, full_check=True)


def test_branches_of_functions_are_reported() -> None:
    """Beside a scatter of the main graph, and alone."""
    for before in ("w = Identity(x)", "w = ScatterND(x, i, y)"):
        text = f"{BRANCHES} {{ {before}  z = own.choose(c, w, i, y) }} {CHOOSE}"
        report = onnx_scatterx.inspect(parse(text))
        assert [s.graph for s in report.scatters][-1:] == ["own.choose"]


def test_names_of_branches_of_functions_are_taken() -> None:
    model = parse(f"{BRANCHES} {{ z = own.choose(c, x, i, y) }} {CHOOSE}")
    names = Names(ir.from_proto(model))
    assert [names.new(stem) for stem in ("h", "d", "new")] == ["h_1", "d_1", "new"]
