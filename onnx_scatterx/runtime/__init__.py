"""Running models in ONNX Runtime: the session with the library, its inputs, caches in place."""
