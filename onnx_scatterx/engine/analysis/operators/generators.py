"""Transfer functions of the operators that make integers: from attributes, shapes and positions."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Call, Result, required
from onnx_scatterx.engine.analysis.domain.overflow import fits
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue, is_integer
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.terms import Term, coord, equals, maximum, step, term
from onnx_scatterx.graphs import made_by
from onnx_scatterx.operators import those


def constant(call: Call) -> Result:
    attributes = {name: call.attribute(name) for name in call.node.attributes.data}
    return [required(of_attributes({name: a for name, a in attributes.items() if a is not None}))]


_LITERALS = {
    "value_int": (np.int64, ir.Attr.as_int),
    "value_ints": (np.int64, ir.Attr.as_ints),
    "value_float": (np.float32, ir.Attr.as_float),
    "value_floats": (np.float32, ir.Attr.as_floats),
}


def of_attributes(attributes: Mapping[str, ir.Attr]) -> TensorValue | None:
    """Return the abstract value of a Constant node; its attributes may be references.

    If it has several values, ONNX Runtime takes the first one.
    """
    for name, attribute in attributes.items():
        if name == "value":
            return TensorValue.of_tensor(attribute.value)
        if name in _LITERALS:
            kind, read = _LITERALS[name]
            return TensorValue.of(np.array(read(attribute), kind))
    return None


def constant_of_shape(call: Call) -> Result:
    x = call.present(0)
    attribute = call.attribute("value")
    value = np.zeros(1, np.float32) if attribute is None else attribute.value.numpy()
    dtype = ir.DataType.FLOAT if attribute is None else attribute.value.dtype
    dims = x.vector()
    if dims is None:
        return [TensorValue(dtype, call.unknown_shape(required(x.static_shape)[0]))]
    integer = is_integer(dtype)
    content = term(int(value.ravel()[0])) if integer else None
    if not integer and all(d.constant is not None for d in dims):
        shape = [d.constant for d in dims if d.constant is not None]
        if math.prod(shape) <= LIMITS.floats:
            return [TensorValue(dtype, tuple(dims), np.full(shape, value.ravel()[0]))]
    return [TensorValue(dtype, tuple(dims), content)]


def shape(call: Call) -> Result:
    x = call.known(0)
    rank = len(x.dims)
    first, last = call.integer("start", 0), call.integer("end", rank)
    first, last = (min(max(i + rank if i < 0 else i, 0), rank) for i in (first, last))
    return [TensorValue.explicit(list(x.dims[first:last]), ir.DataType.INT64)]


def size(call: Call) -> Result:
    x = call.known(0)
    total = math.prod(x.dims, start=term(1))
    return [TensorValue(ir.DataType.INT64, (), total)]


def trilu(call: Call) -> Result:
    x, diagonal = call.known(0, 2), call.input(1)
    k = term(0) if diagonal is None else diagonal.scalar
    if x.index_map is None or k is None:
        return [TensorValue(x.dtype, x.shape)]
    distance = coord(len(x.dims) - 1) - coord(len(x.dims) - 2) - k
    kept = step(distance) if call.integer("upper", 1) else step(-distance)
    return [TensorValue(x.dtype, x.shape, kept * x.index_map)]


def eye_like(call: Call) -> Result:
    x = call.known(0)
    to = call.integer("dtype", 0)
    dtype = ir.DataType(to) if to else x.dtype
    content = equals(coord(1), coord(0) + call.integer("k", 0))
    result = TensorValue(dtype, x.dims, content)
    return [result if result.is_integer else TensorValue(dtype, x.dims)]


def one_hot(call: Call) -> Result:
    indices, depth, values = call.known(0), call.present(1), call.present(2)
    rank = len(indices.dims) + 1
    axis = call.integer("axis", -1) % rank
    extent = depth.scalar if depth.is_integer else None
    shape_ = list(indices.dims)
    shape_.insert(axis, extent if extent is not None else call.unknown_size(axis))
    content = None
    pair = values.element_exprs
    if extent is not None and indices.index_map is not None and pair is not None:
        old = [d for d in range(rank) if d != axis]
        index = indices.index_map.at({i: coord(d) for i, d in enumerate(old)})
        if indices.is_integer:
            hit = equals(index % extent, coord(axis))
            # An index outside [-depth, depth) gives a row of "off" values.
            inside = step(index + extent) * step(extent - 1 - index)
            content = pair[0] + hit * inside * (pair[1] - pair[0])
    return [TensorValue(values.dtype, tuple(shape_), content)]


_EXACT = 1 << 52  # ONNX Runtime divides the span of a Range in doubles: above, it may round
_PASSED = those(lambda row: row.moves == (0,))


def range_(call: Call) -> Result:
    start, limit, delta = map(call.present, range(3))
    numbers = (start.constant, limit.constant, delta.constant)
    if all(n is not None for n in numbers) and not start.is_integer and start.dtype is not None:
        a, b, d = (n.ravel()[0] for n in numbers if n is not None)
        with np.errstate(all="ignore"):  # some runtimes round the difference to the type, some not
            spans = float(b - a), float(b) - float(a)
            quotients = [np.float64(span) / np.float64(d) for span in spans]
        if start.dtype in (ir.DataType.FLOAT, ir.DataType.DOUBLE) and np.isfinite(quotients).all():
            counts = {max(0, math.ceil(q)) for q in quotients}
            if len(counts) == 1:
                return [TensorValue(start.dtype, (term(counts.pop()),))]
        return [TensorValue(start.dtype, call.unknown_shape(1))]
    first, last, stride = start.scalar, limit.scalar, delta.scalar
    by = None if stride is None else stride.constant
    if start.is_integer and start.dtype is not None and first is not None and last is not None:
        span = last - first if (by or 0) > 0 else first - last
        if by and (_is_exact(span, start.dtype, call) or _is_axis(span, call)):
            count_term = maximum((span + abs(by) - 1) // abs(by), 0)
            return [TensorValue(start.dtype, (count_term,), first + by * coord(0))]
    return [TensorValue(start.dtype, call.unknown_shape(1))]


def _is_exact(span: Term, dtype: ir.DataType, call: Call) -> bool:
    """Return whether doubles and the type can represent a span."""
    return call.facts.magnitude(span) <= _EXACT and fits(span, dtype, call.facts)


def _is_axis(span: Term, call: Call) -> bool:
    """Return whether a span is the size of an axis that a Shape reads."""
    start, limit = call.inputs[0], call.node.inputs[1]
    if start is None or start.constant is None or start.constant.ravel()[0] or limit is None:
        return False
    while (node := made_by(limit, *_PASSED)) is not None and node.inputs[0] is not None:
        limit = node.inputs[0]
    return made_by(limit, "Shape") is not None and call.facts.is_nonnegative(span)
