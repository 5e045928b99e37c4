"""Functions that compute sizes, put in the place of their calls.

A function that is called at several sizes computes each of them when it runs. An inlined call has
one size, which is a known number if the call's size is.
"""

from __future__ import annotations

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from onnx_scatterx.ir.cleanup import cloned
from onnx_scatterx.ir.graphs import called_function, is_scatterx_domain, may_be_operator
from onnx_scatterx.optimizer.transforms.job import Job

SIZED = frozenset({"ConstantOfShape", "If", "Range", "Shape", "Size"})
"""Operators that compute with sizes, or that a size may decide."""


def inline_sized_functions(job: Job) -> bool:
    """Inline the functions of a model that compute sizes, for a device; return whether any does."""
    model = job.model
    if not job.settings.target.is_device:
        return False
    called = [called_function(model, node) for node in _nodes(model)]
    sized = {f.identifier() for f in called if f is not None and _is_sized(f)}
    if not sized:
        return False

    def inlined(function: ir.Function) -> bool:
        return function.identifier() in sized

    try:
        InlinePass(inlined)(cloned(model))
        InlinePass(inlined)(model)
    except (ir.passes.PassError, ValueError):
        return False  # they cannot be inlined
    return True


def _nodes(model: ir.Model) -> list[ir.Node]:
    found = list(model.graph.all_nodes())
    for function in model.functions.values():
        found += function.all_nodes()
    return found


def _is_sized(function: ir.Function) -> bool:
    if is_scatterx_domain(function.domain) or may_be_operator(function) or not function.domain:
        return False
    return any(node.op_type in SIZED and node.domain == "" for node in function.all_nodes())
