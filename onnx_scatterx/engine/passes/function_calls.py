"""Calls of functions are replaced by the nodes of the functions."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.graphs import (
    all_nodes,
    called_function,
    cloned,
    is_scatterx_domain,
    may_be_operator,
)


def inline_functions(job: Job, chosen: Callable[[ir.Function], bool]) -> bool:
    """Inline the functions that a runtime calls, and that are chosen; return whether any is.

    None is inlined if one of them cannot be, such as a function of another operator set.
    """
    model = job.model
    nodes = all_nodes(model) if model.functions else ()
    called = (called_function(model, node) for node in nodes)
    wanted = {
        f.identifier()
        for f in called
        if f is not None
        and f.domain
        and not is_scatterx_domain(f.domain)
        and not may_be_operator(f)
        and chosen(f)
    }
    if not wanted:
        return False
    from onnx_ir.passes.common import InlinePass

    def inlined(function: ir.Function) -> bool:
        return function.identifier() in wanted

    try:
        InlinePass(inlined)(cloned(model))
        InlinePass(inlined)(model)
    except (ir.passes.PassError, ValueError):
        return False  # they cannot be inlined
    job.forget_names()
    return True
