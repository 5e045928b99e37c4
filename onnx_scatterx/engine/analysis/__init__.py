"""The contents of a model's integer tensors, known without running it.

``interpreter`` walks a model with one transfer function for each operator, ``domain`` is what it
knows of a tensor, and ``operators`` has the transfer functions. Contents are canonical integer
expressions over sizes and coordinates (``onnx_scatterx.engine.terms``).
"""
