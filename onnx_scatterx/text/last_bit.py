"""Why ONNX Runtime may compute another last bit of a float after a write was replaced."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

from onnx_scatterx.text.quantized import FloatReason

LAST_BIT = "onnx_scatterx.last_bit"
"""The key of the reasons in the ``meta`` of a scatter or gather that was replaced."""


class LastBit(enum.Enum):
    """A reason for another last bit. The value is for users."""

    FLOAT16 = "ONNX Runtime may round float16 once more or once less between two nodes"
    PACKED = "ONNX Runtime computes a product with a constant by another kernel"
    FUSED = "ONNX Runtime may fuse nodes that become neighbours, under its default options"

    def __str__(self) -> str:
        return self.value


IN_ONNXRUNTIME = "onnx_scatterx.in_onnxruntime"
"""The metadata key of an optimized model: why ONNX Runtime may compute other values of it."""


def as_metadata(reasons: Iterable[str]) -> str:
    """Return sentences of LastBit and FloatReason as the text under ``IN_ONNXRUNTIME``.

    >>> as_metadata(["ONNX Runtime moves QuantizeLinear past an output of the graph"])
    'MOVED'
    """
    told = set(reasons)
    return ", ".join(why.name for why in (*LastBit, *FloatReason) if why.value in told)


def from_metadata(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Return the sentences in a model's metadata; other words are ignored.

    >>> from_metadata({IN_ONNXRUNTIME: "MOVED, ELSE"})
    ('ONNX Runtime moves QuantizeLinear past an output of the graph',)
    """
    told = set(metadata.get(IN_ONNXRUNTIME, "").split(", "))
    return tuple(why.value for why in (*LastBit, *FloatReason) if why.name in told)
