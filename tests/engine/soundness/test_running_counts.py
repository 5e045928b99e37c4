"""Rows in the order of a mask, read at its running count, as each target counts."""

import numpy as np
import pytest

from onnx_scatterx.targets.limits import OperatorLimits
from onnx_scatterx.targets.target import Target
from tests.helpers.pair import Pair
from tests.helpers.support import nodes, optimize, parse, sample, scatters

TARGETS = {
    "any": Target("any", avoid=frozenset({"NonZero"})),
    "of floats": Target(
        "floats",
        avoid=frozenset({"NonZero"}),
        limits={"CumSum": OperatorLimits(types=frozenset({"float"}))},
    ),
    "by products": Target("products", avoid=frozenset({"NonZero", "CumSum"})),
    "from the start": Target(
        "start",
        avoid=frozenset({"NonZero"}),
        limits={"Gather": OperatorLimits(negative=False)},
    ),
}
READ = "r = GatherND (x, i) v = Add (r, d)"
WRITES = {
    "rows": ("n = NonZero (m)", "u = Identity (d)"),
    "repeated": (
        "a = Unsqueeze (m, [2]) s = Shape (x) e = Expand (a, s) n = NonZero (e)",
        "u = Reshape (d, [-1])",
    ),
    "the first of more": (
        "a = Unsqueeze (m, [2]) s = Shape (x) e = Expand (a, s) n = NonZero (e)",
        "k = Shape <start = 1> (n) v = Reshape (d, [-1]) u = Slice (v, [0], k)",
    ),
    "added": ("n = NonZero (m)", f"{READ} u = Identity (v)"),
    "the first of a sum": (
        "n = NonZero (m)",
        f"{READ} k = Shape <start = 1> (n) u = Slice (v, [0], k)",
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("write", WRITES)
def test_rows_in_the_order_of_a_mask(write: str, target: str) -> None:
    mask, update = WRITES[write]
    drawn: list[tuple[tuple[int, int], int | str]]
    rng, has_more = np.random.default_rng(0), write.startswith("the first")
    drawn = [((1, 5), 1), ((2, 3), 4)]
    if target != "from the start":  # there a size must be known
        drawn.append(((2, 3), "K"))
    for shape, rows in drawn:
        sizes = ",".join(map(str, shape))
        model = parse(
            f"""g (float[{sizes},2] x, bool[{sizes}] m, float[{rows},2] d) => (float[{sizes},2] y)
            {{ {mask} i = Transpose (n) {update} y = ScatterND (x, i, u) }}"""
        )
        pair = Pair(model, result := optimize(model, TARGETS[target]))
        assert scatters(result) == 0
        assert "NonZero" not in {node.op_type for node in nodes(result)}
        total = int(np.prod(shape))
        for count in (0, 1, 4, total):
            m = rng.permutation(np.arange(total) < count).reshape(shape)
            for length in {count, 4} if rows == "K" else {rows}:
                d = sample("float32", int(length), 2)
                accepted = pair.accepts({"x": sample("float32", *shape, 2), "m": m, "d": d})
                assert accepted or has_more or length != count


def test_rows_are_counted_not_their_elements() -> None:
    """The target adds floats up: a product of all elements would be another operator."""
    mask, update = WRITES["repeated"]
    model = parse(
        f"""g (float[1,6,16] x, bool[1,6] m, float[4,16] d) => (float[1,6,16] y)
        {{ {mask} i = Transpose (n) {update} y = ScatterND (x, i, u) }}"""
    )
    found = sorted(node.op_type for node in nodes(optimize(model, TARGETS["of floats"])))
    assert found == ["Cast", "CumSum", "Gather", "Unsqueeze", "Where", "Where"]
