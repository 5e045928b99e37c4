"""A model without its large tensors, which only sessions need: they read them from the file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count, islice

import onnx_ir as ir

from onnx_scatterx.files import ir_tensors, replace_tensors
from onnx_scatterx.graphs import overridable
from onnx_scatterx.processes import give_back

_LARGE = 1 << 20  # bytes of a tensor that is not kept


def lighten(model: ir.Model, again: Callable[[], ir.Model]) -> None:
    """Replace large tensors, in place, by some that are read ``again`` if somebody asks for them.

    The other tensors are copied, because a part of a message keeps all of its memory. The defaults
    of inputs are kept.

    >>> text = '''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul (x, w) }'''
    >>> model = ir.from_onnx_text(text)
    >>> lighten(model, lambda: ir.from_onnx_text(text))
    >>> model.graph.initializers["w"].const_value.numpy().tolist()
    [1.0, 2.0]
    """
    kept = {id(value.const_value) for value in overridable(model)}
    places = count()

    def light(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
        place = next(places)
        if isinstance(tensor, ir.ExternalTensor):
            return tensor
        shape = ir.Shape(tensor.shape.numpy())
        if tensor.dtype == ir.DataType.STRING:
            texts = [text.encode() if isinstance(text, str) else text for text in _texts(tensor)]
            return ir.StringTensor(texts, shape=shape, name=tensor.name)
        if id(tensor) in kept or tensor.nbytes <= _LARGE:
            return ir.Tensor(tensor.numpy().copy(), dtype=tensor.dtype, name=tensor.name)
        read = partial(_tensor_at, again, place)
        return ir.LazyTensor(read, dtype=tensor.dtype, shape=shape, name=tensor.name)

    replace_tensors(model, light)
    give_back()


def _texts(tensor: ir.TensorProtocol) -> list[str | bytes]:
    return list(tensor.numpy().ravel().tolist())


def _tensor_at(again: Callable[[], ir.Model], place: int) -> ir.TensorProtocol:
    return next(islice(ir_tensors(again()), place, None))
