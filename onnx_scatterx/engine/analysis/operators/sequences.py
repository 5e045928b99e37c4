"""Transfer functions of sequences, and of optional values.

TorchScript writes ``nonzero(as_tuple=True)`` with them: ``SequenceAt(SplitToSequence(x, 1, axis=d,
keepdims=0), i)`` is x with i in the place of x_d. A list that a Loop fills has any length: only
the common dims of its tensors are known.

Nothing is known of an optional value itself. The node that reads its element sees what it was made
of, ``OptionalGetElement(Optional(x))``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Call, Result, require, required
from onnx_scatterx.engine.analysis.domain.tensor import Dims, TensorValue
from onnx_scatterx.engine.analysis.operators.movement import concat, sliced, without
from onnx_scatterx.engine.terms import term
from onnx_scatterx.graphs import made_by

_LONG = 64  # tensors of a sequence that are followed one by one


def common(dims: Iterable[Dims | None]) -> Dims | None:
    """Return the dims that are the same in all of these shapes; None if ranks differ.

    >>> common([(term(2), term(3)), (term(2), term(4))])
    (2, None)
    """
    shapes = list(dims)
    first = shapes[0] if shapes else None
    if first is None or any(d is None or len(d) != len(first) for d in shapes):
        return None
    columns = zip(*(d for d in shapes if d is not None), strict=True)
    return tuple(c[0] if all(t is c[0] for t in c) else None for c in columns)


def dims_of(sequence: TensorValue) -> Dims | None:
    """Return the join of all tensors of a sequence."""
    if sequence.parts is None:
        return sequence.each
    return common(part.shape for part in sequence.parts)


def any_of(dtype: ir.DataType | None, dims: Dims | None) -> TensorValue:
    """Return a sequence of any length, all of whose tensors have these dims."""
    return TensorValue(dtype, None, each=dims)


def joined(sequences: Iterable[TensorValue]) -> TensorValue:
    """Return a sequence that may be any of these; an empty one tells nothing of its tensors."""
    listed = list(sequences)
    dtypes = {s.dtype for s in listed}
    filled = [s for s in listed if s.parts != ()]
    if not filled:
        return listed[0]
    dims = common(map(dims_of, filled))
    return any_of(dtypes.pop() if len(dtypes) == 1 else None, dims)


def is_sequence(x: TensorValue) -> bool:
    """Return whether something is known of a value as a sequence."""
    return x.parts is not None or x.each is not None


def split_to_sequence(call: Call) -> Result:
    """Cut a tensor: into pieces of one length (the last may be shorter), or of given ones.

    Pieces of length 1 lose their dim if ``keepdims`` is 0. ONNX Runtime does so even if their
    length is given, which ONNX does not specify. If a greater length is given, ONNX Runtime fails
    unless no element is lost, and others keep the dim, so nothing is known. If a list of lengths is
    given, all of them keep it.
    """
    x, cut = call.known(0, 1), call.input(1)
    axis = call.integer("axis", 0) % len(x.dims)
    extent = x.dims[axis].constant
    lengths = [term(1)] if cut is None else cut.vector()
    keeps = bool(call.integer("keepdims", 1))
    unknown = _pieces_of_any_length(x, axis, cut, keeps)
    if lengths is None or extent is None or any(n.constant is None for n in lengths):
        return unknown
    numbers = [n.constant or 0 for n in lengths]
    if cut is None or not cut.shape:  # of one length
        (length,) = numbers
        require(length > 0)
        if extent > length * _LONG:
            return unknown
        numbers = [min(length, extent - start) for start in range(0, extent, length)]
        if not keeps:
            require(length == 1)
            whole = [sliced(x, axis, term(i), term(1)) for i in range(extent)]
            return [TensorValue.sequence([without(part, [axis]) for part in whole], x.dtype)]
    starts = [sum(numbers[:i]) for i in range(len(numbers))]
    require(sum(numbers) == extent, len(numbers) <= _LONG)
    pairs = zip(starts, numbers, strict=True)
    return [TensorValue.sequence([sliced(x, axis, term(s), term(n)) for s, n in pairs], x.dtype)]


def _pieces_of_any_length(
    x: TensorValue, axis: int, split: TensorValue | None, keeps: bool
) -> Result:
    """Return an unknown number of pieces, if it is known whether they keep their dim."""
    one = split is None or (split.shape == () and split.scalar == 1)
    listed = split is not None and split.rank == 1
    if not (one or keeps or listed):
        return None
    cut: Dims = (term(1) if one else None,) if keeps or listed else ()
    return [any_of(x.dtype, (*x.dims[:axis], *cut, *x.dims[axis + 1 :]))]


def held(value: ir.Value, reader: ir.Node) -> ir.Value:
    """Return the element of an optional value for the node that reads it; else the value itself."""
    if reader.op_type != "OptionalGetElement" or reader.domain != "":
        return value
    made = made_by(value, "Optional")
    element = made.inputs[0] if made is not None and made.inputs else None
    return value if element is None else element


def optional_get_element(call: Call) -> Result:
    x = call.present(0)
    require(x.shape is not None or is_sequence(x))
    return [x]


def sequence_construct(call: Call) -> Result:
    require(len(call.inputs) <= _LONG)
    return [TensorValue.sequence([required(part) for part in call.inputs])]


def sequence_empty(call: Call) -> Result:
    dtype = ir.DataType(call.integer("dtype", ir.DataType.FLOAT.value))
    return [TensorValue.sequence([], dtype)]


def sequence_at(call: Call) -> Result:
    sequence, at = call.present(0), call.input(1)
    index = None if at is None or at.scalar is None else at.scalar.constant
    if sequence.parts is not None and index is not None:
        return [sequence.parts[index]]
    dims = dims_of(sequence)
    if dims is None:
        return [TensorValue(sequence.dtype, None)]
    fresh = call.unknown_shape(len(dims))
    shape = tuple(f if d is None else d for d, f in zip(dims, fresh, strict=True))
    return [TensorValue(sequence.dtype, shape)]


def sequence_insert(call: Call) -> Result:
    sequence, tensor, at = call.present(0), call.present(1), call.input(2)
    require(is_sequence(sequence))
    parts = sequence.parts
    index = len(parts or ())
    if len(call.inputs) > 2 and call.node.inputs[2] is not None:
        scalar = None if at is None or at.scalar is None else at.scalar.constant
        index = -1 if scalar is None else scalar + (len(parts or ()) if scalar < 0 else 0)
    if parts is not None and 0 <= index <= len(parts) < _LONG:
        return [TensorValue.sequence([*parts[:index], tensor, *parts[index:]], sequence.dtype)]
    one = any_of(tensor.dtype, tensor.shape)
    return [joined([sequence, one])]


def sequence_erase(call: Call) -> Result:
    sequence = call.present(0)
    return [any_of(sequence.dtype, dims_of(sequence))]


def sequence_length(call: Call) -> Result:
    sequence = call.input(0)
    if sequence is None or sequence.parts is None:
        return [TensorValue(ir.DataType.INT64, ())]
    return [TensorValue.of(np.array(len(sequence.parts)))]


def concat_from_sequence(call: Call) -> Result:
    """Concatenate the tensors of a sequence, or (``new_axis``) stack them."""
    sequence = call.present(0)
    dims, stacks = dims_of(sequence), call.integer("new_axis", 0)
    if sequence.parts and not stacks:
        return concat(call._replace(inputs=list(sequence.parts)))
    if dims is None:
        return [TensorValue(sequence.dtype, None)]
    rank = len(dims) + bool(stacks)
    axis = call.integer("axis", 0) % rank
    known = (*dims[:axis], None, *dims[axis + (0 if stacks else 1) :])
    shape = [f if d is None else d for d, f in zip(known, call.unknown_shape(rank), strict=True)]
    if sequence.parts and stacks:
        shape[axis] = term(len(sequence.parts))
    return [TensorValue(sequence.dtype, tuple(shape))]
