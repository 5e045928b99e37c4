"""New nodes, which are written in the newest spelling, in the spelling of an operator set.

newest                                   set 12
Unsqueeze (x, [0])                       Unsqueeze <axes = [0]> (x)
Shape <start = 1, end = 2> (x)           Gather (Shape (x), [1])
Reshape <allowzero = 1> (x, [0, 4])      needs operator set 14

Those who write a node know no operator set. They may ask what it weighs in one, or whether one has
an operator or an attribute.
"""

from __future__ import annotations

from functools import lru_cache

import onnx.defs

from onnx_scatterx.engine.spelling import newer
from onnx_scatterx.engine.spelling.changes import CHANGES
from onnx_scatterx.engine.spelling.later import Drop
from onnx_scatterx.engine.spelling.respell import NoSpelling, converted, versions_between
from onnx_scatterx.engine.spelling.spelling import Known, Spelling

NEWEST = 24
"""The operator set in whose spelling new nodes are written: the newest that brought an operator."""


def in_set(spelling: Spelling, version: int, known: Known) -> Spelling | NoSpelling:
    """Return a new node, or one that it consists of, as an operator set wants it.

    >>> import numpy as np
    >>> import onnx_ir as ir
    >>> x, axes = ir.Value(name="x"), np.array([0])
    >>> in_set(Spelling("Unsqueeze", (x, axes)), 12, Known()).attributes["axes"].value
    (0,)
    >>> in_set(Spelling("TensorScatter", (x, x)), 23, Known()).last
    24
    """
    for name in spelling.attributes:
        if not has(spelling.op_type, NEWEST, name):
            return NoSpelling(f"{name} is not in the newest spelling", NEWEST, because=name)
    return converted(spelling, NEWEST, version, known)


@lru_cache(1 << 12)
def is_settled(op: str, version: int, attributes: tuple[str, ...]) -> bool:
    """Return whether a set has the newest spelling of all nodes with an operator and attributes.

    >>> is_settled("Concat", 11, ("axis",)), is_settled("Squeeze", 12, ())
    (True, False)
    """
    if not onnx.defs.has(op, max_inclusive_version=version, domain=""):
        return False
    for since in versions_between(op, NEWEST, version):
        change = CHANGES.get((op, since))
        if change is None:
            return False
        respell = change.raised if version > NEWEST else change.lowered
        drops = isinstance(respell, Drop) and respell.names.isdisjoint(attributes)
        if respell is not newer.keep and not drops:
            return False
    schema = onnx.defs.get_schema(op, version, "")
    return schema.attributes.keys() >= {*attributes}


@lru_cache(1 << 10)
def has(op: str, version: int, attribute: str | None = None) -> bool:
    """Return whether an operator set has an operator, and an attribute of it.

    >>> has("Range", 10), has("Range", 11), has("Reshape", 13, "allowzero")
    (False, True, False)
    """
    if not onnx.defs.has(op, max_inclusive_version=version, domain=""):
        return False
    return attribute is None or attribute in onnx.defs.get_schema(op, version, "").attributes
