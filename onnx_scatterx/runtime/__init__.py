"""Runs models in ONNX Runtime: sessions with the library, worker processes, and arrays."""
