"""Writing graphs: nodes in the model's own operator set, with kernels for the element type."""
