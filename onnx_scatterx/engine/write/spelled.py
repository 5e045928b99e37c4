"""A new node, written in the newest spelling, as the operator set of the graph wants it.

What is asked about its inputs, the analysis knows, and the fragment of which it is a part.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.engine.spelling import (
    Known,
    NoSpelling,
    Spelling,
    converted,
    in_set,
    is_settled,
    type_text,
)
from onnx_scatterx.engine.write.abstract_values import Attributes, attribute
from onnx_scatterx.text import Reason, RefusedError

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer


class KnownHere(Known):
    """What a writer knows of the values that its nodes read."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer.overridable)
        self._writer = writer

    def types(self, value: ir.Value) -> Collection[str]:
        """Return the type of a value, as schemas write it; () if not known."""
        dtype = self._writer.dtype_of(value)
        return () if dtype is None else {type_text(dtype)}

    def shape(self, value: object) -> Sequence[int | None] | None:
        """Return the dims of a value or an array (None: an unknown dim); None if not known."""
        if not isinstance(value, ir.Value):
            return super().shape(value)
        shape = self._writer.shape_of(value)
        return None if shape is None else [dim.constant for dim in shape]


def newest_spelling(op: str, inputs: Sequence[ir.Value | None], attributes: Attributes) -> Spelling:
    """Return a node as it is given to a writer."""
    converted = {k: attribute(k, v) for k, v in attributes.items()}
    return Spelling(op, (*inputs,), converted)


def spelled(
    w: Writer, op: str, inputs: Sequence[ir.Value | None], attributes: Attributes
) -> Spelling | None:
    """Return a node as the operator set of the graph wants it, None if that is as it is written.

    Refuses a node that the set lacks. A function may be of another set than the model: ONNX Runtime
    inlines it, and reads its nodes in the set of the model. So both must spell the node alike.
    """
    names, other = (*attributes,), w.also_read_as
    if is_settled(op, w.version, names) and (other is None or is_settled(op, other, names)):
        return None
    node = newest_spelling(op, inputs, attributes)
    here = in_set(node, w.version, w.known_here)
    if isinstance(here, NoSpelling):
        because = f": {here.because}" if here.because else ""
        raise RefusedError(Reason.OPSET, f"{op} needs operator set {here.last}{because}")
    check_alike(w, here)
    return None if here.is_same(node) else here


def weight(w: Writer, op: str, x: ir.Value, **attributes: int) -> int:
    """Return how many nodes a node of one input takes in the operator set."""
    if is_settled(op, w.version, (*attributes,)):
        return 1
    other = in_set(newest_spelling(op, [x], attributes), w.version, w.known_here)
    return other.nodes if isinstance(other, Spelling) else 1


def check_alike(w: Writer, here: Spelling) -> None:
    """Refuse a node of a function that the operator set of the model spells otherwise."""
    other = w.also_read_as
    there = here if other is None else converted(here, w.version, other, w.known_here)
    if isinstance(there, NoSpelling) or not there.is_same(here):
        why = f"{here.op_type} differs in operator sets {w.version} and {other}"
        raise RefusedError(Reason.OPSET, why)
