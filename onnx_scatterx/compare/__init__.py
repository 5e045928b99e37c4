"""`verify` decides by running whether two ONNX models agree."""
