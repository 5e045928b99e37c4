"""The last step of the target ``scatterx``: every ScatterX gets its fallback function.

Different functions have different domains, which the model and every function with such nodes must
import.
"""

from __future__ import annotations

from itertools import count

import onnx_ir as ir

from onnx_scatterx.ir.graphs import FUNCTIONS, domain_of
from onnx_scatterx.optimizer.native.fallback import FallbackSpec, fallback
from onnx_scatterx.optimizer.native.fold_transposes import fold_transposes
from onnx_scatterx.optimizer.native.nodes import new_nodes, set_fallback


def attach_fallbacks(model: ir.Model) -> bool:
    """Fold transposes into the new ScatterX nodes of a model and add the functions that they call.

    Equal bodies are one function. The result is whether there are such nodes.
    """
    places: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    fallbacks: dict[FallbackSpec, ir.Function] = {}
    for place in places:
        fold_transposes(place)
        for node, body in list(new_nodes(place)):
            if body not in fallbacks:
                fallbacks[body] = _add(model, body)
            set_fallback(node, fallbacks[body])
            place.opset_imports.setdefault(node.domain, 1)
    for function in fallbacks.values():
        model.graph.opset_imports.setdefault(function.domain, 1)
    if fallbacks:
        _raise_version(model)
    return bool(fallbacks)


def _add(model: ir.Model, body: FallbackSpec) -> ir.Function:
    """Add the function of a body, in a new domain."""
    taken = {function.domain for function in model.functions.values()}
    domain = next(name for name in map(domain_of, count(1)) if name not in taken)
    function = fallback(body, domain)
    model.functions[function.identifier()] = function
    return function


def _raise_version(model: ir.Model) -> None:
    if (model.ir_version or 0) < 4:
        # Before version 4 an initializer had to be an input, but was a constant.
        constants = [v for v in model.graph.inputs if v.name in model.graph.initializers]
        for value in constants:
            model.graph.inputs.remove(value)
    model.ir_version = max(model.ir_version or 0, FUNCTIONS)
