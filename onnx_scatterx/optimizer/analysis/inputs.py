"""What is known of the inputs of a model before it runs: declared dims, and the assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx_ir as ir

from onnx_scatterx.ir.constants import overridable
from onnx_scatterx.optimizer.analysis.assumed import Assumptions
from onnx_scatterx.optimizer.analysis.degenerate_sizes import Exclusion, fact_of
from onnx_scatterx.optimizer.analysis.domain.origins import DeclaredDim, DimOf
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.analysis.domain.widening import widened
from onnx_scatterx.optimizer.assumptions.clauses import Clause
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term, size, term


class ModelInputs:
    """The inputs of a model, and the names of their sizes.

    If ``distrust_dims``, two dims of one name may differ. ``declared`` are the names of sizes,
    ``shared`` those of sizes that several dims have. At a ``probe``, a pair of a size and a number,
    the size is that number.
    """

    def __init__(self, model: ir.Model, distrust_dims: bool, probe: Exclusion | None) -> None:
        self.graph = model.graph
        self.distrust_dims = distrust_dims
        self.probe = probe
        self.declared: dict[Term, str] = {}
        self.shared: dict[Term, str] = {}
        self.overridable = overridable(model)

    def learn(
        self, facts: Facts, assumed: Sequence[Clause], ruled_out: Iterable[Exclusion]
    ) -> dict[ir.Value, TensorValue]:
        """Return what is known of each input; add what is known of the sizes to the facts."""
        shapes: dict[ir.Value, Shape | None] = {}
        symbols: dict[str, list[Term]] = {}
        for value in self.graph.inputs:
            if value.name in self.graph.initializers and value not in self.overridable:
                continue
            shapes[value] = None if value.shape is None else tuple(self._dims(value, symbols))
        if not self.distrust_dims:
            named = ((t, name) for name, terms in symbols.items() for t in terms)
            self.shared = {t: name for t, name in named if symbols[name].count(t) > 1}
        assumptions = Assumptions(assumed, symbols)
        assumptions.learn_sizes(facts)
        facts.add(map(fact_of, ruled_out))
        values = {}
        for value, shape in shapes.items():
            token = assumptions.token(value)
            found = widened(value, TensorValue(value.dtype, shape), token, facts)
            values[value] = assumptions.of_elements(value, found, facts)
        return values

    def _dims(self, value: ir.Value, symbols: dict[str, list[Term]]) -> Iterator[Term]:
        """Yield the declared dims of an input, and note the symbols among them."""
        for axis, d in enumerate(value.shape or ()):
            if isinstance(d, int) and d >= 0:
                yield term(d)
                continue
            # Older exporters wrote -1; ONNX Runtime takes any size.
            name = None if isinstance(d, int) else d.value
            # An input with a default may be left out: then it has the dims of the default.
            if name and not self.distrust_dims and value.name not in self.graph.initializers:
                found = size(name, DeclaredDim(name))
            else:
                found = size(name or f"{value.name}.{axis}", DimOf(value, value, axis))
            called = name or f"{value.name}[{axis}]"
            symbols.setdefault(called, []).append(found)
            self.declared.setdefault(found, called)
            yield term(self.probe[1]) if self.probe and found is self.probe[0] else found
