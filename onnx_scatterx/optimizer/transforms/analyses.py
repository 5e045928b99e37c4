"""What is known of one model: with all promises, without trust, and without promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.model_analysis import ModelAnalysis
from onnx_scatterx.optimizer.assumptions.clauses import Clause
from onnx_scatterx.optimizer.lift.bounds import learn_bounds


class Analyses:
    """The analyses of a model. One that would say the same as ``full`` is ``full`` itself."""

    def __init__(
        self, model: ir.Model, assumed: Sequence[Clause] = (), *, distrust_dims: bool = False
    ) -> None:
        self.full = ModelAnalysis(
            model, distrust_dims=distrust_dims, assumed=assumed, learn=learn_bounds
        )
        """What is known if the user keeps all promises."""
        dims = [d for v in model.graph.inputs for d in v.shape or () if not isinstance(d, int)]
        named = [d.value for d in dims if d.value is not None]
        self._trusts_nothing = distrust_dims or len(set(named)) == len(named)
        self._is_read_again = False

    @cached_property
    def without_trust(self) -> ModelAnalysis:
        """What is known without promises, and without trust that dims of one name are equal."""
        if not self.full.assumed and self._trusts_nothing:
            return self.full
        return ModelAnalysis(self.full.model, distrust_dims=True)

    @property
    def without_promises(self) -> ModelAnalysis:
        """What is known without promises."""
        if self._trusts_nothing:
            return self.without_trust
        self.full.catch_up()
        outdated = self.full.assumed or self.full.is_outdated or self._is_read_again
        return ModelAnalysis(self.full.model) if outdated else self.full

    def read_again(self) -> None:
        """Let the model be interpreted again: what was computed may prove more."""
        self.without_trust = ModelAnalysis(self.full.model, distrust_dims=True)
        self._is_read_again = True

    def forget(self) -> None:
        """Forget what is known: nothing was planned yet, and graphs were inlined."""
        self.full.forget()
        vars(self).pop("without_trust", None)

    def note(self, nodes: Iterable[ir.Node]) -> None:
        """Note new nodes, in an order in which each follows those that it reads."""
        nodes = list(nodes)
        self.full.add(nodes)
        if vars(self).get("without_trust", self.full) is not self.full:
            self.without_trust.add(nodes)

    def note_constant(self, value: ir.Value, tensor: ir.TensorProtocol) -> None:
        """Note a new constant."""
        for analysis in (self.full, self.without_trust):
            analysis.note_constant(value, tensor)
