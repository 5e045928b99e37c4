"""Promises of how many elements are chosen, held against what is known of the values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import Assumption, Clause, FixedSizes, Subject, by_name
from onnx_scatterx.engine.analysis import Knowledge, TensorValue, interpret
from onnx_scatterx.engine.terms import term
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.graphs import values_by_name
from onnx_scatterx.pipeline.distinct import check_distinct


def check_possible(model: ir.Model, assumed: Sequence[Clause], fixed: FixedSizes) -> None:
    """Raise ScatterXError if a promise about elements cannot be true, as far as sizes tell."""
    others = [clause for clause in assumed if not clause.is_count]
    sizes = [Clause(name, f"== {number}") for name, number in fixed.symbols.items()]
    knowledge = interpret(model, assumed=(*others, *sizes), once=True)
    check_distinct(model.graph, knowledge, others)
    _check_chosen(model, knowledge, assumed)


def _check_chosen(model: ir.Model, knowledge: Knowledge, assumed: Sequence[Clause]) -> None:
    """Raise ScatterXError if a count cannot be true: of its value's type, size, or elements."""
    named, facts = values_by_name(model.graph), knowledge.scopes[model.graph].facts
    for name, assumption in by_name(clause for clause in assumed if clause.is_count).items():
        subject = Subject.of(name)
        value = named[subject.value]
        tensor = knowledge.values.get(value) or TensorValue(value.dtype, None)
        subject.check({subject.value: tensor.dtype or value.dtype}, ())
        said = "; ".join(str(c) for c in assumed if c.name == name and c.is_count)
        if tensor.shape is not None:
            most = facts.interval(math.prod(tensor.shape, start=term(1)))[1]
            if assumption.chosen_range({})[0] > most:
                raise ScatterXError(
                    f"{said} is assumed, and {subject.value!r} has {most:g} elements"
                )
        known = tensor.constant
        if known is not None and not _holds(subject, assumption, known):
            raise ScatterXError(f"{said} is assumed, and {subject.value!r} is another constant")


def _holds(subject: Subject, assumption: Assumption, known: np.ndarray) -> bool:
    chosen = subject.chosen(known)
    return all(count.holds(chosen, {}) for count in assumption.counts)
