"""Model-local functions: the abstract values in one call, and their join over all callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import (
    Call,
    Scope,
    UnknownAttributeError,
    operator_sets,
)
from onnx_scatterx.engine.analysis.domain.tensor import Chosen, TensorValue
from onnx_scatterx.engine.analysis.domain.widening import widened
from onnx_scatterx.engine.analysis.operators import sequences
from onnx_scatterx.engine.terms import Facts, Term, size

if TYPE_CHECKING:
    from onnx_scatterx.engine.analysis.interpreter import Interpreter

Attributes: TypeAlias = "Mapping[str, ir.Attr | None]"


def called(function: ir.Function, call: Call, scope: Scope) -> Scope:
    """Return the scope in which one call sees a function's body."""
    attributes: dict[str, ir.Attr | None] = {}
    for name, default in function.attributes.items():
        try:
            attribute = call.attribute(name)
        except UnknownAttributeError:
            continue
        attributes[name] = attribute or (default if default.value is not None else None)
    opsets = operator_sets(function.opset_imports)
    inner = Scope(opsets, scope.facts.assuming(), {}, attributes, function)
    for i, value in enumerate(function.inputs):
        inner.values[value] = call.input(i) or TensorValue(None, None)
    return inner


def joined(interpreter: Interpreter, function: ir.Function) -> Scope:
    """Return the scope that all callers of a function agree on."""
    calls = interpreter.calls.get(function.identifier(), [])
    attributes: dict[str, ir.Attr | None] = {}
    for name, default in function.attributes.items():
        values: list[ir.Attr | None] = []
        for _, node, bound in calls:
            attribute = node.attributes.get(name)
            if attribute is not None and attribute.is_ref():
                attribute = bound.get(attribute.ref_attr_name or "", attribute)
            values.append(attribute or (default if default.value is not None else None))
        if (
            not any(g is not None and g.is_ref() for g in values)
            and len(set(map(_comparable, values))) == 1
        ):
            attributes[name] = values[0]
    opsets = operator_sets(function.opset_imports)
    scope = Scope(opsets, Facts(), interpreter.values, attributes, function)
    scope.noted = interpreter.noted
    outer = operator_sets(interpreter.model.opset_imports)[""]
    scope.also_read_as = outer if outer != opsets[""] else None
    merged: dict[tuple[Term, ...], Term] = {}
    for i, value in enumerate(function.inputs):
        parts = [inputs[i] if i < len(inputs) else None for inputs, _, _ in calls]
        present = [p for p in parts if p is not None]
        tensor = TensorValue(value.dtype, None)
        if present and len(present) == len(parts):
            tensor = _join(present, merged, (function, value))
        known = widened(value, tensor, scope.visit_id, scope.facts)
        interpreter.values[value] = replace(known, chosen=tensor.chosen)
    return scope


def _comparable(attribute: ir.Attr | None) -> object:
    """Return the value of an attribute, for comparing; without its name."""
    if attribute is None:
        return None
    proto = ir.serde.serialize_attribute(attribute)
    proto.ClearField("name")
    proto.ClearField("doc_string")
    return proto.SerializeToString(deterministic=True)


def _join(
    parts: list[TensorValue], merged: dict[tuple[Term, ...], Term], origin: object
) -> TensorValue:
    """Join the callers' arguments: a dim that differs between them is a size of the function's own.

    Dims that are equal in every call become one size.
    """
    dtypes = {p.dtype for p in parts}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if all(map(sequences.is_sequence, parts)):
        return _joined_lists(parts, dtype, merged, origin)
    shapes = [p.shape for p in parts if p.shape is not None]
    if len(shapes) < len(parts) or len({len(s) for s in shapes}) != 1:
        return TensorValue(dtype, None)
    dims = []
    for axis, group in enumerate(zip(*shapes, strict=True)):
        if group[0].constant is not None and all(t is group[0] for t in group):
            dims.append(group[0])
        else:
            dims.append(merged.setdefault(group, size(f"dim{len(merged)}", (origin, axis))))
    first = parts[0].constant
    same = first is not None and all(
        p.constant is not None
        and p.constant.shape == first.shape
        and bool((p.constant == first).all())
        for p in parts
    )
    known = TensorValue(dtype, tuple(dims), first if same else None)
    chosen, *others = {p.chosen for p in parts}
    if chosen is None or others or not _is_of_numbers(chosen):
        return known
    return replace(known, chosen=chosen)


def _is_of_numbers(chosen: Chosen) -> bool:
    """Return whether a promise names no size, which the function may not know."""
    bounds = chosen.number, chosen.most
    return all(bound is None or bound.constant is not None for bound in bounds)


def _joined_lists(
    lists: list[TensorValue],
    dtype: ir.DataType | None,
    merged: dict[tuple[Term, ...], Term],
    origin: object,
) -> TensorValue:
    """Join the callers' sequences: tensor by tensor, if all have the same length."""
    parts = [s.parts for s in lists if s.parts is not None]
    if len(parts) == len(lists) and len({len(p) for p in parts}) == 1:
        columns = enumerate(zip(*parts, strict=True))
        each = [_join(list(column), merged, (origin, k)) for k, column in columns]
        return TensorValue.sequence(each, dtype)
    dims = sequences.dims_of(sequences.joined(lists))
    if dims is None:
        return sequences.any_of(dtype, None)
    numbers = (d if d is not None and d.constant is not None else None for d in dims)
    return sequences.any_of(dtype, tuple(numbers))
