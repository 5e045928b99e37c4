"""A write between DequantizeLinear and QuantizeLinear of one scale is done on the integers.

    before   d = ScatterND(DequantizeLinear(x, s, z), i, DequantizeLinear(u, s, z))
             y = QuantizeLinear(d, s, z)
    after    y = ScatterND(x, i, u)

If scales differ, every QuantizeLinear and DequantizeLinear is kept. A scatter of floats is then a
scatter of integers, which ``LowerScatters`` removes. A write is kept on the floats if its scatter
can be removed only there, because ONNX Runtime or the target lacks an operator for integers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.passes.graph_plan import kept_scatters
from onnx_scatterx.engine.passes.integer_nodes import IntegerNodes
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.quantized_writes import (
    SIZES,
    QuantizedWrite,
    quantized_writes,
)
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.engine.plan import GraphContext
from onnx_scatterx.engine.quantizers import QUANTIZED, QUANTIZERS, is_quantizer, reason_to_keep
from onnx_scatterx.graphs import remove_dead
from onnx_scatterx.operators import SCATTERS
from onnx_scatterx.text import FloatReason, Reason, Refusal


def write_on_integers(job: Job) -> bool:
    """Move writes between DequantizeLinear and QuantizeLinear to the integers.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (uint8[4, 2] x, uint8[1, 2] u) => (uint8[4, 2] y)
    ...     <float s = {0.5}, uint8 z = {3}, int64[1, 1] i = {1}> {
    ...         a = DequantizeLinear (x, s, z)
    ...         b = DequantizeLinear (u, s, z)
    ...         c = ScatterND (a, i, b)
    ...         y = QuantizeLinear (c, s, z) }''')
    >>> write_on_integers(Job(model))
    True
    >>> [(node.op_type, [v.name for v in node.inputs]) for node in model.graph]
    [('ScatterND', ['x', 'i', 'u'])]
    """
    held = job.held
    quantized = any(is_quantizer(n, *QUANTIZERS) for n in held.of(*QUANTIZERS))
    if not quantized or not any(map(is_scatter, held.of(*SCATTERS))) or job.obstacle is not None:
        return False
    job.analyses.full.catch_up()
    modified = False
    for context in list(job.contexts()):
        if any(map(is_scatter, context.graph)):
            modified |= _in_graph(job, context)
    return modified


WriteOnIntegers = Pass(write_on_integers, looks_for=QUANTIZERS)


class _Candidate(NamedTuple):
    """A write on integers beside the one on floats."""

    write: QuantizedWrite
    integers: IntegerNodes
    made: dict[ir.Node, ir.Node]
    """The nodes on integers, by those on floats."""

    @classmethod
    def of(cls, context: GraphContext, write: QuantizedWrite) -> _Candidate:
        """Write the nodes on integers; nothing reads them."""
        integers = IntegerNodes(context, write.dtype)
        for value, array in write.constants.items():
            integers.quantize(value, array, write.nodes[0])
        return cls(write, integers, {node: integers.move(node) for node in write.nodes})

    @property
    def results(self) -> dict[ir.Value, None]:
        """The integers that readers behind the write need."""
        ends = [end.inputs[0] for end in self.write.ends]
        is_output = [v for v in self.write.outputs if v.is_graph_output()]
        return {self.integers.of(v): None for v in (*ends, *is_output) if v is not None}

    def is_better_on_floats(self, kept: set[ir.Node]) -> bool:
        """Return whether a scatter is kept on integers, and removed on floats."""
        return any(new in kept and old not in kept for old, new in self.made.items())

    def keep(self) -> None:
        """Let all readers read the integers, and remove the floats."""
        write, integers = self.write, self.integers
        for old, new in self.made.items():
            if is_scatter(old):
                old.name, new.name = new.name, old.name or old.outputs[0].name
                new.meta[QUANTIZED] = write.dtype
        for end in write.ends:
            assert end.inputs[0] is not None
            integers.replace(end.outputs[0], integers.of(end.inputs[0]))
        for value, form in write.outputs.items():
            for use in list(value.uses()):
                if use.node.op_type in SIZES:
                    use.node.replace_input_with(0, integers.of(value))
            if value.is_graph_output():
                integers.dequantize(value, write.leaf, form.axis)
        remove_dead([*write.ends, *write.nodes[::-1]])


def _in_graph(job: Job, context: GraphContext) -> bool:
    """Do the writes of one graph on integers, if there are any."""
    writes, why = quantized_writes(context)
    candidates = [_Candidate.of(context, write) for write in writes]
    kept = _kept(job, context, candidates) if candidates else None
    chosen = []
    for one in candidates:
        if kept is not None and not one.is_better_on_floats(kept):
            chosen.append(one)
            continue
        remove_dead(one.integers.nodes[::-1])
        why.update({} if kept is None else dict.fromkeys(one.made, FloatReason.PLAN))
    on_integers = {node for one in chosen for pair in one.made.items() for node in pair}
    for node in filter(is_scatter, context.graph):
        stays = None if node in on_integers else reason_to_keep(node, context.known)
        reason = stays or why.get(node)
        if reason is not None:
            node.meta[QUANTIZED] = reason
    for one in chosen:
        noted = len(one.integers.nodes)
        one.keep()
        job.analyses.note(one.integers.nodes[noted:])
    return bool(chosen)


def _kept(job: Job, context: GraphContext, candidates: list[_Candidate]) -> set[ir.Node] | None:
    """Return the scatters that would be kept, or None if a limit is reached.

    The results on integers are outputs of the graph meanwhile, so both ways can be planned. The
    way on floats is planned only if a scatter on integers would be kept.
    """
    floats = [node for one in candidates for node in one.made if is_scatter(node)]
    integers = [node for one in candidates for node in one.made.values()]
    results = [value for one in candidates for value in one.results]
    context.graph.outputs.extend(results)
    try:
        with budget().share(1 / 4):
            job.analyses.note(node for one in candidates for node in one.integers.nodes)
            job.analyses.full.catch_up()
            opaque = dict.fromkeys(floats, Refusal(Reason.NO_RULE))
            kept = kept_scatters(replace(context, kept=opaque))
            return set() if kept.isdisjoint(integers) else kept_scatters(context)
    except (LimitError, RecursionError):
        return None
    finally:
        for _ in results:
            context.graph.outputs.pop()
