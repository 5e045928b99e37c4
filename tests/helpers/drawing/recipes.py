"""What is drawn, and how often, if a graph may be anything."""

from tests.helpers.drawing.drawing import Recipe, even

GENERAL: Recipe = {
    "steps": {"write": 5, "move": 4, "compute": 1, "nest": 1.9, "around": 1},
    "chances": {"turn back": 0.15, "int32 indices": 0.2},
    "moves": even("transpose merge lead regroup identity cast slice concat split unsqueeze squeeze "
                  "expand where gather"),
    "writes": {"rows": 2, "tuples": 0.2, "box": 1, "elements": 2, "masked": 1, "marked": 0.2,
               "cache": 1},
    "nests": {"if": 2, "loop": 1, "scan": 1, "function": 2},
    "computations": {"unary": 4, "binary": 2, "through": 1, "choice": 1},
    "unary": even("Neg Abs Relu Identity"),
    "binary": even("Add Mul"),
    "sources": {"alike": 4, "fed": 3, "constant": 1, "cast": 1, "expanded": 1},
    "indices": {"constant": 3, "range": 4, "head": 1, "mask": 1, "order": 1, "position": 1,
                "count": 1, "run": 1, "cut": 1},
    "cuts": {"usual": 2, "whole": 1, "strided": 1, "backwards": 1, "clamped": 1},
    "bounds": {"small": 3, "end": 1},
    "updates": {"other": 4, "computed": 1},
    "reductions": {"none": 4, **even("add mul max min")},
}  # fmt: skip
"""Whole graphs, nested and of all kinds."""

QUANTIZED: Recipe = {
    **GENERAL,
    "sources": {**GENERAL["sources"], "dequantized": 15},
    "computations": {**GENERAL["computations"], "requantized": 8},
    "scales": {"one": 1, "any": 1},
    "integers": even("int8 uint8"),
    "ends": {"quantize": 1},
}

WRITES: Recipe = {
    "steps": {"write": 2, "move": 1},
    "moves": even("transpose regroup slice gather concat there_and_back identity"),
    "writes": {"rows": 3, "tuples": 1, "elements": 1, "masked": 1, "columns": 1},
    "indices": {"constant": 7, "run": 1, "line": 1},
    "cuts": {"within": 1},
    "updates": {"other": 1},
    "reductions": {"none": 3, **even("add mul max min")},
}
"""Some writes, and moves between them; what else there is, is for others to say."""
