"""Writes nodes in the spelling of an older version of their operator.

newer                                    older
ReduceMax (x, axes)                18    ReduceMax <axes> (x)                17
Split <num_outputs = 2> (x)        18    Split (x, sizes)                    17
Pad (x, pads, value, axes)         18    Pad (x, pads of all axes, value)    17
GridSample <mode = "linear">       20    GridSample <mode = "bilinear">      19
CastLike (x, y)                    15    Cast <to = type of y> (x)           14
Shape <start = 1, end = 2> (x)     15    Gather (Shape (x), [1])             14
Reshape <allowzero = 0> (x, s)     14    Reshape (x, s)                      13
Unsqueeze (x, axes)                13    Unsqueeze <axes> (x)                12
Softmax (x)                        13    Softmax <axis = the last> (x)       12
Constant <value_ints>              12    Constant <value>                    11
Clip (x, low, high)                11    Clip <min, max> (x)                 10
Slice (x, starts, ends)            10    Slice <starts, ends> (x)             9

What came later, and says nothing new of a node, is dropped in later.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.spelling.spelling import Known, Spelling, i64, ints
from onnx_scatterx.graphs import INT64_MAX, constant

_COMPUTED = "its axes are computed when the model runs"


def axes_as_attribute(node: Spelling, known: Known) -> Spelling | str:
    """Write the axes as an attribute; without it, all axes are reduced."""
    axes = np.zeros(0, np.int64)
    if len(node.inputs) > 1 and node.inputs[1] is not None:
        stored = known.array(node.inputs[1])
        if stored is None:
            return _COMPUTED
        axes = stored
    if axes.size == 0 and node.value("noop_with_empty_axes", 0) != 0:
        return "it reduces no axis"
    attribute = ir.AttrInt64s("axes", axes.ravel().tolist()) if axes.size else None
    return node.changed(node.inputs[:1], noop_with_empty_axes=None, axes=attribute)


def sizes_of_parts(node: Spelling, known: Known) -> Spelling | str:
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


def pads_of_all_axes(node: Spelling, known: Known) -> Spelling | str:
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
    at = [int(axis) + (rank if axis < 0 else 0) for axis in axes.ravel().tolist()]
    if len(set(at)) != len(at) or not set(at) <= set(range(rank)) or pads.size != 2 * len(at):
        return "its axes are not those of the tensor"
    whole = np.zeros((2, rank), np.int64)
    whole[:, at] = pads.reshape(2, -1)
    return node.changed((data, whole.ravel(), *node.inputs[2:3]))


MODES = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
"""The modes of a GridSample, with their old names."""


def old_modes(node: Spelling, known: Known) -> Spelling | str:
    """Write the old names of modes; only images of two axes were possible."""
    shape, mode = known.shape(node.inputs[0]), node.value("mode", "linear")
    if shape is None or len(shape) != 4:
        return "it is known for pictures of two axes alone"
    if mode not in MODES:
        return "its mode is not known"
    return node.changed(node.inputs, mode=ir.AttrString("mode", MODES[mode]))


def cast(node: Spelling, known: Known) -> Spelling | str:
    """Write a CastLike as a Cast, which has the type as an attribute."""
    like = node.inputs[1]
    types = set(known.types(like)) if isinstance(like, ir.Value) else set()
    kind = types.pop().removeprefix("tensor(").removesuffix(")").upper() if len(types) == 1 else ""
    if kind not in ir.DataType.__members__:
        return "the type of its second input is not known"
    to = ir.AttrInt64("to", ir.DataType[kind])
    return replace(node, op_type="Cast", inputs=node.inputs[:1], attributes={"to": to})


def without_allowzero(node: Spelling, known: Known) -> Spelling | str:
    """Remove ``allowzero``, if the shape has no 0, or if a 0 copies a size."""
    shape = known.array(node.inputs[1])
    without = shape is not None and 0 not in shape
    if not without and node.value("allowzero", 0) != 0:
        return "a size of 0 is meant"
    return node.without("allowzero")


def infers(node: Spelling, known: Known) -> Spelling | str:
    """Remove ``training_mode``, if the node does not train."""
    if node.outputs > 1 or node.value("training_mode", 0) != 0:
        return "it trains"
    return node.changed(node.inputs, training_mode=None)


def listed(node: Spelling, known: Known) -> Spelling | str:
    """Write the axes, or the sizes of the parts, as an attribute."""
    if len(node.inputs) < 2 or node.inputs[1] is None:
        return node.changed(node.inputs[:1])
    array = known.array(node.inputs[1])
    if array is None or (node.op_type != "Split" and not array.size):
        return _COMPUTED
    name = "split" if node.op_type == "Split" else "axes"
    return node.changed(node.inputs[:1], **{name: ir.AttrInt64s(name, array.ravel().tolist())})


def last_axis(node: Spelling, known: Known) -> Spelling | str:
    """Keep the axis if it is the last: the older operator takes all axes from it on together."""
    shape, axis = known.shape(node.inputs[0]), node.value("axis", -1)
    if not shape or axis is None:
        return "its rank is not known"
    if axis not in (-1, len(shape) - 1):
        return "its axis is not the last one"
    return node.changed(node.inputs, axis=ir.AttrInt64("axis", len(shape) - 1))


def empty_inputs(node: Spelling, known: Known) -> Spelling | str:
    """Write empty tensors for absent inputs."""
    none = np.zeros(0, np.float32)
    middle = [none if v is None else v for v in (*node.inputs, None, None)[1:3]]
    return node.changed((node.inputs[0], *middle, *node.inputs[3:]))


def identity(node: Spelling, known: Known) -> Spelling | str:
    """Write an Identity, if the node does not train."""
    mode = node.inputs[2] if len(node.inputs) > 2 else None
    if node.outputs > 1 or (mode is not None and known.array(mode) != np.False_):
        return "it may train, or gives a mask"
    return replace(node, op_type="Identity", inputs=node.inputs[:1], attributes={})


def sizes_of_all_axes(node: Spelling, known: Known) -> Spelling | str:
    """Write the sizes of all axes, and read those that are wanted."""
    first, end = node.value("start", 0), node.value("end", INT64_MAX)
    if first is None or end is None:
        return "its start or its end refers to an attribute of the function"
    if first == 0 and end == INT64_MAX:
        return node.without("start", "end")
    whole = Spelling("Shape", node.inputs[:1], dtype=ir.DataType.INT64)
    shape = known.shape(node.inputs[0])
    if shape is not None and 0 <= first < len(shape) and end == first + 1:
        along = {"axis": ir.AttrInt64("axis", 0)}
        return replace(node, op_type="Gather", inputs=(whole, i64([first])), attributes=along)
    cut = (whole, i64([first]), i64([end]), i64([0]))
    return replace(node, op_type="Slice", inputs=cut, attributes={})


def one_value(node: Spelling, known: Known) -> Spelling | str:
    """Write the value as a tensor."""
    if len(node.attributes) != 1:
        return "it has several values"
    (attribute,) = node.attributes.values()
    tensor = constant(ir.Node("", "Constant", [], [attribute]).outputs[0], ())
    if tensor is None or attribute.name == "value":
        return node
    return node.changed([], value=ir.AttrTensor("value", tensor), **{attribute.name: None})


def attributes(node: Spelling, names: str, known: Known) -> Spelling | str:
    """Write the inputs after the first as attributes of integers; an absent input has none."""
    found: dict[str, ir.Attr] = {}
    for index, name in enumerate(names.split(), start=1):
        if node.input(index) is not None:
            array = known.array(node.input(index))
            if array is None:
                return f"its {name} are computed when the model runs"
            found[name] = ints(name, array.ravel())
    return node.changed(node.inputs[:1], **found)


def pads(node: Spelling, known: Known) -> Spelling | str:
    """Write the pads and the value of a Pad as attributes."""
    value = known.array(node.input(2)) if node.input(2) is not None else np.zeros(())
    older = attributes(replace(node, inputs=node.inputs[:2]), "pads", known)
    if value is None or value.size != 1 or isinstance(older, str):
        return "its pads or its value are computed when the model runs"
    number = float(value.ravel()[0])
    if value.dtype.kind in "bui" or not (_fits(number) or np.isnan(number)):
        return "its value does not fit an attribute"
    return older.changed(older.inputs, value=ir.AttrFloat32("value", number))


def limits(node: Spelling, known: Known) -> Spelling | str:
    """Write the limits of a Clip as attributes."""
    found: dict[str, ir.Attr] = {}
    for index, name in enumerate(("min", "max"), start=1):
        if node.input(index) is None:
            continue
        array = known.array(node.input(index))
        if array is None or array.size != 1 or not _fits(float(array.ravel()[0])):
            return "its limits are computed when the model runs, or do not fit an attribute"
        found[name] = ir.AttrFloat32(name, float(array.ravel()[0]))
    if len(found) == 2 and found["min"].value > found["max"].value:
        return "its limits are in the wrong order"
    return node.changed(node.inputs[:1], **found)


def _fits(number: float) -> bool:
    """Return whether a number is a float32."""
    with np.errstate(over="ignore"):
        return float(np.float32(number)) == number


def bounds(node: Spelling, known: Known) -> Spelling | str:
    """Write the bounds of a Slice as attributes, if it takes each element."""
    steps = known.array(node.input(4)) if node.input(4) is not None else np.ones(1)
    if steps is None or np.any(steps != 1):
        return "its steps are not 1"
    return attributes(replace(node, inputs=node.inputs[:4]), "starts ends axes", known)


def count(node: Spelling, known: Known) -> Spelling | str:
    """Write the number of elements of a TopK as an attribute."""
    number = known.array(node.input(1))
    if number is None or number.size != 1:
        return "its k is computed when the model runs"
    return node.changed(node.inputs[:1], k=ir.AttrInt64("k", int(number.ravel()[0])))


def axis(node: Spelling, known: Known) -> Spelling | str:
    """Write the axis of a DFT as an attribute."""
    array = known.array(node.input(2)) if node.input(2) is not None else np.array(-2)
    shape = known.shape(node.inputs[0])
    if array is None or array.size != 1 or (shape is None and array < 0):
        return _COMPUTED
    number = int(array.ravel()[0])
    number += len(shape) if number < 0 and shape is not None else 0
    return node.changed(node.inputs[:2], axis=ir.AttrInt64("axis", number))


def counted_axes(node: Spelling, known: Known) -> Spelling | str:
    """Count axes from the front: before set 11, ONNX does not say that they may be negative."""
    found: dict[str, ir.Attr] = {}
    for name in ("axis", "axes"):
        value = node.value(name, 0)
        numbers = value if isinstance(value, (list, tuple)) else [value]
        if value is None:
            return "its axes refer to an attribute of the function"
        if all(number >= 0 for number in numbers):
            continue
        shape = known.shape(node.inputs[0])
        if shape is None:
            return "its axes are negative, and its rank is not known"
        rank = len(shape) + (len(numbers) if node.op_type == "Unsqueeze" else 0)
        counted = [number + rank if number < 0 else number for number in numbers]
        one = ir.AttrInt64(name, counted[0])
        found[name] = one if isinstance(value, int) else ints(name, counted)
    return node.changed(node.inputs, **found)


def asymmetric(node: Spelling, known: Known) -> Spelling | str:
    """Write a Resize of set 10, which samples at ``x / scale``."""
    mode, nearest = node.value("mode", "nearest"), node.value("nearest_mode", "round_prefer_floor")
    scales = known.array(node.input(2))
    if node.value("coordinate_transformation_mode", "half_pixel") != "asymmetric":
        return "its sampling grid came with operator set 11"
    if scales is None or not scales.size or node.input(3) is not None:
        return "its scales are not known"
    grows, shrinks = np.all(scales >= 1), np.all(scales <= 1)
    alike = (grows and nearest == "floor") or (shrinks and nearest == "ceil")
    if mode != "linear" and not (mode == "nearest" and alike):
        return "its mode came with operator set 11"
    older = node.without(*(name for name in node.attributes if name != "mode"))
    return older.changed((node.inputs[0], node.inputs[2]))


def upsample(node: Spelling, known: Known) -> Spelling | str:
    """Write a Resize that only grows as an Upsample."""
    scales = known.array(node.input(1))
    if scales is None or not np.all(scales >= 1):
        return "it may shrink"
    return replace(node, op_type="Upsample")


def one_scale(node: Spelling, known: Known) -> Spelling | str:
    """Remove the axis of a quantizer that has one scale."""
    scale = node.inputs[1]
    shape = None if isinstance(scale, Spelling) else known.shape(scale)
    if shape is None or any(size != 1 for size in shape):
        return "it may have a scale for each position of an axis"
    return node.without("axis")
