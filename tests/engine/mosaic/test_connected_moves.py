"""The nodes that have mosaics, answers that are stored under facts, and facts of other nodes."""

import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.tensor import DeclaredDim
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.lift.bounds import learn_bounds
from onnx_scatterx.engine.mosaic.moves import MOVES, connected_moves
from onnx_scatterx.engine.mosaic.provenance import Provenance
from onnx_scatterx.engine.mosaic.strided_interval import View
from onnx_scatterx.engine.terms import size, term
from onnx_scatterx.engine.terms.facts import Facts

MODEL = """<ir_version: 8, opset_import: ["" : 18]>
    apart (float[4, 6] x, float[1, 6] u, float[M] v, float[N] w, int64[1] k)
        => (float[8, 6] whole, float[6, 4] seen, float[q] read, int64[1] j)
    <int64[1, 1] rows = {1}, int64 zero = {0}, int64 one = {1}> {
        data = Identity (x)
        other = Transpose (x)
        seen = Exp (other)
        y = Exp (x)
        first = Identity (k)
        part = Slice (y, first, k)
        out = ScatterND (data, rows, u)
        whole = Concat <axis = 0> (out, part)
        shape = Shape (w)
        count = Gather (shape, zero)
        range = Range (zero, count, one)
        read = Gather (v, range)
        j = Identity (k) }"""


def parsed() -> ir.Model:
    return ir.from_onnx_text(MODEL)


def test_moves_are_followed_from_scatters_in_both_directions() -> None:
    graph = parsed().graph
    names = {n.outputs[0].name for n in connected_moves(graph, MOVES)}
    assert names == {"data", "other", "out", "whole", "part"}  # not first, count, read and j


def test_a_graph_without_scatters_has_none() -> None:
    model = parsed()
    model.graph.remove([n for n in model.graph if n.op_type == "ScatterND"])
    assert connected_moves(model.graph, MOVES) == set()


def test_what_has_nothing_to_do_with_a_scatter_is_its_own_source_and_shows_bounds() -> None:
    model = parsed()
    knowledge = interpret(model)
    scope = knowledge.scopes[model.graph]
    m, n = (size(name, DeclaredDim(name)) for name in "MN")
    assert not scope.facts.is_nonnegative(m - n)
    learn_bounds(knowledge)
    assert scope.facts.is_nonnegative(m - n)
    found = Provenance(model.graph, scope)
    read = next(v for v in model.graph.outputs if v.name == "read")
    mosaic = found.mosaic(read)
    assert mosaic is not None
    assert list(mosaic.cells[0].source.values()) == [read]


def test_planning_adds_no_facts() -> None:
    model = parsed()
    knowledge = interpret(model)
    learn_bounds(knowledge)
    scope = knowledge.scopes[model.graph]
    before = list(scope.facts.known())
    Provenance(model.graph, scope, whole=True)
    assert list(scope.facts.known()) == before


def test_the_whole_graph_is_visited_on_request() -> None:
    model = parsed()
    found = Provenance(model.graph, interpret(model).scopes[model.graph], whole=True)
    read = next(v for v in model.graph.outputs if v.name == "read")
    mosaic = found.mosaic(read)
    assert mosaic is not None
    assert [v.name for v in mosaic.cells[0].source.values()] == ["v"]


def test_stored_answers_are_dropped_after_a_new_fact() -> None:
    below = Facts()
    facts = below.assuming()
    n, m = size("n"), size("m")
    assert [facts.memoised("n", lambda: facts.is_nonnegative(n - 1)) for _ in range(2)] == [
        False,
        False,
    ]
    below.add([n - 1])
    assert facts.memoised("n", lambda: below.is_nonnegative(n - 1))
    assert facts.memoised("n", lambda: False)
    facts.add([m - 1])
    assert not facts.memoised("n", lambda: False)


def test_answers_that_add_facts_are_not_stored() -> None:
    facts = Facts()

    def learning() -> int:
        facts.add([size("s") - 1])
        return 1

    assert facts.memoised("s", learning) == 1
    assert facts.memoised("s", lambda: 2) == 2


def test_the_parts_of_a_split_are_views() -> None:
    model = ir.from_onnx_text("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[N, 6] x) => (float[N, A] a, float[N, B] b, float[N, C] c)
        <int64[3] sizes = {1, 3, 2}> { a, b, c = Split <axis = 1> (x, sizes) }""")
    found = Provenance(model.graph, interpret(model).scopes[model.graph], whole=True)
    for part, start in zip(model.graph.outputs, (0, 1, 4), strict=True):
        mosaic = found.mosaic(part)
        assert mosaic is not None
        (cell,) = mosaic.cells
        assert isinstance(cell.source, View)
        assert cell.source.value is model.graph.inputs[0]
        assert cell.source.axis_maps[1].start is term(start)
