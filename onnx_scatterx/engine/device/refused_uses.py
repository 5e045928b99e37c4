"""Whether a use is one that a target refuses, fact by fact (``RefusedUse`` has the facts)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx.defs
import onnx.helper

from onnx_scatterx.engine.analysis import TensorValue
from onnx_scatterx.operators import OPERATORS
from onnx_scatterx.targets import RefusedUse

if TYPE_CHECKING:
    from onnx_scatterx.engine.device.uses import Use


def is_refused(use: Use, refused: RefusedUse) -> bool:
    """Return whether all that is said of a refused use holds for a use.

    >>> from onnx_scatterx.engine.device.uses import Use
    >>> import onnx_ir as ir
    >>> line = TensorValue.of(np.zeros((2, 2)))
    >>> pad = Use("Pad", [line, TensorValue.of(np.array([0, 1, 0, 0]))], [line])
    >>> is_refused(pad, RefusedUse(uneven=True)), is_refused(pad, RefusedUse(ranks=frozenset({3})))
    (True, False)
    """
    return all(_FACTS[name](use, value) for name, value in refused.facts) and all(
        _value_of(use, name) in values for name, values in refused.attributes
    )


def _has_type(use: Use, types: frozenset[str]) -> bool:
    return use.dtype is not None and use.dtype.name.lower() in types


def _has_index_type(use: Use, types: frozenset[str]) -> bool:
    places = OPERATORS[use.op_type].sizes or (OPERATORS[use.op_type].signed_input,)
    tensor = _input(use, next(iter(places)))
    return tensor is not None and tensor.dtype is not None and tensor.dtype.name.lower() in types


def _has_scalars(use: Use, wanted: bool) -> bool:
    inputs = [t for i, t in enumerate(use.inputs) if t is not None and not _is_constant(use, i)]
    return wanted == any(t.shape == () for t in [*inputs, *use.outputs])


def _has_batch(use: Use, wanted: bool) -> bool:
    dims = None if use.data is None else use.data.shape
    return dims is None or wanted == (dims[:1] != () and dims[0].constant != 1)


def _names_axes(use: Use, least: int) -> bool:
    """Return whether a node names so many axes; one without axes names all."""
    place = 3 if use.op_type == "Slice" else 1
    axes, data = _input(use, place), _input(use, 0)
    if axes is None and "axes" in use.attributes:
        return len(use.attributes["axes"]) >= least
    if axes is None:
        return data is None or data.rank is None or data.rank >= least
    count = axes.static_shape
    return count is None or int(np.prod(count)) >= least


def _has_step(use: Use, steps: frozenset[int]) -> bool:
    tensor = _input(use, 4)
    if tensor is None:
        return 1 in steps
    if tensor.constant is None:
        return True
    return any(max(int(s), -1) in steps for s in tensor.constant.ravel().tolist())


def _begins_last(use: Use, wanted: bool) -> bool:
    data, starts, axes = (_input(use, i) for i in (0, 1, 3))
    sizes = None if data is None else data.static_shape
    if sizes is None or starts is None or starts.constant is None:
        return True
    at = range(len(sizes)) if axes is None else axes.constant
    if at is None:
        return True
    pairs = zip(starts.constant.ravel(), np.ravel(at), strict=True)
    return wanted == any(int(s) in (-1, sizes[int(a)] - 1) for s, a in pairs)


def _has_zeros(use: Use, wanted: bool) -> bool:
    shape = _input(use, 1)
    return shape is None or shape.constant is None or wanted == bool((shape.constant == 0).any())


def _has_columns(use: Use, columns: frozenset[int]) -> bool:
    indices = _input(use, 1)
    shape = None if indices is None else indices.static_shape
    return not shape or shape[-1] in columns


def _is_uneven(use: Use, wanted: bool) -> bool:
    pads = _input(use, 1)
    if pads is None or pads.constant is None:
        return True
    before, behind = np.split(pads.constant, 2)
    return wanted == bool((before != behind).any())


def _pads_first(use: Use, wanted: bool) -> bool:
    pads, axes = _input(use, 1), _input(use, 3)
    if pads is None or pads.constant is None or axes is not None:
        return True
    before, behind = np.split(pads.constant, 2)
    return wanted == bool(before[:1].any() or behind[:1].any())


def _is_wide(use: Use, wanted: bool) -> bool:
    data, weights = _input(use, 0), _input(use, 1)
    sizes = None if data is None else data.static_shape
    kernel = None if weights is None else weights.static_shape
    if sizes is None or kernel is None or len(sizes) != len(kernel):
        return True
    sizes, kernel = sizes[2:], kernel[2:]
    ones, axes = [1] * len(kernel), len(kernel)
    pads, given = [0] * 2 * axes, use.attributes
    pads[axes - 1] = pads[-1] = kernel[-1] // 2
    keeps = kernel[-1] % 2 == 1 and [*given.get("pads", [])] == pads
    keeps &= [*given.get("strides", ones)] == [*given.get("dilations", ones)] == ones
    alone = [*sizes[:-1]] == [*kernel[:-1]] == ones[1:]
    return wanted == (keeps and alone and kernel[-1] >= _WIDE and 4 * kernel[-1] > sizes[-1])


_WIDE = 9


def _is_longer(use: Use, wanted: bool) -> bool:
    data, indices = _input(use, 0), _input(use, 1)
    if data is None or indices is None or data.shape is None or indices.shape is None:
        return True
    axis = int(use.attributes.get("axis", 0))
    if not -len(data.shape) <= axis < len(data.shape) == len(indices.shape):
        return True
    return wanted != use.facts.is_nonnegative(data.shape[axis] - indices.shape[axis])


def _has_fewer(use: Use, least: int) -> bool:
    dims = None if use.data is None else use.data.shape
    if not dims:
        return dims is None
    size = dims[int(_given(use, "axis") or 0) % len(dims)].constant
    return size is None or size < least


def _is_resized(use: Use, sign: int) -> bool:
    """Return whether the output may have more elements along an axis; of sign -1, fewer."""
    before, after = None if use.data is None else use.data.shape, use.outputs[0].shape
    if before is None or after is None or len(before) != len(after):
        return True
    pairs = zip(before, after, strict=True)
    return not all(use.facts.is_nonnegative((old - new) * sign) for old, new in pairs)


def _counts_from_end(use: Use, wanted: bool) -> bool:
    return wanted == (int(_given(use, "axis") or 0) < 0)


def _count(use: Use) -> int:
    return sum(tensor is not None for tensor in use.inputs)


def _is_by_group(use: Use, wanted: bool) -> bool:
    data, scale = _input(use, 0), _input(use, 1)
    if data is None or scale is None or not data.shape or not scale.shape or len(data.shape) < 2:
        return True
    return wanted == (scale.shape[0] != data.shape[1])


def _lacks(use: Use, names: frozenset[str]) -> bool:
    names -= use.attributes.keys()  # an input was an attribute in older sets
    known = onnx.defs.get_schema(use.op_type).attributes if onnx.defs.has(use.op_type) else {}
    is_lacked = any(name in known for name in names)
    return is_lacked or any(_input(use, i) is None for i in _places(use, names))


def _has_constant(use: Use, names: frozenset[str]) -> bool:
    return any(_input(use, i) is not None and _is_constant(use, i) for i in _places(use, names))


def _has_computed(use: Use, names: frozenset[str]) -> bool:
    places = _places(use, names)
    return any(_input(use, i) is not None and not _is_constant(use, i) for i in places)


def _has_whole(use: Use, names: frozenset[str]) -> bool:
    result = use.outputs[0].shape if use.outputs else None
    tensors = [_input(use, i) for i in _places(use, names)]
    shapes = [t.shape for t in tensors if t is not None]
    return result is None or any(shape is None or shape == result for shape in shapes)


def _has_broadcast(use: Use, names: frozenset[str]) -> bool:
    result = use.outputs[0].shape if use.outputs else None
    tensors = [_input(use, i) for i in _places(use, names)]
    shapes = [t.shape for t in tensors if t is not None]
    return any(
        shape is None or (shape != result and any(size.constant != 1 for size in shape))
        for shape in shapes
    )


def _has_ranks(use: Use, rank_of: tuple[tuple[str, frozenset[int]], ...]) -> bool:
    for name, ranks in rank_of:
        tensors = [_input(use, i) for i in _places(use, frozenset({name}))]
        tensors += [use.outputs[i] for i in _results(use, name)]
        if not any(t is not None and (t.rank is None or t.rank in ranks) for t in tensors):
            return False
    return True


def _of_equation(name: str) -> Callable[[Use, Any], bool]:
    """Return a function of ``equations.py``, which is loaded if a target asks for it."""

    def fact(use: Use, value: Any) -> bool:
        from onnx_scatterx.engine.device import equations

        return bool(getattr(equations, name)(use, value))

    return fact


_FACTS: dict[str, Callable[[Use, Any], bool]] = {
    "types": _has_type,
    "index_types": _has_index_type,
    "ranks": lambda use, ranks: use.rank in ranks,
    "scalars": _has_scalars,
    "batch": _has_batch,
    "axes": _names_axes,
    "steps": _has_step,
    "last": _begins_last,
    "zeros": _has_zeros,
    "columns": _has_columns,
    "uneven": _is_uneven,
    "first": _pads_first,
    "wide": _is_wide,
    "positions": lambda use, wanted: wanted == use.of_positions,
    "longer": _is_longer,
    "fewer": _has_fewer,
    "larger": lambda use, wanted: wanted == _is_resized(use, 1),
    "smaller": lambda use, wanted: wanted == _is_resized(use, -1),
    "from_end": _counts_from_end,
    "dots": _of_equation("has_dots"),
    "uneven_dots": _of_equation("has_uneven_dots"),
    "turned": _of_equation("is_turned"),
    "letters": _of_equation("has_letters"),
    "inputs": lambda use, counts: _count(use) in counts,
    "more_inputs": lambda use, most: _count(use) > most,
    "by_group": _is_by_group,
    "absent": _lacks,
    "constant": _has_constant,
    "computed": _has_computed,
    "whole": _has_whole,
    "broadcast": _has_broadcast,
    "rank_of": _has_ranks,
}


def _input(use: Use, i: int) -> TensorValue | None:
    return use.inputs[i] if i < len(use.inputs) else None


def _is_constant(use: Use, i: int) -> bool:
    """Return whether an input is a constant, or follows from constants: every compiler folds it."""
    tensor = _input(use, i)
    known = tensor is not None and tensor.constant is not None
    return known or (i < len(use.is_constant) and use.is_constant[i])


def _places(use: Use, names: frozenset[str]) -> list[int]:
    """Return the places of inputs with some names in ONNX's newest schema."""
    if not onnx.defs.has(use.op_type):
        return []
    inputs = onnx.defs.get_schema(use.op_type).inputs
    return [i for i, parameter in enumerate(inputs) if parameter.name in names]


def _results(use: Use, name: str) -> list[int]:
    """Return the place of an output with a name in ONNX's newest schema."""
    outputs = onnx.defs.get_schema(use.op_type).outputs if onnx.defs.has(use.op_type) else []
    return [i for i, o in enumerate(outputs[: len(use.outputs)]) if o.name == name]


def _value_of(use: Use, name: str) -> Any:
    """Return the value of an attribute, an axis counted from the start, or its default."""
    value = _given(use, name)
    rank = None if use.data is None else use.data.rank
    if name == "axis" and isinstance(value, int) and value < 0 and rank is not None:
        return value + rank
    return value


def _given(use: Use, name: str) -> Any:
    """Return the value of an attribute, or its default."""
    value: Any = use.attributes.get(name)
    if value is None and onnx.defs.has(use.op_type):
        known = onnx.defs.get_schema(use.op_type).attributes.get(name)
        if known is not None and known.default_value.name:
            value = onnx.helper.get_attribute_value(known.default_value)
    return value.decode() if isinstance(value, bytes) else value
