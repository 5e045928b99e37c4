"""Copies of models, which share the data of their tensors, and models that become others."""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.errors import ModelError


def become(model: ir.Model, other: ir.Model) -> None:
    """Give a model the graph and the functions of another one, which is not used further."""
    model.graph = other.graph
    model.functions.clear()
    model.functions.update(other.functions)


def cloned(model: ir.Model) -> ir.Model:
    """Return a copy of a model.

    Raises ModelError if a function or a graph reads an undefined value. ONNX Runtime may never run
    such a function, but it cannot be copied.
    """
    try:
        return model.clone()
    except RuntimeError as error:
        first: BaseException = error
        while isinstance(first.__cause__, Exception):
            first = first.__cause__
        raise ModelError(f"the model cannot be copied: {first}") from first
