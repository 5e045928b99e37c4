"""Random graphs. A graph grows by steps, which stand in tables; a recipe weighs their names.

>>> import random
>>> d = Drawing(random.Random(7), 18, {"steps": {"write": 4, "move": 1},
...     "writes": {"rows": 1}, "indices": {"constant": 2, "cut": 1}, "cuts": {"usual": 1},
...     "updates": {"other": 1}, "sources": {"fed": 1}, "reductions": {"none": 1},
...     "moves": {"transpose": 1}}, {"N": 4})
>>> d.show(d.grow(d.tensor("float32", ("N", 3)), 2))
>>> [node.op_type for node in d.model().graph.node if "Scatter" in node.op_type]
['ScatterND', 'ScatterND']
>>> sorted(d.feed({"N": 5}))
['x0', 'x1', 'x2']
"""

import tests.helpers.drawing.computations
import tests.helpers.drawing.indices
import tests.helpers.drawing.moves
import tests.helpers.drawing.nests
import tests.helpers.drawing.products
import tests.helpers.drawing.quantizers
import tests.helpers.drawing.reads
import tests.helpers.drawing.writes  # noqa: F401
from tests.helpers.drawing.drawing import (
    TABLES,
    Drawing,
    Recipe,
    Sizes,
    Value,
    Weights,
    enter,
    even,
)

__all__ = ["TABLES", "Drawing", "Recipe", "Sizes", "Value", "Weights", "enter", "even"]
