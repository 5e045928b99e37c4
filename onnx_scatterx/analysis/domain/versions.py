"""What versions of ONNX Runtime compute of tensors without elements.

    up to 1.31   a reduction leaves a negative axis as it is if there are no elements; a MatMul that
                 sums up nothing takes the batch of its left side, which is not broadcast
    from 1.32    both go by the specification of the operators

A model runs on any of them. So what is known of it must hold in all.
"""

from __future__ import annotations

from enum import Enum, auto


class Versions(Enum):
    """The versions of ONNX Runtime that a visit of a model speaks of."""

    OLDER = auto()  # up to 1.31
    NEWER = auto()  # from 1.32
    ALL = auto()
