"""``python -m tests.engine.fuzz.float16``: random float16 models before and after ``optimize``.

Both session options are compared. An output may only differ in the sign of a zero, and by rounding.
"""

import random
import sys
from typing import Any

import onnx

from tests.engine.fuzz.random_models import campaign, judged
from tests.helpers.drawing import Drawing, even
from tests.helpers.drawing.recipes import WRITES
from tests.helpers.pair import agree

RECIPE = {
    **WRITES,
    "sources": {"fed": 3, "constant": 1, "cast": 1, "computed": 5},
    "computations": {"unary": 5, "binary": 3, "through": 2, "mixed": 2},
    "unary": even("Sigmoid Neg Relu Abs Tanh"),
    "binary": even("Add Mul Sub"),
}
"""Nodes that compute in float16, nodes that move, writes and reads."""


def float16(seed: int) -> Drawing:
    """Return a random graph whose outputs are computed from what is written."""
    rng = random.Random(seed)
    # ONNX Runtime 1.32 itself ends at a MatMul, an Add and a LayerNormalization of float16.
    product = rng.choice(("MatMul", "Gemm", "LayerNormalization"))
    recipe = {**RECIPE, "mixed": even(f"{product} Softmax")}
    d = Drawing(rng, rng.choice((13, 17, 18, 21, 23)), recipe)
    d.may_be_empty = False
    dims = rng.randint(1, 4), rng.randint(1, 40)
    x = d.grow(d.other("float32" if d.does(0.3) else "float16", dims), rng.randint(2, 4))
    for _ in range(rng.choice((1, 1, 2))):
        y = x
        if d.does(0.1):
            d.show(y)
        if d.does(0.3):
            y = d.draw("moves", y)
        for _ in range(rng.choice((0, 1, 1, 2))):
            y = d.computed(y)
        d.show(y)
    return d


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    return judged(float16(seed), _same)


def _same(before: Any, after: Any) -> bool:
    return agree(before, after, zeros=True, close=True)


if __name__ == "__main__":
    sys.exit(campaign("float16", __doc__, trial))
