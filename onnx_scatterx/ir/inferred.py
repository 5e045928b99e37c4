"""The shapes that ONNX infers in a model, as far as ONNX Runtime infers the same."""

from __future__ import annotations

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass, ShapeInferencePass

from onnx_scatterx.errors import ModelError
from onnx_scatterx.ir.captured_logs import quiet
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.constants import constant, overridable
from onnx_scatterx.ir.graphs import with_subgraphs

_SMALL = 1 << 10  # bytes of a constant from which a shape may follow


def inferred(model: ir.Model, *, fold: bool = True) -> ir.Model:
    """Return a copy with functions inlined and shapes inferred, for analysis only.

    If ``fold``, shapes also follow from what nodes compute with sizes, as they do in ONNX Runtime
    under its default options. Raises ModelError if a function cannot be inlined.
    """
    copy = cloned(model)
    for identifier in [i for i, f in copy.functions.items() if f.domain in ("", "ai.onnx")]:
        del copy.functions[identifier]  # the operators of these names run (`called_function`)
    try:
        copy = InlinePass()(copy).model
    except (ir.passes.PassError, ValueError) as error:
        raise ModelError(f"the functions of the model cannot be inlined: {error}") from error
    _repeat_constants(copy)
    # If inference fails, the declared shapes are used. This needs no warning.
    with quiet("onnx_ir.passes.common.shape_inference"):
        return ShapeInferencePass(check_type=False, strict_mode=False, data_prop=fold)(copy).model


def _repeat_constants(model: ir.Model) -> None:
    """Give each subgraph the small constants that it reads from outside.

    ONNX Runtime infers shapes from them, and ONNX only from those of the graph itself.
    """
    open_to_callers = overridable(model)
    for number, graph in enumerate(with_subgraphs(model.graph)[1:]):
        own: dict[ir.Value, ir.Value] = {}
        for node in graph:
            for place, value in enumerate(node.inputs):
                if value is None or value.graph is graph:
                    continue
                tensor = constant(value, open_to_callers)
                if tensor is None or tensor.nbytes > _SMALL or tensor.dtype == ir.DataType.STRING:
                    continue
                if value not in own:
                    name = f"{value.name}/in/{number}"
                    again = ir.Tensor(tensor.numpy(), dtype=tensor.dtype)  # its name is its own
                    kind = ir.TensorType(again.dtype)
                    own[value] = ir.Value(
                        name=name, type=kind, shape=again.shape, const_value=again
                    )
                    graph.register_initializer(own[value])
                node.replace_input_with(place, own[value])
