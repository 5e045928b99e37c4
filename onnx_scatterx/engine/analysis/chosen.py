"""How many elements of a mask are chosen, as the user promises it, and how they lie.

A promise about a value, or about its comparison with a number, holds for every mask that is the
same: one that has the same elements by their terms, the complement, a comparison of the same value
with the same number, and what nodes make of such a mask that change neither which elements are 0
nor their order. An Expand that repeats each element k times has k times as many of them.

    mask: exactly n               Not(mask)            exactly size - n
    ids == 7: exactly n           Equal(ids, 7)        exactly n
                                  Cast(Unsqueeze(Equal(7, ids)))
    mask: exactly n               Expand(Unsqueeze(mask, -1), [.., k])      exactly n * k
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import TURNED, Assumption, Clause, Subject, by_name, evaluate
from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.analysis.domain.tensor import Chosen, TensorValue
from onnx_scatterx.engine.terms import Facts, Term, coord, equals, step, term
from onnx_scatterx.operators import described, those

_IN_ORDER = those(lambda row: row.keeps_order) | {"Cast"}


class ChosenElements:
    """What clauses say of how many elements of masks are chosen.

    The names of values are those of a ``graph``; ``sizes`` are those of symbols.
    """

    def __init__(
        self,
        clauses: Sequence[Clause] = (),
        sizes: Mapping[str, Term] | None = None,
        graph: ir.Graph | None = None,
    ) -> None:
        self._graph = graph
        self._promised: dict[str, list[tuple[Subject, Chosen]]] = {}
        self._masks: dict[object, Chosen] = {}  # by their elements
        self._compared: dict[ir.Value, list[tuple[Subject, Chosen]]] = {}
        for name, assumption in by_name(clause for clause in clauses if clause.is_count).items():
            subject = Subject.of(name)
            chosen = _chosen(assumption, sizes or {})
            self._promised.setdefault(subject.value, []).append((subject, chosen))

    def marked(
        self, tensor: TensorValue, value: ir.Value, scope: Scope, node: ir.Node | None = None
    ) -> TensorValue:
        """Return the abstract value of a value with what is promised of it.

        Without a node it is an input of the model. The facts learn what follows for sizes.
        """
        if not self._promised or tensor.shape is None:
            return tensor
        named = node is None or node.graph is self._graph
        promised = self._promised.get(value.name or "", ()) if named else ()
        if promised:
            self._learn(promised, value, tensor, scope.facts)
        chosen = next((said for subject, said in promised if subject.is_not_zero), None)
        if chosen is None and node is not None:
            chosen = self._inherited(node, tensor, scope)
        if chosen is None and self._masks:
            chosen = self._masks.get(_elements(tensor))
        return tensor if chosen is None else tensor.with_chosen(chosen)

    def _learn(
        self,
        promised: Sequence[tuple[Subject, Chosen]],
        value: ir.Value,
        tensor: TensorValue,
        facts: Facts,
    ) -> None:
        for subject, chosen in promised:
            if chosen.number is not None:
                facts.assume([math.prod(tensor.dims, start=term(1)) - chosen.number])
            self._compared.setdefault(value, []).append((subject, chosen))
            mask = _mask(subject, tensor)
            if mask is not None:
                self._learn_mask(mask, chosen)

    def _learn_mask(self, mask: TensorValue, chosen: Chosen) -> None:
        """Note what is promised of all masks with the same elements, and of the complement."""
        assert mask.index_map is not None
        other = TensorValue(mask.dtype, mask.shape, 1 - mask.index_map)
        for each, said in ((mask, chosen), (other, _of_complement(chosen, mask))):
            key = _elements(each)
            if key is not None and said is not None:
                self._masks.setdefault(key, said)

    def _inherited(self, node: ir.Node, tensor: TensorValue, scope: Scope) -> Chosen | None:
        """Return what is promised of the mask that a node makes, by its inputs."""
        if node.domain != "":
            return None
        if node.op_type in _IN_ORDER and node.inputs[0] is not None:
            x = scope.of(node.inputs[0])
            if x.chosen is None or not _keeps_zeros(x, tensor):
                return None
            of_mask = node.op_type == "Cast" and x.dtype == ir.DataType.BOOL
            return x.chosen._replace(are_ones=of_mask or x.chosen.are_ones)
        if node.op_type == "Expand":
            return _repeated(scope.of(node.inputs[0]), tensor)
        sign = described(node).compares
        if not sign or not self._compared:
            return None
        chosen = self._of_comparison(node, sign, tensor, scope)
        if chosen is not None and tensor.index_map is not None:
            self._learn_mask(tensor, chosen)
        return chosen

    def _of_comparison(
        self, node: ir.Node, sign: str, tensor: TensorValue, scope: Scope
    ) -> Chosen | None:
        """Return what is promised of a comparison of one value with a constant number."""
        for (value, other), said in ((node.inputs, sign), (node.inputs[::-1], TURNED[sign])):
            known = None if other is None else scope.of(other).constant
            if value is None or known is None or known.size != 1:
                continue
            for subject, chosen in self._compared.get(value, ()):
                if not subject.sign or not _is_number(known, subject.number):
                    continue
                if subject.sign == said:
                    return chosen
                if (subject.sign, said) == ("!=", "=="):
                    return _of_complement(chosen, tensor)
        return None


def _chosen(assumption: Assumption, sizes: Mapping[str, Term]) -> Chosen:
    """Return what several counts say together, as far as the sizes tell."""
    count, most = None, None
    for each in assumption.counts:
        bound = evaluate(each.most, sizes)
        if bound is None:
            continue
        bound = term(bound)
        if each.least == each.most:
            count = bound if count is None or bound.constant is not None else count
        elif most is None or (bound.constant is not None and most.constant is None):
            most = bound
    return Chosen(count, most, any(each.is_run for each in assumption.counts))


def _is_number(known: np.ndarray, number: int | float) -> bool:
    """Return whether a constant is a number, as a float in the constant's own type."""
    if known.dtype.kind in "iub":
        return isinstance(number, int) and int(known.item()) == number
    with np.errstate(over="ignore"):
        return bool(np.asarray(number).astype(known.dtype) == known.reshape(()))


def _of_complement(chosen: Chosen, mask: TensorValue) -> Chosen | None:
    """Return what follows for the complement of a mask."""
    if chosen.number is None:
        return None
    return Chosen(math.prod(mask.dims, start=term(1)) - chosen.number)


def _repeated(x: TensorValue, made: TensorValue) -> Chosen | None:
    """Return what follows for an Expand of a mask, which repeats axes of one element."""
    if x.chosen is None or x.shape is None or made.shape is None:
        return None
    own = (*(term(1),) * (len(made.shape) - len(x.shape)), *x.shape)
    pairs = [(n, m) for n, m in zip(own, made.shape, strict=True) if n != m]
    if any(n.constant != 1 for n, _ in pairs):
        return None
    times = math.prod((m for _, m in pairs), start=term(1))
    number, most = (None if n is None else n * times for n in x.chosen[:2])
    is_run = x.chosen.is_run and not pairs
    return Chosen(number, most, is_run, x.chosen.are_ones)


def _mask(subject: Subject, tensor: TensorValue) -> TensorValue | None:
    """Return the mask that a promise about integers or bools is about."""
    x, n = tensor.index_map, subject.number
    if x is None or not tensor.is_integer or not isinstance(n, int):
        return None
    match subject.sign:
        case "":
            mask = x if tensor.dtype == ir.DataType.BOOL else 1 - equals(x, 0)
        case "==":
            mask = equals(x, n)
        case "!=":
            mask = 1 - equals(x, n)
        case "<" | "<=":
            mask = step(n - x - (subject.sign == "<"))
        case _:
            mask = step(x - n - (subject.sign == ">"))
    return TensorValue(ir.DataType.BOOL, tensor.shape, mask)


def _elements(tensor: TensorValue) -> object:
    """Return a key for the elements of a mask in their order, whatever dims of extent 1 it has."""
    if tensor.dtype != ir.DataType.BOOL or tensor.shape is None or tensor.index_map is None:
        return None
    listed = tensor.element_exprs
    if listed is not None:
        return tuple(listed.ravel().tolist())
    ones = {d: 0 for d, n in enumerate(tensor.shape) if n.constant == 1}
    kept = [d for d in range(len(tensor.shape)) if d not in ones]
    at = ones | {d: coord(i) for i, d in enumerate(kept)}
    return tensor.index_map.at(at), tuple(tensor.shape[d] for d in kept)


def _keeps_zeros(x: TensorValue, made: TensorValue) -> bool:
    """Return whether a Cast, if it is one, keeps which elements are 0."""
    if x.dtype == made.dtype or ir.DataType.BOOL in (x.dtype, made.dtype):
        return True
    both = x.dtype, made.dtype
    if any(dtype is None or not dtype.is_integer() for dtype in both):
        return False
    assert x.dtype is not None
    assert made.dtype is not None
    return made.dtype.bitwidth >= x.dtype.bitwidth
