"""``python -m tests.engine.fuzz.float16``: random float16 models before and after ``optimize``.

Both session options are compared. An output may only differ in the sign of a zero, and by rounding.
"""

import random
import sys
from typing import Any

import numpy as np
import onnx

from tests.engine.fuzz.drawn import Drawn, Shape, campaign, judged
from tests.helpers.builder import code
from tests.helpers.pair import agree
from tests.helpers.quantized import feeds

_OF_ONE = ("Sigmoid", "Neg", "Relu", "Abs", "Tanh", "Softmax")


class Float16(Drawn):
    """A random graph: nodes that compute in float16, nodes that move, writes and reads."""

    widest = 40

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng, rng.choice((13, 17, 18, 21, 23)))
        # ONNX Runtime 1.32 itself ends at a MatMul, an Add and a LayerNormalization of float16.
        self.product = rng.choice(("MatMul", "Gemm", "LayerNormalization"))
        self.type = "float32" if rng.random() < 0.15 else "float16"

    def floats(self, shape: Shape) -> str:
        """Return a tensor: an input, a constant, or what a node computes from them."""
        kind = self.rng.random()
        if kind < 0.3:
            return self.input(self.type, shape)
        if kind < 0.4:
            return self.numbers(shape)
        if kind < 0.5:
            other = self.input("float32" if self.type == "float16" else "float16", shape)
            return self.node("Cast", other, to=code(self.type))
        return self.computed(self.input(self.type, shape), shape)

    def numbers(self, shape: Shape) -> str:
        """Return a constant of small numbers."""
        drawn = np.random.default_rng(self.rng.randrange(99)).normal(size=shape)
        return self.constant(drawn, self.type)

    def computed(self, x: str, shape: Shape) -> str:
        """Compute a tensor of the same shape."""
        rng, columns = self.rng, shape[1]
        op = rng.choice(("Add", "Mul", "Sub", *_OF_ONE, self.product, "Cast", "Cast"))
        if op in ("Add", "Mul", "Sub"):
            other = self.input(self.type, shape) if rng.random() < 0.5 else self.numbers(shape)
            return self.node(op, x, other)
        if op == "Cast":
            wide = "float32" if self.type == "float16" else "float16"
            return self.node(op, self.node(op, x, to=code(wide)), to=code(self.type))
        if op in ("MatMul", "Gemm"):
            return self.node(op, x, self.numbers((columns, columns)))
        if op == "LayerNormalization":
            if self.opset < 17:
                return self.node("Softmax", x)
            return self.node(op, x, self.numbers((columns,)), axis=-1)
        return self.node(op, x)

    def ended(self, x: str, shape: Shape) -> None:
        """Compute with a tensor, move it, and give it out."""
        for _ in range(self.rng.choice((1, 1, 2))):
            y, last = x, shape
            if self.rng.random() < 0.1:
                self.outputs[y] = None
            if self.rng.random() < 0.3:
                y, last = self.moved(y, last)
            for _ in range(self.rng.choice((0, 1, 1, 2))):
                y = self.computed(y, last)
            self.outputs[y] = None


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    rng = random.Random(seed)
    model = Float16(rng).model()
    return judged(model, feeds(model, seed, seed + 1), rng, _same)


def _same(before: Any, after: Any) -> bool:
    return agree(before, after, zeros=True, close=True)


if __name__ == "__main__":
    sys.exit(campaign("float16", __doc__, trial))
