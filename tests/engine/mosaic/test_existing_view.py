"""A region asks only the views of its source that may have all of its positions; their costs."""

import random

import onnx_ir as ir

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.mosaic.existing_view import ExistingView, ExistingViews, existing_views
from onnx_scatterx.engine.mosaic.provenance import Provenance
from onnx_scatterx.engine.mosaic.strided_interval import ZERO, AxisMap, View
from onnx_scatterx.engine.terms import Term, size, term
from onnx_scatterx.engine.terms.facts import Facts
from tests.helpers.examples import scaled
from tests.helpers.support import parse

N = size("views.n")
ENDS = (-(2**63), -(2**31), 2**31, 2**62, 2**63 - 1)


def number(rng: random.Random, low: int, high: int) -> Term:
    """Draw a number, often a small one, sometimes one that depends on a size."""
    if rng.random() < 0.05:
        return term(rng.choice(ENDS))
    return (N if rng.random() < 0.1 else term(0)) + rng.randint(low, high)


def maps(rng: random.Random, rank: int, dims: int) -> tuple[AxisMap, ...]:
    """Draw where each axis of a source is read, along different dims or at one position."""
    free = rng.sample([*range(dims), *[None] * rank], rank)
    steps = (1, 1, 1, 2, 3, -1)
    return tuple(AxisMap(d, 0 if d is None else rng.choice(steps), number(rng, 0, 6)) for d in free)


def test_a_view_that_has_all_positions_of_a_region_is_asked() -> None:
    rng = random.Random(3)
    source = ir.Value(name="source")
    facts = Facts(known=[N - 1])
    seen = left_out = 0
    for _ in range(scaled(2000)):
        rank = rng.randint(0, 3)
        shape = tuple(number(rng, 4, 9) for _ in range(rank))
        views = []
        for i in range(8):
            dims = tuple(number(rng, 0, 9) for _ in range(rng.randint(0, rank)))
            view = View(source, shape, maps(rng, rank, len(dims)))
            views.append(ExistingView(ir.Value(name=f"v{i}"), dims, view, 0))
        low = tuple(number(rng, 0, 2) for _ in range(rank))
        high = tuple(start + number(rng, -1, 4) for start in low)
        region = View(source, shape, maps(rng, rank, rank))
        asked = list(ExistingViews({source: views}).around(region, low, high))
        left_out += len(views) - len(asked)
        for each in views:
            if each.seen(region, low, high, facts) is not None:
                seen += 1
                assert each in asked, f"{each.view} of {region}, from {low} to {high}"
    assert seen > 20
    assert left_out > seen


def test_another_source_and_a_reshaped_region_ask_no_view() -> None:
    source, other = ir.Value(name="source"), ir.Value(name="other")
    whole = View(source, (term(4),), (AxisMap(0, 1, term(0)),))
    views = ExistingViews({source: [ExistingView(ir.Value(name="v"), (term(4),), whole, 0)]})
    low, high = (term(0),), (term(4),)
    assert len(list(views.around(whole, low, high))) == 1
    assert not list(views.around(whole._replace(value=other), low, high))
    assert not list(views.around(whole._replace(is_reshaped=True), low, high))


def test_a_view_that_nothing_keeps_costs_all_nodes_that_exist_for_it() -> None:
    model = ir.from_proto(
        parse("""g (float[4, 6] x, float[1, 6] u) => (float[4, 6] y) {
            a = Identity (x)
            b = Transpose (Transpose (Transpose (a)))
            y = ScatterND (a, [[1]], u) }""")
    )
    views = existing_views(Provenance(model.graph, interpret(model).scopes[model.graph]))
    x = View(model.graph.inputs[0], (term(4), term(6)), (AxisMap(0, 1, ZERO), AxisMap(1, 1, ZERO)))
    found = {v.value: v.cost for v in views.around(x, (ZERO, ZERO), (term(4), term(6)))}
    costs = [found.get(node.outputs[0]) for node in model.graph if node.op_type == "Transpose"]
    assert costs == [2, 3, 4]  # with the Identity, which only a scatter reads besides
