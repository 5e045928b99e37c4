"""Long chains of writes of mixed kinds to one tensor, as exporters write them.

``dynamo`` has initializers, and equal numbers share one; TorchScript has a Constant node for each
number, and expands and reshapes some updates. If sizes are symbolic, rows are those of a Range.
"""

import random

import onnx

from tests.helpers.drawing import Drawing, Recipe, Value

STYLES = ("torchscript", "dynamo")
H, W = 24, 16
RECIPE: Recipe = {
    "moves": {"transpose": 1},
    "writes": {
        "rows": 5,
        "place": 1,
        "columns": 1,
        "elements": 1,
        "box": 1,
        "marked": 1,
        "copied": 1,
    },
    "indices": {"cut": 5, "one": 1},
    "cuts": {"run_of": 9, "last": 2, "strided": 1},
    "updates": {"elsewhere": 8, "summed": 1, "filled": 1},
    "computations": {"unary": 1},
    "unary": {"Neg": 1, "Sin": 1, "Abs": 1},
    "sources": {"alike": 1},
    "reductions": {"none": 12, "add": 1},
}


def long_chain(count: int, seed: int, style: str, *, dynamic: bool) -> onnx.ModelProto:
    """Return a model with so many writes: to ``x``, of parts of ``u`` and where ``m`` is true."""
    d = Drawing(random.Random(seed), 18, RECIPE, {"H": H, "W": W})
    d.constants_as = "nodes" if style == "torchscript" else "shared"
    dims = ("H", "W") if dynamic else (H, W)
    x, *others = (
        d.tensor(t, dims, n) for t, n in (("float32", "x"), ("float32", "u"), ("bool", "m"))
    )
    turned = [Value(d.node("Transpose", v.name), v.dtype, v.dims[::-1]) for v in others]
    d.pool += [*others, *turned]
    for _ in range(count):
        if d.does(0.08):
            x = d.draw("moves", x)
        x = d.draw("writes", x)
    d.give_out(x.name, "y", "float32")
    return d.model()
