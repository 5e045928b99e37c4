"""What a run needs of sizes that no shape ties to each other: two are equal, or a mask has so many.

    Add(GatherND(h, Transpose(NonZero(m))), y[N])   m has N elements that are not 0, or 1 of them
    MatMul(x[n, N], y[M, k])                        N - M is 0
    ScatterND(h, Transpose(NonZero(m)), rows[N])    m has N elements that are not 0

A size of a NonZero is known only when the model runs, so it says something about the elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.analysis.domain.conditions import Broadcast, Equal
from onnx_scatterx.engine.analysis.domain.tensor import DimOf
from onnx_scatterx.engine.analysis.preconditions import conditions_of
from onnx_scatterx.engine.terms import Symbol, Term, term
from onnx_scatterx.operators import described


class Tie(NamedTuple):
    """A term that is 0 if the model runs, or how many elements of a ``mask`` are not 0 then.

    If ``or_one``, one element is enough, too.
    """

    number: Term
    mask: ir.Value | None = None
    or_one: bool = False

    def facts(self, scope: Scope) -> Iterator[Term]:
        """Yield terms that are >= 0 if the model runs."""
        if self.or_one:
            return
        yield self.number
        if self.mask is None:
            yield -self.number
            return
        shape = scope.of(self.mask).shape
        if shape is not None:
            yield math.prod(shape, start=term(1)) - self.number

    def told(self, scope: Scope) -> str:
        """Return what must be true of the mask as ``--assume`` says it; empty if it is not known.

        A mask is told by what it is made of: by the number with which integers are compared.
        """
        number, mask, also = self.number.constant, self.mask, " or 1" if self.or_one else ""
        while number is not None and mask is not None:
            node = mask.producer()
            source = node.inputs[0] if node is not None and node.domain == "" else None
            if node is None or source is None:
                break
            if node.op_type == "Equal" and (subject := _compared(node, scope)):
                return f"{subject}: exactly {number}{also}"
            is_mask = scope.of(source).dtype == ir.DataType.BOOL
            if described(node).keeps_order or (node.op_type == "Cast" and is_mask):
                mask = source
                continue
            sizes = (scope.of(source).static_shape, scope.of(mask).static_shape)
            own, whole = (0 if shape is None else math.prod(shape) for shape in sizes)
            if node.op_type != "Expand" or not own or whole % own or number % (whole // own):
                break
            number, mask, also = number // (whole // own), source, also if whole == own else ""
        known = number is not None and mask is not None
        return f"{mask.name}: exactly {number}{also}" if known and mask is not None else ""


def _compared(node: ir.Node, scope: Scope) -> str:
    """Return the comparison with a number that a node is, as a promise names it; else nothing."""
    for value, other in (node.inputs, node.inputs[::-1]):
        known = scope.of(other).constant
        if value is not None and known is not None and known.size == 1 and known.dtype.kind in "iu":
            return f"{value.name} == {known.item()}"
    return ""


def ties_in(graph: ir.Graph, scope: Scope) -> Iterator[Tie]:
    """Yield what the nodes that always run need of sizes.

    >>> from onnx_scatterx.engine.analysis.model_analysis import interpret
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (int64[S] ids, float[S, 4] h, float[N, 4] rows) => (float[S, 4] y)
    ...     <int64 image = {7}> { m = Equal (ids, image)  n = NonZero (m)
    ...         i = Transpose (n)  y = ScatterND (h, i, rows) }''')
    >>> scope = interpret(model).scopes[model.graph]
    >>> [(str(tie.number), tie.mask.name) for tie in ties_in(model.graph, scope)]
    [('N', 'm')]
    """
    for node in graph:
        if node not in scope.running or node.domain != "":
            continue
        for condition in conditions_of(scope.call(node)):
            if isinstance(condition, Equal):
                for a, b in condition.pairs:
                    if (a - b).constant is None:
                        yield _counted(a - b) or Tie(a - b)
            elif isinstance(condition, Broadcast) and len(condition.shapes) == 2:
                for a, b in zip(*(shape[::-1] for shape in condition.shapes), strict=False):
                    tie = None if 1 in (a.constant, b.constant) else _counted(a - b)
                    if tie is not None:
                        yield tie._replace(or_one=True)


def _counted(difference: Term) -> Tie | None:
    """Return how many elements of a mask are not 0 if a difference of sizes is 0; None: no mask."""
    for leaf in difference.leaves():
        slope, rest = difference.split(leaf)
        mask = _listed(leaf)
        if mask is not None and slope.constant in (1, -1) and leaf not in rest.leaves():
            return Tie(-rest if slope.constant == 1 else rest, mask)
    return None


def _listed(leaf: Symbol) -> ir.Value | None:
    """Return the mask whose elements a NonZero lists, if a size is how many it finds."""
    origin = leaf.origin
    node = origin.value.producer() if isinstance(origin, DimOf) and origin.axis == 1 else None
    return node.inputs[0] if node is not None and node.op_type == "NonZero" else None
