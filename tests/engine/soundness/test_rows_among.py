"""Writes to some of the chosen rows: by a mask of rows, or of their elements, of any updates.

Each model is one form of text, whose words are drawn, and no graph that grows.
"""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import nodes, optimize, parse, sample

TARGET = "standard, avoid = ['NonZero', 'GatherND', 'ScatterND']"


class Drawn:
    """A model that writes to some of the rows that a mask chooses, and writes these back."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.kind = rng.choice(["float", "float", "int32", "int64"])
        self.rank = rng.choice([1, 2])  # of the mask of all rows
        self.is_symbolic = rng.random() < 0.6
        self.size = 3
        self.first = [f"N{d}" if self.is_symbolic else "3" for d in range(self.rank)]
        self.by_elements = [rng.random() < 0.5 for _ in range(2)]
        ways = ("own", "function", "given", "given", "line", "one", "batch")
        self.updates = [rng.choice(ways) for _ in range(2)]
        self.reduction = rng.choice(["none", "none", "add", "max"])
        self.starts_empty = rng.random() < 0.4
        self.adds = rng.random() < 0.5
        self.writes_elements = rng.random() < 0.4

    @property
    def text(self) -> str:
        rows, kind = ",".join(self.first), self.kind
        given = [f"{kind}[{rows},4] x", f"bool[{rows}] m", f"{kind}[{self.first[0]}] b"]
        start = "r"
        body = ["n = NonZero (m)", "at = Transpose (n)", "r = GatherND (x, at)"]
        body.append("c = Gather (b, Gather (n, 0))")
        if self.starts_empty:
            body.append(f"e = ConstantOfShape <value = {kind}[1] {{0}}> (Shape (r))")
            start = "e"
        for k, (by_elements, how) in enumerate(zip(self.by_elements, self.updates, strict=True)):
            given.append(f"bool[{rows}] h{k}")
            body += [f"k{k} = GatherND (h{k}, at)", f"j{k} = Transpose (NonZero (k{k}))"]
            body.append(f"f{k} = GatherND (r, j{k})")
            if how in ("given", "one"):
                given.append(f"{kind}[{1 if how == 'one' else f'K{k}'},4] d{k}")
                body.append(f"u{k} = Expand (d{k}, Shape (f{k}))")
            elif how == "line" and by_elements:
                given.append(f"{kind}[E{k}] d{k}")
            elif how == "batch":  # what depends on some dims of the mask alone
                body.append(f"c{k} = GatherND (c, j{k})")
                body.append(f"u{k} = Add (f{k}, Unsqueeze (Div (c{k}, c{k}), [-1]))")
            else:
                body.append(f"u{k} = {'Neg' if how == 'function' else 'Identity'} (f{k})")
            at, made = f"j{k}", f"u{k}"
            if by_elements:
                at = f"Transpose (NonZero (Expand (Unsqueeze (k{k}, [-1]), Shape (r))))"
                made = f"Identity (d{k})" if how == "line" else f"Reshape (u{k}, [-1])"
            word = f'<reduction = "{self.reduction}">'
            body.append(f"y{k} = ScatterND {word} ({start}, {at}, {made})")
            start = f"y{k}"
        body.append("o = Add (r, y1)" if self.adds else "o = Identity (y1)")
        if self.writes_elements:  # as many as are true
            body.append("total = ReduceSum <keepdims = 1> (Cast <to = 7> (Reshape (m, [-1])))")
            body.append("ol = Reshape (Expand (o, Concat <axis = 0> (total, [4])), [-1])")
            body.append("mt = Transpose (NonZero (Expand (Unsqueeze (m, [-1]), Shape (x))))")
            body.append("y = ScatterND (x, mt, ol)")
        else:
            body.append("y = ScatterND (x, at, o)")
        lines = "\n".join(body)
        return f"g ({', '.join(given)}) => ({kind}[{rows},4] y) {{ {lines} }}"

    def feeds(self) -> Iterator[Feed]:
        kind = {"float": "float32"}.get(self.kind, self.kind)
        for turn in range(4):
            size = (3, 1, 5, 2)[turn] if self.is_symbolic else 3
            rng = np.random.default_rng(turn)
            rows = (size,) * self.rank
            masks = {
                name: rng.random(rows) < share
                for name, share in zip(
                    ("m", "h0", "h1"),
                    ((0.7, 0.5, 0.5), (1, 1, 0), (0.5, 0, 0.6), (0, 0.5, 1))[turn],
                    strict=True,
                )
            }
            feed = {**masks, "x": sample(kind, *rows, 4, seed=turn), "b": sample(kind, size)}
            feed["b"][feed["b"] == 0] = 1
            # An integer that is not chosen may be any number.
            chosen = masks["m"] & (masks["h0"] | masks["h1"])
            free = ~chosen.reshape(size, -1).any(1)
            feed["b"][free] = 0
            for k, how in enumerate(self.updates):
                count = int((masks["m"] & masks[f"h{k}"]).sum())
                if how in ("given", "one"):
                    feed[f"d{k}"] = sample(kind, 1 if how == "one" else count, 4)
                elif how == "line" and self.by_elements[k]:
                    feed[f"d{k}"] = sample(kind, 4 * count)
            yield feed


@pytest.mark.parametrize("part", range(4))
def test_random_writes_to_some_of_the_rows(part: int) -> None:
    for seed in range(scaled(4)):
        drawn = Drawn(4 * seed + part)
        model = parse(drawn.text)
        result = optimize(model, TARGET)
        pair = Pair(model, result)
        for feed in drawn.feeds():
            assert pair.accepts(feed), drawn.text
        left = {node.op_type for node in nodes(result)}
        assert left.isdisjoint({"NonZero", "GatherND", "ScatterND"}), drawn.text


def test_operands_in_the_order_of_a_mask_among_routed_rows() -> None:
    model = parse("""g (float[N,4] x, float[N,6] s, bool[N] h, float[J,4] d) => (float[N,4] y)
        <int64[1] two = {2}, int64 one = {1}, int64[1] last = {-1}> {
        best, index = TopK (s, two)  turned = Transpose <perm = [1, 0]> (index)
        m = Equal (turned, one)  n = NonZero (m)  token = Gather (n, one)
        at = Unsqueeze (token, last)  r = GatherND (x, at)
        k = GatherND (h, at)  i = NonZero (k)  j = Transpose (i)
        f = GatherND (r, j)  u = Add (f, d)  q = ScatterND (r, j, u)
        y = ScatterND <reduction = "add"> (x, at, q) }""")
    pair = Pair(model, optimize(model, TARGET))
    for size, share in ((1, 1), (6, 0.5), (9, 1), (4, 0)):
        rng = np.random.default_rng(size)
        scores, hit = rng.random((size, 6), "float32"), rng.random(size) < share
        routed = (np.argsort(-scores, 1)[:, :2] == 1).any(1)
        rows = {"x": sample("float32", size, 4), "d": sample("float32", (routed & hit).sum(), 4)}
        assert pair.accepts({**rows, "s": scores, "h": hit})
