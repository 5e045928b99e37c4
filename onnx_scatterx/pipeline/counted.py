"""Promises of how many elements are chosen, held against what is known of the values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause, FixedSizes, Subject, by_name
from onnx_scatterx.engine.analysis import TensorValue, interpret
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.graphs import values_by_name


def check_chosen(model: ir.Model, assumed: Sequence[Clause], fixed: FixedSizes) -> None:
    """Raise ScatterXError if a count cannot be true: of its value's type, size, or elements."""
    others = [clause for clause in assumed if not clause.is_count]
    sizes = [Clause(name, f"== {number}") for name, number in fixed.symbols.items()]
    values = interpret(model, assumed=(*others, *sizes), once=True).values
    named = values_by_name(model.graph)
    for name, assumption in by_name(clause for clause in assumed if clause.is_count).items():
        subject = Subject.of(name)
        value = named[subject.value]
        tensor = values.get(value) or TensorValue(value.dtype, None)
        subject.check({subject.value: tensor.dtype or value.dtype}, ())
        total = None if tensor.static_shape is None else math.prod(tensor.static_shape)
        if total is not None and any(total < count.range({})[0] for count in assumption.counts):
            said = "; ".join(str(c) for c in assumed if c.name == name and c.is_count)
            raise ScatterXError(f"{said} is assumed, and {subject.value!r} has {total} elements")
        known = tensor.constant
        if known is not None and not all(
            c.holds(subject.chosen(known), {}) for c in assumption.counts
        ):
            said = "; ".join(str(c) for c in assumed if c.name == name and c.is_count)
            raise ScatterXError(f"{said} is assumed, and {subject.value!r} is another constant")
