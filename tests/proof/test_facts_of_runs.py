"""Whatever ONNX Runtime runs must be possible: small random models, of sizes from 0 on.

A fact that is taken from a model must hold on each run of it, and the term of each value must have
the value that the run gave.
"""

import random
from collections.abc import Mapping

import numpy as np
import pytest

from tests.helpers.equivalence_support import assert_possible
from tests.helpers.examples import scaled
from tests.helpers.pair import rejections
from tests.helpers.support import parse, run

pytestmark = pytest.mark.slow

HEAD = (
    "g (float[N] f, float[N, M] F, int64[K] i, int64[K, 1] c, int64[N, M] I, bool[N] b, "
    "bool[N, M] B, int64[1] n) => ({outputs}) <int64[1] zero = {{0}}, int64[1] one = {{1}}, "
    "int64[1] less = {{-1}}, int64[1] two = {{2}}, int64[2] many = {{1, 2}}, int64[3] pair = "
    "{{1, 0, 1}}, int64[3, 1] rows = {{0, -1, 0}}, int64[2] turn = {{0, -1}}, int64[4] some = "
    "{{1, 0, -1, 2}}, int64 nil = {{0}}, int64 unit = {{1}}> {{ {nodes} }}"
)
KINDS = {"f": "fi", "F": "FI", "i": ["i", "n", "zero", "less", "two"], "c": ["c", "rows"]}
KINDS |= {"I": "I", "b": "b", "B": "B", "n": ["n", "zero", "one", "less", "two"], "i1": "i"}
NODES = {  # the text of a node, with the kinds of values that it may read
    "f": [
        "Gather({f}, {i})",
        "GatherND({f}, {c})",
        "GatherND({F}, nz)",
        "Neg({f})",
        "Slice({f}, {n}, {n}, zero, {n})",
        "Where({b}, {f}, {f})",
        "Concat<axis = 0>({f}, {f})",
        "Pad({f}, many)",
        'Pad<mode = "edge">({f}, turn)',
        "Reshape({F}, less)",
        "Squeeze({F}, {n})",
        "Tile({f}, {n})",
        "Expand({f}, {n})",
        "ScatterElements({f}, {i}, {f})",
        'ScatterElements<reduction = "add">({f}, {i}, {f})',
        "CumSum({f}, nil)",
    ],
    "F": [
        "Gather<axis = 1>({F}, {i})",
        "GatherElements({F}, {I})",
        "GatherElements<axis = 1>({F}, {I})",
        "GatherND({F}, {c})",
        "Transpose<perm = [1, 0]>({F})",
        "Where({B}, {F}, {F})",
        "Where({b}, {F}, {F})",
        "Slice({F}, {n}, {n}, {n})",
        "Pad({F}, some)",
        "Reshape({F}, turn)",
        "Expand({f}, pair)",
        "Unsqueeze({f}, {n})",
        "ScatterND({F}, {c}, {F})",
        'ScatterElements<axis = 1, reduction = "max">({F}, {I}, {F})',
        'ScatterND<reduction = "add">({F}, {c}, {F})',
        "CumSum({F}, unit)",
        "EyeLike<k = 1>({F})",
        "Flatten({F})",
    ],
    "i": [
        "Shape({F})",
        "Add({i}, {i})",
        "Mul({i}, {i})",
        "Max({i}, {n})",
        "Abs({i})",
        "Clip({i}, nil, unit)",
        "Range(nil, unit, unit)",
        "ReduceMax<keepdims = 0>({I}, zero)",
        "ReduceMin<keepdims = 0>({I}, one)",
        "ScatterND({i}, {c}, {i})",
        'ScatterND<reduction = "add">({i}, {c}, {i})',
        "Cast<to = 7>({b})",
        "CumSum<exclusive = 1>(count, nil)",
        "ReduceSum(count)",
        "CumSum({i}, nil)",
        "ReduceSum({I}, one)",
    ],
    "I": ["NonZero({B})", "NonZero({b})", "Sub({I}, {i})", "Where({B}, {I}, {n})"],
    "b": ["Less({i}, {i})", "Equal({f}, {f})", "Not({b})", "Gather({b}, {i})"],
    "B": ["And({B}, {b})", "LessOrEqual({I}, {n})", "Xor({B}, {B})"],
}
DTYPES = {"f": "float[{}]", "F": "float[{}, {}]", "i": "int64[{}]", "I": "int64[{}, {}]"}
DTYPES |= {"b": "bool[{}]", "B": "bool[{}, {}]"}


def drawn_model(rng: random.Random) -> str:
    """Return a model of a few nodes, whose values are all outputs."""
    known = {kind: list(names) for kind, names in KINDS.items()}
    known["f"], known["F"] = ["f"], ["F"]
    nodes, outputs = [], []
    for k in range(rng.randint(1, 4)):
        kind = rng.choice("fFfFiIbB")
        text = rng.choice(NODES[kind]).format_map({k: _Drawn(v, rng) for k, v in known.items()})
        if "nz" in text:
            nodes.append(f"p{k} = NonZero({rng.choice(known['B'])}) nz{k} = Transpose(p{k})")
        if "count" in text:
            nodes.append(f"count{k} = Cast<to = 7>({rng.choice(known['b'])})")
        nodes.append(f"v{k} = " + text.replace("nz", f"nz{k}").replace("count", f"count{k}"))
        outputs.append(DTYPES[kind].format(f"A{k}", f"Z{k}") + f" v{k}")
        known[kind].append(f"v{k}")
    return HEAD.format(outputs=", ".join(outputs), nodes=" ".join(nodes))


class _Drawn(str):
    """One of some names, drawn anew wherever it is written."""

    def __new__(cls, names: list[str], rng: random.Random) -> "_Drawn":
        made = super().__new__(cls)
        made.names, made.rng = names, rng
        return made

    names: list[str]
    rng: random.Random

    def __format__(self, _: str) -> str:
        return self.rng.choice(self.names)


def drawn_feed(rng: np.random.Generator, most: int) -> dict[str, np.ndarray]:
    n, m, k = (int(size) for size in rng.integers(0, most + 1, 3))
    numbers = [[0, 1], [-1, 0], [-2, -1, 0, 1, 2], [-(2**63), 2**63 - 1, 0]][rng.integers(4)]
    shapes: Mapping[str, tuple[int, ...]] = {"i": (k,), "c": (k, 1), "I": (n, m)}
    feed = {name: rng.choice(np.array(numbers, np.int64), shape) for name, shape in shapes.items()}
    feed["n"] = rng.integers(-2, 4, 1)
    feed |= {"f": np.arange(10, 10 + n, dtype=np.float32)}
    feed |= {"F": np.arange(20, 20 + n * m, dtype=np.float32).reshape(n, m)}
    return feed | {"b": rng.random(n) < 0.5, "B": rng.random((n, m)) < 0.5}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(scaled(100)))
def test_facts_hold_on_a_run(seed: int) -> None:
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    for _ in range(4):
        text = drawn_model(rng)
        model = parse(text)
        for most in (1, 3):
            feed = drawn_feed(numbers, most)
            try:
                outputs = run(model, feed)
            except rejections():
                continue
            if sum(array.size for array in outputs) < 60:
                assert_possible(text, feed, outputs)
