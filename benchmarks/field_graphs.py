"""Graphs of public threads that show a graph, not a module, as ONNX text.

``inputs`` are as in ``benchmarks/field_slices.py``. The operator set is that of the thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Graph:
    """A statement, the text of its graph, its inputs, and what is promised of them."""

    statement: str
    text: str
    inputs: Mapping[str, str]
    promises: tuple[str, ...] = field(default=())


GRAPHS = {
    "TwoRows": Graph(
        "ScatterND, two rows at run time",
        """g (float[4, 4, 4] data, int64[2, 1] indices, float[2, 4, 4] updates)
             => (float[4, 4, 4] out) { out = ScatterND (data, indices, updates) }""",
        {"data": "float 4 4 4", "indices": "unique 0:4 2 1", "updates": "float 2 4 4"},
    ),
    "TwoCells": Graph(
        "ScatterElements, two cells at run time",
        """g (float[1, 5] data, int64[1, 2] indices, float[1, 2] updates) => (float[1, 5] out)
             { out = ScatterElements <axis = 1> (data, indices, updates) }""",
        {"data": "float 1 5", "indices": "unique 0:5 1 2", "updates": "float 1 2"},
    ),
    "ShapeWrite": Graph(
        "ScatterND into a shape, which Expand takes (Paddle)",
        """g (float[N, 1, 8] x, float[1, 6, 8] y) => (float[a, b, c] out)
             <int64[1] zero = {0}, int64[3] ones = {1, 6, 8}, int64[1, 1] at = {0}>
             { shape = Shape (x)  n = Gather (shape, zero)
               sizes = ScatterND (ones, at, n)  out = Expand (y, sizes) }""",
        {"x": "float N=3 1 8", "y": "float 1 6 8"},
    ),
    "StepRow": Graph(
        "`tensor_scatter_nd_update(boxes, [[step, idx, k], ...], row)`, k = 0..4",
        """g (float[2, 6, 5] boxes, int64[1] step, int64[1] idx, float[5] row)
             => (float[2, 6, 5] out)
             <int64[2] sizes = {5, 1}, int64[5, 1] k = {0, 1, 2, 3, 4}>
             { steps = Expand (step, sizes)  ids = Expand (idx, sizes)
               at = Concat <axis = 1> (steps, ids, k)  out = ScatterND (boxes, at, row) }""",
        {"boxes": "float 2 6 5", "step": "index 0:2 1", "idx": "index 0:6 1", "row": "float 5"},
    ),
    "AddRows": Graph(
        "ScatterElements add, 12 x 10 into 5 x 10",
        """g (float[5, 10] data, int64[12, 10] at, float[12, 10] u) => (float[5, 10] out)
             { out = ScatterElements <axis = 0, reduction = "add"> (data, at, u) }""",
        {"data": "float 5 10", "at": "index 0:5 12 10", "u": "float 12 10"},
    ),
    "AddColumns": Graph(
        "ScatterElements add at [[0, 1, 2], [0, 1, 2]], 3 x 3",
        """g (float[3, 3] data, float[2, 3] u) => (float[3, 3] out)
             <int64[2, 3] at = {0, 1, 2, 0, 1, 2}>
             { out = ScatterElements <axis = 0, reduction = "add"> (data, at, u) }""",
        {"data": "float 3 3", "u": "float 2 3"},
    ),
    "AddDuplicates": Graph(
        "ScatterElements add at [[0, 2, 3], [0, 2, 3]], 4 x 3",
        """g (float[4, 3] data, float[2, 3] u) => (float[4, 3] out)
             <int64[2, 3] at = {0, 2, 3, 0, 2, 3}>
             { out = ScatterElements <axis = 0, reduction = "add"> (data, at, u) }""",
        {"data": "float 4 3", "u": "float 2 3"},
    ),
    "OldScatter": Graph(
        "Scatter of operator set 10, 1 x 3 x 1 indices into 2 x 3 x 4",
        """g (float[2, 3, 4] data, int64[1, 3, 1] at, float[1, 3, 1] u) => (float[2, 3, 4] out)
             { out = Scatter <axis = 0> (data, at, u) }""",
        {"data": "float 2 3 4", "at": "index 0:2 1 3 1", "u": "float 1 3 1"},
    ),
    "NegativeRows": Graph(
        "ScatterND at [[-1], [0]]",
        """g (float[3, 4] data, float[2, 4] u) => (float[3, 4] out) <int64[2, 1] at = {-1, 0}>
             { out = ScatterND (data, at, u) }""",
        {"data": "float 3 4", "u": "float 2 4"},
    ),
    "TensorCache": Graph(
        "TensorScatter into a static cache, one position per row",
        """g (float[3, 10, 8] cache, float[3, 1, 8] k, int64[3] at) => (float[3, 10, 8] out)
             { out = TensorScatter <axis = 1> (cache, k, at) }""",
        {"cache": "float 3 10 8", "k": "float 3 1 8", "at": "index 0:10 3"},
    ),
    "NegativeCells": Graph(
        "ScatterElements at negative constants",
        """g (float[2, 5] data, float[2, 2] u) => (float[2, 5] out)
             <int64[2, 2] at = {-1, 0, 2, -4}>
             { out = ScatterElements <axis = 1> (data, at, u) }""",
        {"data": "float 2 5", "u": "float 2 2"},
    ),
    "KernelAdd": Graph(
        "ScatterElements add, 4813 x 80 into 5564 x 80, a hundredth of the rows",
        """g (float[5564, 80] data, int64[4813, 80] at, float[4813, 80] u) => (float[5564, 80] out)
             { out = ScatterElements <axis = 0, reduction = "add"> (data, at, u) }""",
        {"data": "float 5564 80", "at": "index 0:5564 4813 80", "u": "float 4813 80"},
    ),
    "KernelAddRows": Graph(
        "ScatterND add, 4000 into 100 rows",
        """g (float[100, 8] data, int64[4000, 1] at, float[4000, 8] u) => (float[100, 8] out)
             { out = ScatterND <reduction = "add"> (data, at, u) }""",
        {"data": "float 100 8", "at": "index 0:100 4000 1", "u": "float 4000 8"},
    ),
    "KernelRows": Graph(
        "ScatterND with duplicates, 4000 into 64 rows",
        """g (float[64, 8] data, int64[4000, 1] at, float[4000, 8] u) => (float[64, 8] out)
             { out = ScatterND (data, at, u) }""",
        {"data": "float 64 8", "at": "index 0:64 4000 1", "u": "float 4000 8"},
    ),
}
