"""Models optimized on assumptions, and compared on inputs that respect these."""

from collections.abc import Sequence
from typing import Any

import onnx

import onnx_scatterx
from onnx_scatterx.assumptions.clauses import read_clauses
from onnx_scatterx.compare.draws.sample_source import SampleSource
from onnx_scatterx.engine.plan.rule import RegionRule
from onnx_scatterx.files.io import load
from onnx_scatterx.rewrites import RULES
from tests.helpers.pair import Pair
from tests.helpers.support import parse

# What boxes take, which is what the assumptions are about: other rules need to know less.
BOXES = [r.name for r in RULES if isinstance(r, RegionRule)] + ["mask"]


def source_of(model: onnx.ModelProto, assume: Sequence[str]) -> SampleSource:
    """Return a source of inputs for which all assumptions are true."""
    return SampleSource.of(load(model), read_clauses(assume))


def optimized(text: str, assume: Sequence[str], *, wanted: int = 8) -> Any:
    """Optimize for `standard` on assumptions, and compare on inputs that respect them."""
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="standard", rules=BOXES, assume=assume)
    source, accepted = source_of(model, assume), 0
    pair = Pair(model, result.model)
    for number in range(300):
        if accepted == wanted:
            break
        found = source.draw(number)
        if found is None:
            continue
        draw, sizes, _ = found
        ran = pair.accepts(draw.feeds)
        source.tell(sizes, ran)
        accepted += ran
    assert accepted == wanted
    return result
