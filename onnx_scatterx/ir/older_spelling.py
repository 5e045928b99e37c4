"""Nodes in an older operator set: whether they mean the same there, and the spelling of that set.

newer                                    older
ReduceMax (x, axes)                18    ReduceMax <axes> (x)                17
Split <num_outputs = 2> (x)        18    Split (x, sizes)                    17
Pad (x, pads, value, axes)         18    Pad (x, pads of all axes, value)    17
GridSample <mode = "linear">       20    GridSample <mode = "bilinear">      19
CastLike (x, y)                    15    Cast <to = type of y> (x)           14

ONNX gives an operator a new version when anything in its schema changes, mostly by adding element
types. So a node may move to an older version if the two have the same inputs, outputs and
attributes, and its own element types are among those of the older one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import onnx.defs
import onnx_ir as ir

from onnx_scatterx.ir.cleanup import Names

Types: TypeAlias = "Callable[[ir.Value], Collection[str]]"
"""Gives the types that a value may have, such as ``tensor(float)``; none if they are not known."""

ALIKE_SINCE = 13
"""Before this set, versions were made that differ in their texts alone, as in negative axes."""
_ADDED = {
    **dict.fromkeys(("Cast", "CastLike"), ("saturate", "round_mode")),
    **dict.fromkeys(("ScatterElements", "ScatterND"), ("reduction",)),
}
"""Attributes that came later, and whose default is the old behaviour."""
_VALUES = {
    ("Pad", "mode"): ("wrap",),
    ("Resize", "coordinate_transformation_mode"): ("half_pixel_symmetric",),
    ("ScatterElements", "reduction"): ("max", "min"),
    ("ScatterND", "reduction"): ("max", "min"),
    ("AveragePool", "ceil_mode"): (1,),
    ("MaxPool", "ceil_mode"): (1,),
}
"""Values of attributes that are new in some version, or changed their meaning."""
_REDEFINED = frozenset({"BitShift", "Mod"})
"""Operators with a version that defines what an earlier one left undefined."""


def difference(node: ir.Node, new: int, old: int, types: Types) -> str | None:
    """Return why a node of one operator set may mean something else in an older one.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 20]>
    ...     g (float[2] x) => (float[2] z) { y = IsNaN (x)
    ...         z = Gelu (x) }''')
    >>> for node in model.graph:
    ...     print(node.op_type, difference(node, 20, 19, lambda _: {"tensor(float)"}))
    IsNaN takes no tensor(float) there
    Gelu began with 20
    """
    name = node.op_type
    if not onnx.defs.has(name, max_inclusive_version=new, domain=""):
        return None  # no operator of ONNX: nothing is known of it in either set
    after = onnx.defs.get_schema(name, new, "")
    if after.since_version <= old:
        return None
    since = after.since_version
    if not onnx.defs.has(name, max_inclusive_version=old, domain=""):
        return f"began with {since}"
    before = onnx.defs.get_schema(name, old, "")
    changed = f"changed after {old}"
    if old < ALIKE_SINCE:
        return changed
    added = [a for a in _ADDED.get(name, ()) if a not in before.attributes]
    if name in _REDEFINED or form(before) != form(after, added):
        return changed
    if any(attribute in node.attributes for attribute in added):
        return changed
    for (operator, attribute), values in _VALUES.items():
        given = node.attributes.get(attribute) if operator == name else None
        if given is not None and (given.is_ref() or given.value in values):
            return changed
    return narrower(node.inputs, node.outputs, before, types)


def form(schema: onnx.defs.OpSchema, without: Sequence[str] = ()) -> object:
    """Return inputs, outputs and attributes, without element types."""
    parameters = [
        [(p.name, p.option, p.is_homogeneous, p.min_arity) for p in given]
        for given in (schema.inputs, schema.outputs)
    ]
    attributes = {
        a.name: (a.type, a.required, a.default_value.SerializeToString(deterministic=True))
        for a in schema.attributes.values()
        if a.name not in without
    }
    return parameters, attributes


def narrower(
    inputs: Sequence[ir.Value | None],
    outputs: Sequence[ir.Value | None],
    schema: onnx.defs.OpSchema,
    types: Types,
) -> str | None:
    """Return which element type of a node's inputs and outputs the schema lacks."""
    allowed = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    bound: dict[str, Collection[str]] = {}  # the types that inputs give to type parameters
    for values, parameters in ((inputs, schema.inputs), (outputs, schema.outputs)):
        for place, value in enumerate(values):
            if value is None or not value.name:
                continue
            parameter = parameters[min(place, len(parameters) - 1)]
            taken = allowed.get(parameter.type_str, {parameter.type_str})
            found = types(value) or bound.get(parameter.type_str, ())
            if not found:
                return f"the type of {value.name!r} is not known"
            if parameter.is_homogeneous:
                bound.setdefault(parameter.type_str, found)
            lacking = sorted(set(found) - taken)
            if lacking:
                return f"takes no {lacking[0]} there"
    return None


class Known(Protocol):
    """What is known of the values of a model."""

    def types(self, value: ir.Value) -> Collection[str]:
        """Return the types that a value may have, such as ``tensor(float)``."""

    def shape(self, value: ir.Value) -> Sequence[int | None] | None:
        """Return the dims of a tensor, None for those that are not known, or None."""

    def array(self, value: ir.Value | None) -> np.ndarray | None:
        """Return the constant that a value is in every run, or None."""


@dataclass(frozen=True)
class Spelling:
    """What a node becomes: its operator, its inputs, and the attributes that change.

    An input that is an array becomes a Constant. An attribute that is None is removed.
    """

    op_type: str
    inputs: tuple[ir.Value | np.ndarray | None, ...]
    attributes: Mapping[str, ir.Attr | None]

    def write(self, node: ir.Node, version: int, names: Names) -> None:
        """Change a node in place, and write its constants before it."""
        node.op_type = self.op_type
        node.resize_inputs(len(self.inputs))
        for place, given in enumerate(self.inputs):
            if isinstance(given, np.ndarray):
                given = _constant(node, given, version, names)
            node.replace_input_with(place, given)
        for name, attribute in self.attributes.items():
            node.attributes.pop(name, None)
            if attribute is not None:
                node.attributes[name] = attribute


_Respell: TypeAlias = Callable[[ir.Node, Known], Spelling | str]


def older_spelling(node: ir.Node, new: int, old: int, known: Known) -> Spelling | str | None:
    """Return a node of one operator set in the spelling of an older one, or why it has none.

    None says that the sets differ in more than the spelling, or that this operator is not known
    here.
    """
    name = node.op_type
    if node.domain != "" or name not in _CHANGED or old < ALIKE_SINCE:
        return None
    since, respell = _CHANGED[name]
    if not old < since <= new:
        return None
    found = respell(node, known)
    if isinstance(found, str):
        return found
    before, after = (
        onnx.defs.get_schema(found.op_type, old, ""),
        onnx.defs.get_schema(name, new, ""),
    )
    # Apart from the spelling, only element types may differ.
    if form(after) != form(onnx.defs.get_schema(name, since, "")):
        return None
    if found.op_type == name and form(before) != form(onnx.defs.get_schema(name, since - 1, "")):
        return None
    inputs = [None if isinstance(v, np.ndarray) else v for v in found.inputs]
    return narrower(inputs, node.outputs, before, known.types) or found


def _constant(node: ir.Node, array: np.ndarray, version: int, names: Names) -> ir.Value:
    """Write a Constant before a node."""
    name = names.new(f"{node.name or node.outputs[0].name or node.op_type}/sizes")
    tensor = ir.Tensor(array, name=name)
    made = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], version=version)
    (value,) = made.outputs
    value.name, value.dtype, value.shape = name, ir.DataType.INT64, ir.Shape(array.shape)
    assert node.graph is not None
    node.graph.insert_before(node, made)
    return value


def _reduce(node: ir.Node, known: Known) -> Spelling | str:
    """Axes are an attribute, and all of them if it is missing."""
    noop = node.attributes.get("noop_with_empty_axes")
    axes = np.zeros(0, np.int64)
    if len(node.inputs) > 1 and node.inputs[1] is not None:
        given = known.array(node.inputs[1])
        if given is None:
            return "its axes are computed when the model runs"
        axes = given
    if axes.size == 0 and noop is not None and (noop.is_ref() or noop.as_int() != 0):
        return "it reduces no axis"
    attribute = ir.AttrInt64s("axes", axes.ravel().tolist()) if axes.size else None
    changed = {"noop_with_empty_axes": None, "axes": attribute}
    return Spelling(node.op_type, (node.inputs[0],), changed)


def _split(node: ir.Node, known: Known) -> Spelling | str:
    """Sizes are an input, or all parts are equal."""
    number, axis = node.attributes.get("num_outputs"), node.attributes.get("axis")
    if number is None:
        return Spelling(node.op_type, tuple(node.inputs), {})
    data, (parts, along) = node.inputs[0], (len(node.outputs), 0)
    if axis is not None and not axis.is_ref():
        along = axis.as_int()
    shape = None if data is None else known.shape(data)
    size = shape[along] if shape is not None and -len(shape) <= along < len(shape) else None
    if number.is_ref() or (axis is not None and axis.is_ref()) or number.as_int() != parts:
        return "the number of its parts is not known"
    if size is None:
        return f"the size of what it splits is not known on axis {along}"
    part = -(-size // parts)
    last = size - part * (parts - 1)
    if last < 0:
        return "it has more parts than elements"
    sizes = np.array([*[part] * (parts - 1), last], np.int64)
    return Spelling(node.op_type, (data, sizes), {"num_outputs": None})


def _pad(node: ir.Node, known: Known) -> Spelling | str:
    """All axes have pads."""
    mode = node.attributes.get("mode")
    if mode is not None and (mode.is_ref() or mode.as_string() == "wrap"):
        return "its mode began with 19"
    if len(node.inputs) < 4 or node.inputs[3] is None:
        return Spelling(node.op_type, tuple(node.inputs[:3]), {})
    data = node.inputs[0]
    shape = None if data is None else known.shape(data)
    pads, axes = known.array(node.inputs[1]), known.array(node.inputs[3])
    if shape is None or pads is None or axes is None:
        return "its pads, axes or rank are not known"
    rank = len(shape)
    at = [int(axis) + (rank if axis < 0 else 0) for axis in axes.ravel()]
    if len(set(at)) != len(at) or not set(at) <= set(range(rank)) or pads.size != 2 * len(at):
        return "its axes are not those of the tensor"
    whole = np.zeros((2, rank), np.int64)
    whole[:, at] = pads.reshape(2, -1)
    return Spelling(node.op_type, (data, whole.ravel(), *node.inputs[2:3]), {})


_MODES = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}


def _grid_sample(node: ir.Node, known: Known) -> Spelling | str:
    """Pictures alone, of two axes, and modes with other names."""
    mode, data = node.attributes.get("mode"), node.inputs[0]
    shape = None if data is None else known.shape(data)
    if shape is None or len(shape) != 4:
        return "it is known for pictures of two axes alone"
    if mode is not None and (mode.is_ref() or mode.as_string() not in _MODES):
        return "its mode is not known"
    older = _MODES["linear" if mode is None else mode.as_string()]
    return Spelling(node.op_type, tuple(node.inputs), {"mode": ir.AttrString("mode", older)})


def _cast_like(node: ir.Node, known: Known) -> Spelling | str:
    """The type is an attribute."""
    like = node.inputs[1]
    types = set() if like is None else set(known.types(like))
    kind = types.pop().removeprefix("tensor(").removesuffix(")").upper() if len(types) == 1 else ""
    if kind not in ir.DataType.__members__:
        return "the type of its second input is not known"
    changed = {"saturate": None, "round_mode": None}
    to = ir.AttrInt64("to", ir.DataType[kind])
    return Spelling("Cast", (node.inputs[0],), {**changed, "to": to})


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
_CHANGED: Mapping[str, tuple[int, _Respell]] = {
    **{f"Reduce{name}": (18, _reduce) for name in _REDUCTIONS},
    "CastLike": (15, _cast_like),
    "GridSample": (20, _grid_sample),
    "Pad": (18, _pad),
    "Split": (18, _split),
}
"""Operators that got another spelling: in which set, and how they are written in the older one."""
