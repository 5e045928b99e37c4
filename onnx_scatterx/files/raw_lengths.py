"""How many bytes of raw data tensors have, as far as the reading of a message has told that."""

from __future__ import annotations

from collections.abc import Iterable

import onnx


class RawLengths:
    """The lengths of raw data.

    protobuf copies the raw data of a tensor to count them, so the length of a large one is noted.

    >>> tensor = onnx.TensorProto(raw_data=b"abc")
    >>> RawLengths().of(tensor), RawLengths([(tensor, 3)]).of(tensor)
    (3, 3)
    """

    def __init__(self, known: Iterable[tuple[onnx.TensorProto, int]] = ()) -> None:
        self._known = {id(tensor): (tensor, length) for tensor, length in known}

    def of(self, tensor: onnx.TensorProto) -> int:
        """Return how many bytes of raw data a tensor has."""
        noted = self._known.get(id(tensor))  # the tensor is held, so the id is its own
        return len(tensor.raw_data) if noted is None else noted[1]
