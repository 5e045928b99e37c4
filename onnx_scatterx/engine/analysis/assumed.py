"""What is known of a model before it runs: constants, declared dims, and what the user assumes.

A bound of a symbol is a fact about sizes. An assumption about an input's elements holds for every
one of them (``Elements``), and a contiguous input is its first elements plus the last coordinate.

An input may be empty, and then an assumption about its elements says nothing. So no fact is derived
from an element that may not exist, such as ``n >= 1`` from ``0 <= idx < n``. If an input may be
empty, a bound is used only if, at all sizes, some number satisfies it.

A model is interpreted several times, with different assumptions on trial. The contents of its
constants do not depend on these assumptions. So the constants, and all values that are derived from
them alone, are read once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import NOTHING, Assumption, Clause, Relation, by_name, evaluate
from onnx_scatterx.engine.analysis.chosen import ChosenElements
from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.analysis.domain.tensor import DeclaredDim, DimOf, Shape, TensorValue
from onnx_scatterx.engine.analysis.domain.widening import widened
from onnx_scatterx.engine.analysis.operators.generators import of_attributes
from onnx_scatterx.engine.analysis.shapes import Exclusion, fact_of
from onnx_scatterx.engine.terms import Elements, Facts, Symbol, Term, coord, size, term
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.graphs import overridable


class Assumptions:
    """Clauses about a model whose symbols are these sizes.

    A symbol is several sizes if inputs need not agree in it; then it bounds nothing else.
    """

    def __init__(self, clauses: Sequence[Clause], symbols: Mapping[str, Sequence[Term]]) -> None:
        self._assumed = by_name(clause for clause in clauses if not clause.is_count)
        self._symbols = symbols
        self.sizes = {n: dims[0] for n, dims in symbols.items() if len(set(dims)) == 1}

    def learn_sizes(self, facts: Facts) -> None:
        """Add the facts about symbols; raise ScatterXError if they contradict each other."""
        learnt: list[tuple[str, Term]] = []
        for name, sizes in self._symbols.items():
            assumption = self._assumed.get(name, NOTHING)
            for own in dict.fromkeys(sizes):
                bounds = [b for c in assumption.comparisons for b in self._compared(own, c)]
                learnt += [(name, bound) for bound in bounds]
        for i, (name, bound) in enumerate(learnt):
            others = (other for _, other in learnt[:i] + learnt[i + 1 :])
            if Facts(known=others).is_nonnegative(-bound - 1):
                raise ScatterXError(f"the assumptions about {name!r} contradict other assumptions")
        facts.assume(bound for _, bound in learnt)
        for name, sizes in self._symbols.items():
            for c in self._assumed.get(name, NOTHING).comparisons:
                if c.modulus and c.sign == "==" and isinstance(c.bound, int):
                    for leaf in {leaf for size in sizes for leaf in size.leaves()}:
                        facts.learn_residue(leaf, c.modulus, c.bound)

    def token(self, value: ir.Value) -> object:
        """Return a key for the elements of an input, which depends on assumptions about them."""
        assumption = self._assumed.get(value.name or "")
        return value if assumption is None else (value, assumption)

    def of_elements(self, value: ir.Value, tensor: TensorValue, facts: Facts) -> TensorValue:
        """Return the abstract value of an input, and add the assumptions about its elements."""
        assumption = self._assumed.get(value.name or "")
        formula = tensor.index_map
        if assumption is None or formula is None or tensor.shape is None:
            return tensor
        (leaf,) = formula.atoms
        assert isinstance(leaf, Symbol)
        counts = "contiguous" in assumption.properties and bool(tensor.shape)
        last = term(0)
        if counts:
            axis = len(tensor.shape) - 1
            formula, last = formula.at({axis: 0}), tensor.shape[axis] - 1
        elements = self._elements(assumption, tensor, last, facts)
        facts.learn_elements(leaf.origin, elements)
        if all(d.constant == 1 for d in tensor.shape):
            facts.assume(elements.of(formula.at(dict.fromkeys(range(len(tensor.shape)), 0))))
        if counts:
            formula = formula + coord(len(tensor.shape) - 1)
        else:
            formula = next(_numbers(elements), formula)
        return TensorValue(tensor.dtype, tensor.shape, formula)

    def _elements(
        self, assumption: Assumption, tensor: TensorValue, last: Term, facts: Facts
    ) -> Elements:
        """Return the facts about every element, or the first of ``last + 1`` consecutive ones."""
        bounds: list[Term] = []
        comparisons = list(assumption.comparisons)
        if "nonnegative" in assumption.properties:
            comparisons.append(Relation(0, ">=", 0))
        for comparison in comparisons:
            upper = comparison.sign in ("<", "<=") and not comparison.modulus
            bounds += self._compared(Elements.ANY + (last if upper else 0), comparison)
        if not all(facts.is_nonnegative(d - 1) for d in tensor.dims):
            witness = assumption.witness()
            elements = Elements(tuple(bounds))
            met = [] if witness is None else map(facts.is_nonnegative, elements.of(witness))
            bounds = [bound for bound, is_met in zip(bounds, met, strict=False) if is_met]
        distinct = bool(assumption.properties & {"unique"})
        return Elements(tuple(bounds), distinct or _rises(assumption, tensor))

    def _compared(self, value: Term, comparison: Relation) -> list[Term]:
        """Return terms that are >= 0 if a comparison holds."""
        bound = evaluate(comparison.bound, self.sizes)
        if bound is None:
            return []
        if comparison.modulus:
            value = value % comparison.modulus
        match comparison.sign:
            case "<=" | "<":
                bound = bound - (comparison.sign == "<")
                most = term(bound).within_axes()[1]  # no axis is longer than that
                return [bound - value, *([int(most) - value] if most < math.inf else [])]
            case ">=":
                return [value - bound]
            case ">":
                return [value - bound - 1]
            case "==":
                return [value - bound, bound - value]
            case _:  # a fact excludes no number but 0, the least size
                is_size = comparison.bound == 0 and value.interval()[0] == 0
                return [value - 1] if is_size else []


def _numbers(elements: Elements) -> Iterator[Term]:
    """Yield the number that every element is, if a lower and an upper bound meet."""
    for low, high in permutations(elements.bounds, 2):
        number = Elements.ANY - low
        if low + high == 0 and number.leaves().isdisjoint(Elements.ANY.leaves()):
            yield number


def _rises(assumption: Assumption, tensor: TensorValue) -> bool:
    """Return whether the elements rise in one row, so that no two are equal."""
    rises = assumption.properties & {"contiguous", "increasing"}
    return bool(rises) and len(tensor.shape or ()) == 1


class ReadConstants:
    """The constants of one model, which does not change meanwhile.

    >>> value, tensor = ir.Value(name="w"), ir.tensor([1, 2])
    >>> reading = ReadConstants()
    >>> reading.initializer(value, tensor).content
    array([1, 2])
    """

    def __init__(self) -> None:
        self._initializers: dict[ir.Value, TensorValue] = {}
        self.constant = cache(_whole)

    def initializer(self, value: ir.Value, tensor: ir.TensorProtocol) -> TensorValue:
        """Return the abstract value of an initializer."""
        known = self._initializers.get(value)
        if known is None:
            known = self._initializers[value] = TensorValue.of_tensor(tensor)
        return known


def _whole(node: ir.Node) -> TensorValue | None:
    """Return the abstract value of a Constant node, or None if it depends on the visit."""
    attributes = node.attributes.data
    if any(attribute.is_ref() for attribute in attributes.values()):
        return None
    known = of_attributes(attributes)
    # Other integers get a name in each visit.
    named = known is not None and known.is_integer and not isinstance(known.content, np.ndarray)
    return None if named else known


_HOLDERS = (ir.SequenceType, ir.OptionalType)
"""Types of values that hold tensors. Their declared shape is not checked for each of these."""


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
        self.chosen = ChosenElements()

    def learn(
        self, scope: Scope, assumed: Sequence[Clause], ruled_out: Iterable[Exclusion]
    ) -> dict[ir.Value, TensorValue]:
        """Return what is known of each input; add what is known of the sizes to the facts."""
        facts, shapes = scope.facts, dict[ir.Value, "Shape | None"]()
        symbols: dict[str, list[Term]] = {}
        for value in self.graph.inputs:
            if value.name in self.graph.initializers and value not in self.overridable:
                continue
            is_tensor = value.shape is not None and not isinstance(value.type, _HOLDERS)
            shapes[value] = tuple(self._dims(value, symbols)) if is_tensor else None
        if not self.distrust_dims:
            named = ((t, name) for name, terms in symbols.items() for t in terms)
            self.shared = {t: name for t, name in named if symbols[name].count(t) > 1}
        assumptions = Assumptions(assumed, symbols)
        self.chosen = ChosenElements(assumed, assumptions.sizes, self.graph)
        assumptions.learn_sizes(facts)
        facts.add(map(fact_of, ruled_out))
        values = {}
        for value, shape in shapes.items():
            token = assumptions.token(value)
            known = widened(value, TensorValue(value.dtype, shape), token, facts)
            known = assumptions.of_elements(value, known, facts)
            values[value] = self.chosen.marked(known, value, scope)
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
                dim = size(name, DeclaredDim(name))
            else:
                dim = size(name or f"{value.name}.{axis}", DimOf(value, value, axis))
            called = name or f"{value.name}[{axis}]"
            symbols.setdefault(called, []).append(dim)
            self.declared.setdefault(dim, called)
            yield term(self.probe[1]) if self.probe and dim is self.probe[0] else dim
