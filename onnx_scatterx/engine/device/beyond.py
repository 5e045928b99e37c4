"""Which limits of its operator a use breaks: each limit of a profile has a function here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import onnx.defs

from onnx_scatterx.engine.analysis import TensorValue, size_name
from onnx_scatterx.engine.device.refused_uses import is_refused
from onnx_scatterx.operators import OPERATORS
from onnx_scatterx.targets import OperatorLimits

if TYPE_CHECKING:
    from onnx_scatterx.engine.device.uses import Use


def beyond(limits: OperatorLimits, use: Use) -> Iterator[str]:
    """Yield the unsupported parts of a use, as words that say what it is."""
    dtype = use.dtype
    if dtype is not None and not limits.takes_type(dtype):
        yield f"{use.op_type} of {dtype.name.lower()}"
    for name in limits.given:
        if name in _BROKEN:
            yield from _BROKEN[name](limits, use)


def _max_rank(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if limits.max_rank is not None and use.rank > limits.max_rank:
        yield f"{use.op_type} of rank {use.rank}"


def _reductions(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if limits.reductions is not None and use.reduction not in limits.reductions:
        yield f'{use.op_type} with reduction="{use.reduction}"'


def _exclusive(_: OperatorLimits, use: Use) -> Iterator[str]:
    if use.attributes.get("exclusive"):
        yield f"exclusive {use.op_type}"


def _broadcast(_: OperatorLimits, use: Use) -> Iterator[str]:
    shapes = [t.shape for t in use.inputs if t is not None]
    first = shapes[0]
    if first is None or any(s != first for s in shapes[1:]):
        yield f"{use.op_type} of unlike shapes"


def _steps(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if len(use.inputs) < 5 or use.inputs[4] is None:
        return
    steps, allowed = use.inputs[4].constant, limits.steps or {1}
    if (
        steps is None
        or allowed is True
        or any(int(s) not in allowed for s in steps.ravel().tolist())
    ):
        yield f"{use.op_type} with steps"


def _computed(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if _is_computed(use, by_sizes=limits.computed != "sizes"):
        yield f"{use.op_type} with computed operands"


def _constant(_: OperatorLimits, use: Use) -> Iterator[str]:
    if (at := _indices(use)) is not None and at.constant is not None:
        yield f"{use.op_type} at constant indices"


def _axes_input(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if len(use.inputs) < 2 or use.inputs[1] is None:
        return
    if not limits.axes_input:
        yield f"{use.op_type} with axes as an input"
    elif limits.axes_input == "several" and not _names_several(use):
        yield f"{use.op_type} with one axis as an input"
    elif limits.axes_input == "all" and not _reduces_all(use):
        yield f"{use.op_type} with axes as an input that are not all"


def _within(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if use.pattern not in limits.within:
        yield f"{use.op_type} outside of {' and '.join(sorted(limits.within))}"


def _equations(limits: OperatorLimits, use: Use) -> Iterator[str]:
    equation = str(use.attributes.get("equation", ""))
    if not limits.takes_equation(equation):
        yield f'{use.op_type} of "{equation}"'


def _most(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if limits.most is not None and _count(use) > limits.most:
        yield f"{use.op_type} of more than {limits.most} elements"


def _inner(_: OperatorLimits, use: Use) -> Iterator[str]:
    if use.is_inner:
        yield f"{use.op_type} that is not from an input of the model to an output"


def _slow(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if limits.is_slow(use.dtype, use.reduction):
        yield f"{use.op_type}, which it runs slowly"


def _refused(limits: OperatorLimits, use: Use) -> Iterator[str]:
    for refused in limits.refused:
        if is_refused(use, refused):
            yield f"{use.op_type} {refused}"


def _written(limits: OperatorLimits, use: Use) -> Iterator[str]:
    for missing in sorted(limits.written.difference(use.attributes)):
        yield f"{use.op_type} without {missing} written"


def _unwritten(limits: OperatorLimits, use: Use) -> Iterator[str]:
    for added in sorted(limits.unwritten.intersection(use.attributes)):
        yield f"{use.op_type} with {added} written"


def _zeros(limits: OperatorLimits, use: Use) -> Iterator[str]:
    dtype = use.dtype
    if dtype is not None and dtype.name.lower() in limits.zeros and _has_numbers(use):
        yield f"{use.op_type} with constants of {dtype.name.lower()} other than 0"


def _data_rank(limits: OperatorLimits, use: Use) -> Iterator[str]:
    if limits.data_rank != use.data_rank:
        yield f"{use.op_type} of data of another rank than {limits.data_rank}"


def _negative(_: OperatorLimits, use: Use) -> Iterator[str]:
    if use.may_be_negative:
        yield f"{use.op_type} {_what_is_negative(use.op_type)} that may be negative"


_BROKEN: Mapping[str, Callable[[OperatorLimits, Use], Iterator[str]]] = {
    "max_rank": _max_rank,
    "reductions": _reductions,
    "exclusive": _exclusive,
    "broadcast": _broadcast,
    "steps": _steps,
    "computed": _computed,
    "constant": _constant,
    "axes_input": _axes_input,
    "within": _within,
    "equations": _equations,
    "most": _most,
    "inner": _inner,
    "slow": _slow,
    "refused": _refused,
    "written": _written,
    "unwritten": _unwritten,
    "zeros": _zeros,
    "data_rank": _data_rank,
    "negative": _negative,
}
"""How each limit is broken, besides those of element types, and of ``Target.has``."""


def _what_is_negative(name: str) -> str:
    """Return what a target may not want negative, with the name that ONNX's schema gives it."""
    row = OPERATORS[name]
    if row.signed_input in row.sizes:
        return f"with {onnx.defs.get_schema(name).inputs[row.signed_input].name}"
    return "of numbers" if name == "Mod" else "at indices"


def _has_numbers(use: Use) -> bool:
    """Return whether elements of the result come from a constant that is not all zeros."""
    moved = OPERATORS[use.op_type].moved(len(use.inputs))
    held = (t for i, t in enumerate(use.inputs) if i in moved and use.is_constant[i : i + 1] == [1])
    return any(t is not None and (t.constant is None or t.constant.any()) for t in held)


def _reduces_all(use: Use) -> bool:
    """Return whether the axes name all, or those of more than one element if all dims are kept."""
    sizes = None if use.data is None else use.data.static_shape
    axes = None if use.inputs[1] is None else use.inputs[1].constant
    if sizes is None or axes is None or not axes.size:
        return False
    named, kept = (
        {int(a) % len(sizes) for a in axes.ravel().tolist() if sizes},
        use.attributes.get("keepdims", 1),
    )
    return all(d in named or (kept and n == 1) for d, n in enumerate(sizes))


def _names_several(use: Use) -> bool:
    """Return whether the axes are known to be two or more."""
    axes = None if use.inputs[1] is None else use.inputs[1].constant
    return axes is not None and axes.size > 1


def _is_computed(use: Use, *, by_sizes: bool) -> bool:
    """Return whether an operand depends on the inputs: every compiler folds all others.

    One that follows from the sizes of inputs counts only if ``by_sizes``.
    """
    for index in OPERATORS[use.op_type].sizes:
        operand = use.inputs[index] if index < len(use.inputs) else None
        if operand is None or use.is_constant[index] or operand.constant is not None:
            continue
        terms = operand.terms
        if by_sizes or terms is None or None in {size_name(s) for t in terms for s in t.leaves()}:
            return True
    return False


def _indices(use: Use) -> TensorValue | None:
    index = OPERATORS[use.op_type].signed_input
    return use.inputs[index] if index < len(use.inputs) else None


def _count(use: Use) -> float:
    """Return how many elements a TopK may find."""
    tensor = use.inputs[1] if len(use.inputs) > 1 else None
    count = None if tensor is None else tensor.scalar
    return math.inf if count is None else use.facts.interval(count)[1]


def may_be_negative(use: Use) -> bool:
    """Return whether an index, a step or a dividend may be negative, or a pad is."""
    indices = _indices(use)
    if indices is None:
        return False
    if indices.constant is not None:
        return bool((indices.constant < 0).any())
    if use.op_type == "Pad":  # a computed amount adds elements: rules prove it of theirs
        return any(t.constant is not None and t.constant < 0 for t in indices.terms or ())
    if indices.terms is None or indices.shape is None:
        return True
    inside = use.facts.assuming(extents=dict(enumerate(indices.shape)))
    return not all(map(inside.is_nonnegative, indices.terms))
