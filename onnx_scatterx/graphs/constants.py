"""Finds the constants of a model, and the shapes that ONNX infers.

model.graph.initializers["w"]         a constant
the same, and "w" is an input, too    a default, which a caller may override (IR version 4)
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import numpy as np
import onnx_ir as ir
from onnx_ir.passes.common import InlinePass, ShapeInferencePass

from onnx_scatterx.errors import ModelError
from onnx_scatterx.graphs.cleanup import cloned
from onnx_scatterx.graphs.traversal import all_nodes, with_subgraphs
from onnx_scatterx.processes.collection import quiet

NUMBERS = {
    "value_int": np.int64, "value_ints": np.int64,
    "value_float": np.float32, "value_floats": np.float32,
}  # fmt: skip
"""The attributes of a Constant that hold numbers, and the types of these numbers."""


def overridable(model: ir.Model) -> frozenset[ir.Value]:
    """Return the initializers that a caller may override: those that are inputs, too.

    Before IR version 4, every initializer of the main graph had to be an input: such an initializer
    is a constant.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x = {1, 2}) => (float[2] y) { y = Neg (x) }''')
    >>> [value.name for value in overridable(model)]
    ['x']
    >>> constant(model.graph.inputs[0], overridable(model)) is None
    True
    """
    constant_inputs = (model.ir_version or 0) < 4
    inputs = [] if constant_inputs else model.graph.inputs
    return frozenset(v for v in inputs if v.const_value is not None)


def constant(value: ir.Value | None, overridable: Collection[ir.Value]) -> ir.TensorProtocol | None:
    """Return the tensor of an initializer or Constant that a value is in every run; else None."""
    if value is None or value in overridable:
        return None
    if value.const_value is not None:
        return value.const_value
    node = value.producer()
    if node is None or node.op_type != "Constant" or node.domain != "":
        return None
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            return None
        if name == "value":
            return cast(ir.TensorProtocol, attribute.value)
        if name in NUMBERS:
            return ir.Tensor(np.asarray(attribute.value, NUMBERS[name]))
    return None


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
    ONNX also computes small integers. If a Slice has a step that does not fit into 32 bits, onnx
    1.23 crashes or never returns. So such a step is shortened first, to one with which the Slice
    takes the same elements.
    """
    for value in overridable(copy):
        copy.graph.initializers.pop(value.name or "", None)
        value.const_value = None
    for node in all_nodes(copy) if fold else ():
        given = node.inputs[4:] if node.op_type == "Slice" and node.domain == "" else ()
        steps = constant(given[0], ()) if given else None
        if steps is None or steps.nbytes > _SMALL:
            continue
        if np.any(np.abs(steps.numpy().astype(float)) > _STEP):
            shorter = ir.Tensor(np.clip(steps.numpy(), -_STEP, _STEP))
            made = ir.node("Constant", [], {"value": shorter})
            made.outputs[0].name = f"{node.outputs[0].name}/steps"
            assert node.graph is not None
            node.graph.insert_before(node, made)
            node.replace_input_with(4, made.outputs[0])
    with quiet("onnx_ir.passes.common.shape_inference"):
        ShapeInferencePass(check_type=False, strict_mode=False, data_prop=fold)(copy)


def _repeat_constants(model: ir.Model) -> None:
    """Copy into each subgraph the small constants that it reads from outside.

    ONNX Runtime infers shapes from such constants, but ONNX only from constants of the same graph.
    """
    open_to_callers = overridable(model)
    for number, graph in enumerate(with_subgraphs(model.graph)[1:]):
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


_PACKED = {
    **dict.fromkeys(("Conv", "ConvTranspose"), (1,)),
    **dict.fromkeys(("Gemm", "MatMul"), (0, 1)),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 2)),
}


def packed(node: ir.Node) -> tuple[int, ...]:
    """Return the inputs of a node that ONNX Runtime packs if they are constant.

    The last bits of the node's results depend on the packing.
    """
    return _PACKED.get(node.op_type, ()) if node.domain == "" else ()
