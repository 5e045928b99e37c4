"""What is known of a model, kept while passes change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import onnx_ir as ir

from onnx_scatterx.analysis.domain.scope import Knowledge
from onnx_scatterx.analysis.interpreter import Interpreter, converged
from onnx_scatterx.assumptions.clauses import Clause


class ModelAnalysis:
    """Interprets a model when something is first asked, and new nodes when a pass needs them.

    What is known of a value holds for as long as the value exists: a pass that replaces values adds
    nodes, and changes no others.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4] x) => (float[4, N] y) { y = Transpose(x) }''')
    >>> ModelAnalysis(model).knowledge.values[model.graph.outputs[0]].shape
    (4, N)
    """

    def __init__(
        self,
        model: ir.Model,
        *,
        distrust_dims: bool = False,
        assumed: Sequence[Clause] = (),
        learn: Callable[[Knowledge], None] = lambda _: None,
    ) -> None:
        self.model = model
        self.distrust_dims = distrust_dims
        self.assumed = tuple(assumed)
        self.learn = learn  # adds what nodes prove by having run
        self._found: tuple[Interpreter, Knowledge] | None = None
        self._new: list[ir.Node] = []

    def _interpreted(self) -> tuple[Interpreter, Knowledge]:
        if self._found is None:
            self._found = converged(
                self.model, distrust_dims=self.distrust_dims, assumed=self.assumed
            )
            self.learn(self._found[1])
        return self._found

    @property
    def knowledge(self) -> Knowledge:
        """What holds of every value, and in every graph."""
        return self._interpreted()[1]

    def forget(self) -> None:
        """Forget everything: graphs were put into others."""
        self._found, self._new = None, []

    def add(self, nodes: Iterable[ir.Node]) -> None:
        """Note new nodes, in an order in which each stands behind those that it reads."""
        self._new += nodes

    def catch_up(self) -> None:
        """Interpret the nodes that are new: a pass that asks about all values needs it."""
        interpreter, _ = self._interpreted()
        new, self._new = self._new, []
        interpreter.add(node for node in new if node.graph is not None)
