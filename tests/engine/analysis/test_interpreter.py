"""Every operator that the interpreter follows, against ONNX Runtime, at all sizes.

Each case is a random chain around one operator. What is judged, of every tensor: its type, every
dim, every element that the interpreter claims to know, and the facts that it learnt.
"""

import os
import random

import onnx
import onnx.printer
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.analysis.operators.shapes_alone import OF_SHAPES
from onnx_scatterx.engine.analysis.transfers import TRANSFERS
from tests.helpers.examples import scaled
from tests.helpers.judged import Judged
from tests.helpers.one_node.chains import Chain, feeds
from tests.helpers.one_node.table import DRAWS, opsets

EXAMPLES = int(os.environ.get("EXAMPLES", scaled(20)))  # chains for each operator

# Those of OF_SHAPES have no numbers: tests/engine/soundness/test_degenerate_shapes.py draws them.
FOLLOWED = [op for op in DRAWS if op in TRANSFERS.keys() - OF_SHAPES.keys()]
FOLLOWED.remove("SimplifiedLayerNormalization")  # without a schema
PREPARING = ("Shape", "Shape", "Size", "Range", "Slice", "Concat", "Cast", "Unsqueeze", "Reshape")


def chain(op: str, rng: random.Random) -> Chain | None:
    """Draw up to three preparing nodes, the operator, and up to two nodes that use it."""
    c = Chain(rng, rng.choice(opsets(op, 18)))
    before = list(PREPARING) if op == "Shape" or c.opset >= 11 else ["Shape", "Slice", "Concat"]
    for _ in range(rng.randint(0, 3)):
        prepare = rng.choice(before)
        c.grow(prepare, DRAWS[prepare])
    if not any(c.grow(op, DRAWS[op]) for _ in range(6)):
        return None
    after = [o for o in FOLLOWED if c.opset >= 18 and o not in ("Scatter", "Conv")]
    for _ in range(rng.randint(0, 2) if after else 0):
        follow = rng.choice(after)
        c.grow(follow, DRAWS[follow])
    return c


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", FOLLOWED)
def test_operator(op: str) -> None:
    chains = runs = followed = 0
    for seed in range(EXAMPLES):
        c = chain(op, random.Random(f"{op} {seed}"))
        if c is None:
            continue
        judged = Judged(c.model())
        try:
            runs += sum(judged.accepts(feed) for feed in feeds(seed))
        except AssertionError as error:
            raise AssertionError(f"{error}\n{onnx.printer.to_text(c.model())}") from error
        chains, followed = chains + 1, followed + judged.followed
    print(f"{op}: {chains} chains, {runs} runs, {followed} tensors whose elements were known")
    assert chains >= EXAMPLES // 2
    assert runs >= 3 * chains
    assert followed >= runs, f"{op}: little is known"


def test_counts_are_bounded_by_what_is_counted() -> None:
    """A NonZero of static shape gives no more than all elements, and a sum of a mask as many."""
    model = ir.from_onnx_text(
        """<ir_version: 8, opset_import: ["" : 18]>
            g (bool[3, 4] m, bool[N] k) => (int64[2, C] n, int64[3, 4] s, int64[N] t)
            <int64 one = {1}, int64 zero = {0}> {
            n = NonZero (m) c = Cast <to = 7> (m) s = CumSum (c, one)
            d = Cast <to = 7> (k) t = CumSum <exclusive = 1> (d, zero) }"""
    )
    knowledge = interpret(model)
    scope = knowledge.scopes[model.graph]
    n, s, t = (knowledge.values[v] for v in model.graph.outputs)
    assert n.shape is not None
    assert scope.facts.is_nonnegative(12 - n.shape[1])
    assert not scope.facts.is_nonnegative(11 - n.shape[1])
    assert s.index_map is not None
    assert s.index_map.interval() == (0, 4)
    assert t.index_map is not None
    assert t.index_map.interval()[0] == 0
