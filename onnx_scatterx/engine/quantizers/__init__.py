"""What ONNX Runtime does around QuantizeLinear and DequantizeLinear.

Come here for the parameters of quantizers, for the nodes past which ONNX Runtime moves quantizers,
and for the reasons why a node between quantizers must be kept; not for what a device takes of
quantized nodes (that is in ``device``), nor for the pass that writes on integers (in ``passes``).
"""
