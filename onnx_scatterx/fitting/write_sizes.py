"""Sizes that a user fixes are written into a model: its inputs and its declared shapes.

    before   x: float[N, 3, H, W]  ->  y: float[N, 10]       N = 1, H = W = 224
    after    x: float[1, 3, 224, 224]  ->  y: float[1, 10]

A shape that was declared elsewhere in terms of such a size is forgotten: nothing checks the shapes
that an exporter declares of values other than inputs.
"""

from __future__ import annotations

from contextlib import suppress

import onnx_ir as ir

from onnx_scatterx.assumptions import FixedSizes, at_sizes, dims_of
from onnx_scatterx.engine.analysis import Knowledge, ModelAnalysis
from onnx_scatterx.engine.budget import LimitError
from onnx_scatterx.engine.lift import learn_bounds
from onnx_scatterx.engine.passes import Job, Kind, Pass, Settings
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.fitting.failures import NodeFailure, first_failure
from onnx_scatterx.graphs import all_graphs, all_nodes


def forget_declared(model: ir.Model, fixed: FixedSizes) -> None:
    """Forget the dims that depend on a fixed size, of all values but the inputs of the model."""
    inputs = set(model.graph.inputs)
    for graph in all_graphs(model):
        for value in (*graph.inputs, *(v for node in graph for v in node.outputs)):
            dims = list(dims_of(value) or ())
            kept = [None if isinstance(d, str) and fixed.concerns(d) else d for d in dims]
            if kept != dims and value not in inputs:
                value.shape = ir.Shape(kept)


def declare_known(model: ir.Model, known: Knowledge) -> None:
    """Write known numbers into the declared shapes, and into those of the outputs."""
    outputs = set(model.graph.outputs)
    for value in (v for node in all_nodes(model) for v in node.outputs):
        tensor = known.values.get(value)
        if tensor is None or tensor.shape is None or not isinstance(value.type, ir.TensorType):
            continue
        dims = dims_of(value)
        if dims is None and value not in outputs:
            continue
        declared = dims if dims and len(dims) == len(tensor.shape) else (None,) * len(tensor.shape)
        value.shape = ir.Shape(
            d if t.constant is None else t.constant
            for d, t in zip(declared, tensor.shape, strict=True)
        )


def write_sizes(job: Job) -> bool:
    """Write the sizes of the settings; return whether a dim had no number, or another.

    Raises ScatterXError if a node cannot run at these sizes, or at any.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4] x, float[N, M] u) => (float[N, 4] y) { y = Neg (x) }''')
    >>> write_sizes(Job(model, Settings.of(target="qnn", fix={"N": 2})))
    True
    >>> [str(value.shape) for value in model.graph.inputs]
    ['[2,4]', '[2,M]']
    """
    settings = job.settings
    sizes = settings.fixed_in(job.model)
    exported = [(value, value.shape) for value in job.model.graph.inputs]
    changed = declare_fixed(job.model, sizes)
    failure = first_failure(job.model.graph, job.analyses.full.knowledge) if changed else None
    if failure is not None:
        for value, shape in exported:
            value.shape = shape
        always = failure_at_any_sizes(job.model, settings)
        raise ScatterXError(
            f"at the fixed sizes ({sizes}) {failure}" if always is None else always.at_any_sizes
        )
    return changed


WriteSizes = Pass(write_sizes, Kind.GUARD, lambda s: s.options["fix"])


def analysis_at(model: ir.Model, settings: Settings, fixed: FixedSizes) -> ModelAnalysis:
    """Return the analysis of a model into which sizes were written."""
    return ModelAnalysis(
        model,
        distrust_dims=settings.options["distrust_dims"],
        assumed=at_sizes(settings.assumed, fixed),
        learn=learn_bounds,
    )


def failure_at_any_sizes(model: ir.Model, settings: Settings) -> NodeFailure | None:
    """Return the first node that cannot run, whatever the sizes are, if one is known."""
    with suppress(LimitError):
        knowledge = analysis_at(model, settings, FixedSizes({}, {})).knowledge
        return first_failure(model.graph, knowledge)
    return None


def declare_fixed(model: ir.Model, fixed: FixedSizes) -> bool:
    """Write sizes into the inputs of a model; return whether there were others."""
    for value in model.graph.inputs:
        numbers = fixed.shapes.get(value.name or "")
        if numbers is None:
            continue
        dims = dims_of(value) or (None,) * len(numbers)
        value.shape = ir.Shape(
            n if n is not None else d for n, d in zip(numbers, dims, strict=True)
        )
    if fixed.shapes:
        forget_declared(model, fixed)
    return bool(fixed.shapes)
