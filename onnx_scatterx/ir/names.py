"""Names for new values and nodes of a model."""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs


class Names:
    """Names that no value or node of a model has."""

    def __init__(self, model: ir.Model) -> None:
        self._taken: set[str] = set()
        for graph in all_graphs(model):
            self._taken.update(graph.initializers)
            self._taken.update(v.name for v in graph.inputs if v.name)
            for node in graph:
                self._taken.add(node.name or "")
                self._taken.update(v.name for v in node.outputs if v.name)
        self._next: dict[str, int] = {}

    def new(self, stem: str) -> str:
        """Return a name with this stem that is not taken, and take it."""
        while True:
            number = self._next.get(stem, 0)
            self._next[stem] = number + 1
            name = f"{stem}_{number}" if number else stem
            if name not in self._taken:
                self._taken.add(name)
                return name
