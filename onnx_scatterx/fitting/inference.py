"""Copies of a model in which functions are inlined, and the shapes that ONNX infers.

ONNX Runtime infers shapes of what it has inlined, and computes small integers for them.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.fitting.propagation import let_onnx_infer
from onnx_scatterx.graphs import all_graphs, all_nodes, cloned, constant, overridable

_SMALL = 1 << 10  # the most bytes of a constant from which a shape may follow
_STEP = 1 << 30  # a step that is longer than any axis


def inferred(model: ir.Model, *, fold: bool = True) -> ir.Model:
    """Return a copy with functions inlined and shapes inferred, for analysis only.

    If ``fold``, computations with sizes are followed, too, as by ONNX Runtime under its default
    options. Raises ModelError if a function cannot be inlined.
    """
    copy = inlined(model)
    _repeat_constants(copy)
    infer_shapes(copy, fold=fold)
    return copy


def inlined(model: ir.Model) -> ir.Model:
    """Return a copy with functions inlined. Raises ModelError if a function cannot be inlined."""
    from onnx_ir.passes.common import InlinePass

    copy = cloned(model)
    for identifier in [i for i, f in copy.functions.items() if f.domain in ("", "ai.onnx")]:
        del copy.functions[identifier]  # operators of these names run instead (`called_function`)
    try:
        return InlinePass()(copy).model
    except (ir.passes.PassError, ValueError) as error:
        raise ModelError(f"the functions of the model cannot be inlined: {error}") from error


def infer_shapes(copy: ir.Model, *, fold: bool) -> None:
    """Let ONNX infer the shapes of a copy, in place. If this fails, the declared shapes are kept.

    Defaults of inputs are dropped first, because ONNX would take them for constants. If ``fold``,
    ONNX also follows the values of short tensors. If a Slice has a step that does not fit into 32
    bits, onnx 1.23 crashes or never returns. So such a step is shortened first, to one with which
    the Slice takes the same elements.
    """
    for value in overridable(copy):
        copy.graph.initializers.pop(value.name or "", None)
        value.const_value = None
    for node in all_nodes(copy) if fold else ():
        read = node.inputs[4:] if node.op_type == "Slice" and node.domain == "" else ()
        steps = constant(read[0], ()) if read else None
        if steps is None or steps.nbytes > _SMALL:
            continue
        if np.any(np.abs(steps.numpy().astype(float)) > _STEP):
            shorter = ir.Tensor(np.clip(steps.numpy(), -_STEP, _STEP))
            made = ir.node("Constant", [], {"value": shorter})
            made.outputs[0].name = f"{node.outputs[0].name}/steps"
            assert node.graph is not None
            node.graph.insert_before(node, made)
            node.replace_input_with(4, made.outputs[0])
    let_onnx_infer(copy, follow=fold)


def _repeat_constants(model: ir.Model) -> None:
    """Copy into each subgraph the small constants that it reads from outside.

    ONNX Runtime infers shapes from such constants, but ONNX only from constants of the same graph.
    """
    open_to_callers = overridable(model)
    for number, graph in enumerate(all_graphs(model.graph)[1:]):
        own: dict[ir.Value, ir.Value] = {}
        for node in graph:
            for index, value in enumerate(node.inputs):
                if value is None or value.graph is graph:
                    continue
                tensor = constant(value, open_to_callers)
                if tensor is None or tensor.nbytes > _SMALL or tensor.dtype == ir.DataType.STRING:
                    continue
                if value not in own:
                    name = f"{value.name}/in/{number}"
                    again = ir.Tensor(tensor.numpy(), dtype=tensor.dtype)  # may be renamed
                    kind = ir.TensorType(again.dtype)
                    own[value] = ir.Value(
                        name=name, type=kind, shape=again.shape, const_value=again
                    )
                    graph.register_initializer(own[value])
                node.replace_input_with(index, own[value])
