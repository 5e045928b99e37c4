"""Writing a selection into a graph, in the places and under the names of the replaced values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import remove_dead
from onnx_scatterx.ir.inputs import replace_uses
from onnx_scatterx.optimizer.lift.quantization import QUANTIZED
from onnx_scatterx.optimizer.lowering.last_bits import last_bits
from onnx_scatterx.optimizer.lowering.round import RewriteRound
from onnx_scatterx.optimizer.lowering.rule import Rule
from onnx_scatterx.optimizer.lowering.selection import Selection
from onnx_scatterx.optimizer.lowering.written import NOTHING, Written, element_path
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.text.reasons import LAST_BIT

REPLACES = "onnx_scatterx.replaces"
"""The metadata key on a new node: the names of the scatters and gathers that it replaces."""

WORK = "onnx_scatterx.work"
"""The metadata key on the nodes of a dense form: how many elements its largest tensor has."""

_SHORT = 64  # letters of a term that a user reads


class Commit:
    """Writes a selection into its graph; ``rules`` says by which rules nodes were removed.

    ``selected`` are the scatters and gathers for which a Where of floats was written. ``written``
    has the new nodes for each removed one.
    """

    def __init__(self, round_: RewriteRound, choice: Selection) -> None:
        self._round = round_
        self._writer = round_.writer
        self.rules: dict[ir.Node, frozenset[Rule]] = {}
        self.work: dict[ir.Node, Term] = {}
        self.selected: set[ir.Node] = set()
        self.unique: dict[ir.Node, bool] = {}
        self.written: dict[ir.Node, Written] = {}
        # In the graph's order: a node that is written once must precede all its readers.
        for node in list(round_.graph):
            if node in choice.shapes:
                self._write_shape(node, choice.shapes[node])
            if node in choice.rewritings:
                rewriting = choice.rewritings[node]
                self._write(node.outputs[0], rewriting.write, {node}, node, rewriting.work)
                if rewriting.work is not None:
                    self.work[node] = rewriting.work
                self.rules[node] = rewriting.rules
                if rewriting.unique is not None:
                    self.unique[node] = rewriting.unique
            for value in [v for v in node.outputs if v in choice.values]:
                plan, absorbed = choice.values[value], round_.provenance.absorbed[value]
                self._write(value, plan.write, absorbed, node)
                for gone in (*absorbed, node):
                    self.rules[gone] = self.rules.get(gone, frozenset()) | plan.rules
        moved = (v.producer() for v in round_.provenance.absorbed)
        remove_dead([*choice.rewritings, *choice.shapes, *(n for n in moved if n is not None)])

    def _write_shape(self, node: ir.Node, part: Sequence[Term]) -> None:
        """Write the shape of a removed tensor from what is left."""
        w, (value,) = self._writer, node.outputs
        with w.at(node, value.name or "shape"):
            result = self._round.numbers.shape(part)
        replace_uses(value, result)
        w.replaced[value] = result

    def _write(
        self,
        value: ir.Value,
        write: Callable[[], ir.Value],
        gone: Collection[ir.Node],
        place: ir.Node,
        work: Term | None = None,
    ) -> None:
        w, scope = self._writer, self._round.context.scope
        changed = self._round.changed_by_runtime.get(value)
        if changed is not None:
            for node in gone:
                node.meta[QUANTIZED] = changed
        metadata = {REPLACES: ", ".join(sorted(n.name or n.op_type for n in gone))}
        if work is not None:
            metadata[WORK] = work_text(work)
        made = len(w.made)
        results = set(w.replaced.values())
        known = self._round.provenance.abstract(value)
        with w.at(place, value.name, metadata):
            result = w.resolve(write())
            if _selects_floats(result, results):
                self.selected |= set(gone)
            new = set(w.made[made:])
            found = Written(
                tuple(element_path(result, new.__contains__)), result.const_value is not None
            )
            for node in gone:
                self.written[node] = self.written.get(node, NOTHING) + found
            # If the data come from a node that cannot run, only what is written has a known type.
            dtype = known.dtype or value.dtype or result.dtype
            assert dtype is not None
            bits = last_bits(value, result, gone, new, dtype, found.is_constant)
            for node in gone:
                node.meta[LAST_BIT] = (*node.meta.get(LAST_BIT, ()), *bits)
            result = w.take_name(value, result, dtype, is_new=result.producer() in new)
        replace_uses(value, result)
        w.replaced[value] = result
        # Subgraphs that read it come later, and may use the abstract value.
        scope.values.setdefault(result, known)


def _selects_floats(result: ir.Value, others: Collection[ir.Value]) -> bool:
    """Return whether a new expression has a Where of floats; ``others`` are other results."""
    seen, waiting = {result}, [result]
    while waiting:
        value = waiting.pop()
        node = value.producer()
        if node is None or REPLACES not in node.metadata_props:
            continue
        if node.op_type == "Where" and value.dtype is not None and value.dtype.is_floating_point():
            return True
        found = {v for v in node.inputs if v is not None and v not in seen and v not in others}
        seen |= found
        waiting += found
    return False


def work_text(work: Term) -> str:
    """Return a number of elements as text, if it is short enough to be read.

    >>> from onnx_scatterx.optimizer.symbolic.terms import term
    >>> work_text(term(12))
    '12'
    """
    text = str(work)
    return text if len(text) <= _SHORT else "as many as the data and the updates decide"
