"""``python -m tests.engine.fuzz.quantized``: random quantized models before and after ``optimize``.

Integers are drawn from the whole type, and both session options are compared: an output may only
differ in the sign of a zero.
"""

import random
import sys
from typing import Any

import numpy as np
import onnx

from tests.engine.fuzz.drawn import Drawn, Shape, campaign, judged
from tests.helpers.pair import agree
from tests.helpers.quantized import whole_range

_OPSETS = (13, 17, 19, 21, 23)
_TYPES = ("int8", "uint8", "int8", "uint8", "int16", "uint16", "int32")
_SCALES = (0.05, 0.05, 0.1, 0.3)


class Quantized(Drawn):
    """A random graph: DequantizeLinear, nodes that move, writes and reads, QuantizeLinear."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng, rng.choice(_OPSETS))
        self.main = rng.choice(_TYPES)

    def parameters(self, integers: str, shape: Shape) -> tuple[list[str], dict[str, int], str]:
        """Return a scale and perhaps a zero point, an axis, and the domain that takes the type."""
        rng = self.rng
        axis = rng.randrange(len(shape)) if shape and rng.random() < 0.15 else None
        size = () if axis is None else (shape[axis],)
        factor = np.ones(()) if axis is None else np.linspace(1, 2, shape[axis])
        found = [self.constant(rng.choice(_SCALES) * factor, "float32")]
        if rng.random() < 0.6:
            number = 0 if integers == "int32" else rng.choice((0, 0, 3, 100))
            found.append(self.constant(np.full(size, number), integers))
        return found, {} if axis is None else {"axis": axis}, self.domain(integers)

    def domain(self, integers: str) -> str:
        """Return the domain of the quantizers that take a type."""
        return "com.microsoft" if integers.endswith("16") and self.opset < 21 else ""

    def floats(self, shape: Shape) -> str:
        """Return a tensor of floats: mostly one that was quantized."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.1:
            return self.input("float32", shape)
        if kind < 0.15:
            return self.constant(
                np.round(np.random.default_rng(0).normal(size=shape), 1), "float32"
            )
        integers = self.main if rng.random() < 0.8 else rng.choice(_TYPES)
        read, axis, domain = self.parameters(integers, shape)
        found = self.node(
            "DequantizeLinear", self.input(integers, shape), *read, domain=domain, **axis
        )
        return self.node(rng.choice(("Relu", "Neg")), found) if rng.random() < 0.1 else found

    def ended(self, x: str, shape: Shape) -> None:
        """Quantize a tensor, compute with it, or give it out."""
        rng = self.rng
        for _ in range(rng.choice((1, 1, 1, 2))):
            y = x
            if rng.random() < 0.1:
                self.outputs[y] = None
            if rng.random() < 0.3:
                y, shape = self.moved(y, shape)
            if rng.random() < 0.15:
                y = self.node(rng.choice(("Add", "Mul")), y, self.floats(shape))
            elif rng.random() < 0.15:
                y = self.node(rng.choice(("Sigmoid", "Neg", "Relu")), y)
            if rng.random() < 0.75:
                integers = self.main if self.main != "int32" else "uint8"
                read, axis, domain = self.parameters(integers, shape)
                if len(read) == 1 and integers != "uint8":
                    size = (shape[axis["axis"]],) if axis else ()
                    read.append(self.constant(np.zeros(size), integers))
                y = self.node("QuantizeLinear", y, *read, domain=domain, **axis)
                if rng.random() < 0.2:
                    y = self.node("DequantizeLinear", y, *read, domain=domain, **axis)
            self.outputs[y] = None


class OneScale(Quantized):
    """The same with one scale, one zero point and one type, so many writes are on integers."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.opset = rng.choice((13, 15, 18, 21))
        self.main = rng.choice(("int8", "uint8", "int16", "uint16"))

    def parameters(self, integers: str, shape: Shape) -> tuple[list[str], dict[str, int], str]:
        """Return the scale and the zero point."""
        read = [self.constant(0.05, "float32"), self.constant(3, integers)]
        return read, {}, self.domain(integers)

    def floats(self, shape: Shape) -> str:
        """Return a tensor that was quantized, or a constant."""
        if self.rng.random() < 0.1:
            return self.constant(np.full(shape, self.rng.choice((0.0, 0.5, 0.33))), "float32")
        read, _, domain = self.parameters(self.main, shape)
        return self.node("DequantizeLinear", self.input(self.main, shape), *read, domain=domain)

    def ended(self, x: str, shape: Shape) -> None:
        """Quantize a tensor, move it, or give it out."""
        for _ in range(self.rng.choice((1, 1, 2))):
            y, turned = self.moved(x, shape) if self.rng.random() < 0.4 else (x, shape)
            if self.rng.random() < 0.2:
                self.outputs[y] = None
            read, _, domain = self.parameters(self.main, turned)
            self.outputs[self.node("QuantizeLinear", y, *read, domain=domain)] = None


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    rng = random.Random(seed)
    model = (Quantized if seed % 4 else OneScale)(rng).model()
    feeds = whole_range(model, seed, seed + 1)

    def same(before: Any, after: Any) -> bool:
        return agree(before, after, zeros=True)

    return judged(model, feeds, rng, same)


if __name__ == "__main__":
    sys.exit(campaign("quantized", __doc__, trial))
