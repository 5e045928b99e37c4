"""The last step of the target ``scatterx``: every ScatterX gets its fallback function.

Functions of one name are told apart by their overload, which needs IR version 10, and every graph
that calls one must import the domain.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.native import DOMAIN, OPERATOR, OVERLOADS
from onnx_scatterx.native.body import Body, fallback
from onnx_scatterx.native.fold import fold_transposes
from onnx_scatterx.native.nodes import new_nodes, settle


def finish(model: ir.Model) -> None:
    """Fold transposes into the new ScatterX nodes of a model and add the functions that they call.

    Equal bodies are one function.
    """
    places: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    overloads: dict[Body, str] = {}
    for place in places:
        fold_transposes(place)
        found = list(new_nodes(place))
        for node, body in found:
            if body not in overloads:
                overloads[body] = _add(model, body)
            settle(node, overloads[body])
        if found:
            place.opset_imports.setdefault(DOMAIN, 1)
    if overloads:
        model.graph.opset_imports.setdefault(DOMAIN, 1)
        _raise_version(model)


def _add(model: ir.Model, body: Body) -> str:
    """Add the function of a body and return its overload, which no other has."""
    number, overload = 1, body.stem
    while (DOMAIN, OPERATOR, overload) in model.functions:
        number += 1
        overload = f"{body.stem}_{number}"
    function = fallback(body, overload)
    model.functions[function.identifier()] = function
    return overload


def _raise_version(model: ir.Model) -> None:
    if (model.ir_version or 0) < 4:
        # Before version 4 an initializer had to be an input, and was a constant all the same.
        constants = [v for v in model.graph.inputs if v.name in model.graph.initializers]
        for value in constants:
            model.graph.inputs.remove(value)
    model.ir_version = max(model.ir_version or 0, OVERLOADS)
