"""The copy of a model that guides the draws of its inputs.

Nothing else depends on it, so what cannot be known is left out.
"""

import onnx_ir as ir

from onnx_scatterx.engine.passes import InlineKnownIfs, Job
from onnx_scatterx.errors import ModelError
from onnx_scatterx.fitting import infer_shapes, inferred, inlined
from onnx_scatterx.graphs import all_nodes, cloned, is_operator


def looked_at(model: ir.Model) -> ir.Model:
    """Return a copy with functions inlined, known Ifs replaced by a branch, and shapes inferred."""
    copy = model
    if any(is_operator(node, ("If",)) for node in all_nodes(model)):
        copy = cloned(model)
        InlineKnownIfs.run(Job(copy))
    try:
        return inferred(copy)
    except ModelError:
        copy = without_functions(copy)
        infer_shapes(copy, fold=True)
        return copy


def without_functions(model: ir.Model) -> ir.Model:
    """Return a copy with functions inlined, for which no shapes are inferred.

    A function of another operator set is read as if it had the graph's. If functions cannot be
    inlined even then, they are left as they are.
    """
    if not model.functions:
        return model
    copy = cloned(model)
    for function in copy.functions.values():
        function.opset_imports.update(copy.opset_imports)
    try:
        return inlined(copy)
    except ModelError:
        return copy
