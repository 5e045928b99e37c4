"""Shapes of nearly every operator where extents are 0 and 1, or there are no dims at all."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import onnx
import onnx.defs
import pytest

from onnx_scatterx.engine.analysis.transfers import MICROSOFT, TRANSFERS
from onnx_scatterx.operators.columns import Trust
from onnx_scatterx.operators.table import those
from tests.helpers.examples import scaled
from tests.helpers.judged import Judged
from tests.helpers.one_node import DOMAINS, drawn, fused, quantized
from tests.helpers.one_node.newer import by_definition
from tests.helpers.one_node.table import DRAWS
from tests.helpers.pair import SESSIONS
from tests.helpers.support import assert_sound, parse, sample

SEQUENCES = {
    "ConcatFromSequence",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SplitToSequence",
}
CONTROL = {"If", "Loop", "Scan", "SequenceMap"}
UNPROVEN = {"ImageDecoder", "Optional"}  # ONNX Runtime has no kernel; the result is no tensor
EXAMPLES = int(os.environ.get("EXAMPLES", max(8, scaled(40))))  # nodes of each operator


def test_every_operator_whose_shape_is_believed_is_drawn() -> None:
    trusted = those(lambda row: row.trust > Trust.TYPE)
    assert set(DRAWS) | SEQUENCES == trusted | set(TRANSFERS)
    newest = (s for s in onnx.defs.get_all_schemas() if s.domain == "" and not s.deprecated)
    assert {s.name for s in newest} <= {*DRAWS, *SEQUENCES, *CONTROL, *UNPROVEN}

    assert quantized.DRAWS.keys() | fused.DRAWS.keys() == MICROSOFT.keys()


NODES = [(domain, op) for domain, table in DOMAINS.items() for op in table]


def _opened(open_model: Callable[[onnx.ModelProto], Any], model: onnx.ModelProto) -> Any:
    return open_model(by_definition(model))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("domain", "op"), NODES, ids=["".join(n) for n in NODES])
def test_what_is_known_of_a_node_holds(domain: str, op: str) -> None:
    accepted = 0
    for seed in range(EXAMPLES):
        model, feed = drawn(op, seed, domain)
        try:
            accepted += Judged(model, partial(_opened, SESSIONS[seed % 2])).accepts(feed)
        except AssertionError as error:
            shapes = {name: array.shape for name, array in feed.items()}
            text = onnx.printer.to_text(model)
            raise AssertionError(f"seed {seed}: {error}, {shapes}\n{text}") from error
    assert accepted >= max(1, EXAMPLES // 12), f"{accepted} of {EXAMPLES} are accepted"


@pytest.mark.parametrize("batch", ["C", "0", "3"])
def test_the_batch_of_a_product_that_sums_up_nothing(batch: str) -> None:
    """The rows that are written are as many as the product has matrices.

    That is the batch of its left side up to ONNX Runtime 1.31, and what is broadcast after.
    """
    model = f"""g (float[1,2,K] a, float[{batch},K,3] b, float[5] z, float[M] u) => (float[5] y) {{
        n = Squeeze (Shape <end = 1> (MatMul (a, b)), [0])
        y = ScatterND (z, Unsqueeze (Range (0, n, 1), [-1]), u) }}"""
    every = [(0, 0, 1), (0, 0, 0), (0, 3, 1), (0, 3, 3), (0, 1, 1), (2, 3, 3), (2, 1, 1)]
    cases = [case for case in every if batch in ("C", str(case[1]))]
    feeds = [{"K": k, "M": n, "b": sample("float32", c, k, 3)} for k, c, n in cases]
    assert_sound(model, *feeds, rejected=sum(c != 1 and k == 0 for k, c, _ in cases) // 2)


def test_a_transform_has_the_length_that_it_is_given() -> None:
    """Inference takes the length of the axis where it does not know the one that is given."""
    model = """g (float[1,T,1] x, int64 l, float[T] z, float[M] u) => (float[T] y) {
        n = Squeeze (Shape <start = 1, end = 2> (DFT (x, l)), [0])
        y = ScatterND (z, Unsqueeze (Range (0, n, 1), [-1]), u) }"""
    assert_sound(parse(model, 20, 9), *({"T": 3, "M": n, "l": n} for n in (1, 2, 3)))
