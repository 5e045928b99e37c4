"""What versions of ONNX Runtime compute for tensors without elements.

    up to 1.31   a reduction keeps a negative axis if there are no elements; a MatMul with an empty
                 sum takes the batch of its left side, which is not broadcast
    from 1.32    both follow the specification of the operators

A model may run on any of these versions, so every abstract value must be right in all of them.
"""

from __future__ import annotations

from enum import Enum, auto


class Versions(Enum):
    """The versions of ONNX Runtime that a visit of a model is about."""

    OLDER = auto()  # up to 1.31
    NEWER = auto()  # from 1.32
    ALL = auto()
