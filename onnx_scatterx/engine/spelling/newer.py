"""Writes nodes in the spelling of a newer version of their operator.

older                                    newer
Upsample (x, scales)                9    Resize (x, scales)                            10
Resize (x, scales)                 10    Resize <asymmetric, floor> (x, roi, scales)   11
Dropout <ratio> (x)                11    Dropout (x, ratio)                            12
Softmax <axis = 1> (x)             12    Reshape (Softmax <axis = -1> (Flatten (x)))   13
ReduceMax <axes> (x)               17    ReduceMax (x, axes)                           18
RoiAlign (x, rois, batches)        15    RoiAlign <output_half_pixel> (x, ...)         16
GridSample <mode = "bilinear">     19    GridSample <mode = "linear">                  20

The result computes what the older version computes, as ONNX Runtime does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.spelling.older import MODES
from onnx_scatterx.engine.spelling.spelling import Known, Operand, Spelling, i64, ints

REFERS = "an attribute refers to an attribute of the function"
TYPE = "the type of its input is not known"


def axes_as_input(node: Spelling, known: Known) -> Spelling | str:
    """Write the axes as an input; without it, the node takes all axes."""
    return _listed(node, "axes")


def parts_as_input(node: Spelling, known: Known) -> Spelling | str:
    """Write the sizes of the parts as an input."""
    return _listed(node, "split")


def _listed(node: Spelling, name: str) -> Spelling | str:
    numbers = node.value(name, ())
    if numbers is None:
        return REFERS
    more = [i64(numbers)] if numbers else []
    return node.changed((*node.inputs[:1], *more), **{name: None})


def number_of_parts(node: Spelling, known: Known) -> Spelling | str:
    """Write the number of the parts, if their sizes are not given."""
    if node.input(1) is not None:
        return node
    return node.changed(node.inputs[:1], num_outputs=ir.AttrInt64("num_outputs", node.outputs))


def bounds_as_inputs(node: Spelling, known: Known) -> Spelling | str:
    """Write the bounds and the axes of a Slice as inputs."""
    starts, ends, axes = (node.value(name, ()) for name in ("starts", "ends", "axes"))
    if starts is None or ends is None or axes is None:
        return REFERS
    more = [i64(axes)] if axes else []
    inputs = (*node.inputs[:1], i64(starts), i64(ends), *more)
    return node.changed(inputs, starts=None, ends=None, axes=None)


def count_as_input(node: Spelling, known: Known) -> Spelling | str:
    """Write the number of elements of a TopK as an input."""
    count = node.value("k", None)
    return REFERS if count is None else node.changed((*node.inputs[:1], i64([count])), k=None)


def _kind(operand: Operand, known: Known) -> np.dtype | None:
    """Return the type of the elements of an input."""
    kinds = known.types(operand) if isinstance(operand, ir.Value) else ()
    names = [k.removeprefix("tensor(").removesuffix(")").upper() for k in kinds]
    if len(names) != 1 or names[0] not in ir.DataType.__members__:
        return None
    return ir.DataType[names[0]].numpy()


def pads_as_inputs(node: Spelling, known: Known) -> Spelling | str:
    """Write the pads and the value as inputs."""
    pads, value = node.value("pads", None), node.value("value", 0.0)
    if pads is None or value is None:
        return REFERS
    inputs: list[Operand] = [*node.inputs[:1], i64(pads)]
    # The default is 0.0; a value of -0.0 is written.
    if np.float32(value).view(np.uint32) != 0 and node.value("mode", "constant") != "edge":
        kind = _kind(node.inputs[0], known)
        if kind is None:
            return TYPE
        inputs.append(np.asarray(np.float32(value)).astype(kind))
    return node.changed(inputs, pads=None, value=None)


def limits_as_inputs(node: Spelling, known: Known) -> Spelling | str:
    """Write the limits of a Clip as inputs, also if they are the largest float32."""
    largest = float(np.finfo(np.float32).max)
    low, high = node.value("min", -largest), node.value("max", largest)
    if low is None or high is None:
        return REFERS
    kind = _kind(node.inputs[0], known)
    if kind is None:
        return TYPE
    with np.errstate(over="ignore"):
        limits = [np.asarray(np.float32(limit)).astype(kind) for limit in (low, high)]
    return node.changed((*node.inputs[:1], *limits), min=None, max=None)


def infinite_limits(node: Spelling, known: Known) -> Spelling | str:
    """Write the absent limits of a Clip of float16.

    In set 11, ONNX Runtime computes it in float32, whose largest number is infinite in float16.
    """
    return _limits_of_float16(node, known, np.float16(np.inf))


def finite_limits(node: Spelling, known: Known) -> Spelling | str:
    """Write the absent limits of a Clip of float16: the largest numbers."""
    if _kind(node.inputs[0], known) == np.float64:
        return "ONNX Runtime has no kernel for double there"
    return _limits_of_float16(node, known, np.finfo(np.float16).max)


def _limits_of_float16(node: Spelling, known: Known, most: np.float16) -> Spelling | str:
    limits = (node.input(1), node.input(2))
    if all(limit is not None for limit in limits):
        return node
    kind = _kind(node.inputs[0], known)
    if kind is None:
        return TYPE
    if kind != np.float16:
        return node
    written = [
        np.asarray(a) if v is None else v for v, a in zip(limits, (-most, most), strict=True)
    ]
    return node.changed((node.inputs[0], *written))


def ratio_as_input(node: Spelling, known: Known) -> Spelling | str:
    """Write the ratio as an input; the mask of an older Dropout that does not train is false."""
    ratio = node.value("ratio", 0.5)
    if ratio is None:
        return REFERS
    newer = node.changed((*node.inputs[:1], np.asarray(ratio, np.float32)), ratio=None)
    return _with_mask(newer, np.zeros(1, bool)) if node.outputs > 1 else newer


def mask_of_bools(node: Spelling, known: Known) -> Spelling | str:
    """Write the mask of a Dropout, which has the type of the input before set 10."""
    if node.outputs == 1:
        return node
    kind = _kind(node.inputs[0], known)
    return TYPE if kind is None else _with_mask(node, np.zeros(1, kind))


def _with_mask(node: Spelling, value: np.ndarray) -> Spelling:
    shape = Spelling("Shape", node.inputs[:1])
    filled = {"value": ir.AttrTensor("value", ir.Tensor(value))}
    return replace(node, outputs=1, others={1: Spelling("ConstantOfShape", (shape,), filled)})


def resize(node: Spelling, known: Known) -> Spelling | str:
    """Write the sampling grid of Upsample and of the first Resize: ``x / scale``.

    The nearest element is ``floor(x / scale)`` on an axis that grows, and ``ceil(x / scale)`` on an
    axis that shrinks. One node does one of the two, so there are two nodes if both may be needed.
    """
    data, scales = node.inputs
    mode = node.value("mode", "nearest")
    if mode is None:
        return REFERS

    def sampled(x: Operand, by: Operand, nearest: str) -> Spelling:
        return node.changed(
            (x, np.zeros(0, np.float32), by),
            coordinate_transformation_mode=ir.AttrString(
                "coordinate_transformation_mode", "asymmetric"
            ),
            nearest_mode=ir.AttrString("nearest_mode", nearest),
        )

    numbers = known.array(scales) if not isinstance(scales, Spelling) else None
    if mode != "nearest" or (numbers is not None and np.all(numbers >= 1)):
        return sampled(data, scales, "floor")
    if numbers is not None and np.all(numbers <= 1):
        return sampled(data, scales, "ceil")
    one = np.ones(1, np.float32)
    grown = sampled(data, Spelling("Max", (scales, one)), "floor")
    return sampled(grown, Spelling("Min", (scales, one)), "ceil")


def one_axis(node: Spelling, known: Known) -> Spelling | str:
    """Write a Softmax along one axis; the older one takes all axes from its axis on together."""
    axis = node.value("axis", 1)
    if axis is None:
        return REFERS
    last = {"axis": ir.AttrInt64("axis", -1)}
    shape = known.shape(node.inputs[0]) if not isinstance(node.inputs[0], Spelling) else None
    if axis == -1 or (shape is not None and axis == len(shape) - 1):
        return node.changed(node.inputs, **last)
    (data,) = node.inputs
    flat = Spelling("Flatten", (data,), {"axis": ir.AttrInt64("axis", axis)})
    inner = replace(node, inputs=(flat,), attributes=last)
    back = Spelling("Reshape", (inner, Spelling("Shape", (data,))))
    # A 0 in the shape copies the size of the matrix at its place: that of its rows holds the first
    # size, and that of its columns the second, only if the matrix is cut behind, or before, it.
    rank = 0 if shape is None else len(shape)
    rows = axis + rank if axis < 0 else axis
    copied = [rows > 0, rows < 2, *[False] * rank]
    if shape is None or not all(n or is_0 for n, is_0 in zip(shape, copied, strict=False)):
        back = back.changed(back.inputs, allowzero=ir.AttrInt64("allowzero", 1))
    return back


def axis_as_input(node: Spelling, known: Known) -> Spelling | str:
    """Write the axis of a DFT as an input, because the two versions have different defaults."""
    axis = node.value("axis", 1)
    if axis is None:
        return REFERS
    return node.changed((node.inputs[0], node.input(1), i64(axis)), axis=None)


_MODES = {old: new for new, old in MODES.items()}


def new_modes(node: Spelling, known: Known) -> Spelling | str:
    """Write the new names of the modes of a GridSample."""
    mode = node.value("mode", "bilinear")
    if mode not in _MODES:
        return "its mode is not known"
    return node.changed(node.inputs, mode=ir.AttrString("mode", _MODES[mode]))


def on_corners(node: Spelling, known: Known) -> Spelling | str:
    """Write the coordinates that a RoiAlign had before they could be chosen."""
    name = "coordinate_transformation_mode"
    return node.changed(node.inputs, **{name: ir.AttrString(name, "output_half_pixel")})


def heads_of_planes(node: Spelling, known: Known) -> Spelling | str:
    """Remove the numbers of heads of an Attention whose inputs have an axis of heads."""
    if not {"q_num_heads", "kv_num_heads"} & node.attributes.keys():
        return node
    shape = known.shape(node.inputs[0])
    if shape is None:
        return "its rank is not known"
    return node.without("q_num_heads", "kv_num_heads") if len(shape) == 4 else node


def scatter_elements(node: Spelling, known: Known) -> Spelling | str:
    """Write a Scatter by its new name."""
    return replace(node, op_type="ScatterElements")


def resize_by_name(node: Spelling, known: Known) -> Spelling | str:
    """Write an Upsample by its new name."""
    return replace(node, op_type="Resize")


def infers(node: Spelling, known: Known) -> Spelling | str:
    """Keep a BatchNormalization that does not train."""
    return "it trains" if node.outputs > 1 else node


def default_axes(node: Spelling, known: Known) -> Spelling | str:
    """Write the default axes of a MeanVarianceNormalization.

    ONNX Runtime expands the newer version, and within a function it loses the default.
    """
    axes = node.attributes.get("axes", ints("axes", [0, 2, 3]))
    return node.changed(node.inputs, axes=axes)


def no_kernel(node: Spelling, known: Known) -> Spelling | str:
    """Refuse each node: ONNX Runtime does not run the newer version."""
    return "ONNX Runtime has no kernel for it there"


def keep(node: Spelling, known: Known) -> Spelling | str:
    """Keep a node as it is written."""
    return node
