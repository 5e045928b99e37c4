"""Declared shapes at fixed sizes: stale dims are removed, and known sizes are written.

The shapes that an exporter declares of values other than inputs are not checked by anything.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.optimizer.analysis.domain.scope import Knowledge
from onnx_scatterx.optimizer.assumptions.fixed_sizes import FixedSizes, dims_of


def forget_declared(model: ir.Model, fixed: FixedSizes) -> None:
    """Forget the dims that depend on a fixed size, of all values but the inputs of the model."""
    inputs = set(model.graph.inputs)
    for value in _declared(model):
        if value not in inputs:
            _forget(value, fixed)


def declare_known(model: ir.Model, known: Knowledge) -> None:
    """Write known numbers into the declared shapes, and into those of the outputs."""
    outputs = set(model.graph.outputs)
    for graph in all_graphs(model):
        for value in (v for node in graph for v in node.outputs):
            found = known.values.get(value)
            if found is None or found.shape is None or not isinstance(value.type, ir.TensorType):
                continue
            dims = dims_of(value)
            if dims is None and value not in outputs:
                continue
            declared = (
                dims if dims and len(dims) == len(found.shape) else (None,) * len(found.shape)
            )
            value.shape = ir.Shape(
                d if t.constant is None else t.constant
                for d, t in zip(declared, found.shape, strict=True)
            )


def _declared(model: ir.Model) -> Iterator[ir.Value]:
    """Yield the values of all graphs that have a declared shape, outputs too."""
    for graph in all_graphs(model):
        values = (*graph.inputs, *(v for node in graph for v in node.outputs))
        yield from (v for v in dict.fromkeys(values) if v.shape is not None)


def _forget(value: ir.Value, fixed: FixedSizes) -> None:
    """Forget the dims of a value that depend on a fixed size."""
    dims = dims_of(value) or ()
    if any(isinstance(dim, str) and fixed.concerns(dim) for dim in dims):
        value.shape = ir.Shape(
            None if isinstance(dim, str) and fixed.concerns(dim) else dim for dim in dims
        )
