"""Transfer functions of sequences of known length.

TorchScript writes ``nonzero(as_tuple=True)`` with them: ``SequenceAt(SplitToSequence(x, 1, axis=d,
keepdims=0), i)`` is x with i in the place of x_d.
"""

from __future__ import annotations

from onnx_scatterx.analysis.domain.call import Call, Result
from onnx_scatterx.analysis.domain.tensor import TensorValue
from onnx_scatterx.analysis.operators.movement import sliced, without
from onnx_scatterx.symbolic.terms import term

_LONG = 64  # tensors of a sequence that are told apart


def split_to_sequence(call: Call) -> Result:
    """Cut a tensor: into pieces of one length (the last may be shorter), or of given ones.

    Pieces of length 1 lose their dim if ``keepdims`` is 0; ONNX Runtime does so even where their
    length is given, which ONNX does not say.
    """
    x, given = call.inputs[0], call.input(1)
    if x is None or not x.shape:
        return None
    axis = call.integer("axis", 0) % len(x.shape)
    extent = x.shape[axis].constant
    lengths = [term(1)] if given is None else given.vector()
    if lengths is None or extent is None or any(n.constant is None for n in lengths):
        return None
    numbers = [n.constant or 0 for n in lengths]
    if given is None or not given.shape:  # of one length
        (length,) = numbers
        if length <= 0 or extent > length * _LONG:
            return None
        numbers = [min(length, extent - start) for start in range(0, extent, length)]
        if not call.integer("keepdims", 1):
            if length != 1:
                return None
            whole = [sliced(x, axis, term(i), term(1)) for i in range(extent)]
            return [TensorValue.sequence([without(part, [axis]) for part in whole])]
    starts = [sum(numbers[:i]) for i in range(len(numbers))]
    if sum(numbers) != extent or len(numbers) > _LONG:
        return None
    pairs = zip(starts, numbers, strict=True)
    return [TensorValue.sequence([sliced(x, axis, term(s), term(n)) for s, n in pairs])]


def sequence_construct(call: Call) -> Result:
    parts = [p for p in call.inputs if p is not None]
    return [TensorValue.sequence(parts)] if len(parts) == len(call.inputs) <= _LONG else None


def sequence_at(call: Call) -> Result:
    sequence, at = call.inputs
    index = None if at is None or at.scalar is None else at.scalar.constant
    if sequence is None or sequence.parts is None or index is None:
        return None
    count = len(sequence.parts)
    return [sequence.parts[index]] if -count <= index < count else None
