"""What is known of a model, kept while passes change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.convergence import converged
from onnx_scatterx.optimizer.analysis.domain.scope import Knowledge
from onnx_scatterx.optimizer.analysis.interpreter import Interpreter
from onnx_scatterx.optimizer.assumptions.clauses import Clause


class ModelAnalysis:
    """Interprets a model at the first question, and new nodes when a pass needs them.

    What is known of a value holds as long as the value exists: a pass that replaces values adds
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
        self.learn = learn  # adds facts that nodes prove by having run
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
        """What is known of every value, and the facts of every graph."""
        return self._interpreted()[1]

    def forget(self) -> None:
        """Forget everything: graphs were inlined."""
        self._found, self._new = None, []

    def add(self, nodes: Iterable[ir.Node]) -> None:
        """Note new nodes, in an order in which each follows those that it reads."""
        self._new += nodes

    def current(self) -> Knowledge:
        """Return what is known of all values, new ones too."""
        self.catch_up()
        return self.knowledge

    def catch_up(self) -> None:
        """Interpret the nodes that are new: a pass that asks about all values needs it."""
        interpreter, _ = self._interpreted()
        new, self._new = self._new, []
        interpreter.add(node for node in new if node.graph is not None)
