"""Writes nodes in the spelling of an older operator set, if only the spelling has changed.

newer                                    older
ReduceMax (x, axes)                18    ReduceMax <axes> (x)                17
Split <num_outputs = 2> (x)        18    Split (x, sizes)                    17
Pad (x, pads, value, axes)         18    Pad (x, pads of all axes, value)    17
GridSample <mode = "linear">       20    GridSample <mode = "bilinear">      19
CastLike (x, y)                    15    Cast <to = type of y> (x)           14
Reshape <allowzero = 0> (x, s)     14    Reshape (x, s)                      13
Unsqueeze (x, axes)                13    Unsqueeze <axes> (x)                12
Softmax (x)                        13    Softmax <axis = the last> (x)       12
Constant <value_ints>              12    Constant <value>                    11
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import onnx.defs
import onnx_ir as ir

from onnx_scatterx.ir.cleanup import Names
from onnx_scatterx.ir.constants import NUMBERS
from onnx_scatterx.ir.known_values import Input, KnownValues
from onnx_scatterx.ir.schemas import ALIKE_SINCE, form, narrower


@dataclass(frozen=True)
class Spelling:
    """A spelling of a node: its operator, inputs and attributes, and the number of its outputs.

    An input that is an array becomes a Constant.
    """

    op_type: str
    inputs: tuple[Input, ...]
    attributes: Mapping[str, ir.Attr]
    outputs: int

    def changed(self, inputs: Sequence[Input], **attributes: ir.Attr | None) -> Spelling:
        """Return the spelling with other inputs and changed attributes; None removes one."""
        merged = {**self.attributes, **attributes}
        kept = {name: attribute for name, attribute in merged.items() if attribute is not None}
        return replace(self, inputs=tuple(inputs), attributes=kept)

    def value(self, name: str, default: Any) -> Any:
        """Return the value of an attribute; None if it refers to an attribute of a function."""
        attribute = self.attributes.get(name)
        return default if attribute is None else None if attribute.is_ref() else attribute.value

    def write(self, node: ir.Node, version: int, names: Names) -> None:
        """Change a node in place, and write its constants before it."""
        node.op_type = self.op_type
        node.resize_inputs(len(self.inputs))
        for index, given in enumerate(self.inputs):
            if isinstance(given, np.ndarray):
                given = _constant(node, given, version, names)
            node.replace_input_with(index, given)
        node.attributes.clear()
        node.attributes.update(self.attributes)


_Respell: TypeAlias = Callable[[Spelling, KnownValues], Spelling | str]


def older_spelling(node: ir.Node, new: int, old: int, known: KnownValues) -> Spelling | str | None:
    """Return a node of one operator set in the spelling of an older one, or a reason against it.

    The result is None if the sets differ in more than the spelling, or if the operator is unknown
    to this module.
    """
    steps = [(s, f) for s, f in _CHANGED.get(node.op_type, ()) if old < s <= new]
    if node.domain != "" or not steps or old < ALIKE_SINCE:
        return None
    spelling = Spelling(node.op_type, tuple(node.inputs), dict(node.attributes), len(node.outputs))
    there = new
    for since, respell in steps:
        # After the change of spelling, only element types may differ.
        if not _alike(spelling.op_type, there, since):
            return None
        step = respell(spelling, known)
        if isinstance(step, str):
            return step
        there = since - 1 if step.op_type == spelling.op_type else old
        spelling = step
    if not _alike(spelling.op_type, there, old):
        return None
    inputs = [None if isinstance(v, np.ndarray) else v for v in spelling.inputs]
    schema = onnx.defs.get_schema(spelling.op_type, old, "")
    later = sorted(spelling.attributes.keys() - schema.attributes.keys())
    if later:
        return f"its {', '.join(later)} came later"
    return narrower(inputs, node.outputs, schema, known.types) or spelling


def _alike(name: str, new: int, old: int) -> bool:
    there = onnx.defs.has(name, max_inclusive_version=old, domain="")
    return there and form(onnx.defs.get_schema(name, new, "")) == form(
        onnx.defs.get_schema(name, old, "")
    )


def _constant(node: ir.Node, array: np.ndarray, version: int, names: Names) -> ir.Value:
    """Write a Constant before a node, and return its value."""
    name = names.new(f"{node.name or node.outputs[0].name or node.op_type}/sizes")
    tensor = ir.Tensor(array, name=name)
    made = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], version=version)
    (value,) = made.outputs
    value.name, value.dtype, value.shape = name, tensor.dtype, ir.Shape(array.shape)
    assert node.graph is not None
    node.graph.insert_before(node, made)
    return value


def _reduce(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write the axes as an attribute; without it, all axes are reduced."""
    axes = np.zeros(0, np.int64)
    if len(node.inputs) > 1 and node.inputs[1] is not None:
        given = known.array(node.inputs[1])
        if given is None:
            return _COMPUTED
        axes = given
    if axes.size == 0 and node.value("noop_with_empty_axes", 0) != 0:
        return "it reduces no axis"
    attribute = ir.AttrInt64s("axes", axes.ravel().tolist()) if axes.size else None
    return node.changed(node.inputs[:1], noop_with_empty_axes=None, axes=attribute)


def _split(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write the sizes of the parts as an input, unless all parts are equal."""
    if "num_outputs" not in node.attributes:
        return node
    data, parts, along = node.inputs[0], node.outputs, node.value("axis", 0)
    if along is None or node.value("num_outputs", 0) != parts:
        return "the number of its parts is not known"
    shape = known.shape(data)
    size = shape[along] if shape is not None and -len(shape) <= along < len(shape) else None
    if size is None:
        return f"the size of what it splits is not known on axis {along}"
    part = -(-size // parts)
    last = size - part * (parts - 1)
    if last < 0:
        return "it has more parts than elements"
    sizes = np.array([*[part] * (parts - 1), last], np.int64)
    return node.changed((data, sizes), num_outputs=None)


def _pad(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write pads for all axes."""
    if node.value("mode", "constant") in (None, "wrap"):
        return "its mode began with 19"
    if len(node.inputs) < 4 or node.inputs[3] is None:
        return node.changed(node.inputs[:3])
    data = node.inputs[0]
    shape = known.shape(data)
    pads, axes = known.array(node.inputs[1]), known.array(node.inputs[3])
    if shape is None or pads is None or axes is None:
        return "its pads, axes or rank are not known"
    rank = len(shape)
    at = [int(axis) + (rank if axis < 0 else 0) for axis in axes.ravel()]
    if len(set(at)) != len(at) or not set(at) <= set(range(rank)) or pads.size != 2 * len(at):
        return "its axes are not those of the tensor"
    whole = np.zeros((2, rank), np.int64)
    whole[:, at] = pads.reshape(2, -1)
    return node.changed((data, whole.ravel(), *node.inputs[2:3]))


_MODES = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}


def _grid_sample(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write the old names of modes; only images of two axes were possible."""
    shape, mode = known.shape(node.inputs[0]), node.value("mode", "linear")
    if shape is None or len(shape) != 4:
        return "it is known for pictures of two axes alone"
    if mode not in _MODES:
        return "its mode is not known"
    return node.changed(node.inputs, mode=ir.AttrString("mode", _MODES[mode]))


def _cast_like(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write the type as an attribute of a Cast."""
    like = node.inputs[1]
    types = set(known.types(like)) if isinstance(like, ir.Value) else set()
    kind = types.pop().removeprefix("tensor(").removesuffix(")").upper() if len(types) == 1 else ""
    if kind not in ir.DataType.__members__:
        return "the type of its second input is not known"
    to = ir.AttrInt64("to", ir.DataType[kind])
    return replace(node, op_type="Cast", inputs=node.inputs[:1], attributes={"to": to})


def _without_defaults(node: Spelling, known: KnownValues) -> Spelling | str:
    """Remove attributes that were added later, if they have their defaults: the old behaviour."""
    names = {a.name for a in node.attributes.values() if not a.is_ref() and a.value in (0, "none")}
    return node.changed(node.inputs, **dict.fromkeys(names & _LATER))


def _reshape(node: Spelling, known: KnownValues) -> Spelling | str:
    """Remove ``allowzero``, if the shape has no 0, or if a 0 copies a size."""
    shape = known.array(node.inputs[1])
    without = shape is not None and 0 not in shape
    return node.changed(node.inputs, allowzero=None) if without else _without_defaults(node, known)


def _batch_normalization(node: Spelling, known: KnownValues) -> Spelling | str:
    """Remove ``training_mode``, if the node does not train."""
    if node.outputs > 1 or node.value("training_mode", 0) != 0:
        return "it trains"
    return node.changed(node.inputs, training_mode=None)


def _listed(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write the axes, or the sizes of the parts, as an attribute."""
    if len(node.inputs) < 2 or node.inputs[1] is None:
        return node.changed(node.inputs[:1])
    given = known.array(node.inputs[1])
    if given is None or (node.op_type != "Split" and not given.size):
        return _COMPUTED
    name = "split" if node.op_type == "Split" else "axes"
    return node.changed(node.inputs[:1], **{name: ir.AttrInt64s(name, given.ravel().tolist())})


def _softmax(node: Spelling, known: KnownValues) -> Spelling | str:
    """Keep the axis if it is the last: the older operator takes all axes from it on together."""
    shape, axis = known.shape(node.inputs[0]), node.value("axis", -1)
    if not shape or axis is None:
        return "its rank is not known"
    if axis not in (-1, len(shape) - 1):
        return "its axis is not the last one"
    return node.changed(node.inputs, axis=ir.AttrInt64("axis", len(shape) - 1))


def _resize(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write empty tensors for absent inputs."""
    none = np.zeros(0, np.float32)
    middle = [none if v is None else v for v in (*node.inputs, None, None)[1:3]]
    return node.changed((node.inputs[0], *middle, *node.inputs[3:]))


def _dropout(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write an Identity, if the node does not train."""
    mode = node.inputs[2] if len(node.inputs) > 2 else None
    if node.outputs > 1 or (mode is not None and known.array(mode) != np.False_):
        return "it may train, or gives a mask"
    return replace(node, op_type="Identity", inputs=node.inputs[:1], attributes={})


def _one_value(node: Spelling, known: KnownValues) -> Spelling | str:
    """Write the value as a tensor."""
    (given,) = node.attributes.values()
    kind = NUMBERS.get(given.name)
    if kind is None or given.is_ref():
        return node
    return node.changed(
        [],
        value=ir.AttrTensor("value", ir.Tensor(np.array(given.value, kind))),
        **{given.name: None},
    )


_COMPUTED = "its axes are computed when the model runs"
_LATER = frozenset({"allowzero", "batch_dims", "layout", "reduction", "select_last_index", "start"})
"""Attributes that were added later; 0, or "none", is the old behaviour."""

_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
_CHANGED: Mapping[str, tuple[tuple[int, _Respell], ...]] = {
    **{f"Reduce{name}": ((18, _reduce),) for name in _REDUCTIONS},
    **dict.fromkeys(("ArgMax", "ArgMin", "GatherND"), ((12, _without_defaults),)),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), ((14, _without_defaults),)),
    **dict.fromkeys(("ScatterElements", "ScatterND"), ((16, _without_defaults),)),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax"), ((13, _softmax),)),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), ((13, _listed),)),
    "BatchNormalization": ((14, _batch_normalization),),
    "CastLike": ((15, _cast_like),),
    "Constant": ((12, _one_value),),
    "Dropout": ((12, _dropout),),
    "GridSample": ((20, _grid_sample),),
    "Pad": ((18, _pad),),
    "ReduceSum": ((13, _reduce),),
    "Reshape": ((14, _reshape),),
    "Resize": ((13, _resize),),
    "Shape": ((15, _without_defaults),),
    "Split": ((18, _split), (13, _listed)),
}
"""For each operator: the sets that changed its spelling, and the functions that undo the change."""
