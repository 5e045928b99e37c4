"""The table of ONNX's operators: a row for each, and the sets of those that share a property.

To add an operator, give it a row in ``movement``, ``elementwise`` or ``layers``.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from onnx_scatterx.operators.columns import UNKNOWN, Operator
from onnx_scatterx.operators.elementwise import ELEMENTWISE
from onnx_scatterx.operators.layers import LAYERS
from onnx_scatterx.operators.movement import MOVEMENT


class _Table(dict[str, Operator]):
    def __missing__(self, op_type: str) -> Operator:
        return UNKNOWN


OPERATORS = _Table(MOVEMENT | ELEMENTWISE | LAYERS)
"""What is known of each operator of the default domain, by its name: ``OPERATORS["Add"]``.

Of any other operator, what is safe to assume.
"""


def described(node: ir.Node) -> Operator:
    """Return what is known of the operator of a node.

    A function or an operator of another domain may have the same name.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 18, "other" : 1]>
    ...     g (float[2] x) => (float[2] z) { y = Flatten (x) z = other.Flatten (y) }''')
    >>> [described(node).keeps_order for node in model.graph]
    [True, False]
    """
    return OPERATORS[node.op_type] if node.domain == "" else UNKNOWN


def those(holds: Callable[[Operator], object]) -> frozenset[str]:
    """Return the operators whose rows have a property.

    >>> sorted(those(lambda row: row.keeps_order))
    ['Flatten', 'Identity', 'Reshape', 'Squeeze', 'Unsqueeze']
    """
    return frozenset(name for name, row in OPERATORS.items() if holds(row))


SCATTERS = those(lambda row: row.writes)
"""The operators of ONNX that write by indices."""

READS = those(lambda row: row.reads)
"""The operators of ONNX that read by indices."""

RANDOM = those(lambda row: row.random)
"""Operators that draw random numbers."""
