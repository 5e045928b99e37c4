"""Rewrites the scatter nodes of ONNX models to slices, provably, and runs the rest fast."""
