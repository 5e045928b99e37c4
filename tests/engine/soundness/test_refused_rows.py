"""Operands of chosen rows that cannot be followed, beside others: a refusal leaves no trace.

A refused operand is read by the running count of the mask. What is followed after it is what it
would be alone, in a window of the rows, or where the mask repeats each row.
"""

import random

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import nodes, parse, sample

TARGET = "standard, avoid = ['NonZero', 'ScatterND']"


class Drawn:
    """A write of a sum of operands, some of which treat no row alone; by rows, or by elements."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.kind = rng.choice(["float", "int64"])
        self.rows = "N" if rng.random() < 0.6 else "N,2"
        self.given = [f"{self.kind}[{self.rows},4] x", f"bool[{self.rows}] m"]
        self.body = ["n = NonZero (m)", "at = Transpose (n)"]
        total = self.read()
        for _ in range(rng.choice([1, 2, 3])):
            total = self.add(total, self.operand(3))
        if rng.random() < 0.5:  # by elements: the mask repeats each row
            self.body += ["wide = Unsqueeze (m, last)", "sizes = Shape (x)"]
            self.body += ["all = Expand (wide, sizes)", "every = NonZero (all)"]
            places, total = self.node("Transpose (every)"), self.node(f"Reshape ({total}, last)")
            for _ in range(rng.choice([0, 1, 2])):
                total = self.add(total, self.node(f"Reshape ({self.operand(2)}, last)"))
        else:
            places = "at"
        self.body.append(f"y = ScatterND (x, {places}, {total})")

    @property
    def text(self) -> str:
        numbers = "<int64[1] last = {-1}, int64[2] pair = {-1, 4}, int64 zero = {0}>"
        out, body = f"{self.kind}[{self.rows},4] y", "\n".join(self.body)
        return f"g ({', '.join(self.given)}) => ({out}) {numbers} {{ {body} }}"

    def node(self, text: str) -> str:
        self.body.append(f"v{len(self.body)} = {text}")
        return f"v{len(self.body) - 1}"

    def add(self, *pair: str) -> str:
        return self.node(f"Add ({', '.join(self.rng.sample(pair, 2))})")

    def read(self) -> str:
        name = f"x{len(self.given)}"
        self.given.append(f"{self.kind}[{self.rows},4] {name}")
        return self.node(f"GatherND ({name}, at)")

    def operand(self, depth: int) -> str:
        ways = ["read", "count", "running"] + ["sum", "negative", "line", "line"] * (depth > 0)
        match self.rng.choice(ways):
            case "count":  # rows in the order of the mask
                self.given.append(f"{self.kind}[K,4] d{len(self.given)}")
                return self.given[-1].split()[1]
            case "running":  # each depends on those before it
                return self.node(f"CumSum ({self.operand(depth - 1)}, zero)")
            case "sum":
                return self.add(self.operand(depth - 1), self.operand(depth - 1))
            case "negative":
                return self.node(f"Neg ({self.operand(depth - 1)})")
            case "line":  # the rows are merged with a window
                lines = [self.node(f"Reshape ({self.operand(depth - 1)}, last)") for _ in "ab"]
                return self.node(f"Reshape ({self.add(*lines)}, pair)")
        return self.read()

    def feed(self, size: int, share: float) -> Feed:
        kind = {"float": "float32"}.get(self.kind, self.kind)
        rows = (size, 2) if "," in self.rows else (size,)
        mask = np.random.default_rng(size).random(rows) < share
        feed = {"m": mask}
        for k, (declared, name) in enumerate(map(str.split, self.given)):
            if name != "m":
                first = (int(mask.sum()),) if "K" in declared else rows
                feed[name] = sample(kind, *first, 4, seed=k)
        return feed


@pytest.mark.parametrize("part", range(4))
def test_refused_operands(part: int) -> None:
    for seed in range(scaled(5)):
        drawn = Drawn(4 * seed + part)
        model = parse(drawn.text)
        result = onnx_scatterx.optimize(model, target=TARGET, rules=["mask"]).model
        assert "ScatterND" not in {node.op_type for node in nodes(result)}, drawn.text
        pair = Pair(model, result)
        for size, share in ((3, 0.6), (1, 1), (5, 0.5), (2, 0)):
            assert pair.accepts(drawn.feed(size, share)), drawn.text
