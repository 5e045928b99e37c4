"""``python -m tests.engine.fuzz.quantized``: random quantized models before and after ``optimize``.

Integers are drawn from the whole type, and both session options are compared: an output may only
differ in the sign of a zero.
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
    "sources": {"dequantized": 17, "fed": 2, "constant": 1, "computed": 2},
    "scales": {"any": 1},
    "ends": {"quantize": 4, "requantized": 1},
    "integers": {**even("int8 uint8 int16 uint16", 2), "int32": 2},
    "computations": {"unary": 4, "binary": 3, "identity": 2},
    "unary": even("Sigmoid Neg Relu"),
    "binary": even("Add Mul"),
}
"""DequantizeLinear, nodes that move, writes and reads, QuantizeLinear."""
ONE_SCALE = {
    **RECIPE,
    "sources": {"dequantized": 9, "filled": 1},
    "scales": {"one": 1},
    "integers": even("int8 uint8 int16 uint16"),
    "computations": {"identity": 1},
}
"""The same with one scale, one zero point and one type, so many writes are on integers."""


def quantized(seed: int) -> Drawing:
    """Return a random graph whose outputs are quantized, mostly."""
    rng, any_scale = random.Random(seed), seed % 4
    opset = rng.choice((13, 17, 19, 21, 23) if any_scale else (13, 15, 18, 21))
    d = Drawing(rng, opset, RECIPE if any_scale else ONE_SCALE)
    d.main_type, d.whole, d.may_be_empty = d.choose("integers"), 1, False
    if not any_scale:
        d.recipe = {**d.recipe, "integers": {d.main_type: 1}}
    x = d.grow(d.other("float32", (rng.randint(1, 4), rng.randint(1, 4))), rng.randint(2, 4))
    for _ in range(rng.choice((1, 1, 1, 2))):
        y = x
        if d.does(0.15):
            d.show(y)
        if d.does(0.35):
            y = d.draw("moves", y)
        if d.does(0.3):
            y = d.computed(y)
        if d.does(0.75) or not any_scale:
            y = d.draw("ends", y)
        d.show(y)
    return d


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""

    def same(before: Any, after: Any) -> bool:
        return agree(before, after, zeros=True)

    return judged(quantized(seed), same)


if __name__ == "__main__":
    sys.exit(campaign("quantized", __doc__, trial))
