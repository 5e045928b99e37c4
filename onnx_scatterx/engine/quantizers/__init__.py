"""What ONNX Runtime does around QuantizeLinear and DequantizeLinear.

Come here for the parameters of quantizers, for the nodes past which ONNX Runtime moves quantizers,
and for the reasons why a node between quantizers must be kept; not for what a device takes of
quantized nodes (that is in ``device``), nor for the pass that writes on integers (in ``passes``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.quantizers.around import MOVED_PAST as MOVED_PAST
    from onnx_scatterx.engine.quantizers.around import has_quantizers as has_quantizers
    from onnx_scatterx.engine.quantizers.around import quantizers_above as quantizers_above
    from onnx_scatterx.engine.quantizers.around import quantizers_below as quantizers_below
    from onnx_scatterx.engine.quantizers.quantization import QUANTIZED as QUANTIZED
    from onnx_scatterx.engine.quantizers.quantization import QUANTIZERS as QUANTIZERS
    from onnx_scatterx.engine.quantizers.quantization import Quantization as Quantization
    from onnx_scatterx.engine.quantizers.quantization import is_quantizer as is_quantizer
    from onnx_scatterx.engine.quantizers.quantization import moves_input as moves_input
    from onnx_scatterx.engine.quantizers.quantization import operands_of as operands_of
    from onnx_scatterx.engine.quantizers.quantization import whole_axes as whole_axes
    from onnx_scatterx.engine.quantizers.runtime_patterns import GraphValues as GraphValues
    from onnx_scatterx.engine.quantizers.runtime_patterns import exposed as exposed
    from onnx_scatterx.engine.quantizers.runtime_patterns import is_rejected as is_rejected
    from onnx_scatterx.engine.quantizers.runtime_patterns import objection as objection
    from onnx_scatterx.engine.quantizers.runtime_patterns import reason_to_keep as reason_to_keep
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "around": "MOVED_PAST has_quantizers quantizers_above quantizers_below",
            "quantization": "QUANTIZED QUANTIZERS Quantization is_quantizer moves_input "
            "operands_of whole_axes",
            "runtime_patterns": "GraphValues exposed is_rejected objection reason_to_keep",
        },
    )
