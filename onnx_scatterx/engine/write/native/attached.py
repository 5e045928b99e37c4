"""New ScatterX nodes get the functions of standard operators that they fall back to.

Different functions have different domains, which the model and every function with such nodes must
import.
"""

from __future__ import annotations

from itertools import count

import onnx_ir as ir

from onnx_scatterx.engine.budget.spending import own_budget
from onnx_scatterx.engine.write.native.fallback import FallbackSpec, fallback, scatterx_domain
from onnx_scatterx.engine.write.native.fold_transposes import fold_transposes
from onnx_scatterx.engine.write.native.nodes import new_nodes, set_fallback

_FUNCTIONS = 8  # the IR version that has model-local functions


@own_budget()  # a plan is written completely
def add_fallbacks(model: ir.Model) -> bool:
    """Fold transposes into the new ScatterX nodes of a model and add the functions that they call.

    Equal bodies are one function. The result is whether there are such nodes.
    """
    fallbacks: dict[FallbackSpec, ir.Function] = {}
    for graph in _graphs(model):
        fold_transposes(graph)
        for node, body in list(new_nodes(graph)):
            if body not in fallbacks:
                fallbacks[body] = _add(model, body)
            set_fallback(node, fallbacks[body])
            graph.opset_imports.setdefault(node.domain, 1)
    for function in fallbacks.values():
        model.graph.opset_imports.setdefault(function.domain, 1)
    if fallbacks:
        _raise_version(model)
    return bool(fallbacks)


def _add(model: ir.Model, body: FallbackSpec) -> ir.Function:
    """Add the function of a body, in a new domain."""
    taken = {function.domain for function in model.functions.values()}
    domain = next(name for name in map(scatterx_domain, count(1)) if name not in taken)
    function = fallback(body, domain)
    model.functions[function.identifier()] = function
    return function


def _raise_version(model: ir.Model) -> None:
    if (model.ir_version or 0) < 4:
        # Before version 4 an initializer had to be an input, but was a constant.
        constants = [v for v in model.graph.inputs if v.name in model.graph.initializers]
        for value in constants:
            model.graph.inputs.remove(value)
    model.ir_version = max(model.ir_version or 0, _FUNCTIONS)


def needs_fallbacks(model: ir.Model) -> bool:
    """Return whether a model has new ScatterX nodes: their functions are not added yet."""
    return any(True for graph in _graphs(model) for _ in new_nodes(graph))


def _graphs(model: ir.Model) -> list[ir.Graph | ir.Function]:
    return [model.graph, *model.functions.values()]
